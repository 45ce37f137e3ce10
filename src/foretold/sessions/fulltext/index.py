"""The full-text index over all sessions: a cache that may be deleted at any moment, with equal answers.

1. Files are the truth. Every question begins with `update`: sessions whose size and time are as noted are not opened;
   of one that grew only the new bytes are read.
2. It is two SQLite databases, the shards; the path of a session says which one it is in. A message has a number:
   `message` says where it is in its file, `word`, a contentless FTS5 table, which words it has. No text is stored.
   Messages of a session that were added together are a `batch`.
3. A number without a message is dead: its session was rewritten or is gone. FTS5 cannot forget a row without its text,
   so a database with more dead numbers than living ones is rebuilt.
4. Where much is to be read, a second process updates one of the shards: SQLite is two thirds of the work, and has one
   writer a database. What it leaves undone is done here afterwards.
5. A process that updates holds a lock; others wait for it. Messages are committed every few seconds, together with how
   far the file was read: a process that is interrupted or killed loses no more than that, and the next one continues.
6. A database is trusted if its mtime is SEALED, which an update sets when it ends. If it is not, and its `.busy` file
   exists, an update was killed: then the database is checked as a whole. Otherwise another program wrote to it. A
   database that is inconsistent, was changed by others, has another version, or has mostly dead rows, is rebuilt.

The tables: docs/formats/session-index.md.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial

from foretold.sessions.fulltext.index_writer import ReadTask, read_into, resume_point
from foretold.sessions.fulltext.worker import end_worker, start_worker, worker_task
from foretold.sessions.model import StoredSession
from foretold.storage.lock import wait_for_lock
from foretold.storage.tree import open_regular, require_regular
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    Key = tuple[str, str, str]  #: path, id, agent
    Progress = Callable[[int, int], object]  #: bytes that are done, bytes in all

VERSION = 3
REPORTED = 4 * 1024 * 1024  #: bytes from one report to the next
SHARDS = 2
HELPED = 32 * 1024 * 1024  #: bytes to read from which a second process is worth its start
SEALED = 1_000_000_000 * 10**9  #: 2001-09-09, in nanoseconds
DEAD = 20_000  #: dead numbers that do no harm
SCHEMA = """
CREATE TABLE session (
  id INTEGER PRIMARY KEY, agent TEXT, name TEXT, path BLOB, summary TEXT, size INTEGER, changed REAL,
  mark INTEGER, digest BLOB, UNIQUE (path, name, agent));
CREATE TABLE message (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER, start INTEGER, size INTEGER, time REAL, voices INTEGER,
  tools TEXT);
CREATE TABLE batch (first INTEGER PRIMARY KEY, last INTEGER, session INTEGER, newest REAL);
CREATE INDEX batch_session ON batch (session);
CREATE VIRTUAL TABLE word USING fts5 (
  text, content = '', columnsize = 0, detail = none, tokenize = 'unicode61 remove_diacritics 0');
"""


class UnusableIndex(Exception):
    """A database that has another version, or is damaged."""


class KnownSession(NamedTuple):
    """A session as the index knows it."""

    row: int
    size: int  #: -1 if it was not read to its end
    changed: float
    mark: int | None
    digest: bytes
    summary: str  #: the session as a list shows it, in JSON


class IndexShard:
    """One of the databases of the index."""

    def __init__(self, home: str, number: int) -> None:
        self.path = os.path.join(home, f"sessions-{number}.db")
        self._busy = os.path.join(home, f"sessions-{number}.busy")
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    @property
    def base(self) -> sqlite3.Connection:
        if self._connection is None:
            raise UnusableIndex(f"{self.path} is closed")
        return self._connection

    # Questions

    @cached_property
    def known(self) -> dict[Key, KnownSession]:
        """Every session, as the last update left it."""
        rows = self.base.execute("SELECT path, name, agent, id, size, changed, mark, digest, summary FROM session")
        return {(os.fsdecode(path), name, agent): KnownSession(*rest) for path, name, agent, *rest in rows}

    def batches(self) -> list[tuple[int, int, int, float]]:
        """First and last number, session, and the newest time, which is infinite if one is not known."""
        return self.base.execute("SELECT first, last, session, newest FROM batch").fetchall()

    def has_more_than(self, most: int, match: str) -> bool:
        """Whether more messages match an FTS5 expression; dead ones count."""
        asked = "SELECT count(*) FROM (SELECT 1 FROM word WHERE word MATCH ? LIMIT ?)"
        return int(self.base.execute(asked, (match, most + 1)).fetchone()[0]) > most

    def find(self, match: str, first: int, last: int) -> list[tuple[int, int, int, float | None, int, str]]:
        """The messages that match an FTS5 expression, between two numbers: session, start, size, time, voices
        (`message_text.mask_of`), and the names of tools, a line each."""
        asked = """SELECT session, start, size, time, voices, tools FROM word CROSS JOIN message ON id = word.rowid
            WHERE word MATCH ? AND word.rowid BETWEEN ? AND ?"""
        return self.base.execute(asked, (match, first, last)).fetchall()

    def count_dead(self) -> int:
        """How many numbers belong to no message any more."""
        return self._count("SELECT total(seq) FROM sqlite_sequence") - self._count_living()

    def _count_living(self) -> int:
        return self._count("SELECT total(last - first + 1) FROM batch")

    def _count(self, asked: str) -> int:
        return int(self.base.execute(asked).fetchone()[0])

    # Updating

    def plan(self, sessions: Sequence[StoredSession]) -> tuple[list[int], list[ReadTask]]:
        """The rows of sessions that are gone, and what is to be read, from the oldest to the newest: the numbers of
        messages follow time."""
        known = self.known
        here = {stored.path for stored in sessions}
        gone = [each.row for key, each in known.items() if key[0] not in here and not os.path.exists(key[0])]
        tasks = []
        for stored in sessions:
            found = known.get(key_of(stored))
            if found is None:
                tasks.append(ReadTask(stored, 0))
            elif (found.size, found.changed) != (stored.size, stored.changed):
                since = resume_point(stored, found.size, found.mark, found.digest)
                tasks.append(ReadTask(stored, since or 0, found.row if since is None else None))
        return gone, sorted(tasks, key=lambda task: (task.stored.changed, task.stored.path))

    def update(
        self, sessions: Sequence[StoredSession], progress: Callable[[int], object], findings: list[Finding]
    ) -> None:
        """Read what is new in these sessions, and forget those whose files are gone."""
        gone, tasks = self.plan(sessions)
        if not gone and not tasks:
            return
        with open(self._busy, "wb", opener=open_regular):
            pass  # it exists until the database is sealed
        self.__dict__.pop("known", None)
        try:
            read_into(self.base, tasks, gone, progress, findings)
        finally:
            self._seal()

    def open(self) -> None:
        """Open a database that can be trusted: a new one if there is none."""
        self.close()
        self.__dict__.pop("known", None)
        try:
            self._connect()
        except (sqlite3.Error, UnusableIndex):
            self.close()
            self._remove()
            self._connect()

    def _connect(self) -> None:
        if not os.path.exists(self.path):
            self._remove()  # what belonged to another one
            os.close(open_regular(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        try:
            require_regular(self.path)
        except OSError as error:
            raise UnusableIndex(str(error)) from None
        status = os.stat(self.path)
        is_new = status.st_size == 0 and not os.path.exists(self.path + "-wal")
        self._connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, cached_statements=0)
        if is_new:
            self.base.execute("PRAGMA page_size = 8192")
            self.base.execute("PRAGMA journal_mode = WAL")
            self.base.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
            self._seal()
        elif status.st_mtime_ns != SEALED:
            if not os.path.exists(self._busy):
                raise UnusableIndex(self.path)
            self.base.execute("INSERT INTO word(word) VALUES ('integrity-check')")  # this reads the whole file
            if self.base.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise UnusableIndex(self.path)
        if self._count("PRAGMA user_version") != VERSION or self.count_dead() > max(DEAD, self._count_living()):
            raise UnusableIndex(self.path)

    def _seal(self) -> None:
        """Say that the update has ended; not if another process still reads what is not in the database yet."""
        with suppress(sqlite3.Error, OSError):
            is_done = self.base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            os.utime(self.path, ns=(SEALED, SEALED))
            if is_done:
                os.unlink(self._busy)

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                os.unlink(self.path + ending)


class SessionIndex:
    """The index in a folder."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.shards = tuple(IndexShard(home, number) for number in range(SHARDS))

    def __enter__(self) -> SessionIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for shard in self.shards:
            shard.close()

    @cached_property
    def known(self) -> dict[Key, KnownSession]:
        """Every session, as the last update left it."""
        return {key: each for shard in self.shards for key, each in shard.known.items()}

    @cached_property
    def sessions(self) -> list[StoredSession]:
        """The same as sessions, the newest first."""
        found = [
            StoredSession(agent, name, path, changed=known.changed, size=known.size)
            for (path, name, agent), known in self.known.items()
        ]
        return sorted(found, key=lambda stored: (-stored.changed, stored.path, stored.id))

    def update(
        self, sessions: Sequence[StoredSession], progress: Progress | None = None, findings: list[Finding] | None = None
    ) -> None:
        """Read what is new in these sessions, and forget those whose files are gone."""
        os.makedirs(self.home, 0o700, exist_ok=True)
        lock = open_regular(os.path.join(self.home, "sessions.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        for name in ("known", "sessions"):
            self.__dict__.pop(name, None)
        try:
            wait_for_lock(lock)  # it ends with the process
            self._update(sessions, progress, [] if findings is None else findings, lock)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(lock)

    def _update(
        self, sessions: Sequence[StoredSession], progress: Progress | None, findings: list[Finding], lock: int
    ) -> None:
        parts: list[list[StoredSession]] = [[] for _ in self.shards]
        for stored in sessions:
            parts[zlib.crc32(os.fsencode(stored.path)) % SHARDS].append(stored)
        sizes, done = [], [0] * SHARDS
        for shard, part in zip(self.shards, parts, strict=True):
            shard.open()
            sizes.append(sum(task.size for task in shard.plan(part)[1]))

        def report(number: int, read: int) -> None:
            done[number] = max(done[number], read)
            if progress is not None:
                progress(sum(done), sum(sizes))

        *own, last = range(SHARDS)
        helper = None
        if sum(sizes) > HELPED and min(sizes) > HELPED // 8 and (os.cpu_count() or 1) > 1 and sys.executable:
            self.shards[last].close()
            with suppress(OSError):
                helper = ShardHelper(self.home, last, parts[last], lock)
        try:
            for number in own:
                self.shards[number].update(parts[number], partial(report, number), findings)
            if helper is not None:
                helper.follow(partial(report, last), findings)
        finally:
            if helper is not None:
                helper.close()
        self.shards[last].open()
        self.shards[last].update(parts[last], partial(report, last), findings)


class ShardHelper:
    """A second process that updates a shard: `fill_shard`. It inherits the lock, so that it is held until both end."""

    def __init__(self, home: str, number: int, sessions: Sequence[StoredSession], lock: int) -> None:
        self._process = start_worker(__name__, fill_shard.__name__, [home, number, sessions], [lock])

    def follow(self, progress: Callable[[int], object], findings: list[Finding]) -> None:
        """Wait for its end; report what it reports."""
        assert self._process.stdout is not None
        with suppress(ValueError):  # it was killed while it wrote
            for line in self._process.stdout:
                report = json.loads(line)
                if isinstance(report, int):
                    progress(report)
                else:
                    findings += [Finding(*each) for each in report]

    def close(self) -> None:
        end_worker(self._process)


def fill_shard() -> None:
    """What the second process does: bytes and findings go to standard output."""
    task = worker_task()
    assert isinstance(task, list)
    home, number, rows = task
    read = reported = 0

    def report(done: int) -> None:
        nonlocal read, reported
        read = done
        if done >= reported + REPORTED:  # a pipe holds 64 KB, and may not be read until the other shard is done
            reported = done
            sys.stdout.write(f"{done}\n")
            sys.stdout.flush()

    shard = IndexShard(home, number)
    shard.open()
    findings: list[Finding] = []
    shard.update([StoredSession(*row) for row in rows], report, findings)
    shard.close()
    sys.stdout.write(f"{read}\n{json.dumps(findings)}\n")


def key_of(stored: StoredSession) -> Key:
    return (stored.path, stored.id, stored.agent)
