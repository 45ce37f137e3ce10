"""What a session gives to the index: its messages from the place where the last reading ended.

1. A file that grew is read on from the mark, if its first bytes and the last ones before the mark are the same as then;
   else it was rewritten or cut, and is read again from its beginning.
2. Only files of JSON lines are read on. Of what is kept in other ways (a database, a document, a packed file) a session
   that has changed is read again as a whole.
3. A record that is too long to be parsed is taken by its two ends, and named.
4. The tool of a result is known from its call, also if that was read another time.
"""

from __future__ import annotations

import hashlib
import os

from foretold.sessions.formats.jsonl import LONGEST
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.calls import with_tools
from foretold.sessions.fulltext.database import Found, Known, mask_of
from foretold.sessions.fulltext.message_text import long_messages, said_in
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.sessions.model import Message, StoredSession
    from foretold.types import Finding

ENDS = 4096  #: bytes at the beginning and before the mark by which a file is known again
BATCH = 1024 * 1024  #: bytes of records that are handed on together
ROWS = 1024


class Batch(NamedTuple):
    """Messages of a session, and how far they go."""

    rows: list[Found]
    mark: int
    is_end: bool


def is_lines(stored: StoredSession) -> bool:
    """Whether a session is a file of JSON lines of its own."""
    return stored.path.endswith(".jsonl")


def resume_point(stored: StoredSession, known: Known | None) -> int | None:
    """The byte to read on from; None if a session is to be read again."""
    if known is None:
        return 0
    if not is_lines(stored) or known.mark is None or stored.size < known.mark:
        return None
    if stored.size == known.size:  # as long as it was, and written since
        return None
    return known.mark if digest_at(stored.path, known.mark) == known.digest else None


def digest_at(path: str, mark: int) -> bytes:
    """What a file is known by up to a mark."""
    try:
        with open(path, "rb") as file:
            head = file.read(min(ENDS, mark))
            file.seek(max(0, mark - ENDS))
            return hashlib.blake2b(head + file.read(min(ENDS, mark)), digest_size=16).digest()
    except OSError:
        return b""


def batches(stored: StoredSession, since: int, findings: list[Finding]) -> Iterator[Batch]:
    """The messages of a session from a byte on."""
    rows: list[Found] = []
    at = begun = since
    for message in _messages(stored, since, findings):
        row = _row(stored, message, since)
        if row is not None:
            rows.append(row)
        at = message.end
        if at - begun > BATCH or len(rows) >= ROWS:
            yield Batch(rows, at, is_end=False)
            rows, begun = [], at
    yield Batch(rows, at, is_end=True)


def _messages(stored: StoredSession, since: int, findings: list[Finding]) -> Iterator[Message]:
    """Those that a reader gives, and those that are too long for it."""
    if not is_lines(stored):
        yield from reader_of(stored.agent).read_messages(stored, since, findings)
        return
    at = since
    for message in reader_of(stored.agent).read_messages(stored, since, findings):
        if message.start - at > LONGEST:
            yield from long_messages(stored.path, at, message.start)
        yield message
        at = message.end
    try:
        size = os.stat(stored.path).st_size
    except OSError:
        return
    if size - at > LONGEST:
        yield from long_messages(stored.path, at, size)


def _row(stored: StoredSession, message: Message, since: int) -> Found | None:
    if since and any(part.kind == "result" and not part.tool for part in message.parts):
        message = with_tools(stored, message)
    said = said_in(message)
    if not said:
        return None
    start, size = message.start, message.end - message.start
    if len(said) == 1:
        voice, tool, text = said[0]
        return Found(start, size, message.time, mask_of((voice,)), tool, text)
    voices, tools, texts = zip(*said, strict=True)
    return Found(start, size, message.time, mask_of(voices), "\n".join(sorted({*tools} - {""})), "\n".join(texts))
