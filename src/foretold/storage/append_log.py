"""Files of lines that are only appended to: a line is whole, or is not there.

1. Lines are written by one `write` on an append descriptor. A write that the disk accepted only in part is taken back.
2. A last line without a newline was left by a process that was killed: no caller was told that it was written. The next
   writer completes it if it is a whole record, and otherwise moves it to `<file>.torn`, however long it is: it is cut
   off only when the disk has the copy. Nothing before it is touched.
3. A `RecordLog` is ours alone. Each record has a checksum; readers skip a line that does not add up, and report it. The
   caller holds a lock. Reading holds one line at a time. A log can be written anew, whole or not at all: `prepare` has
   the new one on the disk, and `adopt` gives it the name in one step.
4. An `AppendFile` is shared with other programs, which may not take its lock: the system keeps single writes on an
   append descriptor apart. If such a program wrote after a partial line, the line stays, and readers report it.
   `append` returns when the system has the line, which then survives `kill -9`; with `sync`, when the disk has
   confirmed it, and it survives a power cut.
"""

from __future__ import annotations

import binascii
import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from foretold.errors import NotSynced, StoreFailed
from foretold.storage.atomic import fill
from foretold.storage.kernel import FOLDER, KERNEL, NEW, Kernel, failed, store_errors, sync_folder, write_all
from foretold.storage.lock import unlock, wait_for_lock
from foretold.storage.tree import open_regular
from foretold.types import Finding, NamedTuple

_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
_STEP = 64 * 1024
_FOLDER, _FILE = 0o755, 0o600


class LogLine(NamedTuple):
    """A line of a log, and where it begins."""

    at: int
    data: bytes  #: with its newline, unless it is torn
    record: dict[str, object] | None  #: None if it does not add up

    @property
    def end(self) -> int:
        return self.at + len(self.data)


class RecordLog:
    """A log of records, each one line of JSON with a checksum. The caller holds a lock while it appends."""

    def __init__(self, path: str, kernel: Kernel = KERNEL) -> None:
        self.path = path
        self.kernel = kernel

    def append(self, records: list[dict[str, object]]) -> None:
        """Write records in one call, and sync them."""
        data = b"".join(map(encode, records))
        with store_errors(f"cannot write {self.path}"):
            descriptor = self.kernel.open(self.path, _APPEND, _FILE)
            try:
                self._write(descriptor, data)
            finally:
                with suppress(OSError):  # what matters is synced
                    self.kernel.close(descriptor)

    def _write(self, descriptor: int, data: bytes) -> None:
        size = os.fstat(descriptor).st_size
        if size == 0:
            self.kernel.fchmod(descriptor, _FILE)
            sync_folder(os.path.dirname(self.path), self.kernel)
        elif torn := _torn_line(descriptor, size):
            if decode(torn) is not None:
                data = b"\n" + data
            else:
                size -= len(torn)
                put_aside(self.path, (torn, b"\n"), self.kernel)
                self.kernel.ftruncate(descriptor, size)
        written = 0
        try:
            written = self.kernel.write(descriptor, data)
            if written != len(data):
                raise StoreFailed(
                    f"the disk accepted {written} of {len(data)} bytes of {self.path}. Nothing was changed"
                )
            self.kernel.fsync(descriptor)
        except (OSError, StoreFailed) as error:
            take_back(self.kernel, descriptor, size, self.path, error, is_whole=written == len(data))
            raise

    def read(self, start: int = 0, findings: list[Finding] | None = None) -> tuple[list[dict[str, object]], int]:
        """The records after an offset, and where the last whole line ends."""
        records, end = [], start if os.path.exists(self.path) else 0
        for line in self.scan(start, findings):
            end = line.end if line.data.endswith(b"\n") else end
            if line.record is not None:
                records.append(line.record)
        return records, end

    def scan(self, start: int = 0, findings: list[Finding] | None = None) -> Iterator[LogLine]:
        """The lines after an offset, one at a time, also those that do not add up."""
        try:
            with open(self.path, "rb", opener=open_regular) as file:
                file.seek(start)
                for number, data in enumerate(file, 1):
                    line = LogLine(start, data, decode(data.removesuffix(b"\n")))
                    if line.record is None and data != b"\n" and findings is not None:
                        said = "a record is damaged and is skipped"
                        findings.append(Finding(self.path, number, "history-damaged", said))
                    yield line
                    start = line.end
        except FileNotFoundError:
            return
        except OSError as error:
            raise failed(f"cannot read {self.path}", error) from error

    def record_at(self, at: int) -> dict[str, object] | None:
        """The record that begins at an offset; None if none does."""
        try:
            with open(self.path, "rb", opener=open_regular) as file:
                file.seek(at)
                return decode(file.readline().removesuffix(b"\n"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failed(f"cannot read {self.path}", error) from error

    # Another log in place of this one

    @property
    def _prepared(self) -> str:
        """The new log until it counts. It begins as other temporary files do: the next lock sweeps a leftover."""
        folder, name = os.path.split(self.path)
        return os.path.join(folder, f".foretold-{name}")

    def prepare(self, lines: Iterable[bytes]) -> int:
        """Write another log next to this one, and sync it; its size. StoreFailed, and no trace, if that fails."""
        folder = os.open(os.path.dirname(self.path), FOLDER)
        flags = (NEW ^ os.O_EXCL) | os.O_TRUNC
        try:
            with store_errors(f"cannot write {self.path} anew"):
                fill(os.path.basename(self._prepared), lines, folder, flags=flags, mode=_FILE, kernel=self.kernel)
            return os.path.getsize(self._prepared)
        except BaseException:
            self.discard()
            raise
        finally:
            os.close(folder)

    def adopt(self) -> None:
        """Let what was prepared be the log."""
        with store_errors(f"cannot replace {self.path}"):
            self.kernel.rename(self._prepared, self.path)
        try:
            sync_folder(os.path.dirname(self.path), self.kernel)
        except OSError as error:
            said = f"{self.path} is replaced, but the disk did not confirm it ({error.strerror})"
            raise NotSynced(f"{said}: a power cut may undo it") from error

    def discard(self) -> None:
        """Remove what was prepared."""
        with suppress(OSError):
            self.kernel.unlink(self._prepared)


class AppendFile:
    """A file of JSON lines that several programs append to. `findings` names what was found torn."""

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
            self._descriptor = os.open(path, _APPEND if create else _APPEND & ~os.O_CREAT, _FILE)
        except OSError as error:
            raise StoreFailed(f"{path} cannot be opened: {error.strerror}") from error
        if is_new and sync:
            sync_folder(folder)
        self._run_locked(self._repair)

    @property
    def is_closed(self) -> bool:
        return self._descriptor < 0

    def append(self, line: bytes) -> None:
        """Write a line, given without its newline."""
        data = line + b"\n"
        self._run_locked(lambda: self._put(data))
        if self._sync:
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                raise NotSynced(f"{self.path}: written, but the disk did not confirm it: {error.strerror}") from error

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _run_locked(self, action: Callable[[], None]) -> None:
        if self._descriptor < 0:
            raise StoreFailed(f"{self.path} is closed")
        wait_for_lock(self._descriptor)
        try:
            action()
        finally:
            unlock(self._descriptor)

    def _put(self, data: bytes) -> None:
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            self._repair()
            size = os.fstat(self._descriptor).st_size
        try:
            count = self._write(self._descriptor, data)
        except OSError as error:
            raise StoreFailed(f"{self.path}: nothing was written: {error.strerror}") from error
        if count != len(data):
            if os.fstat(self._descriptor).st_size == size + count:
                os.ftruncate(self._descriptor, size)
            no_space = os.strerror(errno.ENOSPC)
            raise StoreFailed(f"{self.path}: nothing was written: {no_space}; free some space and try again")
        # after an append the offset is the end of what was appended, whatever others wrote before or since
        self.end = os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def _repair(self) -> None:
        """Complete or put aside a last line that has no newline."""
        size = os.fstat(self._descriptor).st_size
        torn = _torn_line(self._descriptor, size)
        if not torn:
            return
        if parse_object(torn) is not None:
            self._write(self._descriptor, b"\n")
            return
        put_aside(self.path, (torn, b"\n"))
        if os.fstat(self._descriptor).st_size == size:
            os.ftruncate(self._descriptor, size - len(torn))
            said = f"the last {len(torn):,} bytes were torn, and are in {os.path.basename(self.path)}.torn"
            self.findings.append(Finding(self.path, None, "record-torn", said))


def put_aside(path: str, pieces: Iterable[bytes], kernel: Kernel = KERNEL) -> None:
    """Append the torn end of a file to `<file>.torn`, and wait until the disk has it: the caller then cuts it off."""
    descriptor = kernel.open(path + ".torn", _APPEND | os.O_NOFOLLOW, _FILE)
    try:
        for piece in pieces:
            write_all(kernel, descriptor, piece)
        kernel.fsync(descriptor)
    finally:
        kernel.close(descriptor)
    sync_folder(os.path.dirname(path), kernel)


def take_back(kernel: Kernel, descriptor: int, size: int, path: str, error: BaseException, *, is_whole: bool) -> None:
    """Cut a file to what it was before a write that failed. NotSynced if the write is there and cannot be cut off."""
    try:
        kernel.ftruncate(descriptor, size)
    except OSError:
        if is_whole:
            said = f"{path} is written, but the disk did not confirm it ({error}): a power cut may undo it"
            raise NotSynced(said) from error


def _torn_line(descriptor: int, size: int) -> bytes:
    """The last line, if it has no newline."""
    step = _STEP
    with open(descriptor, "rb", closefd=False) as file:
        while True:
            start = max(0, size - step)
            file.seek(start)
            data = file.read(size - start)
            if not start or b"\n" in data:
                return data.rpartition(b"\n")[2]
            step *= 2


def parse_object(data: bytes | str) -> dict[str, object] | None:
    """The JSON object that some data is; None if it is anything else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def encode(record: dict[str, object]) -> bytes:
    """A record as a line."""
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return body[:-1] + f',"sum":"{binascii.crc32(body):08x}"}}\n'.encode()


def decode(line: bytes) -> dict[str, object] | None:
    """The record of a line without its newline; None if it does not add up."""
    at = line.rfind(b',"sum":"')
    if at < 0 or line[at + 8 :] != f'{binascii.crc32(line[:at] + b"}"):08x}"}}'.encode():
        return None
    try:
        return parse_object(line[:at].decode("utf-8", "surrogatepass") + "}")
    except UnicodeDecodeError:
        return None
