"""The tree of an exclude glob (`globs`), and how it is folded over a path."""

from __future__ import annotations

from foretold.text.globs.utf16 import Positions, runs
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Node(Protocol):
        """A part of a pattern."""

        def starts(self, text: Text, ends: int, /) -> int:
            """Where this part begins when it ends at one of `ends`."""


MOST_STEPS = 400_000  #: nodes and characters passed for one path
NEWLINES = "\n\r\u2028\u2029"


class Unusable(Exception):
    """This pattern matches nothing."""


class Text:
    """A path seen from its end: place 0 is behind its last character."""

    __slots__ = ("line", "places", "segment", "start", "steps")

    def __init__(self, path: str) -> None:
        self.places = Positions(path[::-1])
        self.start = 1 << len(path)  #: the set of the place before the first character
        self.segment = self.start - 1 - self.places.at("/")  #: the characters that are no `/`
        self.line = self.start - 1 - sum(map(self.places.at, NEWLINES))
        self.steps = 0

    def count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise Unusable


class Literal(NamedTuple):
    """Characters that stand for themselves."""

    characters: str

    def starts(self, text: Text, ends: int) -> int:
        steps = 0
        for char in reversed(self.characters):
            ends = (ends & text.places.at(char)) << 1
            steps += 1
            if not ends:
                break
        text.count(steps)
        return ends


class Class(NamedTuple):
    """A character of some ranges, or any other one, which then is no `/` unless that is said."""

    ranges: Sequence[tuple[str, str]]
    negated: bool = False
    slash: bool = False

    def starts(self, text: Text, ends: int) -> int:
        text.count(1 + len(self.ranges) * len(text.places.places) // 10)
        inside = 0
        for char, places in text.places.places.items():
            if any(first <= char <= last for first, last in self.ranges):
                inside |= places
        if self.negated:
            inside = (text.start - 1 if self.slash else text.segment) & ~inside
        return (ends & inside) << 1


class Star(NamedTuple):
    """`*`: any part of a segment; one that opens its segment needs a character there."""

    opens: bool

    def starts(self, text: Text, ends: int) -> int:
        found = runs(ends, text.segment)
        return found & text.line << 1 if self.opens else found


class Anything(NamedTuple):
    """`**` that is a segment of its own: any text on one line."""

    def starts(self, text: Text, ends: int) -> int:
        return runs(ends, text.line)


class End(NamedTuple):
    """The end of the path."""

    def starts(self, _text: Text, ends: int) -> int:
        return ends & 1


class Row(NamedTuple):
    """Parts, one after the other."""

    parts: Sequence[Node]

    def starts(self, text: Text, ends: int) -> int:
        text.count(1 + len(self.parts))
        for part in reversed(self.parts):
            ends = part.starts(text, ends)
            if not ends:
                break
        return ends


class Choice(NamedTuple):
    """One of some parts, or, if it may be left out, none of them, or, if it repeats, several."""

    options: Sequence[Node]
    optional: bool = False
    repeats: bool = False

    def starts(self, text: Text, ends: int) -> int:
        found, new = 0, ends
        while new:
            once = 0
            for option in self.options:
                once |= option.starts(text, new)
            new = once & ~found if self.repeats else 0
            found |= once
        return found | ends if self.optional else found


class Other(NamedTuple):
    """`!(a)`: any part of a segment, or of the path if it is wide, that does not begin with what is refused."""

    refused: Node
    wide: bool

    def starts(self, text: Text, ends: int) -> int:
        every = 2 * text.start - 1
        return runs(ends, text.line if self.wide else text.segment) & ~self.refused.starts(text, every)
