"""What the user said, prompt by prompt, with the facts in it. Facts are read when a claim first asks for them.

A fact counts only where it belongs: in the prompts that have a word in common with the claim, and in those next to
them, because a correction (`sorry, I meant 3100`) names nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from foretold.memory.extraction.judge.dates import DateFact, dates_of, days_of
from foretold.memory.extraction.judge.names import NameFact, NameVocabulary, names_of
from foretold.memory.extraction.judge.quantities import Quantity, quantities_of
from foretold.memory.extraction.judge.vocabulary import CORRECTION
from foretold.memory.extraction.judge.words import NOT, fold_text, share_of, statements, words
from foretold.types import NamedTuple

MOST = 500_000  #: characters of prompts that facts are looked for in, the last ones; no one types more
NEAREST = 12  #: statements that a claim is compared with
LONGEST = 5_000  #: statements of one prompt; a person does not type more
_CORRECTION = re.compile(CORRECTION)


class Utterance(NamedTuple):
    """A prompt, with what counts along with it."""

    texts: tuple[str, ...]
    words: frozenset[str]
    time: float | None


class FactSet(NamedTuple):
    """The facts of a text."""

    names: tuple[NameFact, ...]
    dates: tuple[DateFact, ...]
    quantities: tuple[Quantity, ...]


class Statement(NamedTuple):
    """A statement of the user's, with its words but denials and numbers."""

    text: str
    words: frozenset[str]
    is_corrected: bool  #: by the next prompt


class Context(NamedTuple):
    """What was said that belongs to a claim."""

    statements: tuple[Statement, ...]  #: those that have most in common with it, the nearest first
    facts: tuple[FactSet, ...]
    vocabularies: tuple[NameVocabulary, ...]

    def has_name(self, name: NameFact) -> bool:
        """Whether a name was said."""
        return any(each.has(name) for each in self.vocabularies)

    def has_words(self, flow: str) -> bool:
        """Whether some words were said, one after the other."""
        return any(flow in each.flow for each in self.vocabularies)


class Spoken(NamedTuple):
    """A prompt, as far as it was read."""

    statements: tuple[Statement, ...]
    facts: FactSet
    vocabulary: NameVocabulary


class UserSpeech:
    """All prompts of a conversation."""

    def __init__(self, utterances: Sequence[Utterance]) -> None:
        room, kept = MOST, list[Utterance]()
        for each in reversed(utterances):
            kept.append(each if room > 0 else each._replace(texts=()))
            room -= sum(map(len, each.texts))
        self.utterances = kept[::-1]
        self.last_time = next((each.time for each in kept if each.time is not None), None)
        self._read: dict[int, Spoken] = {}

    def context(self, given: frozenset[str], known: str = "") -> Context:
        """What belongs to a claim of some words; `known` is a text whose facts count as said."""
        spoken = [self._spoken(at) for at in self._places(given)]
        near = [(share_of(given, each.words), each) for part in spoken for each in part.statements]
        near = sorted((pair for pair in near if pair[0]), key=lambda pair: -pair[0])[:NEAREST]
        facts = [part.facts for part in spoken]
        vocabularies = [part.vocabulary for part in spoken]
        if known:
            facts += [facts_of(part) for part in statements(known)]
            vocabularies.append(NameVocabulary([known]))
        return Context(tuple(each for _, each in near), tuple(facts), tuple(vocabularies))

    def _places(self, given: frozenset[str]) -> list[int]:
        """The prompts that have a word in common with a claim, and those next to them."""
        hits = [at for at, each in enumerate(self.utterances) if not given or given & each.words]
        found = {at + step for at in hits for step in (-1, 0, 1)}
        return sorted(found & set(range(len(self.utterances))))

    def _spoken(self, at: int) -> Spoken:
        if at not in self._read:
            each, is_corrected = self.utterances[at], self._is_corrected(at)
            cut = [part for text in each.texts for part in statements(text)][-LONGEST:]
            parts = [facts_of(text, each.time) for text in cut]
            facts = FactSet(
                tuple(fact for part in parts for fact in part.names),
                tuple(fact for part in parts for fact in part.dates),
                tuple(fact for part in parts for fact in part.quantities),
            )
            said = tuple(Statement(text, meaning_of(text), is_corrected) for text in cut)
            self._read[at] = Spoken(said, facts, NameVocabulary(list(each.texts)))
        return self._read[at]

    def _is_corrected(self, at: int) -> bool:
        following = self.utterances[at + 1].texts[:1] if at + 1 < len(self.utterances) else ()
        return any(_CORRECTION.match(fold_text(text[:80])) for text in following)


def meaning_of(text: str) -> frozenset[str]:
    """The words of a statement, without denials and numbers."""
    return frozenset(word for word in words(text) if word != NOT and not word.isdigit())


@lru_cache(1 << 12)
def facts_of(text: str, time: float | None = None) -> FactSet:
    """The facts of a statement that was said at a time."""
    names = names_of(text)
    rest = blank_spans(text, [(each.start, each.end) for each in names if each.kind != "name"])
    dates = dates_of(rest, days_of(time))
    rest = blank_spans(rest, [(each.start, each.end) for each in dates])
    return FactSet(tuple(names), tuple(dates), tuple(quantities_of(_fold_in_place(rest))))


def blank_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text with spaces in place of some spans."""
    parts, at = list[str](), 0
    for start, end in sorted(spans):
        parts += [text[at:start], " " * (end - start)]
        at = max(at, end)
    return "".join([*parts, text[at:]])


def _fold_in_place(text: str) -> str:
    """A text in lower case and without accents, of the same length."""
    plain = fold_text(text)
    return plain if len(plain) == len(text) else text.lower()
