"""What a sentence says about what it names: the file that a name is in, and the value that a key has.

1. A name with a place (`relations`) is a claim about that file. Next to a file a word in backticks is one too, if it
   can be a name.
2. A value (`values`) belongs to the file that its key is said to be in, else to the only file of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from foretold.memory.drift import vocabulary
from foretold.memory.drift.classify import DriftClaim, TypedName
from foretold.memory.drift.relations import Mentioned, NamePlace, PlaceFinder, end_of
from foretold.memory.drift.sentences import Sentence
from foretold.memory.drift.values import find_values, is_ordinary

Placed = list[tuple[DriftClaim, int]]
_ORDINARY = vocabulary.TOOLS | vocabulary.CALLS | vocabulary.STAND_INS


def add_places(found: Placed, sentence: Sentence, hedge: Callable[..., str]) -> Placed:
    """The claims of a sentence, each with its file, and those that are claims only because of it."""
    mentioned = [Mentioned(claim.kind, claim.text, at, end_of(sentence, at, claim.text)) for claim, at in found]
    places, own = PlaceFinder(sentence, mentioned), {}
    for each in mentioned:
        if each.kind == "path":
            own[each.at] = NamePlace(each.text)
    placed: Placed = []
    for (claim, at), each in zip(found, mentioned, strict=True):
        if claim.kind == "symbol":
            place = own.get(at) or places.find_place(at, each.end)  # `a.py::name` is both
            claim = claim._replace(place=place.path, is_near=place.is_near)
        placed.append((claim, at))
    return placed + _find_words(found, sentence, places, hedge) + _find_values(sentence, places, hedge)


def _find_words(found: Placed, sentence: Sentence, places: PlaceFinder, hedge: Callable[..., str]) -> Placed:
    """Words in backticks that are said to be in a file."""
    known, words = {at for _, at in found}, []
    for span in sentence.spans if places.paths else ():
        word = span.text.removesuffix("()")
        if span.at in known or span.is_link or not re.fullmatch(r"[A-Za-z_]\w{2,60}", word, re.ASCII):
            continue
        if word.lower() in _ORDINARY or word in vocabulary.NAMES:
            continue
        place = places.find_place(span.at, end_of(sentence, span.at, span.text))
        if place.path:
            named = TypedName("symbol", word)
            why = hedge(named, at=span.at)
            claim = DriftClaim(*named, span.line, quoted=True, hedge=why, place=place.path, is_near=place.is_near)
            words.append((claim._replace(is_word=True), span.at))
    return words


def _find_values(sentence: Sentence, places: PlaceFinder, hedge: Callable[..., str]) -> Placed:
    only = places.paths[0].text if len({path.text for path in places.paths}) == 1 else ""
    values = []
    for stated in find_values(sentence):
        place = places.find_place(stated.at, end_of(sentence, stated.at, stated.key)).path or only
        is_known = bool(place or stated.language or stated.value[:1] in "=><~")  # as of `name>=1.2`
        if not is_known and is_ordinary(stated.key):
            continue
        named = TypedName("value", f"{stated.key} = {stated.value}")
        line = sentence.line + sentence.text.count("\n", 0, stated.at)
        claim = DriftClaim(*named, line, quoted=True, hedge=hedge(named, at=stated.at), place=place)
        values.append((claim._replace(language=stated.language), stated.at))
    return values
