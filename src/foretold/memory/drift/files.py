"""The files of a repository, listed once.

1. In a git repository git lists what is tracked, and what is neither tracked nor ignored. Submodules, and
   repositories inside, are walked without git: their settings are not ours to obey.
2. Elsewhere folders are walked, without following links; folders that hold what programs made are left out.
3. What could not be listed is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from foretold.git.runner import Git
from foretold.types import NamedTuple

#: folders that a walk leaves out
LEFT_OUT = frozenset(
    ".git .hg .svn .jj node_modules .venv venv __pycache__ .tox .nox .mypy_cache .ruff_cache .pytest_cache .cache "
    ".gradle .idea .terraform target dist build".split()
)
MOST_FILES = 2_000_000


class Listing(NamedTuple):
    """The files of a repository: paths relative to its root, with `/`."""

    files: list[str]
    absent: frozenset[str] = frozenset()  #: files that git has and a sparse checkout leaves out
    empty: tuple[str, ...] = ()  #: submodules that are not checked out
    unread: tuple[str, ...] = ()  #: folders that the file system refuses to list
    walked: bool = False  #: whether some files are not known to git: it did not list them


def list_files(root: str, git: Git | None) -> Listing:
    """List a repository.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pathlib.Path(folder, "a.py").touch()
    ...     list_files(folder, None).files
    ['a.py']
    """
    unread: list[str] = []
    tracked = git.tracked() if git else None
    if tracked is None:
        return Listing([*_walk(root, "", unread)], unread=tuple(unread), walked=True)
    files, empty = tracked.files, []
    for folder in tracked.folders:
        inside = [*_walk(root, folder, unread)] if _is_real(root, folder) else []
        files += inside
        if not inside:
            empty.append(folder)
    return Listing(files, tracked.absent, tuple(empty), tuple(unread), walked=len(empty) < len(tracked.folders))


def _is_real(root: str, folder: str) -> bool:
    """Whether a folder is inside of the root without a link on the way."""
    whole = os.path.join(root, folder)
    return os.path.isdir(whole) and os.path.realpath(whole) == os.path.join(os.path.realpath(root), folder)


def _walk(root: str, start: str, unread: list[str]) -> Iterator[str]:
    """Every file and link below a folder, in no order."""
    waiting, count = [start], 0
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as items:
                entries = [(item.name, item.is_dir(follow_symlinks=False)) for item in items]
        except OSError:
            unread.append(folder)
            continue
        for name, is_folder in entries:
            path = f"{folder}/{name}" if folder else name
            if name == ".git":
                continue
            if not is_folder:
                count += 1
                yield path
            elif name not in LEFT_OUT:
                waiting.append(path)
        if count > MOST_FILES:
            unread.append(f"all beyond {MOST_FILES:,} files")
            return
