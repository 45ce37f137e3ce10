"""File history for a harness: a snapshot at each prompt, a backup before the first edit, and going back.

1. `prompt` looks at every tracked file: one whose content or mode is not that of its last backup gets a new version,
   no matter who changed it; a missing one gets a version without a backup, each time; what is not a file just now,
   or cannot be read, keeps its entry.
2. `before_edit` begins to track a file: what it is then is version 1. A file that is tracked already adds nothing.
3. `rewind` restores every file that was ever tracked, all of them or none; with `dry_run` it only returns the plan.
   Unlike Claude Code, it stops at a link in a file's place, and at a missing backup.
4. The last 100 prompts can be rewound to. Backups of older ones stay.
5. Records are Claude Code's own, for the transcript: `prompt` and `before_edit` return what is to be written.

The backups of one session: `<config>/file-history/<session>/<digest of the path>@v<number>`.

A backup is a plain copy with the file's mode. It is written under another name first, and is whole or not there; one
that is there is never written again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime

from foretold.dialects.claude_code.file_history import HistoryForm, form_of
from foretold.errors import NoCheckpoint, StoreFailed
from foretold.files.history.snapshots import (
    Backup,
    FileSnapshot,
    Json,
    backup_name,
    backups_at,
    delta_record,
    first_backups,
    key_of,
    path_of,
    snapshot_record,
    snapshots_of,
)
from foretold.files.restore.look import look_at, state_of_open
from foretold.files.restore.plans import RestorePlan, WantedFile, make_plan
from foretold.files.restore.restore import Undo, refuse_problems, restore
from foretold.files.restore.swap import put_back
from foretold.sessions.formats.claude.reader import check_session_id
from foretold.sessions.formats.fields import parse_time
from foretold.storage.atomic import read_chunks, replace_file
from foretold.storage.kernel import KERNEL, Kernel, failed
from foretold.storage.tree import open_regular
from foretold.text.diff import LineCount


class FileHistory:
    """What the files of one session were.

    >>> import tempfile
    >>> top = os.path.realpath(tempfile.mkdtemp())
    >>> history = FileHistory(f"{top}/file-history", "session-1", top)
    >>> record = history.prompt("U1")
    >>> added = history.before_edit("a.txt")
    >>> with open(f"{top}/a.txt", "w") as file:
    ...     _ = file.write("made by the agent")
    >>> [(change.action, change.lines) for change in history.rewind("U1", dry_run=True).changes]
    [('delete', LineCount(added=0, removed=1))]
    >>> _ = history.rewind("U1")
    >>> os.path.exists(f"{top}/a.txt")
    False
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        session_id: str,
        cwd: str | os.PathLike[str],
        *,
        form: HistoryForm | None = None,
        records: Iterable[Mapping[str, object]] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`folder` is `<config>/file-history`. `records` are those of the transcript of a resumed session."""
        self.cwd = os.path.realpath(cwd)
        self.form = form or form_of("")
        self.backups = BackupFolder(os.path.join(folder, check_session_id(session_id)))
        self._clock = clock
        taken = snapshots_of(records)
        self.first: dict[str, Backup] = first_backups(taken)  #: each tracked file, as it was when that began
        self.last: dict[str, Backup] = {}
        for snapshot in taken:
            self.last.update(snapshot.files)
        self.snapshots: list[FileSnapshot] = taken[-self.form.kept :]

    @property
    def tracked(self) -> tuple[str, ...]:
        """The whole paths of all files that are tracked."""
        return tuple(path_of(key, self.cwd) for key in self.first)

    def prompt(self, message_id: str) -> Json:
        """A snapshot at a prompt: its record."""
        for key, backup in self.last.items():
            self.last[key] = self._now(path_of(key, self.cwd), backup)
        self.snapshots = [*self.snapshots, FileSnapshot(message_id, self._time(), dict(self.last))][-self.form.kept :]
        return snapshot_record(self.snapshots[-1], self.form)

    def before_edit(self, path: str | os.PathLike[str], message_id: str = "") -> Json | None:
        """Keep what a file is, if it is edited for the first time: a record, or None. `message_id` is of the edit.

        StoreFailed if no backup can be made: the edit should not be done then.
        """
        whole = os.path.normpath(os.path.join(self.cwd, path))
        key = key_of(whole, self.cwd)
        if key in self.first:
            return None
        if not self.snapshots:
            raise NoCheckpoint("there was no prompt yet: call prompt() first")
        backup = self._backup(whole, 1)
        self.first[key] = self.last[key] = backup
        snapshot = self.snapshots[-1]
        self.snapshots[-1] = snapshot = snapshot._replace(files={**snapshot.files, key: backup})
        message = message_id or snapshot.message
        if self.form.is_delta:
            return delta_record(snapshot, key, self.form, message)
        return snapshot_record(snapshot, self.form, message)

    def rewind(
        self, message_id: str, *, dry_run: bool = False, skip: Collection[str] = (), undo: Undo | None = None
    ) -> RestorePlan:
        """Restore all files to what they were at a prompt, except those to `skip`; with `undo`, it can be undone.

        NoCheckpoint if the prompt has no snapshot. RestoreRefused if the plan has problems: nothing is changed.
        """
        found = backups_at(self.snapshots, message_id)
        if found is None:
            raise NoCheckpoint(f"no snapshot of the files belongs to {message_id}")
        wanted = wanted_of({**self.first, **found}, self.cwd, self.backups, self.form)
        plan = make_plan(each for each in wanted if each.path not in skip)
        if dry_run:
            return plan
        if undo is not None:
            return restore(plan, undo, f"rewind to {message_id}").plan
        refuse_problems(plan)
        put_back(plan.changes)
        return plan

    def _now(self, path: str, backup: Backup) -> Backup:
        """What a tracked file is at a prompt."""
        if os.path.lexists(path) and not os.path.isfile(path):
            return backup
        found = look_at(os.path.realpath(path))
        if found.kind == "file" and backup.name:
            known = look_at(self.backups.path(backup.name))
            if known.digest == found.digest and known.mode == found.mode & self.form.mode_bits:
                return backup
        try:
            return self._backup(path, backup.version + 1)
        except StoreFailed:
            return backup

    def _backup(self, path: str, version: int) -> Backup:
        name = self.backups.keep(path, version, self.form.mode_bits)
        return Backup(name, version, self._time(), os.path.realpath(os.path.dirname(path)))

    def _time(self) -> str:
        now = datetime.fromtimestamp(self._clock(), UTC)
        return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def wanted_of(found: Mapping[str, Backup], cwd: str, backups: BackupFolder, form: HistoryForm) -> list[WantedFile]:
    """What files should be, by their backups."""
    return [
        WantedFile(
            path_of(key, cwd),
            backups.path(backup.name) if backup.name else None,
            form.mode_bits,
            backup.parent,
            parse_time(backup.time) or 0.0,
        )
        for key, backup in found.items()
    ]


def answer_of(plan: RestorePlan) -> Json:
    """A dry run as Claude Code answers it on its control channel.

    A file of which no line changes is not in it: one whose mode alone differs, an empty one that is made again; but an
    empty one that is deleted is.
    """
    changed = [each.path for each in plan.changes if each.action == "delete" or each.lines != LineCount()]
    return {"canRewind": True, "filesChanged": changed, "insertions": plan.added, "deletions": plan.removed}


class BackupFolder:
    """The backups in a folder."""

    def __init__(self, folder: str, kernel: Kernel = KERNEL) -> None:
        self.folder, self.kernel = folder, kernel

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def keep(self, path: str, version: int, bits: int) -> str | None:
        """Copy a file; the name of its backup, or None if there is no file. StoreFailed if it cannot be copied."""
        try:
            source = open_regular(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except IsADirectoryError:
            raise StoreFailed(f"{path} is not a file, so it cannot be backed up") from None
        except OSError as error:
            raise StoreFailed(f"{path} cannot be read, so it cannot be backed up: {error.strerror}") from error
        try:
            about = state_of_open(source)
            name = backup_name(path, version)
            os.makedirs(self.folder, 0o755, exist_ok=True)
            replace_file(self.path(name), read_chunks(source), mode=about.mode & bits, kernel=self.kernel)
        except OSError as error:
            raise failed(f"cannot keep a backup of {path}", error) from error
        finally:
            os.close(source)
        return name
