"""Taking a text out of files, whatever their form, and counting where it is.

1. A file that other programs may have open keeps its inode and its size: each place is overwritten with as many bytes,
   in one write. That needs no room on the disk, and no line that is appended meanwhile is lost.
2. A log of records is written anew, whole or not at all: its checksums change. The caller holds its lock.
3. A compressed archive is unpacked, overwritten and packed again, whole or not at all.
4. Links are not followed, and what is not a regular file is not opened.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator

from foretold.errors import StoreFailed
from foretold.secrets.erasure.spellings import Spellings, blank
from foretold.storage.append_log import RecordLog, encode
from foretold.storage.atomic import replace_file
from foretold.storage.kernel import KERNEL, Kernel, failed, sync_folder

CHUNK = 4 * 1024 * 1024
LARGEST = 1024 * 1024 * 1024  #: bytes of an archive that is unpacked
GZIP = b"\x1f\x8b"
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

RecordChange = Callable[[dict[str, object]], tuple[dict[str, object], int]]


def files_in(folder: str, missed: list[OSError] | None = None) -> Iterator[str]:
    """Every regular file below a folder, or the file itself; links are not followed.

    `missed` gets why a folder could not be listed; that nothing is there is no reason.
    """

    def miss(error: OSError) -> None:
        if missed is not None and not isinstance(error, FileNotFoundError | NotADirectoryError):
            missed.append(error)

    try:
        kind = os.lstat(folder).st_mode
    except OSError as error:
        miss(error)
        return
    if stat.S_ISREG(kind):
        yield folder
    elif stat.S_ISDIR(kind):
        for above, folders, names in os.walk(folder, onerror=miss):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(above, name)
                try:
                    if stat.S_ISREG(os.lstat(path).st_mode):
                        yield path
                except OSError as error:
                    miss(error)


def count_in_file(path: str, spellings: Spellings) -> int:
    """How often the texts are in a file, as its bytes are or as they unpack. StoreFailed if it cannot be read."""
    return _scrub(path, spellings, apply=False, kernel=KERNEL)


def blank_in_file(path: str, spellings: Spellings, kernel: Kernel = KERNEL) -> int:
    """Overwrite the texts in a file; how often they were in it. StoreFailed if it cannot be read or written."""
    return _scrub(path, spellings, apply=True, kernel=kernel)


def _scrub(path: str, spellings: Spellings, *, apply: bool, kernel: Kernel) -> int:
    try:
        descriptor = os.open(path, (os.O_RDWR if apply else os.O_RDONLY) | _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return 0
            spans = list(_find(descriptor, spellings))
            if apply and spans:
                for start, end in spans:
                    os.pwrite(descriptor, b"x" * (end - start), start)
                kernel.fsync(descriptor)
            count = len(spans)
            if os.pread(descriptor, 2, 0) == GZIP:
                count += _scrub_packed(path, descriptor, spellings, apply=apply, kernel=kernel)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise failed(f"cannot {'write' if apply else 'read'} {path}", error) from error
    return count


def _find(descriptor: int, spellings: Spellings) -> Iterator[tuple[int, int]]:
    """Where the texts are in a file, a piece at a time; a piece shows what begins in it whole."""
    at = last = 0
    while data := os.pread(descriptor, CHUNK + spellings.reach, at):
        for start, end in spellings.find(data):
            if start < CHUNK and at + start >= last:
                last = at + end
                yield at + start, last
        at += CHUNK


def _scrub_packed(path: str, descriptor: int, spellings: Spellings, *, apply: bool, kernel: Kernel) -> int:
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        try:
            with gzip.open(file) as packed:
                data = packed.read(LARGEST + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            return 0  # not one of ours, or torn: its bytes were looked at as they are
    if len(data) > LARGEST:
        raise StoreFailed(f"{path} unpacks to more than {LARGEST:,} bytes. It was not searched")
    clean, count = spellings.replace(data, blank)
    if apply and count:
        replace_file(path, gzip.compress(clean, mtime=0), keep_mode=True, kernel=kernel)
        sync_folder(os.path.dirname(path), kernel)
    return count


def scrub_records(log: RecordLog, change: RecordChange, spellings: Spellings | None, *, apply: bool) -> int:
    """Change records of a log, and blank texts in damaged lines; how often. Under its lock."""

    counts: list[int] = []

    def lines() -> Iterator[bytes]:
        counts.clear()
        for line in log.scan():
            if line.record is None:
                data, found = spellings.replace(line.data, blank) if spellings else (line.data, 0)
            else:
                record, found = change(line.record)
                data = encode(record) if found else line.data
            counts.append(found)
            if line.record is None and not line.data.endswith(b"\n"):
                continue  # half a line, which no caller was told about
            yield data.removesuffix(b"\n") + b"\n"

    for _ in lines():
        pass
    if apply and any(counts):
        log.prepare(lines())
        log.adopt()
    return sum(counts)


def replace_in_value(value: object, spellings: Spellings) -> tuple[object, int]:
    """A value of JSON without the texts, and how often they were in it."""
    if isinstance(value, str):
        return spellings.replace_text(value)
    if isinstance(value, list):
        items = [replace_in_value(each, spellings) for each in value]
        return [each for each, _ in items], sum(count for _, count in items)
    if isinstance(value, dict):
        pairs = [(replace_in_value(key, spellings), replace_in_value(each, spellings)) for key, each in value.items()]
        return {str(key): each for (key, _), (each, _) in pairs}, sum(one + two for (_, one), (_, two) in pairs)
    return value, 0
