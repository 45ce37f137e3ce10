"""Exclude patterns: absolute globs, tested against the path that is shown.

1. A backslash is a slash.
2. A pattern also matches with the links in the folder above its fixed part resolved: `/link/CLAUDE.md` excludes
   the file in the folder that the link leads to; `/link/*.md` does not, as the folder above `/link/` is not a link.
"""

from __future__ import annotations

from foretold.dialects.surroundings import join
from foretold.storage.tree import Tree
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foretold.text.globs.picomatch import Glob

MAGIC = frozenset("*?[{")


def compile_excludes(patterns: Sequence[str], tree: Tree) -> list[Glob]:
    """The globs of a list of patterns."""
    if not patterns:
        return []
    from foretold.text.globs.picomatch import Glob

    found = []
    for written in patterns:
        pattern = written.replace("\\", "/")
        found.append(Glob(pattern))
        other = _resolved(pattern, tree) if written.startswith("/") else pattern
        if other != pattern:
            found.append(Glob(other))
    return found


def _resolved(pattern: str, tree: Tree) -> str:
    """The pattern with the folder above its fixed part resolved."""
    fixed = next((at for at, char in enumerate(pattern) if char in MAGIC), len(pattern))
    end = pattern[:fixed].rstrip("/").rfind("/")
    return tree.real(join("/", pattern[:end])) + pattern[end:] if end > 0 else pattern
