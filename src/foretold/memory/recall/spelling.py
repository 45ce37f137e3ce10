"""Words that an index lacks, and the words of the index that may be meant by them.

A word of a query that no memory has may be misspelt, a compound, or another form of a word that some memory has. Then
these words of the index take its place, and count for less than the word itself would (LIKENESS):

1. Misspelt: one edit apart (a character too many, missing, wrong, or two swapped), two in words of LONG characters.
2. Another form or a part: both begin alike, over MOST_ALIKE of the longer one (`Pseudonymisierung`,
   `pseudonymisiert`), or the word of the index begins with the whole word (`conn`, `connection`).
3. A compound of which the index has both parts, or one that is most of it (`Exceldateien`: `excel`, `dateien`), and two
   words of the query that the index has as one (`time zone`: `timezone`).

The first rule that finds something decides. No word with a digit is ever replaced: another number is another thing.
Nothing scans the vocabulary: misspellings are found by what is left of both words after dropping one of the first
HEAD characters, everything else by ranges of a sorted table. So the number of memories does not matter.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence

SHORTEST, LONGEST = 4, 24  #: characters of a word that is remembered
LONG = 8  #: characters of a word that may have two errors
HEAD = 7  #: characters that misspellings are looked up by: more find nothing else within two edits of real words
MOST_ALIKE = 0.6  #: of the longer word
MOST_FOUND = 4  #: words of the index that take the place of one
RANGE = 64  #: words of a range that are looked at
UNKNOWN = 8  #: words of a query that are looked up; in a pasted log everything is unknown
#: how much a word counts that takes the place of another, by rule
LIKENESS = {"misspelt": 0.8, "form": 0.7, "compound": 0.6}
TABLES = (
    "CREATE TABLE spelling(word TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE misspelling(form TEXT, word TEXT, PRIMARY KEY (form, word)) WITHOUT ROWID",
)
_WORD = r"[^\W\d_]{4,24}"  # SHORTEST to LONGEST letters
_LAST = "\U0010ffff"


class Vocabulary:
    """The words of an index, as they are written."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base
        self._seen: set[str] = set()

    def learn(self, texts: Iterable[str]) -> None:
        """Remember the words of a memory. They stay when it is dropped: a word that no memory has finds nothing."""
        words = {word for text in texts for word in re.findall(_WORD, text.lower())} - self._seen
        if not words:
            return
        self._seen |= words
        self.base.executemany("INSERT OR IGNORE INTO spelling VALUES (?)", ((word,) for word in words))
        forms = ((form, word) for word in words for form in shortened(word))
        self.base.executemany("INSERT OR IGNORE INTO misspelling VALUES (?, ?)", forms)

    def find(self, word: str, following: str = "") -> tuple[str, tuple[str, ...]]:
        """The rule that finds words for an unknown one, and these. `following` is the next word of the query."""
        if not (SHORTEST <= len(word) <= LONGEST and word.isalpha()):
            return "", ()
        for rule, found in (
            ("misspelt", self._misspelt(word)),
            ("form", self._forms(word)),
            ("compound", self._parts(word) or self._known([word + following] if following else [])),
        ):
            if found:
                return rule, tuple(found[:MOST_FOUND])
        return "", ()

    def _misspelt(self, word: str) -> list[str]:
        forms = sorted(shortened(word))
        asked = f"SELECT DISTINCT word FROM misspelling WHERE form IN ({', '.join('?' * len(forms))})"  # noqa: S608
        most = 2 if len(word) >= LONG else 1
        near = [(count_edits(word, other, most), other) for (other,) in self.base.execute(asked, forms)]
        least = min((edits for edits, _ in near), default=most + 1)
        return sorted(other for edits, other in near if edits == least <= most and is_slip(word, other))

    def _forms(self, word: str) -> list[str]:
        head = word[: max(SHORTEST, int(len(word) * MOST_ALIKE))]
        asked = f"SELECT word FROM spelling WHERE word BETWEEN ? AND ? LIMIT {RANGE}"  # noqa: S608
        near = []
        for (other,) in self.base.execute(asked, (head, head + _LAST)):
            alike = len(common_prefix(word, other))
            if alike > MOST_ALIKE * max(len(word), len(other)) or alike == len(word):
                near.append((-alike, len(other), other))
        return [other for _, _, other in sorted(near)]

    def _parts(self, word: str) -> list[str]:
        cuts = range(SHORTEST, len(word) - SHORTEST + 1)
        known = set(self._known([*(word[:at] for at in cuts), *(word[at:] for at in cuts)]))
        pairs = [(word[:at], word[at:]) for at in cuts if word[:at] in known and word[at:] in known]
        if pairs:
            return [*max(pairs, key=lambda pair: min(map(len, pair)))]
        most = [part for part in known if len(part) > MOST_ALIKE * len(word)]
        return sorted(most, key=len, reverse=True)[:1]

    def _known(self, words: Sequence[str]) -> list[str]:
        marks = ", ".join("?" * len(words))
        return [word for (word,) in self.base.execute(f"SELECT word FROM spelling WHERE word IN ({marks})", words)]  # noqa: S608


def shortened(word: str) -> set[str]:
    """The first characters of a word, and what is left of them after dropping one."""
    head = word[:HEAD]
    return {head, *(head[:at] + head[at + 1 :] for at in range(len(head)))}


def common_prefix(one: str, other: str) -> str:
    at = 0
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return one[:at]
    return one[: min(len(one), len(other))]


def is_slip(word: str, other: str) -> bool:
    """Whether fingers slip so: the first character is seldom wrong, and a short word loses or swaps some, rather than
    having another (`mars` is not `mark`).
    """
    if sorted(word) == sorted(other):
        return True
    return word[0] == other[0] and (len(word) >= 5 or len(word) < len(other))


def count_edits(one: str, other: str, most: int) -> int:
    """How many characters are added, dropped, changed or swapped with their neighbour; `most + 1` if more.

    >>> count_edits("chekpoint", "checkpoint", 2), count_edits("devcie", "device", 1), count_edits("port", "tabs", 1)
    (1, 1, 2)
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        above, row = row, [at] + [0] * len(other)
        for to, wanted in enumerate(other, 1):
            row[to] = min(above[to] + 1, row[to - 1] + 1, above[to - 1] + (char != wanted))
            if at > 1 and to > 1 and char == other[to - 2] and one[at - 2] == wanted:
                row[to] = min(row[to], before[to - 2] + 1)
        if min(row) > most:
            return most + 1
        before = above
    return min(row[-1], most + 1)
