"""The claims of a memory: what it says, statement by statement.

1. The description is a claim, and so is every statement of the body.
2. A description, and the lines `Why` and `How to apply`, are asides: a model puts them in its own words.
3. Of a change only those claims count that the memory before it did not make. Dates, paths and longer words are
   compared whole there: a freeze that is moved by a week is another claim.
4. The name of a memory, which its index shows, and that of its file are one more aside.
"""

from __future__ import annotations

import re

from foretold.memory.extraction.judge.words import exact, specifics, statements, words
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.note import Memory

_ASIDE = re.compile(r"\W*(?:why|how to apply)\b\W*:", re.IGNORECASE)


class Draft(NamedTuple):
    """A memory that a model wants to write."""

    file: str
    name: str
    description: str
    type: str
    body: str
    scope: str = "private"
    before: Memory | None = None  #: the one that it would change

    @property
    def text(self) -> str:
        return f"{self.name}\n{self.description}\n{self.type}\n{self.body}"


class Claim(NamedTuple):
    """A statement of a draft."""

    text: str
    words: tuple[str, ...]
    is_aside: bool

    @property
    def set(self) -> set[str]:
        return set(self.words)


def new_claims(draft: Draft) -> list[Claim]:
    """The claims of a draft that the memory before it did not make."""
    known: set[tuple[object, ...]] = set()
    if draft.before is not None:
        known = {_same(each) for each in claims_of(draft.before.description, draft.before.body)}
    return [each for each in claims_of(draft.description, draft.body) if _same(each) not in known]


def _same(claim: Claim) -> tuple[object, ...]:
    """What two claims have in common that say the same."""
    return claim.words, frozenset(exact(claim.text))


def name_claim(draft: Draft) -> Claim:
    """What the name of a new memory and that of its file say.

    >>> name_claim(Draft("feedback_tabs.md", "use-tabs", "d", "feedback", "Use tabs.")).words
    ('us', 'tab')
    """
    if draft.before is not None:
        return Claim("", (), is_aside=True)
    file = draft.file.rpartition("/")[2].removesuffix(".md").removeprefix(f"{draft.type}_")
    text = re.sub(r"[-_]+", " ", f"{draft.name.removeprefix(draft.type)} {file}").strip()
    return Claim(text, tuple(dict.fromkeys(words(text))), is_aside=True)


def is_nothing_new(draft: Draft) -> bool:
    """Whether a change says what is said already, and leaves nothing out."""
    if draft.before is None or draft.type != draft.before.type or new_claims(draft):
        return False
    return len(claims_of(draft.description, draft.body)) >= len(claims_of(draft.before.description, draft.before.body))


def claims_of(description: str, body: str) -> list[Claim]:
    """The claims of a memory, its description first.

    >>> [(claim.text, claim.is_aside) for claim in claims_of("indent", "Use tabs.\\n\\n**Why:** diffs. And taste.")]
    [('indent', True), ('Use tabs.', False), ('**Why:** diffs.', True), ('And taste.', True)]
    """
    found = [Claim(description, tuple(words(description)), is_aside=True)]
    for line in body.splitlines():
        is_aside = bool(_ASIDE.match(line))
        for each in statements(line):
            found.append(Claim(each, tuple(words(_ASIDE.sub("", each, count=1) if is_aside else each)), is_aside))
    return [claim for claim in found if claim.words or specifics(claim.text)]
