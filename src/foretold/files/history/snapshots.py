"""What the files of a session were at each of its prompts: Claude Code's records of it, as values and back.

1. A snapshot belongs to a prompt. It says for each tracked file which backup holds what the file was then; no name
   means that there was no file.
2. A snapshot begins with a record of all files that were tracked before (`file-history-snapshot`). A file that is
   tracked from then on is added to it: by the whole snapshot again (`isSnapshotUpdate`), or by a record that has only
   that file (`file-history-delta`). A later record of the same prompt takes the place of an earlier one.
3. Going back to a prompt concerns every file that the session ever tracked: as the snapshot of the prompt has it, else
   as it was when it was first tracked.
4. A file is named relative to the folder of the session, or by its whole path if it is outside of it. Anything else, or
   a backup with another kind of name, is damage: it is reported and skipped.

Pure: nothing here opens a file. The format: docs/formats/file-history.md.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence

from foretold.dialects.claude_code.file_history import HistoryForm
from foretold.sessions.formats.fields import object_at, text_at
from foretold.types import Finding, NamedTuple

Json = dict[str, object]
SNAPSHOT, DELTA = "file-history-snapshot", "file-history-delta"
_NAME = re.compile(r"[0-9a-f]{16}@v[0-9]+")


class Backup(NamedTuple):
    """One state of a file."""

    name: str | None  #: of the backup in the session's folder; None: there was no file
    version: int
    time: str  #: when it was found to be so, as the agent writes times
    parent: str = ""  #: the real folder of the file, where the agent wrote it down


class FileSnapshot(NamedTuple):
    """The tracked files at one prompt, by their keys."""

    message: str  #: the prompt's id
    time: str
    files: Mapping[str, Backup]


def backup_name(path: str, version: int) -> str:
    """The name of a backup."""
    return f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}@v{version}"


def key_of(path: str, cwd: str) -> str:
    """What a session in a folder calls a file, given by its whole path."""
    top = cwd.rstrip("/") + "/"
    return path[len(top) :] if path.startswith(top) else path


def path_of(key: str, cwd: str) -> str:
    """The whole path of a file by its key."""
    return key if key.startswith("/") else f"{cwd.rstrip('/')}/{key}"


# Reading


def snapshots_of(
    records: Iterable[Mapping[str, object]], path: str = "", findings: list[Finding] | None = None
) -> list[FileSnapshot]:
    """The snapshots in records, oldest first; other records are skipped. Damage is reported for `path`."""
    found: dict[str, FileSnapshot] = {}

    def report(said: str) -> None:
        if findings is not None:
            findings.append(Finding(path, None, "history-strange", said))

    def readable(files: Mapping[str, object]) -> dict[str, Backup]:
        read = {key: _read_backup(key, value) for key, value in files.items()}
        for problem in read.values():
            if isinstance(problem, str):
                report(problem)
        return {key: backup for key, backup in read.items() if isinstance(backup, Backup)}

    for record in records:
        if record.get("type") == SNAPSHOT:
            inner = object_at(record, "snapshot")
            message, time, files = (inner.get(key) for key in ("messageId", "timestamp", "trackedFileBackups"))
            if isinstance(message, str) and isinstance(time, str) and isinstance(files, dict):
                found[message] = FileSnapshot(message, time, readable(files))
            else:
                report("a snapshot of the files is damaged and is skipped")
        elif record.get("type") == DELTA:
            message, key = record.get("snapshotMessageId"), record.get("trackingPath")
            if not isinstance(message, str) or not isinstance(key, str):
                report("a record of one file is damaged and is skipped")
                continue
            for backup in readable({key: record.get("backup")}).values():
                if message not in found:
                    report(f"the snapshot that {key} belongs to is not in the file; only this file of it is known")
                    found[message] = FileSnapshot(message, str(record.get("timestamp") or backup.time), {})
                before = found[message]
                found[message] = before._replace(files={**before.files, key: backup})
    return sorted(found.values(), key=lambda each: each.time)


def _read_backup(key: str, value: object) -> Backup | str:
    """The backup of a file, or what is wrong with it."""
    given = value if isinstance(value, dict) else {}
    name, version, time = given.get("backupFileName"), given.get("version"), given.get("backupTime")
    is_named = name is None or (isinstance(name, str) and _NAME.fullmatch(name))
    if not (is_named and "backupFileName" in given and isinstance(version, int) and isinstance(time, str)):
        return f"the backup of {key!r} has an unknown form, and is skipped"
    if "\0" in key or not {"", ".", ".."}.isdisjoint(key.removeprefix("/").split("/")):
        return f"{key!r} is not a path of a file, and is skipped"
    return Backup(name, version, time, text_at(given, "realParentDir"))


# Going back


def first_backups(snapshots: Sequence[FileSnapshot]) -> dict[str, Backup]:
    """Each file that was ever tracked, as it was when that began."""
    first: dict[str, Backup] = {}
    for snapshot in snapshots:
        for key, backup in snapshot.files.items():
            if key not in first or backup.version < first[key].version:
                first[key] = backup
    return first


def backups_at(snapshots: Sequence[FileSnapshot], message: str) -> dict[str, Backup] | None:
    """What every tracked file was at a prompt; None if the prompt has no snapshot."""
    for snapshot in snapshots:
        if snapshot.message == message:
            return {**first_backups(snapshots), **snapshot.files}
    return None


# Writing


def snapshot_record(snapshot: FileSnapshot, form: HistoryForm, message: str = "") -> Json:
    """A snapshot as a record; with a message, that of the edit which added a file to it."""
    inner: Json = {
        "messageId": snapshot.message,
        "trackedFileBackups": {key: _entry(backup, form) for key, backup in snapshot.files.items()},
        "timestamp": snapshot.time,
    }
    record: Json = {"type": SNAPSHOT, "messageId": message or snapshot.message, "snapshot": inner}
    return {**record, "isSnapshotUpdate": bool(message)}


def delta_record(snapshot: FileSnapshot, key: str, form: HistoryForm, message: str) -> Json:
    """The record of one file that an edit added to a snapshot."""
    backup = snapshot.files[key]
    return {
        "type": DELTA,
        "messageId": message,
        "snapshotMessageId": snapshot.message,
        "trackingPath": key,
        "backup": _entry(backup, form),
        "timestamp": backup.time,
    }


def _entry(backup: Backup, form: HistoryForm) -> Json:
    entry: Json = {"backupFileName": backup.name, "version": backup.version, "backupTime": backup.time}
    return {**entry, "realParentDir": backup.parent} if form.has_parent and backup.parent else entry
