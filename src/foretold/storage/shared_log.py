"""A file of lines that several processes append to, whole lines or none.

1. A line is one `write` on an append descriptor, under a lock that is held for nothing else. Processes that take no
   lock (the agent itself) may append too: the system keeps single writes on an append descriptor apart.
2. Before each line the end of the file is looked at. If the last line is not ended, a writer was killed within it: a
   line that is a whole record gets its end, any other is moved to `<file>.torn`. Nothing before it is touched.
3. A line of which the disk took only a part is taken back, and the caller is told. If somebody without a lock wrote
   behind it meanwhile, it stays, and readers name it as damaged.
4. `append` returns when the system has the line: it survives `kill -9` of every process. With `sync`, it returns when
   the disk has confirmed it: it survives a power cut as well.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os

from foretold.errors import NotSynced, StoreFailed
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Callable

_STEP = 64 * 1024
_FOLDER, _FILE = 0o755, 0o600


class AppendFile:
    """A file open for appending. `findings` names what was found torn."""

    def __init__(
        self, path: str, *, sync: bool = True, write: Callable[[int, bytes], int] = os.write, create: bool = True
    ) -> None:
        self.path, self.findings = path, list[Finding]()
        self.end = 0  #: where the last line ends that was written here
        self._sync, self._write = sync, write
        folder = os.path.dirname(path)
        try:
            os.makedirs(folder, mode=_FOLDER, exist_ok=True)
            is_new = not os.path.lexists(path)
            made = os.O_CREAT if create else 0
            self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | made, _FILE)
        except OSError as error:
            raise StoreFailed(f"{path} cannot be opened: {error.strerror}") from error
        if is_new and sync:
            sync_folder(folder)
        self._locked(self._mend)

    @property
    def is_closed(self) -> bool:
        return self._descriptor < 0

    def append(self, line: bytes) -> None:
        """Write a line, without its end, as a whole."""
        data = line + b"\n"
        self._locked(lambda: self._put(data))
        if self._sync:
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                raise NotSynced(f"{self.path}: written, but the disk did not confirm it: {error.strerror}") from error

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _locked(self, action: Callable[[], None]) -> None:
        if self._descriptor < 0:
            raise StoreFailed(f"{self.path} is closed")
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            action()
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _put(self, data: bytes) -> None:
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            self._mend()
            size = os.fstat(self._descriptor).st_size
        try:
            count = self._write(self._descriptor, data)
        except OSError as error:
            raise StoreFailed(f"{self.path}: nothing was written: {error.strerror}") from error
        if count != len(data):
            self._take_back(size, count)
        # behind an append the descriptor stands at the end of it, whoever wrote before or since
        self.end = os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def _take_back(self, size: int, count: int) -> None:
        if os.fstat(self._descriptor).st_size == size + count:
            os.ftruncate(self._descriptor, size)
        raise StoreFailed(f"{self.path}: nothing was written: {os.strerror(errno.ENOSPC)}; make room and try again")

    def _mend(self) -> None:
        """End or put aside a last line that has no end."""
        size = os.fstat(self._descriptor).st_size
        start = _last_line(self._descriptor, size)
        if start == size:
            return
        torn = _read(self._descriptor, start, size - start)
        if _is_record(torn):
            self._write(self._descriptor, b"\n")
            return
        aside = self.path + ".torn"
        keep(aside, torn)
        if os.fstat(self._descriptor).st_size == size:
            os.ftruncate(self._descriptor, start)
            said = f"the last {size - start:,} bytes were torn, and are in {os.path.basename(aside)}"
            self.findings.append(Finding(self.path, None, "record-torn", said))


def keep(path: str, data: bytes) -> None:
    """Put bytes at the end of a file that holds what was torn, and wait for the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _FILE)
    try:
        view = memoryview(data + b"\n")
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    sync_folder(os.path.dirname(path))


def _last_line(descriptor: int, size: int) -> int:
    """Where the last line begins; at the end of the file, if the last line is ended."""
    at = size
    while at > 0:
        start = max(0, at - _STEP)
        found = _read(descriptor, start, at - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def _read(descriptor: int, start: int, count: int) -> bytes:
    pieces = []
    while count:
        piece = os.pread(descriptor, count, start)
        if not piece:
            break
        pieces.append(piece)
        start, count = start + len(piece), count - len(piece)
    return b"".join(pieces)


def _is_record(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


def sync_folder(folder: str) -> None:
    """Wait until the disk has the names of a folder."""
    descriptor = os.open(folder or ".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
