r"""Finding messages without an index: bytes first, and only lines that may be meant are parsed.

1. A file is read backwards, a `REGION` at a time, since the newest records stand at its end; a region ends where a line
   does. A line that is longer than can be parsed is taken by its two ends.
2. A region is passed over without looking at its lines if a wanted word is nowhere in it. A word of ASCII stands in
   JSON as it is, in whatever case. A writer that escapes its letters (`\u0061`), or a text with one of the four letters
   that are ASCII letters but for their case, is recognised by the last region of a file: then such lines are taken as
   well. Any other word can be where there is a byte beyond ASCII, or a `\u`.
3. What is not a file of lines is read by its reader, from the beginning.
"""

from __future__ import annotations

import os
import re

from foretold.sessions.formats.jsonl import LONGEST
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.message_text import long_message
from foretold.sessions.fulltext.query import ALIKE
from foretold.sessions.fulltext.update import is_lines
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

    from foretold.sessions.fulltext.query import Query
    from foretold.sessions.model import Message, StoredSession

REGION = 256 * 1024  #: what stays in the processor's cache while it is looked through
STEPS = 64  #: regions without a find after which a time is looked for
#: an ASCII letter or digit that is escaped, or one of the letters of `wanted.ALIKE`; after `lower`. That they begin
#: with a fixed text makes the search twice as fast as `in`.
_ESCAPED = re.compile(rb"\\u(?:00(?:3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])|013[01]|017f|212a)")
_ALIKE = re.compile(rb"\xc4[\xb0\xb1]|\xc5\xbf|\xe2\x84\xaa")
_OUTSIDE = re.compile(rb"[\x80-\xff]|\\u")


class Sieve:
    """Which bytes may hold what a query asks for: too many, never too few.

    >>> from foretold.sessions.fulltext.query import query_of
    >>> sieve = Sieve(query_of("pool -size"))
    >>> sieve.lines(b'{"a": "Pools"}\\n{"b": 1}\\n{"c": "\\\\u0070ool"}\\n')
    [(0, 15), (24, 43)]
    """

    def __init__(self, query: Query) -> None:
        words = {word for term in query.wanted for word in term.words}
        plain = sorted((word for word in words if word.isascii()), key=len, reverse=True)
        self.words = [word.encode() for word in plain]

    @classmethod
    def of(cls, words: list[bytes]) -> Sieve:
        """A sieve for words of ASCII, the longest first."""
        sieve = cls.__new__(cls)
        sieve.words = words
        return sieve

    def lines(self, data: bytes, *, is_odd: bool = True) -> list[tuple[int, int]]:
        """The lines of a region that may be meant, by where they begin and end; odd letters are looked for if told."""
        low = data.lower()
        if not self.words:
            return _around(data, (match.start() for match in _OUTSIDE.finditer(low)))
        found = []
        if all(word in low for word in self.words):
            found = [
                (start, end)
                for start, end in _around(data, _places(low, self.words[0]))
                if all(low.find(word, start, end) >= 0 for word in self.words[1:])
            ]
        odd = sorted(_odd(low)) if is_odd else ()
        return sorted({*found, *_around(data, iter(odd))}) if odd else found


def has_odd(data: bytes) -> bool:
    """Whether letters of ASCII may be hidden here."""
    return next(_odd(data.lower()), None) is not None


def _odd(low: bytes) -> Iterator[int]:
    """Where letters stand that may be ASCII letters, and do not look so."""
    yield from (match.start() for match in _ESCAPED.finditer(low))
    if not low.isascii() and any(letter.encode() in low for letter in map(chr, ALIKE)):
        yield from (match.start() for match in _ALIKE.finditer(low))


def _places(low: bytes, word: bytes) -> Iterator[int]:
    at = low.find(word)
    while at >= 0:
        yield at
        at = low.find(word, low.find(b"\n", at) + 1 or len(low))


def _around(data: bytes, places: Iterator[int]) -> list[tuple[int, int]]:
    """The lines that these places are in, each once."""
    found: list[tuple[int, int]] = []
    behind = 0
    for at in places:
        if at >= behind:
            start = data.rfind(b"\n", 0, at) + 1
            behind = data.find(b"\n", at) + 1 or len(data)
            found.append((start, behind))
    return found


class Piece(NamedTuple):
    """Some lines of a file."""

    start: int
    data: bytes  #: empty if it is one line that is too long
    end: int


def regions(path: str, most: int = LONGEST) -> Iterator[Piece]:
    """A file from its end to its beginning, in pieces of whole lines."""
    with open(path, "rb", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start, data = _whole_lines(file, end, most)
            if not data:
                start = _line_start(path, start)
            yield Piece(start, data, end)
            end = start


def _whole_lines(file: FileIO, end: int, most: int) -> tuple[int, bytes]:
    """The lines before a byte, and where they begin; none if the last of them is too long."""
    size = REGION
    while True:
        start = max(0, end - size)
        file.seek(start)
        data = file.read(end - start)
        cut = data.find(b"\n", 0, len(data) - 1) + 1
        if start == 0 and (cut or end <= most):
            return 0, data
        if cut:
            return start + cut, data[cut:]
        if size > most or start == 0:
            return start, b""
        size = min(size * 4, most + 1)


def _line_start(path: str, at: int) -> int:
    """Where the line begins that a byte is in."""
    with open(path, "rb") as file:
        while at > 0:
            start = max(0, at - REGION)
            file.seek(start)
            cut = file.read(at - start).rfind(b"\n")
            if cut >= 0:
                return start + cut + 1
            at = start
    return 0


def scanned(stored: StoredSession, sieve: Sieve) -> Iterator[tuple[list[Message], float | None]]:
    """The messages of a session that may be meant, a region at a time, from its end; and the time at which a region
    begins: what comes after it is hardly newer."""
    if not is_lines(stored):
        yield list(reader_of(stored.agent).read_messages(stored)), None
        return
    is_odd = None
    for number, piece in enumerate(regions(stored.path), 1):
        if not piece.data:
            yield [long_message(stored.path, piece.start, piece.end)], None
            continue
        is_odd = has_odd(piece.data) if is_odd is None else is_odd
        places = sieve.lines(piece.data, is_odd=is_odd)
        messages = (message_at(stored, piece.start + start, piece.start + end) for start, end in places)
        found = [message for message in messages if message is not None]
        is_asked = piece.start > 0 and (bool(found) or number % STEPS == 0)
        yield found, _begins(stored, piece) if is_asked else None


def _begins(stored: StoredSession, piece: Piece) -> float | None:
    """The time of the first message of a piece that has one; a few lines are tried."""
    at = 0
    for _ in range(8):
        end = piece.data.find(b"\n", at) + 1 or len(piece.data)
        message = message_at(stored, piece.start + at, piece.start + end) if end > at else None
        if message is not None and message.time is not None:
            return message.time
        at = end
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
