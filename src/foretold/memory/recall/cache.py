"""The index of a folder of memories on disk, as a cache that may vanish, break or be wrong at any moment.

1. Files are the truth. Every question begins with one scan of the folder. If the stamps of all files have the digest
   that the index noted, it is up to date; else the files whose stamps differ are read again, in one transaction.
2. A database is trusted only if its own mtime is SEALED, before a question and after it. Every change of ours seals it
   again; any other writer (an editor, a full disk, a process that died, a journal of another database) breaks the seal.
   That costs one `stat`, where an integrity check would read the whole file.
3. An index that is not trusted, or fails in SQLite, is rebuilt in a temporary file that is renamed over it. The builder
   locks its temporary file; one without a lock was left by a process that died, and is removed at the next question.
4. Where that is not possible either, the index is built in memory. The answer is the same each time.
5. No handle is held across questions. The journal is a rollback journal: a WAL has two more files that can be lost,
   and costs a short-lived process more (10,000 memories: to open and read 0.2 ms, with a WAL 0.4; to change one 1.3 ms,
   with a WAL 1.6).

`QuickCache` is for programs that run at every prompt and have no time to look at every file:

6. An index of at most FEW memories is brought up to date first; the answer is that of `RecallCache`. If more files were
   changed than can be read while someone waits (QUICK_FILES, QUICK_BYTES), it is asked as it is, and is `stale`.
7. A larger one is asked as it is. If its folders hold the names that it knows (one `stat` a folder), only a file that
   was overwritten in place can differ, and the caller reads the files that were found anyway. If not, the answer is
   that of the last update, and the folder is listed in `stale`.
8. If there is no index yet, one is built in memory if that is quick (as in 6), or if no other process could store it
   either. Else nothing is found, and the folder is listed in `unbuilt`. It is `stale` in either case.
   `RecallCache` brings stale folders up to date in another process.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from foretold.memory.recall.file_stamps import (
    FolderScan,
    Stamp,
    has_many_files,
    is_unchanged,
    read_memory,
    scan_folder,
    spoil_young_stamp,
)
from foretold.memory.recall.index import SCHEMA, RecallIndex
from foretold.storage.digest import digest_of
from foretold.storage.tree import open_regular, require_regular
from foretold.types import TYPE_CHECKING, Skip

if TYPE_CHECKING:
    from typing import TypeVar

    Answer = TypeVar("Answer")
    Question = Callable[[RecallIndex], Answer]
    Reply = tuple[Answer, tuple[Skip, ...]]

SEALED = 1_000_000_000 * 10**9  #: 2001-09-09, in nanoseconds: whole seconds, since some file systems keep no more
PATIENCE = 5.0  #: seconds to wait for another process that writes
TRIES = 3
FEW = 1000  #: memories; in a smaller index every file is compared
#: what is read while an agent waits. The first hook of all costs 5.7 bare starts with 10 memories (quiet machine);
#: building takes 0.25 ms a file, and 0.13 ms for each 1,000 characters of a long one
QUICK_FILES, QUICK_BYTES = 12, 16 * 1024


class UnusableRecallIndex(Exception):
    """A database that is not an index of this version."""


UNUSABLE = (sqlite3.Error, UnusableRecallIndex, OSError)  #: what asking an index may raise


class RecallCache:
    """Where indexes are kept: a folder, or nowhere."""

    def __init__(self, home: str | None) -> None:
        self.home = home

    def ask(self, folder: str, question: Question[Answer], without: frozenset[str] = frozenset()) -> Reply[Answer]:
        """The answer of an up-to-date index of a folder, and the files that are not in it."""
        return self._ask_scan(scan_folder(folder, without), question, without)

    def _ask_scan(self, scan: FolderScan, question: Question[Answer], without: frozenset[str]) -> Reply[Answer]:
        if self.home is not None and scan.stamps:
            path = index_path(self.home, scan.folder, without)
            for _ in range(TRIES):
                try:
                    return _ask_file(path, scan, question)
                except UNUSABLE:
                    if not _rebuild(path, scan):
                        break
        return _ask_memory(scan, question)


class QuickCache(RecallCache):
    """Indexes that are trusted as far as a few `stat` calls can tell. With `patient`, one that is missing is built."""

    def __init__(self, home: str, few: int = FEW, *, patient: bool = False) -> None:
        super().__init__(home)
        self.few, self.patient = few, patient
        self.stale: list[str] = []
        self.unbuilt: list[str] = []

    def ask(self, folder: str, question: Question[Answer], without: frozenset[str] = frozenset()) -> Reply[Answer]:
        """The answer of an index, up to date if that is quick."""
        path = index_path(str(self.home), folder, without)
        found = self._ask_as_it_is(path, folder, question, self.few)
        if found is None and self.patient:
            return super().ask(folder, question, without)
        if found is None and has_many_files(folder, self.few):
            found = self._ask_as_it_is(path, folder, question, -1)  # it has grown
        elif found is None:
            scan = scan_folder(folder, without)
            try:
                return _ask_file(path, scan, question, lambda changed: self._is_quick(folder, changed))
            except UNUSABLE:
                if is_quick(scan.stamps) or not _is_writable(str(self.home)):
                    self.stale.append(folder)
                    return _ask_memory(scan, question)
        if found is None:
            self.unbuilt.append(folder)
            self.stale.append(folder)
            return _ask_memory(FolderScan(folder, [], [], "", 0), question)
        return found[0], ()

    def _is_quick(self, folder: str, changed: Sequence[Stamp]) -> bool:
        """Whether changed files can be read now; if not, the folder is stale."""
        if is_quick(changed):
            return True
        self.stale.append(folder)
        return False

    def _ask_as_it_is(self, path: str, folder: str, question: Question[Answer], few: int) -> tuple[Answer] | None:
        """The answer of an index as it is; None if it has only a few memories, or cannot be used."""
        try:
            with _opened(path) as index:
                count, folders = index.get_value("count"), index.get_value("folders")
                if not isinstance(count, int) or count <= few:
                    return None
                if not isinstance(folders, bytes) or not is_unchanged(folder, folders):
                    self.stale.append(folder)
                return (question(index),)
        except UNUSABLE:
            return None


def is_quick(stamps: Sequence[Stamp]) -> bool:
    """Whether files can be read into an index while an agent waits."""
    return len(stamps) <= QUICK_FILES and sum(stamp[2] for stamp in stamps) <= QUICK_BYTES


def _is_writable(home: str) -> bool:
    """Whether indexes can be stored here. Where they cannot, waiting for another process is of no use."""
    try:
        os.makedirs(home, 0o700, exist_ok=True)
    except OSError:
        return False
    return os.access(home, os.W_OK | os.X_OK)


def index_path(home: str, folder: str, without: frozenset[str] = frozenset()) -> str:
    """The database that is the index of a folder."""
    named = "\0".join([os.path.realpath(folder), *sorted(without)])
    return f"{home}/recall-{digest_of(named.encode('utf-8', 'surrogateescape'))[:24]}.db"


# One database


@contextmanager
def _opened(path: str) -> Iterator[RecallIndex]:
    """The index in a database, in a transaction; an error if it is not one of this version, or loses its seal."""
    if not is_sealed(path):
        raise UnusableRecallIndex(path)
    try:
        require_regular(path)
    except OSError as error:
        raise UnusableRecallIndex(str(error)) from None
    with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as base:
        index = RecallIndex(base)
        base.execute("BEGIN")
        if index.get_value("schema") != SCHEMA:
            raise UnusableRecallIndex(path)
        yield index
        base.execute("COMMIT")
        if base.total_changes:
            os.utime(path, ns=(SEALED, SEALED))
    if not is_sealed(path):
        raise UnusableRecallIndex(path)


def _ask_file(
    path: str, scan: FolderScan, question: Question[Answer], allow: Callable[[Sequence[Stamp]], bool] | None = None
) -> Reply[Answer]:
    """The answer of an index on disk. `allow` says whether so many files may be read now; if not, it stays as it is."""
    _sweep(path)
    with _opened(path) as index:
        if index.get_value("digest") != scan.digest:
            index.base.execute("ROLLBACK")
            index.base.execute("BEGIN IMMEDIATE")
            if _update(index, scan, allow):
                index.base.execute("COMMIT")
                os.utime(path, ns=(SEALED, SEALED))
            else:
                index.base.execute("ROLLBACK")
            index.base.execute("BEGIN")
        elif scan.folders and index.get_value("folders") != scan.folders:  # a file came or went that is not a memory
            index.set_value("folders", scan.folders)
        return _answer(index, scan, question)


def _ask_memory(scan: FolderScan, question: Question[Answer]) -> Reply[Answer]:
    """The answer of an index that lives as long as the question."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        return _answer(_fill(base, scan), scan, question)


def _answer(index: RecallIndex, scan: FolderScan, question: Question[Answer]) -> Reply[Answer]:
    unread = [Skip(os.path.join(scan.folder, file), "unreadable") for file in index.unread()]
    return question(index), (*scan.skips, *unread)


def _update(index: RecallIndex, scan: FolderScan, allow: Callable[[Sequence[Stamp]], bool] | None = None) -> bool:
    """Bring an index up to date, unless it is not allowed: only files whose stamps differ are read."""
    old = index.stamps()
    changed: list[Stamp] = []
    for stamp in scan.stamps:
        row, before = old.get(stamp[0], (0, ()))
        if before == stamp[1:]:
            del old[stamp[0]]
        else:
            changed.append(stamp)
    gone = [(file, 0, 0, 0, 0) for file in old.keys() - {stamp[0] for stamp in changed}]
    if allow is not None and not allow([*changed, *gone]):
        return False
    for row, _ in old.values():
        index.drop(row)
    for stamp in changed:
        index.put(spoil_young_stamp(stamp, scan.began), read_memory(scan.folder, stamp[0], stamp[3] / 1e9))
    index.total()
    young = any(spoil_young_stamp(stamp, scan.began) != stamp for stamp in scan.stamps)
    index.set_value("digest", "" if young else scan.digest)
    index.set_value("folders", scan.folders)
    return True


def _fill(base: sqlite3.Connection, scan: FolderScan) -> RecallIndex:
    index = RecallIndex(base)
    base.execute("BEGIN")
    index.create()
    _update(index, scan)
    base.execute("COMMIT")
    return index


# Its file


def is_sealed(path: str) -> bool:
    """Whether no other program wrote to a database. One that is being written is given a moment."""
    for _ in range(20):
        try:
            seen = os.stat(path, follow_symlinks=False)
        except OSError:
            return False
        if seen.st_mtime_ns == SEALED:
            return stat.S_ISREG(seen.st_mode)
        if abs(time.time_ns() - seen.st_mtime_ns) > 10**9:
            return False
        time.sleep(0.01)
    return False


def _rebuild(path: str, scan: FolderScan) -> bool:
    """Build an index in a temporary file and rename it into place; False if that is not possible here."""
    from foretold.storage.lock import try_lock

    beside = f"{path}.{os.urandom(6).hex()}.tmp"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        try:
            try_lock(handle)  # tells `_sweep` that its builder is alive
            with closing(sqlite3.connect(beside, isolation_level=None)) as base:
                base.execute("PRAGMA journal_mode = OFF")
                base.execute("PRAGMA synchronous = OFF")
                _fill(base, scan)
            os.fsync(handle)
        finally:
            os.close(handle)  # before the renaming: SQLite's locks on a file end when any of its descriptors is closed
        os.utime(beside, ns=(SEALED, SEALED))
        for stale in ("-journal", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(path + stale)
        os.replace(beside, path)
    except (sqlite3.Error, OSError):
        with suppress(OSError):
            os.unlink(beside)
        return False
    return True


def _sweep(path: str) -> None:
    """Remove temporary files of builders that died: their locks ended with them."""
    home, name = os.path.split(path)
    left: list[str] = []
    with suppress(OSError):
        left = [each for each in os.listdir(home) if each.endswith(".tmp") and each.startswith(f"{name}.")]
    for each in left:
        from foretold.storage.lock import try_lock

        with suppress(OSError):
            handle = open_regular(os.path.join(home, each), os.O_RDWR | os.O_NOFOLLOW)
            try:
                if try_lock(handle):
                    os.unlink(os.path.join(home, each))
            finally:
                os.close(handle)
