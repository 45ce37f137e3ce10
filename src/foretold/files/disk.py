"""The edge to the disk: what stands at a path, its bytes, and a file replaced in one step.

1. Nothing waits: a FIFO or a device is never opened for its content.
2. A file is written beside its place, with the mode of the one it replaces, and then takes its place. So a reader sees
   the old file or the new one, and a write that fails leaves the old one.
3. Writing goes through the folder that was opened: a link that is swapped in for the file is replaced, not followed.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from foretold.types import NamedTuple

_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Seen(NamedTuple):
    """What stands at a path, links followed."""

    kind: str  #: file, folder, other, missing, under-a-file, unreadable
    mtime: int = 0  #: milliseconds
    size: int = 0
    said: str = ""


class Disk:
    """The real one. A test may pass its own."""

    syncs = True  #: whether a file is on the disk before it takes its place

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
        folder, name = os.path.split(path)
        os.makedirs(folder, exist_ok=True)
        beside = f".{name[:80]}.{os.getpid():x}-{os.urandom(6).hex()}"
        held = os.open(folder, _FOLDER)
        try:
            try:
                self._fill(beside, data, held, _mode(name, held))
                os.rename(beside, name, src_dir_fd=held, dst_dir_fd=held)
            except BaseException:
                with suppress(OSError):
                    os.unlink(beside, dir_fd=held)
                raise
        finally:
            os.close(held)

    def _fill(self, name: str, data: bytes, folder: int, mode: int | None) -> None:
        with open(os.open(name, _NEW, 0o666, dir_fd=folder), "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            if self.syncs:
                os.fsync(file.fileno())


def _mode(name: str, folder: int) -> int | None:
    """The mode of a file that is replaced; what else stands there cannot be."""
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(about.st_mode):
        raise IsADirectoryError if stat.S_ISDIR(about.st_mode) else FileExistsError(17, "it is no regular file", name)
    return stat.S_IMODE(about.st_mode)
