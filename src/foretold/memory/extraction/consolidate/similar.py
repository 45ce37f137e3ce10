"""Which memories say nearly the same: groups that somebody may want to join. Pure functions of their texts.

1. Only memories of one type are compared, by the words of name, description and body without the most common ones.
2. Two are alike if they share at least half of all their words, or if nearly all words of the shorter are in the
   longer.
3. Only memories that share a word which is not in many others are compared at all, so the time grows with the store,
   and not with its square.
4. A memory is *within* another if every line of its body is a line of the other's, whatever marks of lists and case.
"""

from __future__ import annotations

from foretold.memory.recall.query import word_groups
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foretold.memory.note import Memory

COMMON = 40  #: a word that more memories have than this brings no two of them together
SHARED = 0.5  #: of all words of both
INSIDE = 0.8  #: of the words of the shorter
FEWEST = 5  #: words without which nothing can be said
MOST = 6  #: memories of one group; more are better joined step by step


def alike_groups(memories: Sequence[Memory]) -> list[list[Memory]]:
    """Groups of memories that are alike, each in the order given.

    >>> from foretold.memory.note import read_note
    >>> def note(file, text):
    ...     return read_note(file, f"---\\nname: x\\ntype: feedback\\n---\\n{text}\\n".encode())
    >>> one = note("a.md", "Integration tests run against a real database, never a mock.")
    >>> two = note("b.md", "Never mock the database: integration tests run against a real one.")
    >>> [[each.file for each in group] for group in alike_groups([one, two, note("c.md", "Deploy on Tuesdays only.")])]
    [['a.md', 'b.md']]
    """
    words = [_words(memory) for memory in memories]
    found: list[list[Memory]] = []
    taken: set[int] = set()
    for number, others in sorted(_neighbours(memories, words).items()):
        if number not in taken:
            group = [number, *(other for other in sorted(others) if other not in taken)][:MOST]
            if len(group) > 1:
                taken.update(group)
                found.append([memories[each] for each in group])
    return found


def is_within(memory: Memory, other: Memory) -> bool:
    """Whether everything that one says stands in another of its type.

    >>> from foretold.memory.note import read_note
    >>> one, two = read_note("a.md", b"- Use tabs.\\n"), read_note("b.md", b"Use spaces in YAML.\\nuse tabs\\n")
    >>> is_within(one, two), is_within(two, one)
    (True, False)
    """
    lines = _lines(memory.body)
    return bool(lines) and memory.type == other.type and lines <= _lines(other.body)


def _neighbours(memories: Sequence[Memory], words: Sequence[frozenset[str]]) -> dict[int, set[int]]:
    having: dict[str, list[int]] = {}
    for number, mine in enumerate(words):
        for word in mine:
            having.setdefault(word, []).append(number)
    rare = [numbers for numbers in having.values() if 1 < len(numbers) <= COMMON]
    pairs = {(one, other) for numbers in rare for one in numbers for other in numbers if one < other}
    found: dict[int, set[int]] = {}
    for one, other in pairs:
        if memories[one].type == memories[other].type and _are_alike(words[one], words[other]):
            found.setdefault(one, set()).add(other)
    return found


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer = min(len(one), len(other))
    if fewer < FEWEST:
        return one == other
    shared = len(one & other)
    return shared / len(one | other) >= SHARED or shared / fewer >= INSIDE


def _words(memory: Memory) -> frozenset[str]:
    return frozenset(group[0] for group in word_groups(f"{memory.name} {memory.description}\n{memory.body}"))


def _lines(body: str) -> frozenset[str]:
    return frozenset(filter(None, (_plain(line) for line in body.splitlines())))


def _plain(line: str) -> str:
    return " ".join(line.strip(" \t-*+>#.").lower().split())
