"""A file of frames: pieces of data that are whole or absent, appended and never changed.

1. A frame is a line of JSON with a checksum, then `size` bytes with a checksum of their own, and a newline. Bytes are
   compressed where that makes them fewer.
2. Frames are appended under the lock of the file, and synced before it is released. If the disk refuses a frame, all
   frames of this writer are taken back.
3. What a killed process left at the end is moved to `<file>.torn` by the next writer: no caller was told that it was
   written. Readers skip it and report it.
4. Damage costs only the frames it hit: reading continues at the next head whose checksum is right.
"""

from __future__ import annotations

import errno
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader

from foretold.errors import StoreFailed
from foretold.storage.append_log import decode, encode, put_aside, take_back
from foretold.storage.kernel import KERNEL, Kernel, failed, store_errors, sync_folder, write_all
from foretold.storage.lock import wait_for_lock
from foretold.storage.tree import open_regular
from foretold.types import Finding, NamedTuple

BEGIN = b'{"frame":1,'  #: how every head begins
PIECE = 4 * 1024 * 1024  #: bytes of data in one frame
LONGEST_HEAD = 64 * 1024
#: fast, and it sees a whole piece: what agents write repeats itself over long distances (measured on sessions of Claude
#: Code 2.1.325: as fast as zlib at level 6, and 6.1 times smaller where that is 3.6 times)
PRESET = 0
PATIENCE = 600.0  #: seconds to wait for another process: it may be compressing a large session
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Frame(NamedTuple):
    """A frame and its offsets; its data is read on demand."""

    head: dict[str, object]
    start: int
    at: int  #: where its bytes begin
    end: int  #: after its newline

    @property
    def kind(self) -> str:
        return str(self.head.get("kind"))

    def number(self, name: str) -> int:
        value = self.head.get(name)
        return value if isinstance(value, int) else 0


def frame_of(head: dict[str, object], data: bytes) -> bytes:
    """A frame as bytes."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": PRESET, "dict_size": max(4096, len(data))}]
    packed = lzma.compress(data, lzma.FORMAT_XZ, lzma.CHECK_NONE, filters=filters)
    codec = "xz"
    if len(packed) >= len(data):
        packed, codec = data, "none"
    facts = {"codec": codec, "raw": len(data), "size": len(packed), "crc": zlib.crc32(packed)}
    return encode({"frame": 1, **head, **facts}) + packed + b"\n"


def data_of(frame: Frame, packed: bytes) -> bytes | None:
    """What a frame holds; None if its bytes do not add up."""
    if len(packed) != frame.number("size") or zlib.crc32(packed) != frame.number("crc"):
        return None
    if frame.head.get("codec") == "none":
        return packed
    try:
        data = lzma.decompress(packed, lzma.FORMAT_XZ)
    except lzma.LZMAError:
        return None
    return data if len(data) == frame.number("raw") else None


class Frames:
    """One such file."""

    def __init__(self, path: str, kernel: Kernel = KERNEL) -> None:
        self.path = path
        self.kernel = kernel

    def scan(self, findings: list[Finding] | None = None) -> Iterator[Frame]:
        """Every frame whose head adds up, in order. Only heads are read."""
        try:
            file = open(self.path, "rb", opener=open_regular)  # noqa: SIM115 - closed below
        except FileNotFoundError:
            return
        except OSError as error:
            raise failed(f"cannot read {self.path}", error) from error
        with file:
            size = os.fstat(file.fileno()).st_size
            at = 0
            while at < size:
                frame = _frame_at(file, at)
                if frame is not None and frame.end <= size:
                    yield frame
                    at = frame.end
                    continue
                then = _next_head(file, at + 1, size)
                _report(findings, self.path, at, then, size)
                at = then

    def read(self, frame: Frame) -> bytes | None:
        """What a frame holds; None if it is damaged."""
        with open(self.path, "rb", opener=open_regular) as file:
            file.seek(frame.at)
            return data_of(frame, file.read(frame.number("size")))

    @contextmanager
    def writing(self) -> Iterator[FrameWriter]:
        """Lock the file and append to it: all frames, or none."""
        descriptor = self._lock()
        try:
            with store_errors(f"cannot write {self.path}"):
                start = self._repair(descriptor)
                writer = FrameWriter(self.kernel, descriptor)
                try:
                    yield writer
                    if writer.count:
                        self.kernel.fsync(descriptor)
                except BaseException as error:
                    take_back(self.kernel, descriptor, start, self.path, error, is_whole=writer.is_done)
                    raise
        finally:
            with suppress(OSError):  # what matters is synced
                self.kernel.close(descriptor)

    def _lock(self) -> int:
        """The file, open and locked. One that was replaced while we waited is not the file any more: the new one is."""
        while True:
            with store_errors(f"cannot open {self.path}"):
                descriptor = self.kernel.open(self.path, _APPEND, 0o600)
            is_held = False
            try:
                with store_errors(f"cannot lock {self.path}"):
                    if not wait_for_lock(descriptor, PATIENCE):
                        said = f"another process has locked {self.path} for {PATIENCE:g} seconds"
                        raise StoreFailed(f"{said}. Nothing was changed")
                with suppress(FileNotFoundError):
                    is_held = os.path.samestat(os.fstat(descriptor), os.stat(self.path))
            finally:
                if not is_held:
                    os.close(descriptor)
            if is_held:
                return descriptor

    def _repair(self, descriptor: int) -> int:
        """Move a torn end aside; the size of the rest."""
        size = os.fstat(descriptor).st_size
        whole = self._whole(size)
        if whole < size:
            put_aside(self.path, _pieces(descriptor, whole, size), self.kernel)
            self.kernel.ftruncate(descriptor, whole)
        elif not size:
            self.kernel.fchmod(descriptor, 0o600)
            sync_folder(os.path.dirname(self.path), self.kernel)
        return whole

    def _whole(self, size: int) -> int:
        """Where the last whole frame ends. Damage before it stays where it is."""
        end, last = 0, None
        for frame in self.scan():
            end, last = frame.end, frame
        if last is not None and self.read(last) is None:
            end = last.start  # its head is whole, its bytes never came to the disk
        return min(end, size)


class FrameWriter:
    """Appends to a locked file."""

    def __init__(self, kernel: Kernel, descriptor: int) -> None:
        self.kernel, self.descriptor = kernel, descriptor
        self.count = 0
        self.size = 0  #: bytes that were appended
        self.is_done = False

    def append(self, head: dict[str, object], data: bytes) -> None:
        """One frame, in one call where the system takes it whole."""
        frame = frame_of(head, data)
        self.count += 1
        write_all(self.kernel, self.descriptor, frame)
        self.size += len(frame)

    def finish(self, head: dict[str, object], data: bytes) -> None:
        """The frame that makes those before it count."""
        self.append(head, data)
        self.is_done = True


def _frame_at(file: BufferedReader, at: int) -> Frame | None:
    file.seek(at)
    line = file.readline(LONGEST_HEAD)
    head = decode(line[:-1]) if line.startswith(BEGIN) and line.endswith(b"\n") else None
    if head is None:
        return None
    size = head.get("size")
    if not isinstance(size, int) or size < 0:
        return None
    start = at + len(line)
    return Frame(head, at, start, start + size + 1)


def _next_head(file: BufferedReader, at: int, size: int) -> int:
    """Where the next head that adds up begins; the end if there is none."""
    mark = b"\n" + BEGIN
    at -= 1
    while at < size:
        file.seek(at)
        data = file.read(PIECE + len(mark))
        found = data.find(mark)
        if found < 0:
            at += PIECE
            continue
        frame = _frame_at(file, at + found + 1)
        if frame is not None and frame.end <= size:
            return at + found + 1
        at += found + 1
    return size


def _report(findings: list[Finding] | None, path: str, at: int, then: int, size: int) -> None:
    if findings is None:
        return
    if then < size:
        said = f"{then - at:,} bytes from byte {at:,} on are damaged; the frames after them are read"
        findings.append(
            Finding(path, None, "archive-damaged", said, "restore this file from a backup, or archive again")
        )
    else:
        said = f"the last {size - at:,} bytes are not a whole frame: a process was killed, or is still writing"
        findings.append(Finding(path, None, "archive-torn", said, "nothing: the next archiving puts them aside"))


def _pieces(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    while start < end:
        data = os.pread(descriptor, min(PIECE, end - start), start)
        if not data:
            raise OSError(errno.EIO, "the file became shorter")
        yield data
        start += len(data)
