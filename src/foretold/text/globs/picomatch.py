"""Exclude globs: does `picomatch.isMatch(path, pattern, {dot: true})` of npm picomatch 4 hold?

1. A path matches a pattern that is equal to it.
2. A leading `./` is ignored; an odd number of leading `!` negates the pattern.
3. The rest is parsed at its first use into a tree, which is folded over the path from end to start: each node turns the
   set of places where what follows it begins into the set of places where it begins itself. A set of places is an
   integer (`utf16`), so nothing backtracks, and what a pattern looks ahead to is already known.
4. What cannot be used matches nothing, even after `!`: a pattern of more than `LONGEST` characters, more than
   `DEEPEST` levels or more than `MOST_STEPS` steps, an open `{`, the class `[z-a]`.

The syntax:

1. `/`, `?` and `*` are as everywhere. `**` is any number of folders where it is a whole segment: `a/**/b` is also
   `a/b`, `a/**` also `a`, but `/**/b` at the very start is not `/b`. Elsewhere two stars are one; `**.md` as a whole
   pattern is any path with that ending.
2. `[a-z]` is a class: `^` negates, `!` does not; one without ranges also matches its own text.
3. `{a,b}` is a choice, `{a..c}` one character of a range, other braces are literal.
4. `(a|b)` is a choice; `@ ? * +` before it say how often, or `?` and `+` after it. A `|` outside of all splits the
   whole pattern.
5. `!(a)` is a part of a segment that is not `a` at the end of a pattern, and elsewhere one that does not begin with
   `a`; with a `/` inside, it is any text from where the rest of the path is not `a`.

Paths are absolute and normal: no segment is empty, `.` or `..`.

Not covered, because no one is known to write it, is what picomatch does with backslashes and quotes (here they are
literal), with parentheses that do not pair, with three and more stars next to others, with `..` and a comma in one
brace, with `+` after an open `[`, and with `+(` and `*(` whose options can begin alike or hold groups: where it might
backtrack, as in `+(a|aa)`, it takes them literally; here they repeat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foretold.text.globs.utf16 import POSIX, Positions, runs, units
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    #: a part of a pattern; `starts` says where it begins when it ends at one of `ends`
    Node: TypeAlias = "Literal | Class | Star | Anything | End | Row | GlobChoice | Other"


LONGEST = 65_536  #: characters of a pattern
MOST_STEPS = 400_000  #: nodes and characters passed for one path
NEWLINES = "\n\r\u2028\u2029"


class UnusableGlob(Exception):
    """This pattern matches nothing."""


class ReversedPath:
    """A path seen from its end: place 0 is after its last character."""

    __slots__ = ("line", "places", "segment", "start", "steps")

    def __init__(self, path: str) -> None:
        self.places = Positions(path[::-1])
        self.start = 1 << len(path)  #: the set of the place before the first character
        self.segment = self.start - 1 - self.places.at("/")  #: the characters other than `/`
        self.line = self.start - 1 - sum(map(self.places.at, NEWLINES))
        self.steps = 0

    def count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise UnusableGlob


class Literal(NamedTuple):
    """Literal characters."""

    characters: str

    def starts(self, text: ReversedPath, ends: int) -> int:
        steps = 0
        for char in reversed(self.characters):
            ends = (ends & text.places.at(char)) << 1
            steps += 1
            if not ends:
                break
        text.count(steps)
        return ends


class Class(NamedTuple):
    """A character of some ranges, or any other one, which is not `/` unless `slash` is set."""

    ranges: Sequence[tuple[str, str]]
    negated: bool = False
    slash: bool = False

    def starts(self, text: ReversedPath, ends: int) -> int:
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

    def starts(self, text: ReversedPath, ends: int) -> int:
        found = runs(ends, text.segment)
        return found & text.line << 1 if self.opens else found


class Anything(NamedTuple):
    """`**` that is a whole segment: any text on one line."""

    def starts(self, text: ReversedPath, ends: int) -> int:
        return runs(ends, text.line)


class End(NamedTuple):
    """The end of the path."""

    def starts(self, _text: ReversedPath, ends: int) -> int:
        return ends & 1


class Row(NamedTuple):
    """Parts, one after the other."""

    parts: Sequence[Node]

    def starts(self, text: ReversedPath, ends: int) -> int:
        text.count(1 + len(self.parts))
        for part in reversed(self.parts):
            ends = part.starts(text, ends)
            if not ends:
                break
        return ends


class GlobChoice(NamedTuple):
    """One of some parts, or, if it may be left out, none of them, or, if it repeats, several."""

    options: Sequence[Node]
    optional: bool = False
    repeats: bool = False

    def starts(self, text: ReversedPath, ends: int) -> int:
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

    def starts(self, text: ReversedPath, ends: int) -> int:
        every = 2 * text.start - 1
        return runs(ends, text.line if self.wide else text.segment) & ~self.refused.starts(text, every)


DEEPEST = 50  #: levels of parentheses and braces
PLAIN = lazy(r"(?:[^][/?*+@!(){}|,]|/(?!\*\*(?!\*)))+")
LEAD = lazy(r"(?:\./)?((?:!(?!\((?!\?)))*)")  # `!(a)` is not a negation
SUFFIX = lazy(r"\*\*((?:\.\w+)+)", re.ASCII)
EXTGLOB = lazy(r"[?*+@]\((?!\?)|!\(")
STARS = lazy(r"\*(?:\*(?!\((?!\?)))*")  # the last one of `**(a)` is that of `*(a)`
EXTENSION = lazy(r"\.[^/.]+")
NAMED = lazy(r"\[:(\w+):\]")
CLASSES = {**POSIX, "ascii": "\x00\x7f", "punct": "!/:@[[]`{~", "word": "azAZ09__"}
EVERYTHING = Anything()
NOTHING = GlobChoice(())
SLASH = [Literal("/")]
ONE = Class([("/", "/")], negated=True)


def parse(pattern: str) -> tuple[Node, bool]:
    """The tree of a pattern, and whether the pattern is negated."""
    lead = LEAD.match(pattern)
    bangs = lead[1] if lead else ""
    rest = pattern[lead.end() :] if lead else pattern
    while rest.startswith("./") and (not bangs or len(bangs) % 2):
        rest = rest[2:]
    if not bangs and (suffix := SUFFIX.fullmatch(rest)):
        return Row([EVERYTHING, Literal(suffix[1])]), False
    try:
        return GlobParser(rest).choice(0, len(rest), "|"), len(bangs) % 2 == 1
    except UnusableGlob:
        return NOTHING, False


class GlobParser:
    """A pattern, with what is known of its brackets: `closing` has where each is closed."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.size = len(pattern)
        self.depth = -1
        self.closed = -1  #: the end of the last group, class or choice
        self.closing: dict[int, int] = {}
        self.commas: set[int] = set()
        self.pair()

    def pair(self) -> None:
        """Find which brackets belong together, and which braces have a comma of their own."""
        opened: list[int] = []
        parens = 0
        at = 0
        while at < self.size:
            char = self.pattern[at]
            if char == "[" and (end := self.class_end(at)):
                self.closing[at] = end
                at = end
            elif char in "({":
                opened.append(at)
                parens += char == "("
            elif char == ")" and parens:
                while self.pattern[opened[-1]] == "{":
                    opened.pop()
                self.closing[opened.pop()] = at
                parens -= 1
            elif char == "}" and opened and self.pattern[opened[-1]] == "{":
                self.closing[opened.pop()] = at
            elif char == "," and opened and self.pattern[opened[-1]] == "{":
                self.commas.add(opened[-1])
            at += 1

    def class_end(self, at: int) -> int:
        """Where the class that opens here is closed; 0 if nowhere."""
        at += 2 if self.pattern.startswith("^", at + 1) else 1
        at += self.pattern.startswith("]", at)
        named = False
        while (end := self.pattern.find("]", at)) >= 0:
            name = self.pattern.rfind("[:", at, end)
            if name < 0 or not (posix := NAMED.match(self.pattern, name)) or posix[1] not in CLASSES:
                return end
            at = posix.end()
            named = True
        if named:
            raise UnusableGlob
        return 0

    def choice(self, at: int, end: int, separators: str) -> GlobChoice:
        """What is between two places, as one option per separator."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnusableGlob
        options: list[Node] = []
        parts: list[Node] = []
        while at < end:
            if self.pattern[at] in separators:
                options.append(Row(parts))
                parts = []
                at += 1
            else:
                at = self.part(at, parts, separators)
        self.depth -= 1
        return GlobChoice([*options, Row(parts)])

    def part(self, at: int, parts: list[Node], separators: str) -> int:
        """Add the part of the pattern that begins here; where it ends."""
        if plain := PLAIN.match(self.pattern, at):
            parts.append(Literal(plain[0]))
            return plain.end()
        char = self.pattern[at]
        if EXTGLOB.match(self.pattern, at):
            return self.extglob(at, parts)
        if at == self.closed and (char == "+" or (char == "?" and self.pattern[at - 1] == ")")):
            self.quantify(parts, char)
        elif char in "[({" and at in self.closing:
            return self.bracketed(at, parts)
        elif char == "{":
            raise UnusableGlob
        elif char == "*" or self.pattern.startswith("/**", at):
            return self.stars(at, parts, separators)
        elif char == "?" and not self.pattern.startswith("(", at - 1):
            parts.append(ONE)
        else:
            parts.append(Literal(char))
        return at + 1

    def quantify(self, parts: list[Node], char: str) -> None:
        """`(a)?` and `(a)+`; a second `?` says nothing."""
        group = parts[-1]
        counted = isinstance(group, GlobChoice) and (group.optional or group.repeats)
        if counted and char == "+":
            raise UnusableGlob
        if not counted:
            parts[-1] = GlobChoice([group], optional=char == "?", repeats=char == "+")

    def bracketed(self, at: int, parts: list[Node]) -> int:
        """Add a class, a group or a choice."""
        end = self.closing[at]
        if self.pattern[at] == "[":
            parts.append(self.one_of(at, end))
        elif self.pattern[at] == "(":
            parts.append(self.choice(at + 1, end, "|"))
        elif at in self.commas:
            parts.append(self.choice(at + 1, end, ",|"))
        elif ".." in self.pattern[at:end]:
            parts.append(_range(self.pattern[at + 1 : end]))
        else:
            parts.append(Literal("{"))
            return at + 1
        self.closed = end + 1
        return self.closed

    def one_of(self, at: int, end: int) -> Node:
        """A class."""
        body = self.pattern[at + 1 : end]
        negated = body.startswith("^")
        ranges = _ranges(body[negated:])
        found = Class(ranges, negated=negated, slash="[:" in body)
        if "-" in body or negated or NAMED.search(body):
            return found
        return GlobChoice([found, Literal(f"[{body}]")])

    def extglob(self, at: int, parts: list[Node]) -> int:
        """Add `@(a)` and the like; an open one matches nothing, and an open `@(` is `(`."""
        end = self.closing.get(at + 1)
        char = self.pattern[at]
        if end is None:
            if char == "!":
                raise UnusableGlob
            if char != "@":
                parts.append(NOTHING)
            return at + 1
        inside = self.choice(at + 2, end, "|")
        if char == "!":
            parts.append(self.other(inside, at, end))
        else:
            parts.append(GlobChoice(inside.options, optional=char in "?*", repeats=char in "*+"))
        self.closed = end + 1
        return self.closed

    def other(self, inside: Node, at: int, end: int) -> Node:
        """`!(a)`, from what is inside."""
        refused = [inside]
        wide = "/" in self.pattern[at:end] and end - at > 3
        rest = self.pattern[end + 1 :]
        if wide or not rest.strip(")"):
            refused.append(End())
        elif "*" in self.pattern[at:end] and self.depth == 0 and EXTENSION.fullmatch(rest):
            refused += [self.choice(end + 1, self.size, "|"), End()]
        return Other(Row(refused), wide=wide)

    def stars(self, at: int, parts: list[Node], separators: str) -> int:
        """Add `*` or `**`, with the `/` before it if the place is that of one."""
        first = at + (self.pattern[at] == "/")
        stars = STARS.match(self.pattern, first)
        end = stars.end() if stars else first
        before = self.pattern[first - 1 : first]
        if end - first == 2 and self.alone(before, end, separators):
            return self.folders(at, first, end, parts)
        parts += SLASH[: first - at]
        parts.append(Star(opens=before in "/" and end - first < 3))
        return end

    def folders(self, at: int, first: int, end: int, parts: list[Node]) -> int:
        """Add a `**` that is a whole segment, with the slashes that may be left out with it."""
        while self.pattern.startswith("/**", end) and self.pattern[end + 3 : end + 4] in "/":
            end += 3
        after = self.pattern[end : end + 1]
        if first > at > 0 and after == "/":
            last = [End()] if end + 1 < self.size else []
            parts.append(GlobChoice([*SLASH, Row([*SLASH, EVERYTHING, *SLASH]), *last]))
            return end + 1
        if first == 0 and after == "/":
            parts.append(GlobChoice([Row([EVERYTHING, *SLASH])], optional=True))
            return end + 1
        last = [End()] if first > at > 0 and after in ("", ")") and self.pattern[at - 1] != "*" else []
        parts.append(GlobChoice([Row([*SLASH[: first - at], EVERYTHING]), *last]))
        return end

    def alone(self, before: str, end: int, separators: str) -> bool:
        """Whether two stars after this character and up to this place are a whole segment."""
        after = self.pattern[end : end + 1]
        in_braces = "," in separators
        return (before in ("", "/", "(", ")") or (in_braces and before in "{,")) and (
            after in ("", "/", ")", "{") or (in_braces and after in ",}") or self.pattern.startswith("@(", end)
        )


def _range(body: str) -> Node:
    """`{a..c}`."""
    ends = body.split("..")
    if len(ends) == 2 and ends > sorted(ends):
        ends.reverse()
    return Class(_ranges("-".join(ends)))


def _ranges(body: str) -> list[tuple[str, str]]:
    """The characters of a class as pairs of a first and a last one."""
    found = []
    at = 0
    while at < len(body):
        if (posix := NAMED.match(body, at)) and posix[1] in CLASSES:
            pairs = CLASSES[posix[1]]
            found += list(zip(pairs[::2], pairs[1::2], strict=True))
            at = posix.end()
        elif body.startswith("-", at + 1) and at + 2 < len(body):
            if body[at] > body[at + 2]:
                raise UnusableGlob
            found.append((body[at], body[at + 2]))
            at += 3
        else:
            found.append((body[at], body[at]))
            at += 1
    return sorted(set(found))


class Glob:
    """A pattern of `claudeMdExcludes`."""

    __slots__ = ("_negated", "_tree", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._negated = False
        self._tree: Node | None = None

    def matches(self, path: str) -> bool:
        """Whether the pattern matches this path."""
        if not path or len(self.pattern) > LONGEST:
            return False
        if path == self.pattern:
            return True
        text = ReversedPath(units(path))
        try:
            if self._tree is None:
                self._tree, self._negated = parse(units(self.pattern))
            found = bool(self._tree.starts(text, 1) & text.start)
        except UnusableGlob:
            return False
        return not found and text.line == text.start - 1 if self._negated else found
