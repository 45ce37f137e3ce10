"""A text as sets of positions: what the path matchers run on instead of regular expressions.

A set of positions is an integer, bit `n` standing for the place before unit `n`. `at(unit)` holds every place where
that unit follows. To step over a unit is then `(here & at(unit)) << 1` for all places at once, and a run of allowed
units is one addition (`runs`), so a pattern costs its own length in such operations whatever the text: there is no
backtracking that a hostile pattern could make explode.

The patterns are those of JavaScript programs, where a character is a UTF-16 unit: `units` splits what is beyond the
basic plane into its two halves.
"""

from __future__ import annotations

from functools import cache

Ranges = tuple[tuple[int, int], ...]
#: classes of characters, as pairs of a first and a last one
POSIX = {
    "alnum": "azAZ09",
    "alpha": "azAZ",
    "blank": "  \t\t",
    "cntrl": "\x00\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "\t\r  ",
    "upper": "AZ",
    "xdigit": "09AFaf",
}


def units(text: str) -> str:
    """The text with one character per UTF-16 unit."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    codes = map(ord, text)
    return "".join(
        chr(code) if code <= 0xFFFF else chr(0xD7C0 + (code >> 10)) + chr(0xDC00 | code & 0x3FF) for code in codes
    )


def fold(text: str) -> str:
    """The `units` of the text as a JavaScript regular expression with `i` but without `u` compares them."""
    if text.isascii():
        return text.lower()
    return "".join(map(_canonical, units(text)))


def _canonical(unit: str) -> str:
    """Upper case, if that is one unit and not an ASCII one."""
    if unit.isascii():
        return unit.lower()
    upper = unit.upper()
    return unit if len(upper) > 1 or upper.isascii() else upper


def cases(unit: str) -> list[int]:
    """The units that are equal to a folded one."""
    if unit.isascii():
        return [ord(unit), ord(unit.upper())]
    return [ord(unit), *_lower_cases().get(unit, ())]


@cache
def _lower_cases() -> dict[str, list[int]]:
    lower: dict[str, list[int]] = {}
    for code in range(0x80, 0x10000):
        if (upper := _canonical(chr(code))) != chr(code):
            lower.setdefault(upper, []).append(code)
    return lower


def runs(here: int, allowed: int) -> int:
    """Every place reached from `here` by stepping over any number of `allowed` units, none included.

    Adding a start to the run of ones that it is in carries to the end of the run: the bits that flip were passed.
    """
    return here | (((here & allowed) + allowed) ^ allowed)


class Positions:
    """A text, given as `units`, and `places`: where each of its units is."""

    __slots__ = ("places", "size", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self.places: dict[str, int] = {}
        bit = 1
        for unit in text:
            self.places[unit] = self.places.get(unit, 0) | bit
            bit <<= 1

    def at(self, unit: str) -> int:
        return self.places.get(unit, 0)
