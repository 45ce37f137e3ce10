r"""Searching without an index: bytes first, and only lines that may match are parsed.

1. A file is read backwards, a `REGION` at a time, since the newest records are at its end; a region ends where a line
   does. A line that is too long to be parsed is taken by its two ends.
2. A region is passed over without looking at its lines if a wanted word is nowhere in it. An ASCII word is in JSON as
   it is, in any case. A writer that escapes ASCII characters (`\u0061`), or a text with any of the four letters
   that are ASCII letters but for their case, is recognised by the last region of a file: then such lines are taken as
   well. Any other word can be where there is a byte beyond ASCII, or a `\u`.
3. What is not a file of lines is read by its reader, from the beginning.
4. Where only the record of a result was read, its tool is found by its call, which is nearly always a few records
   before: its id is searched for backwards, no further back than `FAR`.
5. Where there is much to read, a second process scans from the oldest file on, while this one begins with the newest.
   It reports files without a line that may match, and the size it saw; those are passed over here. The answer does not
   depend on it: files it has not reported are read here. It ends with the process that started it (`worker.py`).
"""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from foretold.sessions.formats.jsonl import LONGEST, open_transcript
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.message_text import is_lines, long_message
from foretold.sessions.fulltext.query import ALIKE
from foretold.sessions.fulltext.worker import end_worker, start_worker, worker_task
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from subprocess import Popen

    from foretold.sessions.model import Message, Part, StoredSession

REGION = 256 * 1024  #: what stays in the processor's cache while it is searched
NEAR = 16 * 1024  #: bytes that are read at a time to find a call
FAR = 4 * 1024 * 1024
STEPS = 64  #: regions without a find after which a time is looked for
AFTER = 8 * 1024 * 1024  #: bytes after which a second process is started, if twice as many are left
#: an escaped ASCII letter or digit, or one of `query.ALIKE`; in lower case. With a fixed beginning this search is twice
#: as fast as `in`.
_ESCAPED = re.compile(rb"\\u(?:00(?:3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])|013[01]|017f|212a)")
_ALIKE = re.compile(rb"\xc4[\xb0\xb1]|\xc5\xbf|\xe2\x84\xaa")
_OUTSIDE = re.compile(rb"[\x80-\xff]|\\u")


def find_lines(words: Sequence[bytes], data: bytes, *, is_disguised: bool = True) -> list[tuple[int, int]]:
    """The lines with every word of `query.ascii_words`, by start and end: too many, never too few. `is_disguised`: look
    for disguised ASCII too.

    >>> find_lines([b"pool"], b'{"a": "Pools"}\\n{"b": 1}\\n{"c": "\\\\u0070ool"}\\n')
    [(0, 15), (24, 43)]
    """
    low = data.lower()
    if not words:
        return _lines_around(data, (match.start() for match in _OUTSIDE.finditer(low)))
    found = []
    if all(word in low for word in words):
        found = [
            (start, end)
            for start, end in _lines_around(data, _places_of(words[0], low))
            if all(low.find(word, start, end) >= 0 for word in words[1:])
        ]
    disguised = sorted(_find_disguised(low)) if is_disguised else ()
    return sorted({*found, *_lines_around(data, disguised)}) if disguised else found


def has_disguised(data: bytes) -> bool:
    """Whether there are ASCII characters that are not written as such."""
    return next(_find_disguised(data.lower()), None) is not None


def _find_disguised(low: bytes) -> Iterator[int]:
    yield from (match.start() for match in _ESCAPED.finditer(low))
    if not low.isascii() and any(letter.encode() in low for letter in map(chr, ALIKE)):
        yield from (match.start() for match in _ALIKE.finditer(low))


def _places_of(word: bytes, low: bytes) -> Iterator[int]:
    """Where a word is, once a line."""
    at = low.find(word)
    while at >= 0:
        yield at
        at = low.find(word, low.find(b"\n", at) + 1 or len(low))


def _lines_around(data: bytes, places: Iterable[int]) -> list[tuple[int, int]]:
    """The lines that these places are in, each once."""
    found: list[tuple[int, int]] = []
    after = 0
    for at in places:
        if at >= after:
            start = data.rfind(b"\n", 0, at) + 1
            after = data.find(b"\n", at) + 1 or len(data)
            found.append((start, after))
    return found


# Files, backwards


class Region(NamedTuple):
    """Some lines of a file."""

    start: int
    data: bytes  #: empty if it is one line that is too long
    end: int


def read_regions(path: str, most: int = LONGEST, end: int | None = None, step: int = 0) -> Iterator[Region]:
    """A file from its end, or a byte at which a line ends, to its beginning, in regions of whole lines."""
    step = step or REGION
    file, size_now = open_transcript(path, 0)
    with file:
        end = size_now if end is None else end
        while end > 0:
            start, cut = end, 0
            pieces: list[bytes] = []
            while start > 0 and not cut:
                size = min(step, start)
                start -= size
                file.seek(start)
                piece = file.read(size)
                if pieces:  # the last line is longer than a piece: it becomes a region by itself
                    cut = piece.rfind(b"\n") + 1
                elif start > 0:
                    cut = piece.find(b"\n", 0, size - 1) + 1
                pieces = [piece[cut:], *pieces] if end - start - cut <= most else [b""]
            start += cut
            yield Region(start, b"".join(pieces), end)
            end = start


def _search_regions(path: str, words: Sequence[bytes]) -> Iterator[tuple[Region, list[tuple[int, int]]]]:
    """The regions of a file, each with its lines that may match."""
    is_disguised = None
    for region in read_regions(path):
        if not region.data:
            yield region, [(0, region.end - region.start)]
            continue
        is_disguised = has_disguised(region.data) if is_disguised is None else is_disguised
        yield region, find_lines(words, region.data, is_disguised=is_disguised)


def scan_session(stored: StoredSession, words: Sequence[bytes]) -> Iterator[tuple[list[Message], float | None]]:
    """The messages of a session that may match, a region at a time, from its end; and the time at which a region
    begins: what comes after it is hardly newer."""
    if not is_lines(stored):
        yield list(reader_of(stored.agent).read_messages(stored)), None
        return
    for number, (region, places) in enumerate(_search_regions(stored.path, words), 1):
        messages = (message_at(stored, region.start + start, region.start + end) for start, end in places)
        found = [message for message in messages if message is not None]
        is_asked = region.start > 0 and region.data and (found or number % STEPS == 0)
        yield found, _first_time(stored, region) if is_asked else None


def _first_time(stored: StoredSession, region: Region) -> float | None:
    """The time of the first message of a region that has one; a few lines are tried."""
    at = region.start
    for line in region.data.split(b"\n", 8)[:8]:
        message = message_at(stored, at, at + len(line)) if line else None
        if message is not None and message.time is not None:
            return message.time
        at += len(line) + 1
    return None


def message_at(stored: StoredSession, start: int, end: int) -> Message | None:
    """The message whose record begins at a place; None if there is none any more."""
    if is_lines(stored) and end - start > LONGEST:
        return long_message(stored.path, start, end)
    try:
        message = next(reader_of(stored.agent).read_messages(stored, start), None)
    except OSError:
        return None
    return message if message is not None and message.start == start else None


def with_tools(stored: StoredSession, message: Message) -> Message:
    """A message with the tool of each of its results."""
    if not is_lines(stored) or all(part.kind != "result" or part.tool for part in message.parts):
        return message
    return message._replace(parts=tuple(_with_tool(stored, message, part) for part in message.parts))


def _with_tool(stored: StoredSession, message: Message, part: Part) -> Part:
    if part.kind != "result" or part.tool or not part.id:
        return part
    name = part.id.encode("utf-8", "replace")
    with suppress(OSError):
        for region in read_regions(stored.path, end=message.start, step=NEAR):
            for start, end in reversed(_lines_around(region.data, _places_of(name, region.data))):
                before = message_at(stored, region.start + start, region.start + end)
                for call in before.parts if before is not None else ():
                    if call.kind == "call" and call.id == part.id:
                        return part._replace(tool=call.tool)
            if message.start - region.start >= FAR:
                break
    return part


# A second process


class ParallelScan:
    """What a second process has found out. `sessions` are in the order in which they are scanned here."""

    def __init__(self, words: Sequence[bytes], sessions: Sequence[StoredSession]) -> None:
        self._words = [word.decode() for word in words]
        self._sessions = [stored for stored in sessions if is_lines(stored)]
        self._left = sum(stored.size for stored in self._sessions)
        self._scanned = 0
        self._may_start = bool(self._words and sys.executable) and (os.cpu_count() or 1) > 1
        self._worker: Popen[bytes] | None = None
        self._unread = b""
        self._clean: dict[str, int] = {}

    def is_clean(self, stored: StoredSession) -> bool:
        """Whether a file need not be scanned here."""
        if self._worker is not None:
            self._listen(self._worker)
        if self._clean.get(stored.path) == stored.size:
            return True
        self._scanned += stored.size
        self._left -= stored.size
        if self._may_start and self._scanned > AFTER and self._left > 2 * AFTER:
            self._start()
        return False

    def close(self) -> None:
        """End the process, if there is one."""
        if self._worker is not None:
            end_worker(self._worker)
            self._worker = None

    def _start(self) -> None:
        self._may_start = False  # no second one
        paths = [os.fsencode(stored.path).decode("latin-1") for stored in reversed(self._sessions)]
        with suppress(OSError):
            self._worker = start_worker(__name__, scan_backwards.__name__, [self._words, paths])

    def _listen(self, worker: Popen[bytes]) -> None:
        """Take in what was reported until now."""
        assert worker.stdout is not None
        reports = worker.stdout.fileno()
        while select.select([reports], [], [], 0)[0] and (data := os.read(reports, 65536)):
            *lines, self._unread = (self._unread + data).split(b"\n")
            for line in lines:
                number, size = map(int, line.split())
                self._clean[self._sessions[-1 - number].path] = size


def scan_backwards() -> None:
    """What the second process does: files without a find go to standard output, each by its number and its size."""
    task = worker_task()
    assert isinstance(task, list)
    words, paths = task
    wanted = [word.encode() for word in words]
    for number, path in enumerate(paths):
        size = 0
        with suppress(OSError):
            for region, places in _search_regions(os.fsdecode(path.encode("latin-1")), wanted):
                size = size or region.end
                if places:
                    break
            else:
                os.write(1, b"%d %d\n" % (number, size))
