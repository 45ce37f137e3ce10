"""Which memories answer a query best. Pure functions of what the indexes found.

A memory's score is the sum of two, and a little for being fresh. Figures are recall@5 over LoCoMo's turns, then over
its sessions (categories 1-4, all conversations), as one rule after the other is added.

1. BM25 over all columns: a rare word counts more than a frequent one; a word in the description counts three times, in
   the name or in a name of code twice; a second occurrence counts less than the first; length counts a little (B).
   FTS5's own BM25 divides by length so strongly that short memories win by being short (0.518 to 0.552; 0.864 to
   0.865). Forms of one word count as one word (0.560; 0.868).
2. Its best stretch: the words within STRETCH words of each other, each once (0.567; 0.873, and recall@1 over
   sessions 0.635 to 0.661). The stretch is also what is quoted.
3. Two memories that are equally good are ordered by age: FRESHNESS is what the newest gets on top. It
   decides ties and no more; already 0.02 cost a quarter of a point over sessions.

With vectors a score is a part of the best by words, plus the rest of the nearest, over everything that either side
found. The part follows how much of the query the words found: LEAST if the best memory has no word of it, and more by
as much as it has (`share`), up to MOST. So words decide where they are shared, and vectors where they are not. (Fusing
ranks instead makes the result worse than words alone.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log

from foretold.memory.recall.index import (
    COLUMNS,
    WEIGHTS,
    IndexMatches,
    RecallCandidate,
    RecallQuery,
    with_respellings,
)
from foretold.types import NamedTuple

K1, B = 0.9, 0.3
STRETCH, STRETCH_WEIGHT = 50, 0.6
#: recall@5 over coding memories 0.811, LoCoMo sessions 0.898, turns (every third question) 0.583. Fixed 0.7: 0.791,
#: 0.898, 0.586; from 0.1 to 0.9: 0.811, 0.894, 0.572; from 0.3 to 0.9: 0.811, 0.897, 0.571
LEAST, MOST = 0.2, 0.7
FRESHNESS, LASTING = 0.001, 90 * 86400.0  #: seconds; then a third of it is left
_WEIGHT = dict(zip(COLUMNS, WEIGHTS, strict=True))


class RankedMemory(NamedTuple):
    """How good a candidate is, and by what."""

    score: float
    folder: int  #: which of the folders it is in
    candidate: RecallCandidate
    why: dict[str, tuple[str, ...]]  #: word of the query: the columns that have it
    stretch: tuple[int, int]  #: the first and last word of the best stretch of the body
    share: float = 0.0  #: how much of the query's weight its words have
    near: float = 0.0  #: the cosine of its nearest part, with vectors


#: chooses, of what was found, what is worth quoting
RankFilter = Callable[[RecallQuery, Sequence[IndexMatches], list[RankedMemory]], list[RankedMemory]]


def rank(
    query: RecallQuery, indexes: Sequence[IndexMatches], now: float = 0.0, freshness: float = FRESHNESS
) -> list[RankedMemory]:
    """All candidates, the best first; equal ones by file."""
    count = sum(found.memories for found in indexes)
    mean = sum(found.length for found in indexes) / count if count else 1.0
    rarity = weigh_groups(query, indexes, count)
    whole = sum(weight or rarity_of(0, count) for weight in rarity)
    marks: list[RankedMemory] = []
    for at, found in enumerate(indexes):
        asked = with_respellings(query, found.respelled)
        of = {stem: number for number, group in enumerate(asked.stems) for stem in group}
        named = [name_group(query, found, number) for number in range(len(query.words))]
        marks += [_score(named, of, rarity, whole, at, each, mean or 1.0) for each in found.candidates]
    if any(found.near for found in indexes):
        marks = _with_vectors(marks, indexes)
    fresh = []
    for mark in marks:
        age = max(0.0, now - mark.candidate.mtime / 1e9)
        if mark.score > 0:
            fresh.append(mark._replace(score=mark.score * (1 + freshness * exp(-age / LASTING))))
    return sorted(fresh, key=lambda mark: (-mark.score, mark.candidate.file, mark.folder))


def weigh_groups(query: RecallQuery, indexes: Sequence[IndexMatches], count: int) -> list[float]:
    """The weight of each group: the fewer memories have it, the more; less if other words take its place."""
    holding = [0] * len(query.stems)
    likeness = [0.0] * len(query.stems)
    for found in indexes:
        for at, group in enumerate(with_respellings(query, found.respelled).stems):
            held = sum(found.spread.get(stem, 0) for stem in group)
            holding[at] += held
            worth = found.respelled[at].likeness if at in found.respelled else 1.0
            likeness[at] = max(likeness[at], worth if held else 0.0)
    return [rarity_of(min(count, held), count) * like for held, like in zip(holding, likeness, strict=True)]


def rarity_of(holding: int, count: int) -> float:
    """The weight of a word that so many of all memories have."""
    return log(1 + (count - holding + 0.5) / (holding + 0.5))


def name_group(query: RecallQuery, found: IndexMatches, at: int) -> str:
    """A word of the query as `why` has it: with the word that was found in its place."""
    word = query.words[at][0]
    return f"{word} (as {found.respelled[at].words[0]})" if at in found.respelled else word


def _score(
    named: list[str],
    of: dict[str, int],
    rarity: list[float],
    whole: float,
    folder: int,
    candidate: RecallCandidate,
    mean: float,
) -> RankedMemory:
    times: dict[int, int] = {}
    columns: dict[int, set[str]] = {}
    places: dict[str, list[tuple[int, int]]] = {}
    for stem, column, at in candidate.places:
        group = of[stem]
        times[group] = times.get(group, 0) + _WEIGHT[column]
        columns.setdefault(group, set()).add(column)
        places.setdefault(column, []).append((at, group))
    often = K1 * (1 - B + B * candidate.length / mean)
    score = sum(rarity[group] * times[group] * (K1 + 1) / (times[group] + often) for group in sorted(times))
    stretches = {column: find_best_stretch(sorted(found), rarity) for column, found in places.items()}
    score += STRETCH_WEIGHT * max((stretch[0] for stretch in stretches.values()), default=0.0)
    why = {named[group]: tuple(c for c in COLUMNS if c in columns[group]) for group in sorted(columns)}
    share = sum(rarity[group] for group in times) / whole if whole else 0.0
    return RankedMemory(score, folder, candidate, why, stretches.get("body", (0.0, 0, 0))[1:], share)


def find_best_stretch(places: list[tuple[int, int]], rarity: Sequence[float]) -> tuple[float, int, int]:
    """The heaviest groups within STRETCH words: their weight, the first position, the last. Each counts once."""
    best, weight, first = (0.0, 0, 0), 0.0, 0
    seen: dict[int, int] = {}
    for at, group in places:
        if not seen.get(group):
            weight += rarity[group]
        seen[group] = seen.get(group, 0) + 1
        while places[first][0] <= at - STRETCH:
            gone = places[first][1]
            seen[gone] -= 1
            if not seen[gone]:
                weight -= rarity[gone]
            first += 1
        if weight > best[0]:
            best = (weight, places[first][0], at)
    return best


def _with_vectors(marks: list[RankedMemory], indexes: Sequence[IndexMatches]) -> list[RankedMemory]:
    """Both scores as parts of their best, weighed by how much of the query the best one by words has."""
    near = [indexes[mark.folder].near.get(mark.candidate.id, 0.0) for mark in marks]
    first = max(marks, key=lambda mark: mark.score, default=None)
    best, share = (first.score, first.share) if first else (0.0, 0.0)
    nearest, lexical = max(near, default=0.0), min(MOST, LEAST + share)
    weighed = []
    for mark, close in zip(marks, near, strict=True):
        parts = ((lexical, mark.score, best), (1 - lexical, close, nearest))
        score = sum(weight * max(value, 0.0) / most for weight, value, most in parts if most > 0)
        why = mark.why or {f"meaning {close:.2f}": ("other words",)}
        weighed.append(mark._replace(score=score, near=close, why=why))
    return weighed
