r"""Rule `paths` as the npm package `ignore` matched them before 7.0.6, which is what Claude Code has built in.

It turns a line into a JavaScript regular expression, and much of what is in brackets or after a backslash reaches that
expression as it is. What differs from `npm_ignore`:

1. Only exactly two `*` match folders, and not right after a `**/` at the start. A line that ends in `/**/` asks for
   the folder before it, or one below. A lone `!` takes everything away.
2. `[...]` ends at the first `]`. Nothing negates it: `!` and `^` are characters of it, and so are `[` and `:`. Without
   a character it matches nothing. A `/` may be in it, and in its ranges.
3. A range whose ends are between `0` and `z` the wrong way round is left out; any other one breaks the line.
4. A `*` or `?` in brackets ends them: one of the characters so far, or of `[^/`, and for `*` any number of them.
5. An unclosed bracket matches nothing; with a `/` in it, it breaks the line.
6. A backslash before a letter or digit is an escape of JavaScript: `\s` is white space, `\d` a digit, `\r` a carriage
   return. Before other characters it makes them literal, but `\/` is a backslash and a slash, `\?` matches nothing, and
   `\*` at the end is a `*`. A line that ends in one backslash matches nothing.

A broken line is an expression that JavaScript refuses. It matches nothing, and `is_broken` says so.
"""

from __future__ import annotations

from functools import partial

from foretold.text.globs.npm_ignore import IgnoreMatcher, Line, PathPositions, match_folders, match_literal, match_star
from foretold.text.globs.utf16 import Ranges, cases, fold, runs, units
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.text.globs.npm_ignore import Step

_SPECIAL = lazy(r"[*?\[\\]")
_RANGE = lazy(r"([0-z])-([0-z])")
_END = "\uffff"
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = (
    *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
_CLASSES: dict[str, Ranges] = {"d": ((48, 57),), "w": _WORD, "s": _SPACE}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


class BrokenLine(Exception):
    """The regular expression of a line is not one."""


class EarlyIgnoreMatcher(IgnoreMatcher):
    """One rule's lines."""

    __slots__ = ()

    @staticmethod
    def parse(line: str) -> Line | None:
        try:
            return _parse(line)
        except BrokenLine:
            return None


def matcher_of(patterns: str) -> type[IgnoreMatcher]:
    """The matcher of a strategy: `ignore`, or `early-ignore`."""
    return EarlyIgnoreMatcher if patterns == "early-ignore" else IgnoreMatcher


def is_broken(line: str) -> bool:
    """Whether the regular expression of a line is not one."""
    if "[" not in line:
        return False
    try:
        _parse(line)
    except BrokenLine:
        return True
    return False


def matches_nothing(line: str) -> bool:
    """Whether a line can match no path at all, whatever it is called."""
    parsed = EarlyIgnoreMatcher.parse(line)
    return parsed is None or _nothing in parsed.steps


def _parse(line: str) -> Line | None:
    text = units(line)
    if line.startswith("#") or not text.strip() or (text.endswith("\\") and not text.endswith("\\\\")):
        return None
    negated = text.startswith("!")
    text = text[negated:]
    if text.startswith(("\\!", "\\#")):
        text = text[1:]
    anchored = "/" in text[:-1]  # before it is trimmed, and so is the agent's
    text = _trim(text)
    if not text:
        return Line([_match_everything], negated=negated, anchored=False, folder=False)
    folder = text.endswith("/")
    text = text.removesuffix("/")
    while folder and len(text) > 3 and text.endswith("/**"):
        text = text[:-3]
    steps = _read_steps(text.removeprefix("/"), folder=folder)
    return Line(steps, negated, anchored, folder) if steps else None


def _trim(text: str) -> str:
    """Without the white space at its end, but for a space after a backslash."""
    bare = text.rstrip()
    escaped = len(bare) < len(text) and (len(bare) - len(bare.rstrip("\\"))) % 2
    return bare + " " if escaped else bare


def _read_steps(text: str, *, folder: bool) -> list[Step]:
    """What a line does, in order."""
    steps: list[Step] = []
    at = 0
    while at < len(text):
        special = _SPECIAL.search(text, at)
        stop = special.start() if special else len(text)
        if stop > at:
            steps.append(partial(match_literal, fold(text[at:stop])))
            at = stop
        elif text[at] == "*":
            at = _read_stars(text, at, steps)
        elif text[at] == "?":
            steps.append(lambda here, path: (here & path.names) << 1)
            at += 1
        elif text[at] == "\\":
            step, at = _read_escape(text, at + 1)
            steps.append(step)
        else:
            step, at = _read_bracket(text, at + 1, folder=folder)
            steps.append(step)
    return steps


def _read_stars(text: str, start: int, steps: list[Step]) -> int:
    """Add the step of a run of `*`; return the place after it."""
    stop = start
    while text.startswith("*", stop):
        stop += 1
    begins = start == 0 or (text[start - 1] == "/" and text[:start] != "**/")
    if stop - start != 2 or not begins or text[stop : stop + 1] not in ("", "/"):
        steps.append(match_star)
        return stop
    steps.append(match_folders)
    if stop < len(text):
        return stop + 1
    steps.append(match_star)
    return stop


def _read_escape(text: str, at: int) -> tuple[Step, int]:
    """The step of a backslash before `at`, and the place after what it escapes."""
    char = text[at : at + 1]
    if not char:
        raise BrokenLine
    if char == "?":
        return _nothing, at + 1
    if char == "*" and at + 1 == len(text):
        return match_star, at + 1
    if char == "/":
        return partial(match_literal, "\\/"), at + 1
    if char.isspace():
        return partial(match_literal, " "), at + 1
    if char in "bB":
        return partial(_match_boundary, negated=char == "B"), at + 1
    if char.lower() in _CLASSES:
        return partial(_match_class, _CLASSES[char.lower()], negated=char.isupper()), at + 1
    if char == "c" and not (text[at + 1 : at + 2].isascii() and text[at + 1 : at + 2].isalpha()):
        return partial(match_literal, "\\c"), at + 1
    code, at = _read_code(text, at)
    return partial(match_literal, fold(chr(code))), at


def _read_code(text: str, at: int) -> tuple[int, int]:
    """The character that an escape stands for, whose backslash is before `at`, and the place after it."""
    char = text[at]
    if char in _CONTROLS:
        return _CONTROLS[char], at + 1
    if char == "c" and text[at + 1 : at + 2].isascii() and text[at + 1 : at + 2].isalpha():
        return ord(text[at + 1]) % 32, at + 2
    for letter, size in (("x", 2), ("u", 4)):
        digits = text[at + 1 : at + 1 + size]
        if char == letter and len(digits) == size and all(digit in "0123456789abcdefABCDEF" for digit in digits):
            return int(digits, 16), at + 1 + size
    stop = at
    while stop < len(text) and text[stop] in "01234567" and int(text[at : stop + 1], 8) < 256 and stop < at + 3:
        stop += 1
    return (int(text[at:stop], 8), stop) if stop > at else (ord(char), at + 1)


def _read_bracket(text: str, start: int, *, folder: bool) -> tuple[Step, int]:
    """The step of a bracket whose content starts at `start`, and the place after it."""
    at, has_slash = start, False
    while at < len(text) and text[at] != "]":
        if text[at] == "?" or (text[at] == "*" and at + 1 < len(text)):
            break
        has_slash |= text[at] == "/"
        at += 2 if text[at] == "\\" and text[at + 1 : at + 2] == "\\" else 1
    inner, last = text[start:at], text[at : at + 1]
    if last in ("*", "?") and last:
        stop = at + 1
        while last == "*" and text.startswith("*", stop) and stop + 1 < len(text):
            stop += 1
        return partial(_match_class, _read_ranges(inner + "[^/"), repeats=last == "*"), stop
    if not last:
        if has_slash or folder:
            raise BrokenLine
        return _nothing, at
    if has_slash:
        return partial(_match_class, _read_ranges(inner)), at + 1
    if (len(inner) - len(inner.rstrip("\\"))) % 2:
        return _nothing, at + 1
    kept = _RANGE.sub(lambda found: found[0] if found[1] <= found[2] else "", inner)
    return (partial(_match_class, _read_ranges(kept)) if kept else _nothing), at + 1


def _read_ranges(inner: str) -> Ranges:
    """The characters of a class of JavaScript."""
    ranges: list[tuple[int, int]] = []
    low, at, is_range = -1, 0, False
    while at < len(inner):
        if inner[at] == "-" and low >= 0 and not is_range and at + 1 < len(inner):
            is_range, at = True, at + 1
            continue
        escaped = inner[at] == "\\" and at + 1 < len(inner)
        if escaped and inner[at + 1].lower() in _CLASSES:
            ranges += _CLASSES[inner[at + 1].lower()] if inner[at + 1].islower() else _others(inner[at + 1].lower())
            ranges += [(45, 45)] if is_range else []
            low, at, is_range = -1, at + 2, False
            continue
        code, at = _read_member(inner, at + 1) if escaped else (ord(inner[at]), at + 1)
        if is_range and low > code:
            raise BrokenLine
        ranges.append((low if is_range else code, code))
        low, is_range = (-1, False) if is_range else (code, False)
    return tuple(ranges)


def _read_member(inner: str, at: int) -> tuple[int, int]:
    return (8, at + 1) if inner[at] == "b" else _read_code(inner, at)


def _others(name: str) -> list[tuple[int, int]]:
    """The characters that a class has not."""
    found, low = [], 0
    for first, last in sorted(_CLASSES[name]):
        found.append((low, first - 1))
        low = last + 1
    return [*found, (low, ord(_END))]


def _match_class(
    ranges: Ranges, here: int, path: PathPositions, *, negated: bool = False, repeats: bool = False
) -> int:
    """One character in the ranges, in upper or lower case, or one that is not; or any number of them."""
    found = 0
    for unit, places in path.places.items():
        if any(low <= case <= high for case in cases(unit) for low, high in ranges) is not negated:
            found |= places
    return runs(here, found) if repeats else (here & found) << 1


def _match_boundary(here: int, path: PathPositions, *, negated: bool) -> int:
    """Between a character of a word and another one, or the end of the path."""
    word = 0
    for unit, places in path.places.items():
        if any(low <= ord(unit) <= high for low, high in _WORD):
            word |= places
    edges = word ^ word << 1
    return here & (~edges if negated else edges)


def _match_everything(_here: int, path: PathPositions) -> int:
    return path.ends


def _nothing(_here: int, _path: PathPositions) -> int:
    return 0
