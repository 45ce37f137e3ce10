"""The backups of one session: `<config>/file-history/<session>/<digest of the path>@v<number>`.

A backup is a plain copy with the file's mode. It is written under another name first, and is whole or not there; one
that is there is never written again.
"""

from __future__ import annotations

import os

from foretold.errors import StoreFailed
from foretold.files.history.snapshots import backup_name
from foretold.files.restore.look import Found, held, look
from foretold.storage.atomic import read_chunks, replace_file
from foretold.storage.kernel import KERNEL, Kernel, failed

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class Backups:
    """The backups in a folder."""

    def __init__(self, folder: str, kernel: Kernel = KERNEL) -> None:
        self.folder, self.kernel = folder, kernel

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def look(self, name: str) -> Found:
        """A backup: its digest and mode; or that it is missing."""
        return look(self.path(name))

    def keep(self, path: str, version: int, bits: int) -> str | None:
        """Copy a file; the name of its backup, or None if there is no file. StoreFailed if it cannot be copied."""
        try:
            source = os.open(path, _READ)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreFailed(f"{path} cannot be read, so there is no backup of it: {error.strerror}") from error
        try:
            about = held(source)
            if about.kind != "file":
                raise StoreFailed(f"{path} is no file, so there is no backup of it")
            name = backup_name(path, version)
            os.makedirs(self.folder, 0o755, exist_ok=True)
            replace_file(self.path(name), read_chunks(source), mode=about.mode & bits, kernel=self.kernel)
        except OSError as error:
            raise failed(f"cannot keep a backup of {path}", error) from error
        finally:
            os.close(source)
        return name
