"""Opening files and folders through descriptors, following no link: one that is swapped in is met, not followed."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from foretold.errors import NoSuchMemory, StoreFailed
from foretold.storage.kernel import FOLDER, KERNEL, Kernel, failed
from foretold.types import NamedTuple

INSIDE = FOLDER | os.O_NOFOLLOW
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  #: needs no right to read


class Stamp(NamedTuple):
    """What tells a changed file from an unchanged one without reading it."""

    inode: int
    size: int
    mtime: int
    ctime: int


class FileBytes(NamedTuple):
    """A file's bytes as they were read in one go."""

    data: bytes
    stamp: Stamp

    @property
    def changed(self) -> float:
        return self.stamp.mtime / 1e9


def read_in(parent: int, name: str, file: str, where: str, largest: int) -> FileBytes:
    """The bytes of a regular file of at most `largest` bytes."""
    try:
        descriptor = os.open(name, READ, dir_fd=parent)
    except FileNotFoundError:
        raise NoSuchMemory(f"there is no {file} in {where}") from None
    except OSError as error:
        raise failed(f"cannot read {file}", error) from error
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise StoreFailed(f"cannot read {file}: it is not a regular file")
        if about.st_size > largest:
            raise StoreFailed(f"cannot read {file}: it has more than {largest:,} bytes")
        with open(descriptor, "rb", closefd=False) as opened:
            data = opened.read(largest + 1)
    finally:
        os.close(descriptor)
    return FileBytes(data, stamp_of(about))


def stamp_of(about: os.stat_result) -> Stamp:
    return Stamp(about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def open_folder(path: str, kernel: Kernel = KERNEL, *, make: bool) -> int:
    """Open a folder by its real path, part by part; with `make`, missing ones are created and synced."""
    folder = os.open("/", _STEP)
    try:
        for part in filter(None, path.split("/")):
            try:
                inner = os.open(part, _STEP, dir_fd=folder)
            except FileNotFoundError:
                if not make:
                    raise
                inner = _make_folder(part, folder, kernel)
            os.close(folder)
            folder = inner
        return os.open(".", INSIDE, dir_fd=folder)
    finally:
        os.close(folder)


def _make_folder(part: str, above: int, kernel: Kernel) -> int:
    with suppress(FileExistsError):
        kernel.mkdir(part, 0o777, dir_fd=above)
    readable = os.open(".", INSIDE, dir_fd=above)
    try:
        kernel.fsync(readable)
    finally:
        os.close(readable)
    return os.open(part, _STEP, dir_fd=above)
