"""The files below a folder, for searches.

1. In the order of their names, folder by folder. Links are not followed, and a link is not a file.
2. `.git` is left out; what git ignores, if that is asked for.
3. A walk ends after so many entries; the caller says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from foretold.text.globs.git import IgnoreRules, ignore_rules

MOST = 300_000  #: entries
_GLOB = re.compile(r"[*?\[{(!+@\\]")


def split_pattern(pattern: str, path: str) -> tuple[str, str]:
    """The folder that a pattern is searched in, and the pattern from there on.

    >>> split_pattern("/repo/src/**/*.py", ""), split_pattern("*.py", "src")
    (('/repo/src', '**/*.py'), ('src', '*.py'))
    """
    if not pattern.startswith("/"):
        return path, pattern.removeprefix("./")
    special = _GLOB.search(pattern)
    at = pattern.rfind("/", 0, special.start() if special else len(pattern))
    return pattern[:at] or "/", pattern[at + 1 :]


class FolderWalk:
    """A walk below a folder. `is_complete` is known at its end."""

    def __init__(self, folder: str, *, ignores: bool, most: int = MOST) -> None:
        self.folder = folder.rstrip("/") or "/"
        self._ignores, self._left = ignores, most
        self.is_complete = True

    def files(self) -> Iterator[os.DirEntry[str]]:
        """All files, with their paths."""
        return self._below(self.folder, ignore_rules(self.folder) if self._ignores else None)

    def _below(self, folder: str, ignored: IgnoreRules | None) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            self._left -= 1
            if self._left < 0:
                self.is_complete = False
                return
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == ".git" or (ignored is not None and ignored.has(entry.path, is_folder=is_folder)):
                continue
            if is_folder:
                yield from self._below(entry.path, ignored.below(entry.path) if ignored is not None else None)
            elif entry.is_file(follow_symlinks=False):
                yield entry
