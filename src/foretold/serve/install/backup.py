"""Backups of settings files, in our own state folder.

1. `installs/objects/` has contents by their digest, `installs/<digest of the path>.json` what is known about a file:
   what it was without ours, what it was after each of our changes, and what was made for ours.
2. Both are written and synced before a settings file is touched. A record that says more than was done does no harm:
   what counts is what the file is.
3. A file that is as we left it is restored byte for byte. From one that was changed since, only ours is removed.
4. `installs/begun` names the temporary files next to a settings file while it is changed. If the process was killed
   there, a later one removes them (`leftovers.py`); their content is stored here, too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from foretold.files.restore.look import look_at
from foretold.paths import foretold_folders
from foretold.storage.atomic import replace_file
from foretold.storage.kernel import KERNEL, Kernel, sync_folder
from foretold.storage.tree import open_regular, read_regular
from foretold.types import NamedTuple

MOST = 1 << 30  #: bytes of a stored file that are read
SCHEMA = "foretold.install.record/1"


class BackupRecord(NamedTuple):
    """What is known about a settings file that has ours."""

    path: str
    before: str | None  #: the digest of what it was without ours; empty: there was no file; None: not known
    after: tuple[str, ...]  #: the digests of that with ours, and nothing else
    made: tuple[tuple[str, ...], ...] = ()  #: the objects and lists in it that were made for ours
    folders: tuple[str, ...] = ()  #: the folders that were made for it, the innermost first
    first: str = ""  #: the digest of what it was before someone changed it between two of our changes


class Backups:
    """The records, and the contents that they name."""

    def __init__(self, folder: str, kernel: Kernel = KERNEL) -> None:
        self.folder, self.kernel = folder, kernel

    def record(self, path: str) -> BackupRecord | None:
        """What is known about a file; None if nothing is, or the record cannot be read."""
        try:
            fields = json.loads(read_regular(self._record_path(path), MOST))
            found = BackupRecord(
                fields["path"],
                fields["before"],
                tuple(fields["after"]),
                tuple(map(tuple, fields["made"])),
                tuple(fields["folders"]),
                fields.get("first", ""),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if found.path == path else None

    def content(self, digest: str) -> bytes | None:
        """A stored content, if it is there and whole."""
        try:
            data = read_regular(self.object_path(digest), MOST)
        except OSError:
            return None
        return data if digest_of(data) == digest else None

    def object_path(self, digest: str) -> str:
        return os.path.join(self.folder, "objects", digest)

    def keep(self, data: bytes) -> str:
        """Store a content; its digest."""
        digest = digest_of(data)
        target = self.object_path(digest)
        if look_at(target).digest != digest:
            self._write(target, data)
        return digest

    def write(self, record: BackupRecord) -> None:
        fields = {"schema": SCHEMA, **record._asdict()}
        self._write(self._record_path(record.path), json.dumps(fields, indent=1).encode())

    def forget(self, path: str) -> None:
        """Remove the record of a file without ours; the contents stay."""
        with suppress(FileNotFoundError):
            self.kernel.unlink(self._record_path(path))

    def begin(self, paths: Sequence[str]) -> None:
        """Record which temporary files will be next to settings files."""
        self._write(os.path.join(self.folder, "begun"), json.dumps(list(paths)).encode())

    def end(self) -> None:
        """Remove temporary files next to settings files, if their content is stored here."""
        try:
            paths = json.loads(read_regular(os.path.join(self.folder, "begun"), MOST))
        except (OSError, ValueError):
            return
        for path in paths:
            if self.holds(path):
                self.kernel.unlink(path)
        self.kernel.unlink(os.path.join(self.folder, "begun"))

    def holds(self, path: str) -> bool:
        """Whether a file has nothing that is not stored here: a content of ours, or the beginning of one."""
        found = look_at(path)
        if found.kind != "file":
            return False
        return found.size == 0 or os.path.exists(self.object_path(found.digest)) or self._is_beginning(path, found.size)

    def _is_beginning(self, path: str, size: int) -> bool:
        """Whether a file was not written to its end: a process was killed meanwhile."""
        try:
            with os.scandir(os.path.join(self.folder, "objects")) as entries:
                larger = [entry.path for entry in entries if entry.stat().st_size > size]
            with open(path, "rb", opener=open_regular) as file:
                data = file.read(size)
            for name in larger:
                with open(name, "rb", opener=open_regular) as file:
                    if file.read(size) == data:
                        return True
        except OSError:
            return False
        return False

    def _record_path(self, path: str) -> str:
        return os.path.join(self.folder, digest_of(os.fsencode(path))[:24] + ".json")

    def _write(self, target: str, data: bytes) -> None:
        """Write a file whole, or not at all."""
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        replace_file(target, data, kernel=self.kernel)
        sync_folder(os.path.dirname(target), self.kernel)


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def state_folder(home: str, env: Mapping[str, str]) -> str:
    """The folder of the backups.

    >>> state_folder("/home/me", {})
    '/home/me/.local/state/foretold/installs'
    """
    return foretold_folders(home, env).state + "/installs"
