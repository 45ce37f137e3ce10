"""Files that are written whole or not at all.

1. The data goes to a temporary file in the same folder, is synced if asked for, and then gets its name in one step:
   `replace_file` renames it over what is there, `create_file` links it and fails if the name is taken.
2. The folder is opened once, and both names are resolved in it: a link at the file's place is replaced, not followed.
3. A failure removes the temporary file and leaves the old one. The folder itself is not synced: see
   `kernel.sync_folder`.
4. A file `format` names the format of a folder's files; an older program refuses a newer one.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from foretold.errors import StoreFailed
from foretold.storage.kernel import (
    FOLDER,
    KERNEL,
    NEW,
    Kernel,
    failed,
    store_errors,
    sync_folder,
    token,
    write_all,
)
from foretold.storage.tree import open_regular

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
    regular file is refused. `temporary` is for callers that hold a lock: a leftover there is deleted first.
    """
    with _opened(path) as (folder, name):
        if keep_mode:
            mode = _mode_of(name, folder, mode)
        if temporary and _is_there(temporary, folder):
            kernel.unlink(temporary, dir_fd=folder)  # never opened: it may be a pipe
        temporary = temporary or f".{name[:80]}.{token()}"
        try:
            fill(temporary, data, folder, mode=mode, sync=sync, kernel=kernel)
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


def _is_there(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


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


# The format of a folder

MARK = "format"


def read_format(folder: str, newest: int, signs: Iterable[str]) -> int:
    """The format of a folder's files, by the file `format` in it. StoreFailed if it is newer than we know.

    Without that file it is 1, if there is one of the files that are its `signs`; else 0, and nothing is there yet. The
    start of one, which a power cut tore, is none: it never counted.
    """
    path = os.path.join(folder, MARK)
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read(4096)
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise failed(f"cannot read {path}", error) from error
    version = _parse_mark(data)
    if version == 0:
        return int(any(os.path.exists(os.path.join(folder, name)) for name in signs))
    if version < 0:
        raise StoreFailed(f"cannot read {path}: it does not name a format. Nothing was changed")
    if version > newest:
        said = f"{folder} was written by a newer foretold (format {version}; this one knows {newest})"
        raise StoreFailed(f"{said}. Nothing was changed; install the newer one: pip install -U foretold")
    return version


def _parse_mark(data: bytes) -> int:
    """The format that a mark names; 0 if it is empty or only the start of one, -1 if it is anything else.

    >>> [_parse_mark(data) for data in (b'{"store": 2}\\n', b'{"store": 99}', b'{"sto', b"", b'{"store": 9', b"no")]
    [2, 99, 0, 0, 0, -1]
    """
    text = data.rstrip(b"\0")  # of a block that was never written
    try:
        version = json.loads(text)["store"] if text else 0
        return version if type(version) is int and (version > 0 or not text) else -1
    except (KeyError, TypeError):
        return -1
    except ValueError:
        start = b'{"store": '
        is_torn = not text.endswith(b"\n") and (start.startswith(text) or text.startswith(start))
        return 0 if is_torn else -1


def write_format(folder: str, version: int, program: str, kernel: Kernel = KERNEL) -> None:
    """Record the format of a folder's files. The caller holds a lock. Format 1 is the one without a file."""
    path = os.path.join(folder, MARK)
    with store_errors(f"cannot write {path}"):
        if version == 1:
            with suppress(FileNotFoundError):
                kernel.unlink(path)
        else:
            data = json.dumps({"store": version, "written_by": program}).encode() + b"\n"
            replace_file(path, data, temporary=f"{MARK}.new", kernel=kernel)
        sync_folder(folder, kernel)
