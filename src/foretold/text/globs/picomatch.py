"""Exclude globs: does `picomatch.isMatch(path, pattern, {dot: true})` of npm picomatch 4 hold?

1. A path matches a pattern that is its own text.
2. Leading `./` say nothing; an odd number of leading `!` turns the answer round.
3. The rest is parsed at its first use into a tree (`globparse`), which is folded over the path from end to start
   (`globtree`): each node turns the set of places where what follows it begins into the set of places where it begins
   itself. A set of places is an integer (`codeunits`), so nothing backtracks, and what a pattern looks ahead to is
   already known.
4. What cannot be used matches nothing, even behind `!`: a pattern of more than `LONGEST` characters, more than
   `DEEPEST` levels or more than `MOST_STEPS` steps, an open `{`, the class `[z-a]`.

Paths are absolute and normal: no segment is empty, `.` or `..`.

Left aside, as nobody is known to write it, is what picomatch makes of backslashes and quotes (here they stand for
themselves), of parentheses that do not pair, of three and more stars beside others, of `..` and a comma in one brace,
of `+` behind an open `[`, and of `+(` and `*(` whose options can begin alike or hold groups: where it fears to
backtrack, as in `+(a|aa)`, it takes them for their own text, here they repeat.
"""

from __future__ import annotations

from foretold.text.globs.utf16 import units
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.text.globs.picomatch_tree import Node

LONGEST = 65_536  #: characters of a pattern


class Glob:
    """A pattern of `claudeMdExcludes`."""

    __slots__ = ("_negated", "_tree", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._negated = False
        self._tree: Node | None = None

    def matches(self, path: str) -> bool:
        """Whether the pattern stands for this path."""
        if not path or len(self.pattern) > LONGEST:
            return False
        if path == self.pattern:
            return True
        from foretold.text.globs import (
            picomatch_parser,
            picomatch_tree,  # most sessions have no excludes
        )

        text = picomatch_tree.Text(units(path))
        try:
            if self._tree is None:
                self._tree, self._negated = picomatch_parser.parse(units(self.pattern))
            found = bool(self._tree.starts(text, 1) & text.start)
        except picomatch_tree.Unusable:
            return False
        return not found and text.line == text.start - 1 if self._negated else found
