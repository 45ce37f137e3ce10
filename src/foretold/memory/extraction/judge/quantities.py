"""The numbers of a text with their units, and times of day, so that `two hours` and `120 minutes` are one.

1. A number is written in digits (`1,000`, `1.5k`, `50%`) or in words (`a dozen`, `twenty-five`, `half an hour`).
2. A unit gives it a dimension, and a value in it; where usage differs (GB, months) it has several values. Numbers
   without a unit are compared as they are written, also with those that have one: `port 8080` and `8080`.
3. A time of day is minutes after midnight. `at 3` may be either of two.
4. `one` and `a` count with a unit alone, and only where the user said them: they are words of every sentence.
"""

from __future__ import annotations

import re

from foretold.memory.extraction.judge.vocabulary import NUMBERS, SCALES, UNITS
from foretold.memory.extraction.judge.words import stem
from foretold.types import NamedTuple

_HALF = {"half": 0.5, "halfe": 0.5, "halbe": 0.5, "quarter": 0.25, "third": 1 / 3, "thirds": 2 / 3}
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|%|[:/.+-]")
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<h>\d{1,2})(?:[:.](?P<m>\d\d))? ?(?P<half>am|pm|a\.m\.|p\.m\.)(?!\w)"
    r"|(?<![\w:.])(?P<h2>[01]?\d|2[0-4]):(?P<m2>[0-5]\d)(?::\d\d)?(?![\w:])"
    r"|(?<![\w:.])(?P<h3>\d{1,2}) ?(?:uhr|o'?clock)\b"
    r"|(?<![\w:.])(?P<h4>\d{1,2}) (?:in the (?P<part>morning|afternoon|evening)|at night)"
    r"|\b(?P<word>noon|midday|midnight|mittag|mitternacht)\b"
)
#: `every second Tuesday`, whose weekday was read as a date, is every two weeks
_EVERY = re.compile(r"\b(?:every|each) (?:second|other|2nd)(?: (days?|weeks?|months?|years?)\b| {3,})|\bfortnightly\b")
_NAMED = {"noon": 720, "midday": 720, "mittag": 720, "midnight": 0, "mitternacht": 0}


class Quantity(NamedTuple):
    """A number in a text."""

    text: str
    start: int
    end: int
    raw: float  #: as it is written
    dimension: str  #: of its unit; clock: a time of day; empty: none
    values: tuple[float, ...]  #: in the dimension's smallest unit
    is_article: bool = False  #: `a`, `an` or `one`, which may be no number
    noun: str = ""  #: the stem of the word after it, if that is not a unit


def quantities_of(plain: str) -> list[Quantity]:
    """The quantities of a folded text, in their order."""
    clocks = [_clock(match) for match in _CLOCK.finditer(plain)]
    clocks += [_rhythm(match) for match in _EVERY.finditer(plain)]
    rest = list(plain)
    for each in clocks:
        rest[each.start : each.end] = " " * (each.end - each.start)
    return sorted([*clocks, *_numbers("".join(rest))], key=lambda each: each.start)


def _clock(match: re.Match[str]) -> Quantity:
    given = match.groupdict()
    if given["word"]:
        minutes = _NAMED[given["word"]]
    else:
        hour = int(given["h"] or given["h2"] or given["h3"] or given["h4"])
        is_pm = (given["half"] or "").startswith("p") or given["part"] in ("afternoon", "evening")
        is_am = (given["half"] or "").startswith("a") or given["part"] == "morning"
        hour = hour % 12 + 12 * is_pm if is_pm or is_am else hour
        minutes = hour * 60 + int(given["m"] or given["m2"] or 0)
    at = float(minutes % 1440)
    return Quantity(match[0], match.start(), match.end(), at // 60, "clock", (at,))


def _rhythm(match: re.Match[str]) -> Quantity:
    dimension, worth = UNITS[match[1] or "week"]
    return Quantity(match[0].rstrip(), match.start(), match.end(), 2.0, dimension, tuple(2 * each for each in worth))


def _numbers(plain: str) -> list[Quantity]:
    tokens = [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(plain)]
    found, at = list[Quantity](), 0
    while at < len(tokens):
        number, length = _number_at(tokens, at)
        if number is None:
            at += 1
            continue
        first, after = tokens[at], at + length
        quantity, used = _with_unit(tokens, after, number)
        end = tokens[after + used - 1][2]
        is_article = first[0] in ("a", "an", "one", "eine", "einer") and length == 1
        if not is_article or quantity[0]:
            text = plain[first[1] : end]
            noun = _word(tokens, after + used)
            found.append(
                Quantity(text, first[1], end, number, *quantity, is_article, stem(noun) if noun.isalpha() else "")
            )
        at = after + used
    return found


Tokens = list[tuple[str, int, int]]


def _word(tokens: Tokens, at: int) -> str:
    return tokens[at][0] if at < len(tokens) else ""


def _number_at(tokens: Tokens, at: int) -> tuple[float | None, int]:
    """The number that begins at a token, and how many tokens it has."""
    word = _word(tokens, at)
    if at and word[:1].isdigit() and tokens[at - 1][2] == tokens[at][1] and tokens[at - 1][0].isalpha():
        return None, 1  # `v1`
    if word in _HALF:
        is_share = _word(tokens, at + 1) in ("the", "of", "der") or word in ("third", "thirds")
        skip = 2 if _word(tokens, at + 1) in ("a", "an") else 1
        if is_share and word == "half":
            return 50.0, 1
        return (_HALF[word], skip) if _word(tokens, at + skip) in UNITS and word == "half" else (None, 1)
    if word[:1].isdigit():
        value, length = _digits(word), 1
        scale = SCALES.get(_word(tokens, at + 1), 0)
        is_next = at + 1 < len(tokens) and (tokens[at + 1][1] == tokens[at][2] or len(_word(tokens, at + 1)) > 1)
        return (value * scale, 2) if scale and is_next and value is not None else (value, length)
    if word in ("a", "an", "eine", "einer"):
        follows = _word(tokens, at + 1)
        if follows in ("dozen", "hundred", "thousand", "million", "couple"):
            return float(NUMBERS.get(follows, SCALES.get(follows, 0))), 2
        return (1.0, 1) if follows in UNITS else (None, 1)
    return _spelled(tokens, at) if word in NUMBERS or word in ("hundred", "thousand") else (None, 1)


def _digits(word: str) -> float | None:
    """`1,000`, `1.5`; more dots are no number."""
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", word)
    plain = plain.replace(",", ".")
    return float(plain) if plain.count(".") < 2 else None


def _spelled(tokens: Tokens, at: int) -> tuple[float, int]:
    """`twenty-five`, `two hundred`, `one and a half`."""
    value, length = float(NUMBERS.get(_word(tokens, at), 1)), 1 if _word(tokens, at) in NUMBERS else 0
    dash = _word(tokens, at + length) == "-"
    follows = NUMBERS.get(_word(tokens, at + length + dash), 0)
    if value >= 20 and value % 10 == 0 and 0 < follows < 10:
        value, length = value + follows, length + 1 + dash
    while (scale := SCALES.get(_word(tokens, at + length), 0)) and len(_word(tokens, at + length)) > 2:
        value, length = value * scale, length + 1
    if [_word(tokens, at + length + step) for step in range(3)] == ["and", "a", "half"]:
        value, length = value + 0.5, length + 3
    return value, length


def _with_unit(tokens: Tokens, at: int, number: float) -> tuple[tuple[str, tuple[float, ...]], int]:
    """The dimension and values of a number before the token `at`, and how many tokens its unit has."""
    word, used = _word(tokens, at), 1
    if word == "-":
        word, used = _word(tokens, at + 1), 2
    if word == "%":
        return ("share", (number,)), used
    if word in ("the", "of") and number == 50.0 and tokens[at - 1][0] == "half":
        return ("share", (50.0,)), 0
    if word in UNITS:
        dimension, worth = UNITS[word]
        return (dimension, tuple(number * each for each in worth)), used
    return ("", (number,)), 0


def is_same(claim: Quantity, said: Quantity) -> bool:
    """Whether a quantity of a claim is one that was said."""
    if claim.dimension and claim.dimension == said.dimension:
        return any(_equal(one, two) for one in claim.values for two in said.values)
    if "clock" in (claim.dimension, said.dimension):
        clock, other = (claim, said) if claim.dimension == "clock" else (said, claim)
        return not other.dimension and clock.values[0] / 60 in (other.raw % 24, (other.raw + 12) % 24)
    if claim.dimension and said.dimension:
        return False
    return _equal(claim.raw, said.raw)


def _equal(one: float, two: float) -> bool:
    return abs(one - two) <= 1e-6 * max(1.0, abs(one), abs(two))
