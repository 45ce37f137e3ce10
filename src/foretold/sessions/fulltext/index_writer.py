"""Adding sessions to the index: their messages from the byte at which the last reading ended.

1. A file that grew is read from its mark on, if its first bytes and the last ones before the mark are unchanged;
   otherwise it was rewritten or cut, and is read again from its beginning.
2. Only files of JSON lines are continued. What is stored in another form (a database, a document, a compressed file) is
   read again as a whole when it has changed.
3. A record that is too long to be parsed is taken by its two ends, and named.
4. The tool of a result is known from its call, also if that was read another time.
5. Messages are gathered and written a group at a time, one transaction each, with the marks of their files.
"""

from __future__ import annotations

import gc
import hashlib
import json
import math
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from foretold.sessions.formats.jsonl import LONGEST, unreadable
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.message_text import is_lines, long_messages, mask_of, passages_of
from foretold.sessions.fulltext.query import index_text
from foretold.sessions.fulltext.scan import with_tools
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.model import Message, StoredSession
    from foretold.types import Finding

    _Row = tuple[int, int, float | None, int, str, str]  #: of a message: start, size, time, voices, tools, text

ENDS = 4096  #: bytes at the beginning and before the mark by which a file is recognised
STEP = 1024 * 1024  #: bytes of records that become one batch
STEP_ROWS = 1024
GROUP = 12 * 1024 * 1024  #: bytes of text a transaction: 6 MB cost a twentieth more, 1 MB a fifth
GROUP_ROWS = 16_000  #: rows that one statement adds at most, and a transaction about
BULK = 32 * 1024 * 1024  #: bytes to read above which segments are not merged meanwhile
LEAF = 8100  #: bytes of a leaf of FTS5, which then fills a page of 8,192: a twelfth faster than its usual 4,050
HASH = 32 * 1024 * 1024  #: bytes of words that FTS5 may gather; it writes them at the end of a statement anyway


class ReadTask(NamedTuple):
    """A session to read: from which byte, and the row that is to be forgotten before."""

    stored: StoredSession
    since: int
    forget: int | None = None

    @property
    def size(self) -> int:
        return max(0, self.stored.size - self.since)


class _Step(NamedTuple):
    """Some messages of a session, and how far they reach."""

    stored: StoredSession
    forget: int | None
    noted: tuple[str, int, bytes, int, float]  #: summary in JSON, mark, digest, size (-1: there is more), time
    rows: list[_Row]
    read: int  #: bytes


def read_into(
    base: sqlite3.Connection,
    tasks: Sequence[ReadTask],
    gone: Sequence[int],
    progress: Callable[[int], object],
    findings: list[Finding],
) -> None:
    """Forget the sessions of some rows, and read others into a database. `progress` gets the bytes that are read."""
    base.execute("PRAGMA synchronous = OFF")
    merged = 0 if sum(task.size for task in tasks) > BULK else 8
    for name, value in {"hashsize": HASH, "pgsz": LEAF, "crisismerge": 60, "automerge": merged}.items():
        base.execute("INSERT INTO word(word, rank) VALUES (?, ?)", (name, value))
    with _transaction(base):
        for row in gone:
            _drop(base, row)
    group: list[_Step] = []
    size = count = done = 0
    with _rare_collections():
        for step in (step for task in tasks for step in _steps(task, findings)):
            group.append(step)
            size += sum([sys.getsizeof(row[-1]) for row in step.rows])  # a character may cost four bytes
            count += len(step.rows)
            if size > GROUP or count > GROUP_ROWS // 2:
                _write(base, group)
                group, size, count = [], 0, 0
            done += step.read
            progress(done)
        _write(base, group)


# Writing


def _write(base: sqlite3.Connection, group: list[_Step]) -> None:
    """Add messages, their words, and the marks of their sessions, in one transaction."""
    with _transaction(base):
        highest = base.execute("SELECT total(seq) FROM sqlite_sequence WHERE name = 'message'").fetchone()
        number = int(highest[0]) + 1
        texts: list[object] = []
        for step in group:
            session, first = _note(base, step), number + len(texts) // 2
            messages = [(at, session, *row[:5]) for at, row in enumerate(step.rows, first)]
            base.executemany("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?)", messages)
            if step.rows:
                newest = max(math.inf if row[2] is None else row[2] for row in step.rows)
                base.execute("INSERT INTO batch VALUES (?, ?, ?, ?)", (first, messages[-1][0], session, newest))
            for at, row in enumerate(step.rows, first):
                texts += (at, index_text(row[5]))
        most = 2 * min(GROUP_ROWS, base.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // 2)
        for at in range(0, len(texts), most):
            some = texts[at : at + most]
            values = ", ".join(["(?, ?)"] * (len(some) // 2))
            base.execute(f"INSERT INTO word(rowid, text) VALUES {values}", some)  # noqa: S608


def _note(base: sqlite3.Connection, step: _Step) -> int:
    """Note how far a session was read; its row. The old one is dropped if the session is read again."""
    if step.forget is not None:
        _drop(base, step.forget)
    key = (os.fsencode(step.stored.path), step.stored.id, step.stored.agent)
    base.execute("INSERT OR IGNORE INTO session(path, name, agent) VALUES (?, ?, ?)", key)
    where = "WHERE path = ? AND name = ? AND agent = ?"
    values = "summary = ?, mark = ?, digest = ?, size = ?, changed = ?"
    base.execute(f"UPDATE session SET {values} {where}", (*step.noted, *key))  # noqa: S608
    return int(base.execute(f"SELECT id FROM session {where}", key).fetchone()[0])  # noqa: S608


def _drop(base: sqlite3.Connection, row: int) -> None:
    """Forget a session."""
    for first, last in base.execute("SELECT first, last FROM batch WHERE session = ?", (row,)).fetchall():
        base.execute("DELETE FROM message WHERE id BETWEEN ? AND ?", (first, last))
    base.execute("DELETE FROM batch WHERE session = ?", (row,))
    base.execute("DELETE FROM session WHERE id = ?", (row,))


@contextmanager
def _transaction(base: sqlite3.Connection) -> Iterator[None]:
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
        base.execute("COMMIT")
    except BaseException:
        if base.in_transaction:
            base.execute("ROLLBACK")
        raise


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Records are trees: looking for cycles in them is a tenth of the work."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


# Reading


def resume_point(stored: StoredSession, size: int, mark: int | None, digest: bytes) -> int | None:
    """The byte to continue from, given what was noted of a session; None if it is to be read again: also if it is as
    long as it was, and was written since."""
    if not is_lines(stored) or mark is None or stored.size < mark or stored.size == size:
        return None
    return mark if digest_at(stored.path, mark) == digest else None


def digest_at(path: str, mark: int) -> bytes:
    """What a file is recognised by up to a mark."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            head = file.read(min(ENDS, mark))
            file.seek(max(0, mark - ENDS))
            return hashlib.blake2b(head + file.read(min(ENDS, mark)), digest_size=16).digest()
    except OSError:
        return b""


def _steps(task: ReadTask, findings: list[Finding]) -> Iterator[_Step]:
    """The messages of a session, some at a time."""
    stored, since, forget = task
    summary = json.dumps(reader_of(stored.agent).summarize(stored))
    named: list[Finding] = []
    rows: list[_Row] = []
    at = begun = since

    def step(size: int) -> _Step:
        digest, read = (digest_at(stored.path, at), at - begun) if is_lines(stored) else (b"", max(0, size))
        return _Step(stored, forget, (summary, at, digest, size, stored.changed), rows, read)

    try:
        for message in _messages(stored, since, named):
            row = _row_of(stored, message, since)
            if row is not None:
                rows.append(row)
            at = message.end
            if at - begun > STEP or len(rows) >= STEP_ROWS:
                yield step(-1)
                forget, rows, begun = None, [], at
    except OSError as error:
        findings.append(unreadable(stored.path, error))
        return
    yield step(stored.size)
    for finding in named:
        if finding.code != "record-torn":  # lines were counted from `since`
            findings.append(finding._replace(line=None) if since else finding)


def _messages(stored: StoredSession, since: int, findings: list[Finding]) -> Iterator[Message]:
    """Those that a reader gives, and those that are too long for it."""
    at = since
    for message in reader_of(stored.agent).read_messages(stored, since, findings):
        if is_lines(stored) and message.start - at > LONGEST:
            yield from long_messages(stored.path, at, message.start)
        yield message
        at = message.end
    try:
        size = os.stat(stored.path).st_size if is_lines(stored) else 0
    except OSError:
        return
    if size - at > LONGEST:
        yield from long_messages(stored.path, at, size)


def _row_of(stored: StoredSession, message: Message, since: int) -> _Row | None:
    said = passages_of(with_tools(stored, message) if since else message)
    if not said:
        return None
    start, size = message.start, message.end - message.start
    if len(said) == 1:
        voice, tool, text = said[0]
        return start, size, message.time, mask_of((voice,)), tool, text
    voices, tools, texts = zip(*said, strict=True)
    return start, size, message.time, mask_of(voices), "\n".join(sorted({*tools} - {""})), "\n".join(texts)
