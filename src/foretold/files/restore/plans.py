"""What restoring files would do. It only reads: every problem is found before anything is changed.

1. A file is as it should be, or its content is written, or it is created again, or deleted, or only its mode changes.
2. A problem needs a person's decision: a link or a folder in the file's place, a folder above it that now leads
   elsewhere, a backup that is missing, a folder that cannot be written to, a file that cannot be read or belongs to
   another user. One problem stops everything.
3. A note stops nothing: the file is read-only now, it has other names, its folder is created again.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from functools import cache

from foretold.files.restore.look import FileState, content, home_of, is_writable, look_at
from foretold.text.diff import MOST_BYTES, LineCount, count_lines
from foretold.types import Finding, NamedTuple

_RIGHTS = "check its mode and owner"
_IN_PLACE = {"link": "a symbolic link", "folder": "a folder", "other": "something other than a file"}


class WantedFile(NamedTuple):
    """What a file should be."""

    path: str
    source: str | None  #: where its bytes are; None: there is to be no file
    bits: int = 0o7777  #: of its mode, those that count
    parent: str = ""  #: its real folder, where that was written down
    since: float = 0.0  #: when it was recorded
    mode: int | None = None  #: if it is not that of the source
    owner: tuple[int, int] = (-1, -1)  #: of a file that is not there now: user and group, if they are known


class FileChange(NamedTuple):
    """A change of one file."""

    path: str
    action: str  #: write, create, delete, mode
    before: FileState
    after: FileState
    source: str | None
    folder: str  #: the real one
    lines: LineCount | None = None  #: None: the file is too large to count
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


class FileCache:
    """File states that were read, for several plans about the same files."""

    def __init__(self) -> None:
        self.look_at = cache(look_at)
        self._lines: dict[tuple[str, str], LineCount | None] = {}

    def lines(self, path: str, before: FileState, source: str | None, after: FileState) -> LineCount | None:
        """The lines between a file and what it should be; None if they are too many to count."""
        key = (before.digest, after.digest)
        if before.digest == after.digest:
            return LineCount()
        if key not in self._lines:
            old = content(path, MOST_BYTES) if before.kind == "file" else b""
            new = content(source, MOST_BYTES) if source else b""
            self._lines[key] = None if old is None or new is None else count_lines(old, new)
        return self._lines[key]


class RestorePlan(NamedTuple):
    """The changes to make, and the problems that prevent them."""

    changes: tuple[FileChange, ...] = ()
    same: tuple[str, ...] = ()
    problems: tuple[Finding, ...] = ()

    @property
    def added(self) -> int:
        return sum(change.lines.added for change in self.changes if change.lines)

    @property
    def removed(self) -> int:
        return sum(change.lines.removed for change in self.changes if change.lines)


def make_plan(wanted: Iterable[WantedFile], seen: FileCache | None = None) -> RestorePlan:
    """The changes from what the files are to what is wanted. `seen` files are not read again."""
    seen = seen or FileCache()
    changes: list[FileChange] = []
    same: list[str] = []
    problems: list[Finding] = []
    for each in wanted:
        found = _plan_file(each, seen)
        if isinstance(found, FileChange):
            changes.append(found)
        elif isinstance(found, Finding):
            problems.append(found)
        else:
            same.append(each.path)
    return RestorePlan(tuple(changes), tuple(same), tuple(problems))


def _plan_file(wanted: WantedFile, seen: FileCache) -> FileChange | Finding | None:
    """A change, the problem that prevents it, or None if the file is as it should be."""
    before = seen.look_at(wanted.path)
    after = seen.look_at(wanted.source) if wanted.source else FileState()
    if wanted.source and after.kind != "file":
        return _no_backup(wanted, after)
    if after.kind == "file":
        mode = (after.mode if wanted.mode is None else wanted.mode) & wanted.bits
        after = after._replace(mode=mode, owner=wanted.owner)
    if _is_same(before, after, wanted.bits) or (before.kind == "link" and _leads_to(wanted, after)):
        return None
    folder, is_elsewhere = home_of(wanted.path, wanted.parent, wanted.since)
    obstacle = _obstacle(before, folder, is_elsewhere=is_elsewhere)
    if obstacle:
        return Finding(wanted.path, None, *obstacle)
    if before.kind == "missing" or after.kind == "missing":
        action = "create" if before.kind == "missing" else "delete"
    else:
        action = "mode" if before.digest == after.digest and before.names == 1 else "write"
    notes = [] if os.path.isdir(folder) else ["its folder is created again"]
    if before.kind == "file" and not before.mode & 0o200:
        notes.append("it is read-only now")
    if before.names > 1 and action != "mode":
        notes.append(f"it has {before.names} names; the others keep what they have")
    lines = seen.lines(wanted.path, before, wanted.source, after)
    return FileChange(wanted.path, action, before, after, wanted.source, folder, lines, tuple(notes))


def find_problem(path: str) -> Finding | None:
    """What prevents that a file is written, or deleted, as it is now; None if nothing does."""
    obstacle = _obstacle(look_at(path), home_of(path)[0], is_elsewhere=False)
    return Finding(path, None, *obstacle) if obstacle else None


def _is_same(before: FileState, after: FileState, bits: int) -> bool:
    if before.kind != after.kind:
        return False
    return before.kind == "missing" or (before.digest == after.digest and before.mode & bits == after.mode)


def _leads_to(wanted: WantedFile, after: FileState) -> bool:
    """Whether a link leads to a file that is as it should be: Claude Code follows links when it makes a backup."""
    if after.kind == "missing":
        return not os.path.exists(wanted.path)
    return _is_same(look_at(os.path.realpath(wanted.path)), after, wanted.bits)


def _no_backup(wanted: WantedFile, after: FileState) -> Finding:
    if after.kind == "missing":
        said = "its backup is gone; the agent deletes backups after 30 days"
    else:
        said = f"its backup cannot be read: {after.said or f'it is a {after.kind}'}"
    hint = f"see whether another version is kept: foretold files history {shlex.quote(wanted.path)}"
    return Finding(wanted.path, None, "backup-missing", said, hint)


def _obstacle(before: FileState, folder: str, *, is_elsewhere: bool) -> tuple[str, str, str] | None:
    """The problem that prevents a change: code, message and hint."""
    if is_elsewhere:
        said = f"its folder now leads to {folder}, and led elsewhere when it was recorded"
        return "restore-elsewhere", said, "restore the folder"
    if before.kind in _IN_PLACE:
        return f"restore-{before.kind}", f"there is {_IN_PLACE[before.kind]} in its place", "move it away"
    if before.kind == "unreadable":
        return "restore-unreadable", f"it cannot be read, so it cannot be backed up: {before.said}", _RIGHTS
    if not is_writable(folder):
        return "restore-unwritable", f"{folder} is not writable", _RIGHTS
    if before.kind == "file" and os.geteuid() not in (0, before.owner[0]):
        return "restore-owner", "it belongs to another user, and would not after the restore", "let its owner do this"
    return None
