"""Rule `paths`: gitignore matching, equal to the npm package `ignore` with its default options.

1. A line loses its trailing line breaks, then its trailing spaces; a backslash keeps a space. What starts with `#`
   and what is empty matches nothing. A leading `!` makes the line a re-inclusion.
2. A trailing `/` asks for a folder. Any other `/`, even an escaped one or one in brackets, anchors the line at the
   base; without one it applies at every depth. One leading `/` only anchors.
3. `*` and `?` stay inside a name. Two or more `*` that fill a whole name match any number of folders; at the end
   of the line, for everything below. A backslash makes the next character literal.
4. `[...]` is one character other than `/`: single characters, ranges, `[:alpha:]` classes, `!` or `^` to negate. A
   `]` that comes first is literal; an inverted range is its first end. A line with an unclosed bracket, an unknown
   class or a lone backslash at its end never matches.
5. Case is ignored as a JavaScript regular expression without the `u` flag ignores it, and a character is a UTF-16
   unit: an emoji is two `?`.
6. Each parent folder of the path is tested as well as the path: the last line that matches a folder decides about
   it, and whatever is below a matched folder is matched.

A line runs over all places of the path at once (`utf16`), so it answers for the path and its parents in one pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

from foretold.text.globs.utf16 import POSIX, Positions, Ranges, cases, fold, runs, units
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    Step = Callable[[int, "PathPositions"], int]

_SPECIAL = lazy(r"[*?\[\\]")


class IgnoreMatcher:
    """One rule's lines. `matches` takes a relative POSIX path; a folder may end in `/`."""

    __slots__ = ("_lines", "_patterns")

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns
        self._lines: list[Line] | None = None

    def matches(self, path: str) -> bool:
        return not _outside(path) and self.matches_in(PathPositions(path))

    def matches_in(self, path: PathPositions) -> bool:
        if self._lines is None:
            self._lines = [line for line in map(self.parse, self._patterns) if line]
        matched = 0
        for line in self._lines:
            if not line.negated:
                matched |= line.ends(path)
            elif matched:
                matched &= ~line.ends(path)
        return matched != 0

    @staticmethod
    def parse(line: str) -> Line | None:
        return _parse(line)


class RuleIndex:
    """Many rules, asked which of them match one path.

    Every literal stretch of a line is in each path that the line matches. A line is filed under the stretch that the
    fewest lines have, and only rules filed under a stretch of the path are parsed and run. Rules with the same lines
    are one.
    """

    __slots__ = ("_filed", "_matchers", "_numbers")

    def __init__(self, rules: Sequence[Sequence[str]], matcher: type[IgnoreMatcher] = IgnoreMatcher) -> None:
        numbers: dict[tuple[str, ...], list[int]] = {}
        for number, patterns in enumerate(rules):
            numbers.setdefault(tuple(patterns), []).append(number)
        self._numbers = list(numbers.values())
        self._matchers = list(map(matcher, numbers))
        self._filed = _file_by_rarest(
            [[_stretches(line) for line in rule if line and line[0] not in "!#"] for rule in numbers]
        )

    def matching(self, path: str) -> list[int]:
        """The numbers of the rules that match, ascending."""
        if _outside(path):
            return []
        places = PathPositions(path)
        text = places.text
        plausible = {group for stretch, groups in self._filed.items() if stretch in text for group in groups}
        found = [group for group in plausible if self._matchers[group].matches_in(places)]
        return sorted(number for group in found for number in self._numbers[group])


def _stretches(line: str) -> list[str]:
    """Literal stretches of a line: none that is not there, though not always all of them whole."""
    text = fold(line)
    if "\\" in text:
        text = text[: text.index("\\")].partition("[")[0]
    elif "[" in text:
        text = text.partition("[")[0] + "*" + text.rpartition("]")[2].rpartition("[")[2]
    return text.strip("*/ \r\n").replace("?", "*").replace("/*", "*").split("*")


def _file_by_rarest(rules: list[list[list[str]]]) -> dict[str, list[int]]:
    count = Counter(chain.from_iterable(chain.from_iterable(rules)))
    # One or two characters are in most paths, however few lines have them.
    rarity = {stretch: n if len(stretch) > 2 else n + 1000 for stretch, n in count.items()}.__getitem__
    filed: dict[str, list[int]] = {}
    for number, lines in enumerate(rules):
        for line in lines:
            filed.setdefault(min(line, key=rarity), []).append(number)
    return filed


class PathPositions(Positions):
    """A folded path: where its names start, where its folders end, where they or the path end, what is in a name."""

    __slots__ = ("ends", "folders", "names", "starts")

    def __init__(self, path: str) -> None:
        super().__init__(fold(path.removesuffix("/")))
        slashes, end = self.at("/"), 1 << self.size
        self.starts = slashes << 1 | 1
        self.ends = slashes | end
        self.folders = self.ends if path.endswith("/") else slashes
        self.names = end - 1 & ~slashes


class Line(NamedTuple):
    steps: list[Step]
    negated: bool
    anchored: bool
    folder: bool

    def ends(self, path: PathPositions) -> int:
        """The ends of the folders, or of the path, that this line matches."""
        here = 1 if self.anchored else path.starts
        for step in self.steps:
            here = step(here, path)
            if not here:
                break
        return here & (path.folders if self.folder else path.ends)


def match_literal(text: str, here: int, path: PathPositions) -> int:
    at = path.at
    for unit in text:
        here = (here & at(unit)) << 1
        if not here:
            break
    return here


def _bracket(ranges: Ranges, here: int, path: PathPositions, *, negated: bool) -> int:
    """One character in the ranges, in upper or lower case, or one that is not; never a `/`."""
    here &= path.names
    found = 0
    for unit, places in path.places.items():
        if places & here and any(low <= case <= high for case in cases(unit) for low, high in ranges):
            found |= places
    return (here & (~found if negated else found)) << 1


def match_star(here: int, path: PathPositions) -> int:
    return runs(here, path.names)


def match_folders(here: int, path: PathPositions) -> int:
    """From the first place on, every start of a name."""
    first = here & -here
    return here | path.starts & -first


def _parse(line: str) -> Line | None:
    text = _trim(units(line))
    negated = text.startswith("!")
    text = text[negated:]
    if line.startswith("#") or not text:
        return None
    folder = text.endswith("/")
    text = text.removesuffix("/")
    steps = _steps(text.removeprefix("/"))
    return Line(steps, negated, "/" in text, folder) if steps else None


def _trim(text: str) -> str:
    text = text.rstrip("\r\n")
    bare = text.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2
    return text[: len(bare) + escaped]


def _steps(text: str) -> list[Step]:
    """What a line does, in order; nothing if it can never match."""
    steps: list[Step] = []
    at = name = 0
    while at < len(text):
        special = _SPECIAL.search(text, at)
        stop = special.start() if special else len(text)
        if stop > at:
            steps.append(partial(match_literal, fold(text[at:stop])))
            at, name = stop, stop if text[stop - 1] == "/" else name
        elif text[at] == "*":
            at = _asterisks(text, at, steps, fills_from=name)
            name = at if text[at - 1] == "/" else name
        elif text[at] == "?":
            steps.append(lambda here, path: (here & path.names) << 1)
            at += 1
        elif text[at] == "\\" and at + 1 < len(text):
            steps.append(partial(match_literal, fold(text[at + 1])))
            at += 2
        elif text[at] == "[" and (bracket := _read_bracket(text, at + 1)):
            step, at = bracket
            steps.append(step)
        else:
            return []
    return steps


def _asterisks(text: str, start: int, steps: list[Step], *, fills_from: int) -> int:
    """Add the step of a run of `*`, where a name starts at `fills_from`; return the place after it."""
    stop = start
    while text.startswith("*", stop):
        stop += 1
    if stop - start == 1 or start != fills_from or text[stop : stop + 1] not in ("", "/"):
        steps.append(match_star)
        return stop
    steps.append(match_folders)
    if stop < len(text):
        return stop + 1
    steps.append(match_star)
    return stop


def _read_bracket(text: str, at: int) -> tuple[Step, int] | None:
    """The step of a bracket whose content starts at `at`, and the place after it."""
    negated = text[at : at + 1] in ("!", "^")
    first = at = at + negated
    if text.find("]", at + 1) < 0:
        return None
    ranges: list[tuple[int, int]] = []
    low, close = -1, -1
    while at < len(text) and (text[at] != "]" or at == first):
        if text.startswith("[:", at):
            close = close if close > at else text.find("]", at)
            if close < at:
                return None
            if close > at + 2 and text[close - 1] == ":":
                if (pairs := POSIX.get(text[at + 2 : close - 1])) is None:
                    return None
                ranges += zip(map(ord, pairs[::2]), map(ord, pairs[1::2]), strict=True)
                low, at = -1, close + 1
                continue
        is_range = low >= 0 and text[at] == "-" and text[at + 1 : at + 2] not in ("", "]")
        at += is_range
        at += text[at] == "\\"
        if at == len(text):
            return None
        code = ord(text[at])
        ranges.append((low if is_range else code, code))
        low = -1 if is_range else code
        at += 1
    if at == len(text):
        return None
    return partial(_bracket, tuple(ranges), negated=negated), at + 1


def _outside(path: str) -> bool:
    return path in ("", ".", "..") or path.startswith(("/", "./", "../"))
