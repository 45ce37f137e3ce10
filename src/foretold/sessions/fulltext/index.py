"""The index over all sessions: a cache that may be deleted at any moment, with equal answers.

1. Files are the truth. Every question begins with `update`: sessions whose size and time are as noted are not opened;
   of one that grew only the new bytes are read.
2. It is two databases (`shard`), each session in one of them, so that two processes can fill them (`filling`).
3. Whoever updates holds a lock; others wait for it. What was read is committed every few seconds, together with how
   far the reading came: a process that is interrupted or killed loses no more than that, and the next one goes on.
4. A database is believed if its mtime is SEALED, by whoever updated it last. If it is not, and `sessions.busy` is
   there, somebody was killed: then it is checked as a whole. Else something else wrote to it. What is contradictory,
   was written by others, is of another version, or mostly of dead rows, is built anew.
5. A session whose file has gone is forgotten. What is asked is asked of the sessions that are there now.
"""

from __future__ import annotations

import os
import sqlite3
import sys

from foretold.sessions.fulltext.database import VERSION, Known, Shard, key_of
from foretold.sessions.fulltext.index_writer import Task, fill, follow, start_worker, stop
from foretold.sessions.fulltext.update import resume_point
from foretold.sessions.model import StoredSession
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from foretold.sessions.fulltext.database import Key

    Progress = Callable[[int, int], object]  #: bytes that are done, bytes in all

SHARDS = 2
SEALED = 1_000_000_000 * 10**9  #: 2001-09-09, in nanoseconds
BULK = 32 * 1024 * 1024  #: bytes to read above which segments are not merged meanwhile
ENDINGS = ("", "-wal", "-shm", "-journal")


class Unusable(Exception):
    """A database that is not of this version, or damaged."""


class Index:
    """The index in a folder.

    >>> import tempfile
    >>> from foretold.sessions.model import Homes
    >>> with Index(tempfile.mkdtemp()) as index:
    ...     index.update([])
    ...     index.known()
    {}
    """

    def __init__(self, home: str) -> None:
        self.home = home
        self.shards: list[Shard] = []
        self._known: dict[Key, tuple[int, Known]] | None = None
        self._sessions: list[StoredSession] | None = None

    def __enter__(self) -> Index:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        for shard in self.shards:
            shard.close()
        self.shards = []

    def paths(self) -> list[str]:
        return [os.path.join(self.home, f"sessions-{number}.db") for number in range(SHARDS)]

    def _busy(self) -> str:
        return os.path.join(self.home, "sessions.busy")

    def known(self) -> dict[Key, tuple[int, Known]]:
        """Every session, with the shard that holds it, as the last update left them."""
        if self._known is None:
            self._known = self._all_known()
        return self._known

    def sessions(self) -> list[StoredSession]:
        """The same as sessions, the newest first."""
        if self._sessions is None:
            found = [
                StoredSession(agent, name, path, changed=known.changed, size=known.size)
                for (path, name, agent), (_, known) in self.known().items()
            ]
            self._sessions = sorted(found, key=lambda stored: (-stored.changed, stored.path, stored.id))
        return self._sessions

    def _all_known(self) -> dict[Key, tuple[int, Known]]:
        return {
            key: (number, known) for number, shard in enumerate(self.shards) for key, known in shard.known().items()
        }

    def update(
        self, sessions: Sequence[StoredSession], progress: Progress | None = None, findings: list[Finding] | None = None
    ) -> None:
        """Read what is new in these sessions, and forget those whose files have gone."""
        os.makedirs(self.home, 0o700, exist_ok=True)
        with _Lock(os.path.join(self.home, "sessions.lock")) as lock:
            self._open()
            known = self.known()
            here = {stored.path for stored in sessions}
            gone = [each for each in known if each[0] not in here and not os.path.exists(each[0])]
            todo = [stored for stored in sessions if _is_new(stored, known)]
            if not gone and not todo:
                return
            with open(self._busy(), "wb"):
                pass  # it stands until the databases are sealed
            self._known = self._sessions = None
            try:
                self._forget([known[each] for each in gone])
                self._read(todo, known, progress, [] if findings is None else findings, lock)
            finally:
                self._seal()

    def _forget(self, gone: list[tuple[int, Known]]) -> None:
        for number, shard in enumerate(self.shards):
            shard.base.execute("BEGIN IMMEDIATE")
            for at, known in gone:
                if at == number:
                    shard.drop(known.row)
            shard.base.execute("COMMIT")

    def _read(
        self,
        todo: list[StoredSession],
        known: dict[Key, tuple[int, Known]],
        progress: Progress | None,
        findings: list[Finding],
        lock: int,
    ) -> None:
        """Read sessions from the oldest to the newest, so that the numbers of messages follow time."""
        todo.sort(key=lambda one: (one.changed, one.path))
        tasks = _tasks(todo, known)
        total = sum(task.size for some in tasks for task in some)
        done = 0

        def tell(more: int) -> None:
            nonlocal done
            done += more
            if progress is not None:
                progress(done, total)

        if total > BULK:
            if self._work(tasks, tell, findings, lock):
                return
            known = self._all_known()  # what workers did not finish
            tasks = _tasks([stored for stored in todo if _is_new(stored, known)], known)
        for shard, some in zip(self.shards, tasks, strict=True):
            if some:
                fill(shard, some, findings, tell, is_bulk=total > BULK)

    def _work(self, tasks: list[list[Task]], tell: Callable[[int], object], findings: list[Finding], lock: int) -> bool:
        """Let processes do it; whether they did."""
        pairs = [(path, some) for path, some in zip(self.paths(), tasks, strict=True) if some]
        workers = [start_worker(path, some, lock) for path, some in pairs] if sys.executable else [None]
        started = [worker for worker in workers if worker is not None]
        try:
            return len(started) == len(pairs) and follow(started, tell, findings)
        finally:
            stop(started)

    # Its files

    def _open(self) -> None:
        self.close()
        for path in self.paths():
            for attempt in range(2):
                try:
                    self.shards.append(_opened(path, is_busy=os.path.exists(self._busy())))
                    break
                except (sqlite3.Error, Unusable):
                    _remove(path)
                    if attempt:
                        raise

    def _seal(self) -> None:
        """Say that nobody is writing any more; not if somebody still reads what is not in the databases yet."""
        is_done = True
        for shard, path in zip(self.shards, self.paths(), strict=True):
            try:
                is_done &= shard.base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
                os.utime(path, ns=(SEALED, SEALED))
            except (sqlite3.Error, OSError):
                is_done = False
        if is_done:
            os.unlink(self._busy())


def _is_new(stored: StoredSession, known: dict[Key, tuple[int, Known]]) -> bool:
    found = known.get(key_of(stored))
    return found is None or (found[1].size, found[1].changed) != (stored.size, stored.changed)


def _tasks(todo: list[StoredSession], known: dict[Key, tuple[int, Known]]) -> list[list[Task]]:
    """What each database is to read. A new session goes to the one that has less to do."""
    tasks: list[list[Task]] = [[] for _ in range(SHARDS)]
    load = [0] * SHARDS
    for stored in todo:
        number, old = known.get(key_of(stored), (load.index(min(load)), None))
        since = resume_point(stored, old)
        task = Task(stored, since or 0, old.row if old is not None and since is None else None)
        tasks[number].append(task)
        load[number] += task.size + 1000
    return tasks


def _opened(path: str, *, is_busy: bool) -> Shard:
    """A database that can be believed; a new one if there is none."""
    try:
        seen = os.stat(path)
    except OSError:
        _remove(path)  # what belonged to another one
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        seen = os.stat(path)
    shard = Shard(path)
    try:
        if seen.st_size == 0 and not os.path.exists(path + "-wal"):
            shard.create()
        elif not (seen.st_mtime_ns == SEALED or (is_busy and shard.is_whole())):
            raise Unusable(path)
        if shard.told("version") != VERSION or shard.is_stale():
            raise Unusable(path)
    except BaseException:
        shard.close()
        raise
    return shard


def _remove(path: str) -> None:
    for ending in ENDINGS:
        try:
            os.unlink(path + ending)
        except FileNotFoundError:
            continue


class _Lock:
    """The right to update, for one process at a time; it ends with the process."""

    def __init__(self, path: str) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def __enter__(self) -> int:
        from foretold.storage.lock import wait_for_lock

        try:
            wait_for_lock(self._handle)
        except BaseException:
            os.close(self._handle)
            raise
        return self._handle

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)
