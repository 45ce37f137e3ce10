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

from foretold.files.restore.look import FileState, content, home_of, is_writable, look_at
from foretold.text.diff import MOST_BYTES, LineCount, count_lines
from foretold.types import Finding, NamedTuple

MOVE, RIGHTS = "move it away", "check its mode and owner"
_IN_PLACE = {"link": "a symbolic link", "folder": "a folder", "other": "something other than a file"}


class WantedFile(NamedTuple):
    """What a file should be."""

    path: str
    source: str | None  #: where its bytes are; None: there is to be no file
    bits: int = 0o7777  #: of its mode, those that count
    parent: str = ""  #: its real folder, where that was written down
    since: float = 0.0  #: when it was recorded
    mode: int | None = None  #: if it is not that of the source


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
        self._found: dict[str, FileState] = {}
        self._lines: dict[tuple[str, str], LineCount | None] = {}

    def look_at(self, path: str) -> FileState:
        if path not in self._found:
            self._found[path] = look_at(path)
        return self._found[path]

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
        after = after._replace(mode=(after.mode if wanted.mode is None else wanted.mode) & wanted.bits)
    if _is_same(before, after, wanted.bits) or (before.kind == "link" and _leads_to(wanted, after)):
        return None
    home = home_of(wanted.path, wanted.parent, wanted.since)
    if home.moved:
        return _elsewhere(wanted, home.moved)
    obstacle = _obstacle(wanted, before, home.path)
    if obstacle:
        return obstacle
    change = _change(wanted, before, after, home.path, is_there=home.is_there)
    return change._replace(lines=seen.lines(wanted.path, before, wanted.source, after))


def _is_same(before: FileState, after: FileState, bits: int) -> bool:
    if before.kind != after.kind:
        return False
    return before.kind == "missing" or (before.digest == after.digest and before.mode & bits == after.mode)


def _leads_to(wanted: WantedFile, after: FileState) -> bool:
    """Whether a link leads to a file that is as it should be: Claude Code follows links when it makes a backup."""
    if after.kind == "missing":
        return not os.path.exists(wanted.path)
    return _is_same(look_at(os.path.realpath(wanted.path)), after, wanted.bits)


def _change(wanted: WantedFile, before: FileState, after: FileState, folder: str, *, is_there: bool) -> FileChange:
    if before.kind == "missing":
        action = "create"
    elif after.kind == "missing":
        action = "delete"
    else:
        action = "mode" if before.digest == after.digest and before.names == 1 else "write"
    notes = [] if is_there else ["its folder is created again"]
    if before.kind == "file" and not before.mode & 0o200:
        notes.append("it is read-only now")
    if before.names > 1 and action != "mode":
        notes.append(f"it has {before.names} names; the others keep what they have")
    return FileChange(wanted.path, action, before, after, wanted.source, folder, notes=tuple(notes))


def _no_backup(wanted: WantedFile, after: FileState) -> Finding:
    if after.kind == "missing":
        said = "its backup is gone; the agent deletes backups after 30 days"
    else:
        said = f"its backup cannot be read: {after.said or f'it is a {after.kind}'}"
    hint = f"see whether another version is kept: foretold files history {shlex.quote(wanted.path)}"
    return Finding(wanted.path, None, "backup-missing", said, hint)


def _elsewhere(wanted: WantedFile, folder: str) -> Finding:
    said = f"its folder now leads to {folder}, and led elsewhere when it was recorded"
    return Finding(wanted.path, None, "restore-elsewhere", said, "restore the folder")


def _obstacle(wanted: WantedFile, before: FileState, folder: str) -> Finding | None:
    """The problem that prevents a change."""
    path = wanted.path
    if before.kind in _IN_PLACE:
        return Finding(path, None, f"restore-{before.kind}", f"there is {_IN_PLACE[before.kind]} in its place", MOVE)
    if before.kind == "unreadable":
        said = f"it cannot be read, so it cannot be backed up: {before.said}"
        return Finding(path, None, "restore-unreadable", said, RIGHTS)
    if not is_writable(folder):
        return Finding(path, None, "restore-unwritable", f"{folder} is not writable", RIGHTS)
    if before.kind == "file" and os.geteuid() not in (0, before.owner[0]):
        said = "it belongs to another user, and would not after the restore"
        return Finding(path, None, "restore-owner", said, "let its owner do this")
    return None
