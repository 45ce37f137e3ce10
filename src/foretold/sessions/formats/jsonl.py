"""Reading a file of JSON lines of any size, however it was damaged.

1. Lines end with a newline; a carriage return before it, blank lines and a byte order mark at the start are no damage.
2. Memory is bounded: a line longer than `LONGEST` is not parsed; it is told by its place and size.
3. A line that is no JSON object is named and passed over; it costs no other line. The last line, if nothing ends it
   and it cannot be parsed, is torn: somebody may be writing it just now.
4. Where a line end was lost, or a writer died within a record and the next wrote behind it, records share a line. All
   that are whole are read, and the line is named.
"""

from __future__ import annotations

import json

from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import BufferedReader

LONGEST = 16 * 1024 * 1024  #: bytes of a line that is parsed
CHUNK = 1024 * 1024
_BOM = b"\xef\xbb\xbf"
#: how records of agents begin
_STARTS = ('{"parentUuid"', '{"type"', '{"timestamp"', '{"id"', '{"$set"', '{"sessionId"')
_TRIES = 16  #: places of a damaged line that are tried: it may be long, and hostile
_INSIDE = (":", ",", "[")  #: what stands before an object that is part of another


class JsonlLine(NamedTuple):
    """One line and where it stands. `data` is without its end; of a line over the limit only its first `CHUNK`."""

    number: int  #: from 1, counted from where the reading began
    start: int
    end: int  #: behind its newline
    data: bytes
    is_ended: bool = True
    is_long: bool = False


class JsonlRecord(NamedTuple):
    """A line that is a JSON object."""

    line: int
    start: int
    end: int
    value: dict[str, object]
    place: int = 0  #: on its line: 0 = it begins the line, else records or damage stand before it


def lines_of(path: str, start: int = 0, longest: int = LONGEST) -> Iterator[JsonlLine]:
    """The lines of a file from a byte on; blank ones too."""
    with open(path, "rb") as file:
        file.seek(start)
        number, at = 0, start
        while True:
            data = file.readline(longest + 1)
            if not data:
                return
            number += 1
            if data.endswith(b"\n") or len(data) <= longest:
                yield JsonlLine(number, at, at + len(data), _bare(data, at), data.endswith(b"\n"))
                at += len(data)
                continue
            size, is_ended = _pass_over(file, len(data))
            yield JsonlLine(number, at, at + size, data[:CHUNK], is_ended, is_long=True)
            at += size


def _bare(data: bytes, at: int) -> bytes:
    if at == 0 and data.startswith(_BOM):
        data = data[3:]
    return data.rstrip(b"\r\n")


def _pass_over(file: BufferedReader, size: int) -> tuple[int, bool]:
    """Go to the end of a long line: its size, and whether it has an end."""
    while True:
        data = file.readline(CHUNK)
        size += len(data)
        if data.endswith(b"\n"):
            return size, True
        if not data:
            return size, False


def records_of(path: str, start: int = 0, findings: list[Finding] | None = None) -> Iterator[JsonlRecord]:
    """The records of a file from a byte on. What cannot be read is named in `findings`.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "s.jsonl")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b'{"a": 1}\\n\\nnot json\\n{"b": 2}\\n{"c"')
    >>> found = []
    >>> [record.value for record in records_of(path, findings=found)]
    [{'a': 1}, {'b': 2}]
    >>> [(finding.line, finding.code) for finding in found]
    [(3, 'record-damaged'), (5, 'record-torn')]
    """
    for line in lines_of(path, start):
        if not line.data.strip():
            continue
        value = None if line.is_long else _parsed(line.data)
        if isinstance(value, dict):
            yield JsonlRecord(line.number, line.start, line.end, value)
            continue
        found = list(rescued(value)) if isinstance(value, bytes) else []
        if findings is not None:
            findings.append(_damage(path, line, value, len(found)))
        for place, record, _ in found:
            yield JsonlRecord(line.number, line.start, line.end, record, place)


def _parsed(data: bytes) -> object:
    """A line as JSON; the text itself if it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data


def rescued(data: bytes) -> Iterator[tuple[int, dict[str, object], int]]:
    """The whole records of a damaged line: one at its start, and those that end where the line ends or another begins.
    Each with its place on the line, and how many bytes it has.

    >>> list(rescued(b'{"type": 1}{"type": 2}')), list(rescued(b'{"type": {"a{"type": 3}'))
    ([(0, {'type': 1}, 11), (1, {'type': 2}, 11)], [(1, {'type': 3}, 11)])
    """
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
        if isinstance(value, dict) and (at == 0 or not rest or rest.startswith(_STARTS)):
            yield place, value, len(text[at:end].encode("utf-8", "surrogatepass"))
            at = len(text) - len(rest)
        else:
            at = _next_start(text, at + 1)
        place = 1 if at else 0


def _next_start(text: str, at: int) -> int:
    """Where a record may begin, that is no part of another."""
    while True:
        at = min((found for start in _STARTS if (found := text.find(start, at)) >= 0), default=len(text))
        is_record = text.startswith(_STARTS[0], at)  # no object within a record begins so
        if at == len(text) or is_record or text[max(0, at - 8) : at].rstrip()[-1:] not in _INSIDE:
            return at
        at += 1


def _damage(path: str, line: JsonlLine, value: object, rescued: int) -> Finding:
    if line.is_long:
        said = f"a record of {line.end - line.start:,} bytes is too long to be read"
        return Finding(path, line.number, "record-long", said)
    if not line.is_ended and isinstance(value, bytes):
        return Finding(
            path, line.number, "record-torn", "the last record is not whole: it was torn, or is being written"
        )
    if isinstance(value, bytes):
        kept = f"a line is damaged; whole records on it that were read: {rescued}"
        said = kept if rescued else "a record is damaged and is passed over"
        return Finding(path, line.number, "record-damaged", said)
    return Finding(path, line.number, "record-strange", f"a record is no object but {type(value).__name__}")


def encode_record(value: Mapping[str, object]) -> bytes:
    """A record as a line, without its end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair cannot be UTF-8; the escape of JSON keeps it
        return json.dumps(value, separators=(",", ":")).encode()
