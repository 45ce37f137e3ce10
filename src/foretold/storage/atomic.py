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
from collections.abc import Iterable, Iterator

from foretold.storage.kernel import KERNEL, Kernel, token, write_all

CHUNK = 1024 * 1024  #: bytes that are read or written in one call
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

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
    folder, name = os.path.split(path)
    held = os.open(folder or ".", _FOLDER)
    try:
        if keep_mode:
            mode = _mode_of(name, held, mode)
        flags = _NEW | (os.O_TRUNC if temporary else os.O_EXCL)
        temporary = temporary or f".{name[:80]}.{token()}"
        try:
            _fill(temporary, data, held, flags=flags, mode=mode, sync=sync, kernel=kernel)
            kernel.rename(temporary, name, src_dir_fd=held, dst_dir_fd=held)
        except BaseException:
            _remove(temporary, held, kernel)
            raise
    finally:
        os.close(held)


def create_file(
    path: str, data: Data, *, mode: int = 0o600, changed: int | None = None, kernel: Kernel = KERNEL
) -> None:
    """Create a file; FileExistsError if the name is taken. `changed` is its modification time in nanoseconds."""
    folder, name = os.path.split(path)
    held = os.open(folder or ".", _FOLDER)
    temporary = f".foretold-{token()}"
    try:
        _fill(temporary, data, held, flags=_NEW | os.O_EXCL, mode=mode, changed=changed, kernel=kernel)
        kernel.link(temporary, name, src_dir_fd=held, dst_dir_fd=held)
    finally:
        _remove(temporary, held, kernel)
        os.close(held)


def _fill(
    name: str,
    data: Data,
    folder: int,
    *,
    flags: int,
    mode: int | None,
    sync: bool = True,
    changed: int | None = None,
    kernel: Kernel,
) -> None:
    """Write a file that only its owner can read until it is complete."""
    descriptor = kernel.open(name, flags, 0o666 if mode is None else 0o600, dir_fd=folder)
    try:
        for chunk in _chunks(data):
            write_all(kernel, descriptor, chunk)
        if mode is not None:
            kernel.fchmod(descriptor, mode)
        if changed is not None:
            os.utime(descriptor, ns=(changed, changed))
        if sync:
            kernel.fsync(descriptor)
    finally:
        kernel.close(descriptor)


def _chunks(data: Data) -> Iterator[bytes]:
    """Pieces of data in chunks that are worth a system call each."""
    if isinstance(data, bytes):
        yield data
        return
    waiting: list[bytes] = []
    size = 0
    for piece in data:
        waiting.append(piece)
        size += len(piece)
        if size >= CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _remove(name: str, folder: int, kernel: Kernel) -> None:
    try:
        kernel.unlink(name, dir_fd=folder)
    except OSError:
        return


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
