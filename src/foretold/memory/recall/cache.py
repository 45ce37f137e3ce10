"""The index of a folder of memories on disk, as a cache that may vanish, break or be wrong at any moment.

1. Files are the truth. Every question begins with one walk through the folder. If the stamps of all files have the
   digest that the index noted, it is up to date; else the files whose stamps differ are read again, in one transaction.
2. A database is believed only if its own mtime is SEALED, before a question and after it. Whoever changes it seals it
   again; whoever else writes to it (an editor, a full disk, a process that died, a journal of another database) breaks
   the seal. That costs one `stat`, where an integrity check costs a reading of the whole file.
3. What is not believed, or fails in SQLite, is built anew beside it and renamed over it. A builder locks its temporary
   file; one that nobody locks is left over from a process that died, and is removed at the next question.
4. Where that is not possible either, the index is built in memory. The answer is the same each time.
5. No handle is held across questions. The journal is a rollback journal: a WAL has two more files that can be lost,
   and costs a short-lived process more (10,000 memories: to open and read 0.2 ms, with a WAL 0.4; to change one 1.3 ms,
   with a WAL 1.6).

An index that answers at a glance: for programs that run at every prompt and have no time to look at every file.

1. An index of at most FEW memories is brought up to date first, as ever: the answer is that of `Cache`.
2. A larger one is asked as it is. If the names in its folders are those that it knows (one `stat` a folder), only a
   file that was written to in its place can differ; whoever asks reads the files that were found anyway, and sees that.
   If not, the answer is that of the last update, and the folder is named in `stale`.
3. Where there is no such index yet and the folder has more than FEW files, nothing is found, and it is `stale` too.
   What is stale is brought up to date by `Cache`, in another process.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable

from foretold.memory.recall.file_stamps import Walk, folders_stand, is_many, provable, read_memory, walk_of
from foretold.memory.recall.index import SCHEMA, Postings
from foretold.storage.digest import digest_of
from foretold.types import TYPE_CHECKING, Skip

if TYPE_CHECKING:
    from typing import TypeVar

    Answer = TypeVar("Answer")

SEALED = 1_000_000_000 * 10**9  #: 2001-09-09, in nanoseconds: whole seconds, since some file systems keep no more
PATIENCE = 5.0  #: seconds to wait for another process that writes
TRIES = 3
FEW = 1000  #: memories; a smaller index is always brought up to date


class Unusable(Exception):
    """A database that is no index of ours, or not of this version."""


class Cache:
    """Where indexes are kept: a folder, or nowhere."""

    def __init__(self, home: str | None) -> None:
        self.home = home

    def ask(
        self, folder: str, question: Callable[[Postings], Answer], without: frozenset[str] = frozenset()
    ) -> tuple[Answer, tuple[Skip, ...]]:
        """The answer of an up-to-date index of a folder, and the files that are not in it.

        >>> import tempfile
        >>> place = tempfile.mkdtemp()
        >>> Cache(f"{place}/cache").ask(place, lambda index: index.told("count"))
        (0, ())
        """
        walk = walk_of(folder, without)
        if self.home is not None and walk.stamps:
            path = index_path(self.home, folder, without)
            for _ in range(TRIES):
                try:
                    return _from_file(path, walk, question)
                except (sqlite3.Error, Unusable, OSError):
                    if not _rebuild(path, walk):
                        break
        base = sqlite3.connect(":memory:", isolation_level=None)
        try:
            return _answer(_filled(base, walk), walk, question)
        finally:
            base.close()


def index_path(home: str, folder: str, without: frozenset[str] = frozenset()) -> str:
    """The database that is the index of a folder."""
    named = "\0".join([os.path.realpath(folder), *sorted(without)])
    return f"{home}/recall-{digest_of(named.encode('utf-8', 'surrogateescape'))[:24]}.db"


# One database


def _from_file(path: str, walk: Walk, question: Callable[[Postings], Answer]) -> tuple[Answer, tuple[Skip, ...]]:
    _sweep(path)
    if not is_sealed(path):
        raise Unusable(path)
    base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        postings = Postings(base)
        base.execute("BEGIN")
        if postings.told("schema") != SCHEMA:
            raise Unusable(path)
        if postings.told("digest") != walk.digest:
            base.execute("ROLLBACK")
            base.execute("BEGIN IMMEDIATE")
            _update(postings, walk)
            base.execute("COMMIT")
            os.utime(path, ns=(SEALED, SEALED))
            base.execute("BEGIN")
        elif walk.folders and postings.told("folders") != walk.folders:  # a name came or went that is no memory's
            postings.note("folders", walk.folders)
        answer = _answer(postings, walk, question)
        base.execute("COMMIT")
        if base.total_changes:
            os.utime(path, ns=(SEALED, SEALED))
    finally:
        base.close()
    if not is_sealed(path):
        raise Unusable(path)
    return answer


def _answer(postings: Postings, walk: Walk, question: Callable[[Postings], Answer]) -> tuple[Answer, tuple[Skip, ...]]:
    unread = [Skip(os.path.join(walk.folder, file), "unreadable") for file in postings.unread()]
    return question(postings), (*walk.skips, *unread)


def _update(postings: Postings, walk: Walk) -> None:
    """Bring an index up to date: only files whose stamps differ are read."""
    old = postings.stamps()
    changed = []
    for stamp in walk.stamps:
        row, before = old.get(stamp[0], (0, ()))
        if before == stamp[1:]:
            del old[stamp[0]]
        else:
            changed.append(stamp)
    for row, _ in old.values():
        postings.drop(row)
    for stamp in changed:
        postings.put(provable(stamp, walk.began), read_memory(walk.folder, stamp[0], stamp[3] / 1e9))
    postings.total()
    young = any(provable(stamp, walk.began) != stamp for stamp in walk.stamps)
    postings.note("digest", "" if young else walk.digest)
    postings.note("folders", walk.folders)


def _filled(base: sqlite3.Connection, walk: Walk) -> Postings:
    postings = Postings(base)
    base.execute("BEGIN")
    postings.create()
    _update(postings, walk)
    base.execute("COMMIT")
    return postings


# Its file


def is_sealed(path: str) -> bool:
    """Whether nobody else wrote to a database. One that is being written is given a moment."""
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


def _rebuild(path: str, walk: Walk) -> bool:
    """Build an index beside the one that is not believed, and rename it over; False if that is not possible here."""
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
            _write(beside, walk)
            os.fsync(handle)
        finally:
            os.close(handle)  # before the renaming: SQLite's locks on a file end when any of its descriptors is closed
        os.utime(beside, ns=(SEALED, SEALED))
        for stale in ("-journal", "-wal", "-shm"):
            _remove(path + stale)
        os.replace(beside, path)
    except (sqlite3.Error, OSError):
        _remove(beside)
        return False
    return True


def _write(path: str, walk: Walk) -> None:
    base = sqlite3.connect(path, isolation_level=None)
    try:
        base.execute("PRAGMA journal_mode = OFF")
        base.execute("PRAGMA synchronous = OFF")
        _filled(base, walk)
    finally:
        base.close()


def _sweep(path: str) -> None:
    """Remove temporary files of builders that died: their locks ended with them."""
    home, name = os.path.split(path)
    try:
        left = [each for each in os.listdir(home) if each.endswith(".tmp") and each.startswith(f"{name}.")]
    except OSError:
        return
    for each in left:
        from foretold.storage.lock import try_lock

        try:
            handle = os.open(os.path.join(home, each), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            if try_lock(handle):
                _remove(os.path.join(home, each))
        except OSError:
            continue
        finally:
            os.close(handle)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


class Glance(Cache):
    """Indexes of a folder, believed as far as a glance can tell."""

    def __init__(self, home: str, few: int = FEW) -> None:
        super().__init__(home)
        self.few = few
        self.stale: list[str] = []

    def ask(
        self, folder: str, question: Callable[[Postings], Answer], without: frozenset[str] = frozenset()
    ) -> tuple[Answer, tuple[Skip, ...]]:
        """The answer of an index, up to date if that is quick.

        >>> import tempfile
        >>> place = tempfile.mkdtemp()
        >>> Glance(f"{place}/cache").ask(place, lambda index: index.told("count"))
        (0, ())
        """
        try:
            found = self._glanced(index_path(str(self.home), folder, without), folder, question)
        except (sqlite3.Error, OSError):
            found = None
        if found is not None:
            return found[0], ()
        if not is_many(folder, self.few):
            return super().ask(folder, question, without)
        self.stale.append(folder)
        base = sqlite3.connect(":memory:", isolation_level=None)
        try:
            postings = Postings(base)
            postings.create()
            postings.total()
            return question(postings), ()
        finally:
            base.close()

    def _glanced(self, path: str, folder: str, question: Callable[[Postings], Answer]) -> tuple[Answer] | None:
        """The answer of a large index as it is; None if it is small, or no index."""
        if not is_sealed(path):
            return None
        base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            postings = Postings(base)
            base.execute("BEGIN")
            count = postings.told("count")
            if postings.told("schema") != SCHEMA or not isinstance(count, int) or count <= self.few:
                return None
            packed = postings.told("folders")
            if not isinstance(packed, bytes) or not folders_stand(folder, packed):
                self.stale.append(folder)
            found = (question(postings),)
            base.execute("COMMIT")
        finally:
            base.close()
        return found if is_sealed(path) else None
