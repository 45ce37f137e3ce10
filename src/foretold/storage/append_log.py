"""A file of records that are whole or absent: one line of JSON each, appended and synced.

1. Records are written by one system call to a descriptor opened for appending, each with a checksum.
2. A line that is torn or does not add up is passed over by readers, and named. It costs no other line. What a killed
   process left of a last one is put aside by the next that writes.
3. A write that the disk took in part is taken back.
"""

from __future__ import annotations

import binascii
import json
import os
from contextlib import suppress

from foretold.errors import NotSynced, StoreFailed
from foretold.storage.kernel import KERNEL, Kernel, failed
from foretold.types import Finding

TAIL = 8 * 1024 * 1024  #: bytes in which the last record begins
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


class Lines:
    """One such file. Whoever appends holds a lock of their own."""

    def __init__(self, path: str, kernel: Kernel = KERNEL) -> None:
        self.path = path
        self.kernel = kernel

    def append(self, records: list[dict[str, object]]) -> None:
        """Write records, all in one call, and sync them."""
        data = b"".join(map(encode, records))
        try:
            descriptor = self.kernel.open(self.path, _APPEND, 0o600)
            try:
                self._write(descriptor, data)
            finally:
                with suppress(OSError):  # what matters is synced
                    self.kernel.close(descriptor)
        except OSError as error:
            raise failed(f"cannot write {self.path}", error) from error

    def _write(self, descriptor: int, data: bytes) -> None:
        size = os.fstat(descriptor).st_size
        if size == 0:
            self.kernel.fchmod(descriptor, 0o600)
            self._sync_folder()
        elif os.pread(descriptor, 1, size - 1) != b"\n":
            size = self._mended(descriptor, size)
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                data = b"\n" + data
        written = 0
        try:
            written = self.kernel.write(descriptor, data)
            if written != len(data):
                raise StoreFailed(f"the disk took {written} of {len(data)} bytes of {self.path}. Nothing was changed")
            self.kernel.fsync(descriptor)
        except (OSError, StoreFailed) as error:
            self._take_back(descriptor, size, error, whole=written == len(data))
            raise

    def _take_back(self, descriptor: int, size: int, error: Exception, *, whole: bool) -> None:
        try:
            self.kernel.ftruncate(descriptor, size)
        except OSError:
            if whole:
                said = f"a record is in {self.path}, but the disk did not confirm it ({error}): a power cut may undo it"
                raise NotSynced(said) from error

    def _mended(self, descriptor: int, size: int) -> int:
        """The size without a torn tail. A process that was killed while it wrote left it: nobody was told of it.

        It is put aside into a file of its own. A tail that lacks nothing but its end stays.
        """
        start = max(0, size - TAIL)
        tail = os.pread(descriptor, size - start, start)
        torn = tail[tail.rfind(b"\n") + 1 :]
        if decode(torn) is not None or len(torn) == len(tail) < size:
            return size
        aside = self.kernel.open(self.path + ".torn", _APPEND, 0o600)
        try:
            self.kernel.write(aside, torn + b"\n")
        finally:
            self.kernel.close(aside)
        self.kernel.ftruncate(descriptor, size - len(torn))
        return size - len(torn)

    def _sync_folder(self) -> None:
        folder = os.open(os.path.dirname(self.path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.kernel.fsync(folder)
        finally:
            os.close(folder)

    def read(self, start: int = 0, findings: list[Finding] | None = None) -> tuple[list[dict[str, object]], int]:
        """The records from a place in the file on, and where the last whole line ends."""
        try:
            with open(self.path, "rb") as file:
                file.seek(start)
                data = file.read()
        except FileNotFoundError:
            return [], 0
        except OSError as error:
            raise failed(f"cannot read {self.path}", error) from error
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].split(b"\n")[:-1] + ([data[whole:]] if data[whole:] else [])
        records = []
        for number, line in enumerate(lines, 1):
            record = decode(line)
            if record is not None:
                records.append(record)
            elif line and findings is not None:
                said = "a record is damaged and is passed over"
                findings.append(Finding(self.path, number, "history-damaged", said))
        return records, start + whole


def encode(record: dict[str, object]) -> bytes:
    """A record as a line."""
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return body[:-1] + f',"sum":"{binascii.crc32(body):08x}"}}\n'.encode()


def decode(line: bytes) -> dict[str, object] | None:
    """The record of a line without its end; None if it does not add up.

    >>> decode(encode({"a": 1})[:-1]), decode(encode({"a": 1})[:-4])
    ({'a': 1}, None)
    """
    at = line.rfind(b',"sum":"')
    if at < 0 or line[at + 8 :] != f'{binascii.crc32(line[:at] + b"}"):08x}"}}'.encode():
        return None
    try:
        record = json.loads(line[:at].decode("utf-8", "surrogatepass") + "}")
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
