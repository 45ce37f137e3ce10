"""Globs of the Rust crate `globset`, as Copilot CLI asks them about files.

1. A leading `!` negates a pattern, the next one again; one `./` after that is ignored.
2. A pattern is tested against the path as seen from the top of the repository, and against the file's name alone; it
   matches if it matches either. So `*.ts` finds a file at any depth, and `!b/**` matches even what is in `b`.
3. `*` and `?` stay inside a name. `**` is any number of folders where it is a whole name; elsewhere two stars are one.
   `a/**` is what is below `a`, not `a` itself. `**/` alone is everything, like `**`.
4. `[a-z]` is one byte of some ranges; `!` or `^` negates, and then also a `/` matches. `{a,b}` is a choice, which may
   be nested and may have empty options. A backslash makes the next character literal.
5. What does not parse matches nothing, also after `!`: an open `[` or `{`, a `}` too many, `[z-a]`, a backslash at the
   end.

Characters are bytes of UTF-8: an `é` is two `?`. Asked of 1.0.102 with 190 patterns.
"""

from __future__ import annotations

from collections.abc import Sequence

from foretold.text.globs.picomatch import (
    LONGEST,
    Anything,
    Class,
    GlobChoice,
    Literal,
    ReversedPath,
    Row,
    Star,
    UnusableGlob,
)
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.text.globs.picomatch import Node

DEEPEST = 50  #: levels of braces
ANYTHING, SLASH, STAR = Anything(), Literal("/"), Star(opens=False)
ONE = Class([("/", "/")], negated=True)
FIRST_FOLDERS = GlobChoice([SLASH, Row([ANYTHING, SLASH])], optional=True)  #: `**/` at the start of a pattern
FOLDERS = GlobChoice([SLASH, Row([SLASH, ANYTHING, SLASH])])  #: `/**/`
BELOW = Row([SLASH, ANYTHING])  #: `/**` at the end


class GlobsetIndex:
    """The patterns of many rules, asked which of the rules match one path."""

    def __init__(self, rules: Sequence[Sequence[str]]) -> None:
        self._rules = [[GlobsetPattern(pattern) for pattern in patterns] for patterns in rules]

    def matching(self, path: str) -> list[int]:
        """The numbers of the rules that match, ascending."""
        texts = [ReversedPath(_bytes(text)) for text in dict.fromkeys((path, path.rpartition("/")[2]))]
        return [at for at, rule in enumerate(self._rules) if any(glob.matches_any(texts) for glob in rule)]


class GlobsetPattern:
    """One pattern."""

    __slots__ = ("_negated", "_tree", "problem")

    def __init__(self, pattern: str) -> None:
        bare = pattern.lstrip("!")
        self._negated = (len(pattern) - len(bare)) % 2 == 1
        self.problem = ""  #: why it matches nothing
        self._tree: Node | None = None
        try:
            self._tree = GlobsetParser(bare.removeprefix("./")).tree() if len(pattern) <= LONGEST else None
        except UnusableGlob as error:
            self.problem = str(error)

    def matches_any(self, texts: Sequence[ReversedPath]) -> bool:
        """Whether it matches one of some texts."""
        return self._tree is not None and any(self._matches(self._tree, text) for text in texts)

    def _matches(self, tree: Node, text: ReversedPath) -> bool:
        text.steps = 0
        try:
            return bool(tree.starts(text, 1) & text.start) != self._negated
        except UnusableGlob:
            return False


class GlobsetParser:
    """A pattern on its way to a tree: `open` has the options of every brace that is not closed yet."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.open: list[list[list[Node]]] = [[[]]]

    def tree(self) -> Node:
        """The whole pattern; UnusableGlob if it does not parse."""
        while self.at < len(self.pattern):
            self._step()
        if len(self.open) > 1:
            raise UnusableGlob("its `{` is not closed")
        parts = self.open[0][0]
        return ANYTHING if parts == [FIRST_FOLDERS] else Row(parts)

    def _step(self) -> None:
        char, self.at = self.pattern[self.at], self.at + 1
        parts = self.open[-1][-1]
        if char == "?":
            parts.append(ONE)
        elif char == "*":
            self._star(parts)
        elif char == "[":
            parts.append(self._class())
        elif char == "{":
            if len(self.open) > DEEPEST:
                raise UnusableGlob("its braces are nested too deeply")
            self.open.append([[]])
        elif char == "}":
            if len(self.open) == 1:
                raise UnusableGlob("its `}` closes nothing")
            options = self.open.pop()
            self.open[-1][-1].append(GlobChoice([Row(option) for option in options]))
        elif char == "," and len(self.open) > 1:
            self.open[-1].append([])
        else:
            if char == "\\":
                if self.at == len(self.pattern):
                    raise UnusableGlob("a backslash at its end makes nothing literal")
                char, self.at = self.pattern[self.at], self.at + 1
            parts.append(SLASH if char == "/" else Literal(_bytes(char)))

    def _star(self, parts: list[Node]) -> None:
        start = self.at - 1
        before, after = self.pattern[start - 1 : start], self.pattern[self.at + 1 : self.at + 2]
        if self.pattern[self.at : self.at + 1] != "*":
            parts.append(STAR)
            return
        self.at += 1
        is_suffix = not after or (after in ",}" and len(self.open) > 1)
        is_name = (before == "/" or (len(self.open) > 1 and before in ",{")) and (is_suffix or after == "/")
        if not parts and after in ("", "/"):
            parts.append(FIRST_FOLDERS)
            self.at += len(after)
        elif not parts or not is_name:
            parts.append(STAR)
        else:
            self.at += after == "/"
            if parts[-1] not in (FIRST_FOLDERS, BELOW):
                parts[-1] = BELOW if is_suffix else FOLDERS

    def _class(self) -> Node:
        negated = self.pattern[self.at : self.at + 1] in ("!", "^")
        first = self.at + negated
        end = self.pattern.find("]", first + 1)
        if end < 0:
            raise UnusableGlob("its `[` is not closed")
        self.at = end + 1
        return Class(_class_ranges(self.pattern[first:end]), negated=negated, slash=True)


def _class_ranges(chars: str) -> list[tuple[str, str]]:
    """The ranges between two brackets; one may go on from the end of another: `a-c-x` is `a-x`."""
    ranges: list[tuple[str, str]] = []
    is_open = False
    for at, char in enumerate(chars):
        if char == "-" and at and not is_open:
            is_open = True
            continue
        low = ranges.pop()[0] if is_open else char
        if char < low:
            raise UnusableGlob(f"its range `{low}-{char}` is empty")
        ranges.append((low, char))
        is_open = False
    if is_open:
        ranges.append(("-", "-"))
    return [each for low, high in ranges for each in _byte_ranges(_bytes(low), _bytes(high))]


def _byte_ranges(low: str, high: str) -> list[tuple[str, str]]:
    """A range of characters as bytes see it: only the byte before the `-` and the one after it make a range."""
    if low == high:
        return [(byte, byte) for byte in low]
    return [*((byte, byte) for byte in low[:-1] + high[1:]), (low[-1], high[0])]


def _bytes(text: str) -> str:
    """A text with one character per byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")
