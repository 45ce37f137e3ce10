"""Filling one database of the index: by this process, or by one that it starts.

1. Rows are added `GATHERED` letters at a time, since FTS5 writes a segment at the end of each statement, and are
   committed every `GROUPS` such groups, with the marks of their sessions: whoever is interrupted or killed loses no
   more than that.
2. If there is much to do, each database is filled by a process of its own: SQLite's FTS5 does about 30 MB of text a
   second, and no thread helps, since half of the work is Python's. A worker inherits the lock, ends if its parent has
   gone, and leaves what it could not finish to the next update.
"""

from __future__ import annotations

import gc
import json
import os
import select
import sqlite3
import sys

from foretold.paths import source_folder
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.database import TOGETHER, Found, Shard
from foretold.sessions.fulltext.update import batches, digest_at, is_lines
from foretold.sessions.model import StoredSession
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from subprocess import Popen

GATHERED = 12 * 1024 * 1024  #: 6 MB cost a twentieth more, 1 MB a fifth
GROUPS = 2


class Task(NamedTuple):
    """A session to read: from which byte, and the row that is to be forgotten before."""

    stored: StoredSession
    since: int
    forget: int | None = None

    @property
    def size(self) -> int:
        return max(0, self.stored.size - self.since)


def fill(
    shard: Shard, tasks: Sequence[Task], findings: list[Finding], tell: Callable[[int], object], *, is_bulk: bool
) -> None:
    """Read sessions into a database. `tell` is called with the bytes that were read since it was called last."""
    filler = _Filler(shard, is_bulk=is_bulk)
    try:
        for task in tasks:
            filler.take(task, findings, tell)
        filler.end()
    except BaseException:
        if shard.base.in_transaction:
            shard.base.execute("ROLLBACK")
        raise


class _Filler:
    def __init__(self, shard: Shard, *, is_bulk: bool) -> None:
        self._shard = shard
        self._rows: list[tuple[int, Found]] = []
        self._letters = self._groups = 0
        shard.begin(is_bulk=is_bulk)
        shard.base.execute("BEGIN IMMEDIATE")

    def take(self, task: Task, findings: list[Finding], tell: Callable[[int], object]) -> None:
        stored = task.stored
        if task.forget is not None:
            self._shard.drop(task.forget)
        session = self._shard.session(stored, reader_of(stored.agent).summarize(stored))
        at = task.since
        named: list[Finding] = []
        for rows, mark, is_end in batches(stored, task.since, named):
            self._rows += [(session, row) for row in rows]
            self._letters += sum([sys.getsizeof(row.text) for row in rows])  # letters may cost four bytes each
            digest = digest_at(stored.path, mark) if is_lines(stored) else b""
            self._shard.mark(session, mark, digest, stored.size if is_end else -1, stored.changed)
            if self._letters > GATHERED or len(self._rows) > TOGETHER // 2:
                self._add()
            tell(mark - at if is_lines(stored) else stored.size * is_end)
            at = mark
        findings += [_placed(finding, task.since) for finding in named if finding.code != "record-torn"]

    def _add(self) -> None:
        self._shard.add(self._rows)
        self._rows, self._letters = [], 0
        self._groups += 1
        if self._groups >= GROUPS:
            self._shard.base.execute("COMMIT")
            self._shard.base.execute("BEGIN IMMEDIATE")
            self._groups = 0

    def end(self) -> None:
        self._add()
        self._shard.base.execute("COMMIT")


def _placed(finding: Finding, since: int) -> Finding:
    """A finding without its line, where lines were not counted from the beginning."""
    return finding._replace(line=None) if since else finding


# A process of its own


def start_worker(path: str, tasks: Sequence[Task], lock: int) -> Popen[bytes] | None:
    """A process that fills a database; None if none can be started."""
    import subprocess

    root = source_folder()
    known = os.environ.get("PYTHONPATH", "")
    env = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{known}" if known else root}
    words = [sys.executable, "-P", "-c", "from foretold.sessions.fulltext.index_writer import work; work()"]
    try:
        worker = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, pass_fds=(lock,)
        )
    except OSError:
        return None
    assert worker.stdin is not None
    try:
        worker.stdin.write(json.dumps({"path": path, "tasks": tasks}).encode() + b"\n")
        worker.stdin.flush()
    except BrokenPipeError:
        return None
    return worker


def work() -> None:
    """What a worker does: tasks come by standard input, what was read goes to standard output, a line each."""
    gc.set_threshold(100_000, 50, 100)  # records are trees: looking for cycles in them is a tenth of the work
    given = json.loads(sys.stdin.buffer.readline())
    tasks = [Task(StoredSession(*stored), since, forget) for stored, since, forget in given["tasks"]]
    findings: list[Finding] = []

    def tell(done: int) -> None:
        for finding in findings:
            sys.stdout.write(json.dumps({"finding": finding}) + "\n")
        findings.clear()
        sys.stdout.write(json.dumps({"done": done}) + "\n")
        sys.stdout.flush()
        if select.select([0], [], [], 0)[0]:
            raise SystemExit(1)  # whoever started it has gone

    shard = Shard(given["path"])
    try:
        fill(shard, tasks, findings, tell, is_bulk=True)
        tell(0)
    except (sqlite3.Error, OSError, KeyboardInterrupt):
        raise SystemExit(1) from None
    finally:
        shard.close()


def follow(workers: Sequence[Popen[bytes]], tell: Callable[[int], object], findings: list[Finding]) -> bool:
    """Wait for workers; whether all of them did everything."""
    waiting = {worker.stdout: b"" for worker in workers if worker.stdout is not None}
    while waiting:
        for stream in select.select(list(waiting), [], [])[0]:
            data = os.read(stream.fileno(), 65536)
            if not data:
                del waiting[stream]
                continue
            *lines, waiting[stream] = (waiting[stream] + data).split(b"\n")
            for line in lines:
                _heard(json.loads(line), tell, findings)
    return [worker.wait() for worker in workers] == [0] * len(workers)


def _heard(said: dict[str, object], tell: Callable[[int], object], findings: list[Finding]) -> None:
    if isinstance(done := said.get("done"), int):
        tell(done)
    if isinstance(finding := said.get("finding"), list):
        findings.append(Finding(*finding))


def stop(workers: Sequence[Popen[bytes]]) -> None:
    """End workers: they keep what they have committed."""
    for worker in workers:
        if worker.stdin is not None:
            worker.stdin.close()
    for worker in workers:
        worker.wait()
        if worker.stdout is not None:
            worker.stdout.close()
