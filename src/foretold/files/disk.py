"""The edge to the disk: what stands at a path, its bytes, and a file replaced in one step.

1. Nothing waits: a FIFO or a device is never opened for its content.
2. A file is written beside its place, with the mode of the one it replaces, and then takes its place. So a reader sees
   the old file or the new one, and a write that fails leaves the old one.
3. Writing goes through the folder that was opened: a link that is swapped in for the file is replaced, not followed.
"""

from __future__ import annotations

import os
import stat

from foretold.storage.atomic import replace_file
from foretold.storage.kernel import KERNEL
from foretold.types import NamedTuple

_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


class Seen(NamedTuple):
    """What stands at a path, links followed."""

    kind: str  #: file, folder, other, missing, under-a-file, unreadable
    mtime: int = 0  #: milliseconds
    size: int = 0
    said: str = ""


class Disk:
    """The real one. A test may pass its own."""

    syncs = True  #: whether a file is on the disk before it takes its place
    kernel = KERNEL

    def see(self, path: str) -> Seen:
        try:
            about = os.stat(path)
        except NotADirectoryError:
            return Seen("under-a-file")
        except FileNotFoundError:
            return Seen("missing")
        except (OSError, ValueError) as error:
            return Seen("unreadable", said=getattr(error, "strerror", None) or str(error))
        kind = "file" if stat.S_ISREG(about.st_mode) else "folder" if stat.S_ISDIR(about.st_mode) else "other"
        return Seen(kind, about.st_mtime_ns // 1_000_000, about.st_size)

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        with open(os.open(path, _READ), "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""

    def target(self, path: str) -> str:
        """Where a link leads; empty if it is none."""
        return os.path.realpath(path) if os.path.islink(path) else ""

    def names(self, folder: str) -> list[str]:
        """The names in a folder, in the file system's own order."""
        try:
            return os.listdir(folder)
        except OSError:
            return []

    def write(self, path: str, data: bytes) -> None:
        """Replace a file, or make it and the folders above it. OSError if it cannot be done: the old one stays."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, data, mode=None, keep_mode=True, sync=self.syncs, kernel=self.kernel)
