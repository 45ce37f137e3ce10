"""Adding sessions to the index: their messages from the byte at which the last reading ended.

1. A file that grew is read from its mark on, if its first bytes and the last ones before the mark are unchanged;
   otherwise it was rewritten or cut, and is read again from its beginning.
2. Only files of JSON lines are continued. What is stored in another form (a database, a document, a compressed file) is
   read again as a whole when it has changed.
3. A record that is too long to be parsed is taken by its two ends, and named.
4. The tool of a result is known from its call, also if that was read another time.
5. Messages are gathered and written a group at a time, one transaction each, with the marks of their files. A thread
   writes one group while the next is read: SQLite works without Python's lock, and is half of the work.
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
from threading import Thread

from foretold.sessions.formats.jsonl import LONGEST
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.message_text import is_lines, long_messages, mask_of, passages_of, with_tools
from foretold.sessions.fulltext.query import index_text
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.model import Message, StoredSession
    from foretold.types import Finding

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


class _Row(NamedTuple):
    """A message to add."""

    start: int
    size: int
    time: float | None
    voices: int
    tools: str
    text: str


class _Step(NamedTuple):
    """Some messages of a session, and how far they reach."""

    task: ReadTask
    summary: str  #: in JSON
    rows: list[_Row]
    mark: int
    digest: bytes
    is_end: bool


class IndexWriter:
    """Reads sessions into a database."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._most = min(GROUP_ROWS, base.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // 2)
        self._group: list[_Step] = []
        self._bytes = self._count = 0  # of the group
        self._thread: Thread | None = None
        self._error: BaseException | None = None

    def run(
        self,
        tasks: Sequence[ReadTask],
        gone: Sequence[int],
        progress: Callable[[int, int], object] | None,
        findings: list[Finding],
    ) -> None:
        """Forget the sessions of some rows, and read others."""
        total, done = sum(task.size for task in tasks), 0
        self._base.execute("PRAGMA synchronous = OFF")
        settings = {"hashsize": HASH, "pgsz": LEAF, "crisismerge": 60, "automerge": 0 if total > BULK else 8}
        for name, value in settings.items():
            self._base.execute("INSERT INTO word(word, rank) VALUES (?, ?)", (name, value))
        with self._transaction():
            for row in gone:
                self._drop(row)
        try:
            with _rare_collections():
                for task in tasks:
                    for more in self._read(task, findings):
                        done += more
                        if progress is not None:
                            progress(done, total)
        finally:
            self._wait()
        self._write(self._group)

    # Reading

    def _read(self, task: ReadTask, findings: list[Finding]) -> Iterator[int]:
        """Gather the messages of a session; how many bytes were read, each time."""
        stored, at = task.stored, task.since
        summary = json.dumps(reader_of(stored.agent).summarize(stored))
        named: list[Finding] = []
        for rows, mark, is_end in _steps(stored, task.since, named):
            digest = digest_at(stored.path, mark) if is_lines(stored) else b""
            self._group.append(_Step(task, summary, rows, mark, digest, is_end))
            task = task._replace(forget=None)
            self._bytes += sum([sys.getsizeof(row.text) for row in rows])  # a character may cost four bytes
            self._count += len(rows)
            if self._bytes > GROUP or self._count > GROUP_ROWS // 2:
                self._write_meanwhile()
            yield mark - at if is_lines(stored) else stored.size * is_end
            at = mark
        # lines were counted from `since`
        findings += [
            finding._replace(line=None) if task.since else finding for finding in named if finding.code != "record-torn"
        ]

    # Writing

    def _write_meanwhile(self) -> None:
        """Write the group in a thread, when the one before is written."""
        self._wait()
        self._thread = Thread(target=self._attempt, args=(self._group,))
        self._group, self._bytes, self._count = [], 0, 0
        self._thread.start()

    def _attempt(self, group: list[_Step]) -> None:
        try:
            self._write(group)
        except BaseException as error:
            self._error = error

    def _wait(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _write(self, group: list[_Step]) -> None:
        with self._transaction():
            highest = self._base.execute("SELECT total(seq) FROM sqlite_sequence WHERE name = 'message'").fetchone()
            number = int(highest[0]) + 1
            texts: list[object] = []
            for step in group:
                self._add(step, number + len(texts) // 2)
                for row in step.rows:
                    texts += (number + len(texts) // 2, index_text(row.text))
            for at in range(0, len(texts), 2 * self._most):
                some = texts[at : at + 2 * self._most]
                values = ", ".join(["(?, ?)"] * (len(some) // 2))
                self._base.execute(f"INSERT INTO word(rowid, text) VALUES {values}", some)  # noqa: S608

    def _add(self, step: _Step, first: int) -> None:
        """Add a step's messages, without their words, and the mark of its session."""
        session = self._session(step)
        self._base.executemany(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(number, session, *row[:5]) for number, row in enumerate(step.rows, first)],
        )
        if step.rows:
            newest = max(math.inf if row.time is None else row.time for row in step.rows)
            self._base.execute(
                "INSERT INTO batch VALUES (?, ?, ?, ?)", (first, first + len(step.rows) - 1, session, newest)
            )
        stored = step.task.stored
        self._base.execute(
            "UPDATE session SET summary = ?, mark = ?, digest = ?, size = ?, changed = ? WHERE id = ?",
            (step.summary, step.mark, step.digest, stored.size if step.is_end else -1, stored.changed, session),
        )

    def _session(self, step: _Step) -> int:
        """The row of a step's session; the old one is dropped if the session is read again."""
        task = step.task
        if task.forget is not None:
            self._drop(task.forget)
        key = (os.fsencode(task.stored.path), task.stored.id, task.stored.agent)
        self._base.execute("INSERT OR IGNORE INTO session(path, name, agent, size) VALUES (?, ?, ?, -1)", key)
        found = self._base.execute("SELECT id FROM session WHERE path = ? AND name = ? AND agent = ?", key).fetchone()
        return int(found[0])

    def _drop(self, row: int) -> None:
        """Forget a session."""
        for first, last in self._base.execute("SELECT first, last FROM batch WHERE session = ?", (row,)).fetchall():
            self._base.execute("DELETE FROM message WHERE id BETWEEN ? AND ?", (first, last))
        self._base.execute("DELETE FROM batch WHERE session = ?", (row,))
        self._base.execute("DELETE FROM session WHERE id = ?", (row,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
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


def resume_point(stored: StoredSession, size: int, mark: int | None, digest: bytes) -> int | None:
    """The byte to continue from, given what was noted of a session; None if it is to be read again."""
    if not is_lines(stored) or mark is None or stored.size < mark:
        return None
    if stored.size == size:  # as long as it was, and written since
        return None
    return mark if digest_at(stored.path, mark) == digest else None


def digest_at(path: str, mark: int) -> bytes:
    """What a file is recognised by up to a mark."""
    try:
        with open(path, "rb") as file:
            head = file.read(min(ENDS, mark))
            file.seek(max(0, mark - ENDS))
            return hashlib.blake2b(head + file.read(min(ENDS, mark)), digest_size=16).digest()
    except OSError:
        return b""


def _steps(stored: StoredSession, since: int, findings: list[Finding]) -> Iterator[tuple[list[_Row], int, bool]]:
    """The messages of a session from a byte on: some at a time, how far they reach, and whether that is its end."""
    rows: list[_Row] = []
    at = begun = since
    for message in _messages(stored, since, findings):
        row = _row_of(stored, message, since)
        if row is not None:
            rows.append(row)
        at = message.end
        if at - begun > STEP or len(rows) >= STEP_ROWS:
            yield rows, at, False
            rows, begun = [], at
    yield rows, at, True


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
    if since and any(part.kind == "result" and not part.tool for part in message.parts):
        message = with_tools(stored, message)
    said = passages_of(message)
    if not said:
        return None
    start, size = message.start, message.end - message.start
    if len(said) == 1:
        voice, tool, text = said[0]
        return _Row(start, size, message.time, mask_of((voice,)), tool, text)
    voices, tools, texts = zip(*said, strict=True)
    return _Row(start, size, message.time, mask_of(voices), "\n".join(sorted({*tools} - {""})), "\n".join(texts))
