"""Read files of JSON lines of any size, however damaged.

1. Lines end with a newline; a carriage return before it, blank lines and a byte order mark at the start are accepted.
2. Memory is bounded: a line longer than `LONGEST` is not parsed; its place and size are reported.
3. A line that is not a JSON object is reported and skipped; other lines are not affected. The last line, if it has no
   newline and cannot be parsed, is torn: another process may be writing it right now.
4. Where a newline was lost, or a writer died within a record and the next one appended to it, records share a line. All
   complete ones are read, and the line is reported.
5. A list of sessions reads only the two ends of a file: at most `ENDS` bytes of the head and of the tail, however long
   a line is. A line that is cut there, or is not a JSON object, is skipped; `field_in` finds single fields in it.
6. Reading ends: only a regular file is opened, and only what it has at that moment is read, however fast it grows. One
   that is larger than `LARGEST`, or consists of holes, is not read.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from typing import BinaryIO

LONGEST = 16 * 1024 * 1024  #: bytes of a line that is parsed
CHUNK = 1024 * 1024
LARGEST = 64 * 1024**3  #: bytes of a file; at 1 GB/s a minute, a hundred times the largest that was ever seen
LARGE = 1024**3  #: bytes from which holes count
HOLES = 64  #: bytes of a file for each that the disk has: no file system compresses text so far
ENDS = 64 * 1024  #: bytes of the head, and of the tail, that are read for a list
UNREAD = "if it is nobody's session, remove it; else fix its permissions"
NO_FILE = "it is not a file, so it is nobody's session: remove it"
_BOM = b"\xef\xbb\xbf"
#: how records of agents begin
_START = re.compile(r'\{"(parentUuid|type|timestamp|id|\$set|sessionId)"')
_STRING = re.compile(rb'\s?("(?:[^"\\]|\\.)*")')
_TRIES = 16  #: places of a damaged line that are tried: it may be long and hostile
_INSIDE = (":", ",", "[")  #: what comes before an object that is part of another

Json = dict[str, object]


class JsonlLine(NamedTuple):
    """A line and its place. `data` is without its end; of a line over the limit, only its first `CHUNK`."""

    number: int  #: from 1, counted from where the reading began
    start: int
    end: int  #: after its newline
    data: bytes
    is_ended: bool = True
    is_long: bool = False


class JsonlRecord(NamedTuple):
    """A line that is a JSON object."""

    line: int
    start: int
    end: int
    value: Json
    place: int = 0  #: on its line: 0 = it begins the line, else records or damage come before it


def open_transcript(path: str, buffering: int = -1) -> tuple[BinaryIO, int]:
    """A regular file to read, and its size now. OSError if it is too large, or has next to nothing on the disk."""
    file = open(path, "rb", buffering, opener=open_regular)  # noqa: SIM115 - the caller closes it
    status = os.fstat(file.fileno())
    size = status.st_size
    if size > LARGEST or (size > LARGE and status.st_blocks * 512 * HOLES < size):
        file.close()
        raise OSError(errno.EFBIG, f"its {size:,} bytes are too many, or holes", path)
    return file, size


def lines_of(path: str, start: int = 0, longest: int = LONGEST) -> Iterator[JsonlLine]:
    """The lines of a file from a byte on; blank ones too. What is added meanwhile is not read."""
    opened, end = open_transcript(path)
    with opened as file:
        at = file.seek(start)
        for number, data in enumerate(iter(partial(file.readline, longest + 1), b""), 1):
            if at >= end:
                return
            size, is_ended = len(data), data.endswith(b"\n")
            if is_ended or size <= longest:
                text = (data if at else data.removeprefix(_BOM)).rstrip(b"\r\n")
                yield JsonlLine(number, at, at + size, text, is_ended)
            else:
                while not is_ended and at + size < end and (more := file.readline(CHUNK)):
                    size += len(more)
                    is_ended = more.endswith(b"\n")
                yield JsonlLine(number, at, at + size, data[:CHUNK], is_ended, is_long=True)
            at += size


def records_of(path: str, start: int = 0, findings: list[Finding] | None = None) -> Iterator[JsonlRecord]:
    """The records of a file from a byte on. What cannot be read is reported in `findings`."""
    for line in lines_of(path, start):
        if not line.data.strip():
            continue
        try:
            value = None if line.is_long else json.loads(line.data)
        except (ValueError, RecursionError):
            value = line.data
        if isinstance(value, dict):
            yield JsonlRecord(line.number, line.start, line.end, value)
            continue
        found = list(rescue_records(value)) if isinstance(value, bytes) else []
        if findings is not None:
            findings.append(_damage_finding(path, line, value, len(found)))
        for place, record, _ in found:
            yield JsonlRecord(line.number, line.start, line.end, record, place)


def rescue_records(data: bytes) -> Iterator[tuple[int, Json, int]]:
    """The complete records of a damaged line: one at its start, and those that end where the line ends or the next one
    begins. Each with its place on the line, and its size in bytes."""
    text = data.decode("utf-8", "replace")
    decoder, at, place = json.JSONDecoder(), 0, 0
    for _ in range(_TRIES):
        if at == len(text):
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at
        rest = text[end:].lstrip()
        if isinstance(value, dict) and (at == 0 or not rest or _START.match(rest)):
            yield place, value, len(text[at:end].encode("utf-8", "surrogatepass"))
            at = len(text) - len(rest)
        else:
            at = _next_start(text, at + 1)
        place = 1 if at else 0


def _next_start(text: str, at: int) -> int:
    """Where a record may begin that is not part of another."""
    for match in _START.finditer(text, at):
        is_record = match[1] == "parentUuid"  # no object within a record begins so
        if is_record or text[max(0, match.start() - 8) : match.start()].rstrip()[-1:] not in _INSIDE:
            return match.start()
    return len(text)


def unreadable(path: str, error: OSError) -> Finding:
    """That a file was left out, and why."""
    hint = UNREAD if os.path.isfile(path) or error.errno in (errno.EACCES, errno.EPERM) else NO_FILE
    return Finding(path, None, "unreadable", f"it was left out: {error.strerror or error}", hint)


def _damage_finding(path: str, line: JsonlLine, value: object, read: int) -> Finding:
    if line.is_long:
        code, message = "record-long", f"a record of {line.end - line.start:,} bytes is too long to be read"
    elif not isinstance(value, bytes):
        code, message = "record-strange", f"a record is not an object but {type(value).__name__}"
    elif not line.is_ended:
        code, message = "record-torn", "the last record is incomplete: it was torn, or is being written"
    elif read:
        code, message = "record-damaged", f"a line is damaged; complete records read from it: {read}"
    else:
        code, message = "record-damaged", "a record is damaged and is skipped"
    return Finding(path, line.number, code, message)


def encode_record(value: Mapping[str, object]) -> bytes:
    """A record as a line, without its end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair cannot be UTF-8; the escape of JSON keeps it
        return json.dumps(value, separators=(",", ":")).encode()


class Ends(NamedTuple):
    """The records of both ends; `cut` is the incomplete last line of the head."""

    head: tuple[Json, ...]
    tail: tuple[Json, ...]
    cut: bytes = b""


def ends_of(path: str, most: int = ENDS) -> Ends:
    """The records at both ends of a file; none if it cannot be read."""
    head, tail, is_whole = read_ends(path, most)
    if is_whole:
        return Ends(parse_records(head + tail), ())
    whole, _, cut = head.rpartition(b"\n")
    return Ends(parse_records(whole), parse_records(tail.partition(b"\n")[2]), cut)


def read_ends(path: str, most: int = ENDS) -> tuple[bytes, bytes, bool]:
    """Head and tail of a file, and whether they are all of it."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            head = file.read(most)
            start = max(len(head), size - most)
            file.seek(start)
            tail = file.read(most) if start < size else b""
    except OSError:
        return b"", b"", True
    return head, tail, start == len(head)


def parse_records(data: bytes, fields: Sequence[str] = ()) -> tuple[Json, ...]:
    """The records of a part of a file; of a line that is cut or damaged, some fields, as far as they are recognized."""
    found: list[Json] = []
    for line in data.removeprefix(_BOM).split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            found.append(value)
        elif line and fields:
            found.append({name: field_in(line, name) for name in fields})
    return tuple(found)


def field_in(data: bytes, name: str) -> str:
    """The first string value of a field in the bytes of an incomplete line."""
    key, at = b'"%s":' % name.encode(), -1
    while (at := data.find(key, at + 1)) >= 0:  # a regular expression alone would take five times as long
        found = _STRING.match(data, at + len(key))
        if found and data[at - 1 : at] != b"\\":
            try:
                return str(json.loads(found[1]))
            except ValueError:
                return ""
    return ""
