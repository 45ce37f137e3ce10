"""Files that are written whole or not at all.

1. The data goes to a temporary file in the same folder, is synced if asked for, and then gets its name in one step:
   `replace_file` renames it over what is there, `create_file` links it and fails if the name is taken.
2. The folder is opened once, and both names are resolved in it: a link at the file's place is replaced, not followed.
3. A failure removes the temporary file and leaves the old one. The folder itself is not synced: see
   `kernel.sync_folder`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from foretold.storage.kernel import FOLDER, KERNEL, NEW, Kernel, token, write_all

CHUNK = 1024 * 1024  #: bytes that are read or written in one call

Data = bytes | Iterable[bytes]


def replace_file(
    path: str,
    data: Data,
    *,
    mode: int | None = 0o600,
    keep_mode: bool = False,
    sync: bool = True,
    temporary: str = "",
    kernel: Kernel = KERNEL,
) -> None:
    """Replace a file, or create it. OSError if that is not possible.

    `mode` None leaves it to the umask. With `keep_mode`, a file that is replaced keeps its mode, and anything but a
    regular file is refused. `temporary` is for callers that hold a lock: a leftover there is overwritten.
    """
    with _opened(path) as (folder, name):
        if keep_mode:
            mode = _mode_of(name, folder, mode)
        flags = (NEW ^ os.O_EXCL) | os.O_TRUNC if temporary else NEW
        temporary = temporary or f".{name[:80]}.{token()}"
        try:
            fill(temporary, data, folder, flags=flags, mode=mode, sync=sync, kernel=kernel)
            kernel.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                kernel.unlink(temporary, dir_fd=folder)
            raise


def create_file(
    path: str, data: Data, *, mode: int = 0o600, changed: int | None = None, kernel: Kernel = KERNEL
) -> None:
    """Create a file; FileExistsError if the name is taken. `changed` is its modification time in nanoseconds."""
    date = None if changed is None else lambda file: os.utime(file, ns=(changed, changed))
    temporary = f".foretold-{token()}"
    with _opened(path) as (folder, name):
        try:
            fill(temporary, data, folder, mode=mode, finish=date, kernel=kernel)
            kernel.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(OSError):
                kernel.unlink(temporary, dir_fd=folder)


@contextmanager
def _opened(path: str) -> Iterator[tuple[int, str]]:
    """The folder of a file, and its name there."""
    folder, name = os.path.split(path)
    held = os.open(folder or ".", FOLDER)
    try:
        yield held, name
    finally:
        os.close(held)


def fill(
    name: str,
    data: Data,
    folder: int,
    *,
    flags: int = NEW,
    mode: int | None,
    sync: bool = True,
    finish: Callable[[int], None] | None = None,
    kernel: Kernel,
) -> None:
    """Write a file that only its owner can read until it is complete; `finish` may change it before it is synced."""
    descriptor = kernel.open(name, flags, 0o666 if mode is None else 0o600, dir_fd=folder)
    try:
        for chunk in _chunks(data):
            write_all(kernel, descriptor, chunk)
        if finish is not None:
            finish(descriptor)
        if mode is not None:
            kernel.fchmod(descriptor, mode)
        if sync:
            kernel.fsync(descriptor)
    finally:
        kernel.close(descriptor)


def _chunks(data: Data) -> Iterator[bytes]:
    """Pieces of data in chunks that are worth a system call each."""
    waiting = bytearray()
    for piece in (data,) if isinstance(data, bytes) else data:
        waiting += piece
        if len(waiting) >= CHUNK:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)


def _mode_of(name: str, folder: int, default: int | None) -> int | None:
    """The mode of a regular file; the default if there is no file."""
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return default
    if not stat.S_ISREG(about.st_mode):
        raise IsADirectoryError if stat.S_ISDIR(about.st_mode) else FileExistsError(17, "not a regular file", name)
    return stat.S_IMODE(about.st_mode)


def read_chunks(descriptor: int) -> Iterator[bytes]:
    """The bytes of an open file from its start, in chunks; its offset does not move."""
    at = 0
    while data := os.pread(descriptor, CHUNK, at):
        yield data
        at += len(data)
