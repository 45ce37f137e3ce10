"""Answers that fit: a model's context is small, and a store may be large.

1. An answer has at most `ROOM` bytes of data, and its text about as many: some five thousand tokens.
2. A row that is too large is cut, and says how much is lost; rows that do not fit are on the next page.
3. Nothing is cut in silence.
"""

from __future__ import annotations

import json

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROOM = 16_000  #: bytes of the rows of one answer; its frame takes some more
ROW = 4_000  #: bytes of one row


def size_of(value: object) -> int:
    """Bytes of a value of JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def clipped(text: str, most: int) -> str:
    """A text of at most so many bytes of JSON, and what is lost.

    >>> clipped("a" * 20, 100), clipped("a" * 200, 100)[-22:]
    ('aaaaaaaaaaaaaaaaaaaa', '… [136 characters cut]')
    """
    if len(text) <= most and size_of(text) - 2 <= most:
        return text
    room = max(most - 36, 0)
    keep = min(len(text), room)
    while keep and size_of(text[:keep]) - 2 > room:
        keep = int(keep * 0.9)
    return f"{text[:keep]}… [{len(text) - keep:,} characters cut]"


def taken(rows: Iterable[dict[str, object]], most: int, room: int = ROOM) -> list[dict[str, object]]:
    """The first rows, as many as are asked for and fit; one at least, if there is one.

    >>> taken([{"a": "x" * 50}, {"a": "y" * 50}], 9, 100)
    [{'a': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}]
    """
    found: list[dict[str, object]] = []
    for row in rows:
        room -= size_of(row) + 2
        if found and room < 0:
            break
        found.append(row)
        if len(found) >= most:
            break
    return found


def named(words: Sequence[str], most: int = 5) -> str:
    """A few of several words.

    >>> named(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def cleaned(value: object) -> object:
    """A value that can be sent: half a surrogate pair, of a file name that is not UTF-8, is written out.

    >>> cleaned({"a": ["b\\udcff"]})
    {'a': ['b\\\\udcff']}
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {key: cleaned(each) for key, each in value.items()}
    return [cleaned(each) for each in value] if isinstance(value, (list, tuple)) else value


def lines(rows: Iterable[object], form: Callable[[dict[str, object]], str]) -> str:
    """Rows as text, a line or more each."""
    return "\n".join(form(row) for row in rows if isinstance(row, dict))


def ended(said: Sequence[str], data: Mapping[str, object]) -> str:
    """The lines of an answer, and below them what was cut, and the cursor.

    >>> ended(["one"], {"cut": ["2 more"], "next": "abc"})
    'one\\n[2 more]\\n[cursor: abc]'
    """
    cut, following = data["cut"], data.get("next")
    told = [f"[{each}]" for each in cut] if isinstance(cut, list) else []
    return "\n".join([*said, *told, *([f"[cursor: {following}]"] if following else [])])


def indented(text: str) -> str:
    """A text that was quoted: none of its lines can be taken for one of ours.

    >>> indented("a\\n\\nuser, today:")
    '  a\\n\\n  user, today:'
    """
    return "\n".join(f"  {line}" if line else "" for line in text.splitlines())


def counted(count: object, word: str) -> str:
    """A number of things.

    >>> counted(1, "message"), counted(1200, "memory"), counted(0, "file")
    ('1 message', '1,200 memories', '0 files')
    """
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word if count == 1 else many}"
