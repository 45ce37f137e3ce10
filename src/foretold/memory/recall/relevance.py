"""Which of the memories that were found a prompt is really about: for those who quote without being asked to.

1. A word is telling if it tells one memory from another: at most one memory in ten holds it, or three; and if it is
   none of the words in which people say what is to be done, whatever it is done to (`write`, `fix`, `file`).
2. A memory is worth quoting if a telling word of the prompt is in its name or description, or two are anywhere in
   it, and if it has at least half the marks of the best.
"""

from __future__ import annotations

from collections.abc import Sequence

from foretold.memory.recall.query import STOPWORDS
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.recall.index import IndexMatches, RecallQuery
    from foretold.memory.recall.ranking import RankedMemory

WORTH = 0.5  #: of the best
COMMON = 10  #: one in so many memories holds a word that tells nothing
FEW = 3  #: memories that hold a word; fewer are never too many
FRONT = ("name", "description")
#: words of many prompts that say nothing about their subject
GENERAL = frozenset(
    "able actually add again ahead answer anything ask begin better bit call can case change check clean code come "
    "continue could create current day did different do does doing done easy edit else end error every everything "
    "example explain file files find finish first fix following function functions get give go going good handle help "
    "hello hey hi idea implement instead issue job keep kind know last left let like line lines list little long look "
    "lot make maybe mean mind move much name need new next nice now number ok okay old one open order part place "
    "please point problem put question quick read ready really reason remove replace result return rewrite right run "
    "same save say see seem set short should show side simple small something start step still stop sure take talk "
    "task tell text thank thanks thing things think time today together top try turn two understand update use used "
    "user using value version want way well went whole why word work working works would write wrong yes yet".split()
)


def worth_quoting(
    query: RecallQuery, indexes: Sequence[IndexMatches], ranked: list[RankedMemory]
) -> list[RankedMemory]:
    """What is left of what was found; for `recall(…, worth=worth_quoting)`."""
    telling = telling_words(query, indexes)
    return [mark for mark in ranked if mark.score >= ranked[0].score * WORTH and is_about(mark.why, telling)]


def telling_words(query: RecallQuery, indexes: Sequence[IndexMatches]) -> list[str]:
    """The words of a question that distinguish memories."""
    most = max(FEW, sum(found.memories for found in indexes) // COMMON)
    found = []
    for words, stems in zip(query.words, query.stems, strict=True):
        holding = sum(index.spread.get(stem, 0) for index in indexes for stem in stems)
        if 0 < holding <= most and not (words[0] in GENERAL or words[0] in STOPWORDS):
            found.append(words[0])
    return found


def is_about(why: dict[str, tuple[str, ...]], telling: Sequence[str]) -> bool:
    """Whether a memory that has words in these places is about a question."""
    held = [places for word, places in why.items() if word in telling]
    return len(held) > 1 or any(place in FRONT for places in held for place in places)
