"""A folder of memories with its history and its index, changed together.

1. Under the locks of history and folder: what other programs did is recorded, then the change is recorded, then it is
   made, then the index follows.
2. A change that cannot be made is refused before it is recorded; one that the disk refuses afterwards leaves the file
   as it was, and the next look records that.
3. The index follows everything that is known, not this change alone: so it catches up with what a process that died,
   or one that only looked, left undone. An index that is too large to be read is left as it is: `doctor --fix` makes
   it short again, and the change is made all the same.

What other programs did:

4. A file whose stamp (inode, size, times) is the recorded one is unchanged; any other is read and compared. A stamp of
   this very moment is not recorded: a second change within one tick of the clock would leave it as it is.
5. A file that is as it was before the last record means that the recorded change never happened, or was undone:
   `revert`.
6. A file that disappeared while another with the same content appeared is a rename.
7. A file that could not be looked at is not gone.
8. Up to 4,096 files, every look is at all of them. Beyond that, a change looks at the names, the index, the files that
   it is about and 1,024 others in turn: a new, renamed or deleted file is noticed at once, one that was rewritten in
   place by a later look, at the latest by `log` or `doctor`, which look at everything.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress

from foretold import __version__
from foretold.errors import MemoryChanged, MemoryExists, NoSuchMemory, NotSynced, StoreFailed
from foretold.memory.note import INDEX, MAX_FILE, read_note
from foretold.memory.store.index_file import MOST_ENTRIES, Update, entries_of, entry_line, has_more, update_index
from foretold.memory.store.journal import Change, Journal
from foretold.storage.atomic import read_format, write_format
from foretold.storage.digest import digest_of
from foretold.storage.dirfd import Stamp, read_in
from foretold.storage.folder import TICK, Folder, Modes
from foretold.storage.kernel import KERNEL, Kernel
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from foretold.memory.store.journal import ChangeOrigin

FORMAT = 2  #: of the history, written in the file `format` next to it; the steps from one to the next: migration.py
TRIES = 8  #: to write an index that another program keeps changing
NONE = "none"  #: the listing of a store whose index was deleted
TOO_LARGE = f"{INDEX} is too large to be changed. Nothing was changed; try: foretold memory doctor --fix"
LOOK = 4096  #: files, up to which each look is at all of them: 20 ms, where 100,000 take 600
IN_TURN = 1024  #: files that are looked at by each change of a larger folder: 4 ms
BATCH = 4 * 1024 * 1024  #: bytes of files that are recorded together
BOUND = 64 * 1024 * 1024  #: bytes of a history, unless the settings say otherwise; retention.py keeps it


class MemoryFolder(Folder):
    """A folder of memories: every Markdown file below it, except the index."""

    ending, apart, largest = ".md", INDEX, MAX_FILE

    def read_index(self, *, cut: bool = False) -> bytes | None:
        """The bytes of the index; None if there is none. With `cut`, the start of one that is too large."""
        with suppress(NoSuchMemory), self._spot(INDEX) as spot:
            held = read_in(spot.parent, spot.name, INDEX, self.path, self.largest, cut=cut)
            is_whole = held.stamp.size <= self.largest
            return held.data if is_whole else held.data[: held.data.rfind(b"\n") + 1]
        return None

    def large_index(self) -> Stamp | None:
        """The stamp of an index that is too large to be read; None if it is not."""
        with suppress(NoSuchMemory, OSError):
            found = self.stamp(INDEX)
            return found if found.size > self.largest else None
        return None


class VersionedFolder:
    """A folder of memories with its history."""

    def __init__(self, folder: str, state: str, cache: str, modes: Modes, kernel: Kernel = KERNEL) -> None:
        self.folder = MemoryFolder(folder, modes, kernel)
        self.state = Folder(state, Modes(), kernel)
        self.journal = Journal(state, cache, kernel)
        self.bound = BOUND
        self._older = 0  #: the format of the history, if it is an older one that is only read

    @contextmanager
    def locked(self, *, whole: bool = False, reading: bool = False) -> Iterator[ExternalChanges]:
        """Lock the folder, with what happened to it until now recorded; `whole`: every file is looked at."""
        with self.locked_history(reading=reading), self.folder.locked(self._save_leftover):
            if large := self.folder.leftovers():
                self._migrate()
                from foretold.memory.store.large_index import settle_leftovers

                settle_leftovers(self, large)
            self.journal.refresh()
            if not self.journal.number:
                self.folder.root()  # repair its mode: an agent made it
            yield self._record_external(whole=whole)
            if self.journal.size > self.bound:
                self._migrate()
                from foretold.memory.store.retention import keep_bound  # not while there is room

                keep_bound(self.journal, self.bound, now())
            self.journal.save()

    def locked_all(self, *, reading: bool = False) -> AbstractContextManager[object]:
        """Lock the folder, with every file of it looked at; the history alone, if there is no folder."""
        if os.path.isdir(self.folder.path):
            return self.locked(whole=True, reading=reading)
        return self.locked_history(reading=reading)

    # The format of the history

    @contextmanager
    def locked_history(self, *, reading: bool = False) -> Iterator[None]:
        """Lock the history, in the format of this program. One of a newer program is refused, and stays as it is.

        `reading`: an older format stays, until something is recorded.
        """
        self.read_format()
        with self.state.locked():
            version = self.read_format()
            self._older = version if version < FORMAT else 0
            if not version:
                self.write_format(FORMAT)
            elif not reading:
                self._migrate()
            try:
                yield
            finally:
                self._older = 0

    def _migrate(self) -> None:
        """Bring an older history into the format of this program, before something is written. Under its lock."""
        if self._older:
            from foretold.memory.store.migration import migrate

            migrate(self, self._older, FORMAT)
            self._older = 0

    def read_format(self) -> int:
        """The format of the history: 0 if there is none yet, 1 if it does not say. StoreFailed if it is a newer one."""
        return read_format(self.state.path, FORMAT, ("log.jsonl", "inbox.jsonl"))

    def write_format(self, version: int) -> None:
        """Record the format of the history. Under its lock."""
        write_format(self.state.path, version, __version__, self.state.kernel)

    def history(self, findings: list[Finding] | None = None) -> list[Change]:
        """Every change, with what other programs did until now. Locked: another process may be writing a record."""
        if not os.path.isdir(self.folder.path) and not os.path.isdir(self.state.path):
            return []
        with self.locked_all(reading=True):
            return self.journal.changes(findings)

    def _record_external(self, *, whole: bool = False) -> ExternalChanges:
        seen = ExternalChanges([])
        size = 0
        for batch, stamps in find_external_changes(self.folder, self.journal, whole=whole):
            changes = self.record(batch)
            for file, stamp in stamps.items():
                self.journal.stamp(file, stamp)
            size += sum(len(change.data or b"") for change in changes)
            seen.changes.extend(changes if size <= BATCH else [change._replace(data=None) for change in changes])
        if seen.changes:
            self.journal.save(always=True)
        return seen

    def record(self, changes: list[Change]) -> list[Change]:
        """Append changes to the history under the next numbers."""
        if changes:
            self._migrate()
        first = self.journal.number + 1
        numbered = [change._replace(number=first + at) for at, change in enumerate(changes)]
        self.journal.append(numbered)
        return numbered

    def _save_leftover(self, data: bytes) -> None:
        """Record what a process that died left in a temporary file, unless the history has it, or more than it."""
        self.journal.refresh()
        changes = self.journal.changes()
        if not data or any((change.data or b"").startswith(data) for change in changes):
            return
        if digest_of(data) not in {change.listing for change in changes} and not self._is_start_of_index(data, changes):
            self._migrate()
            self.journal.append([self.change("leftover", "leftover.md", None, data, {"by": "other"})])

    def _is_start_of_index(self, data: bytes, changes: list[Change]) -> bool:
        """Whether a text is the start of an unfinished index: it has only lines that the history has.

        That the index has a line now is not enough: the program that wrote it may remove it again before we look.
        """
        known: set[bytes] = set()
        for change in changes:
            if change.file == INDEX:
                known.update((change.data or b"").split(b"\n"))
            elif change.data is not None:
                known.add(entry_line(read_note(change.file, change.data)).encode("utf-8", "surrogateescape"))
        *whole, torn = data.split(b"\n")
        return known.issuperset(whole) and any(line.startswith(torn) for line in known)

    def change(self, op: str, file: str, before: str | None, data: bytes | None, origin: ChangeOrigin) -> Change:
        """The next change; `origin` is who makes it, and why."""
        after = digest_of(data) if data is not None else None
        return Change(self.journal.number + 1, now(), op, file, before, after, data=data, **origin)

    def make(self, change: Change, update: Update, seen: ExternalChanges) -> None:
        """The record, then the change, then the index. Under the lock."""
        if change.data is not None and len(change.data) > MAX_FILE:
            raise StoreFailed(f"{change.file} would have more than {MAX_FILE:,} bytes. Nothing was changed")
        if change.before is None or change.old:
            self.folder.refuse_twin(change.file)
        self._record_before(change)
        change = change._replace(number=self.journal.number + 1)
        is_large = self.folder.large_index() is not None
        text, listing = (None, b"") if is_large else self._plan_index(update, seen)
        self.journal.append([change._replace(listing="" if is_large else digest_of(listing))])
        self._apply(change)
        if is_large:
            return
        try:
            self._write_index(text, listing, update)
        except StoreFailed as error:
            reason = str(error).removesuffix(". Nothing was changed")
            message = f"{change.file} is changed, but {INDEX} does not follow yet: {reason}"
            raise NotSynced(f"{message}. Try: foretold memory doctor --fix") from error

    def _record_before(self, change: Change) -> None:
        """Record what another program wrote into the file that is changed, if no look noticed it."""
        file = change.old or change.file
        head = self.journal.heads.get(file)
        known = head.digest if head else None
        if change.before is None or change.before == known:
            return
        data = self.folder.read(file).data
        if digest_of(data) == change.before:
            op = "edit" if known else "create"
            self.record([Change(0, now(), op, file, known, change.before, "other", data=data)])

    def _apply(self, change: Change) -> None:
        """Make a change. If the second half of a rename fails, the first half is undone."""
        if change.data is None:
            self.folder.remove(change.file, str(change.before))
        elif change.before is None or change.old:
            self.folder.create(change.file, change.data)
        else:
            self.folder.replace(change.file, change.data, str(change.before))
        if not change.old:
            return
        try:
            self.folder.remove(change.old, str(change.before))
        except NotSynced:
            raise
        except (StoreFailed, MemoryChanged, NoSuchMemory) as error:
            try:
                self.folder.remove(change.file, str(change.after))
            except (StoreFailed, MemoryChanged, NoSuchMemory):
                reason = str(error).removesuffix(". Nothing was changed")
                raise NotSynced(f"{change.file} is written, but {change.old} is there too: {reason}") from error
            raise

    # The index

    def follow_index(self, text: str, seen: ExternalChanges) -> str:
        """An index in step with every file."""
        return self._follow(text, Update({}), seen, whole=True, tidy=True)

    def _plan_index(self, update: Update, seen: ExternalChanges) -> tuple[bytes | None, bytes]:
        """The index as it is, and as it will be."""
        data = self.folder.read_index()
        text = (data or b"").decode("utf-8", "surrogateescape")
        is_settled = data is not None and digest_of(data) == self.journal.settled
        return data, self._follow(text, update, seen, whole=not is_settled).encode("utf-8", "surrogateescape")

    def _follow(self, text: str, update: Update, seen: ExternalChanges, *, whole: bool, tidy: bool = False) -> str:
        """An index that says what an update says, and names the files without an entry; those that are gone it drops.

        `whole`: compared with every file, not only with those that are behind; `tidy`: repeated entries go, too.
        """
        heads, deleted, written = self.journal.heads, seen.gone, seen.put
        is_written = INDEX in written
        moved = {change.old: change.file for change in seen.changes if change.old} | dict(update.moved)
        counts = Counter(entry.file for entry in entries_of(text))
        put, gone, unlisted = dict(update.put), set(update.gone), list[str]()
        behind = ((file, facts) for file in self.journal.behind if (facts := heads.get(file)))
        targets = set(moved.values())
        for file, facts in heads.items() if whole else behind:
            if file == INDEX or file in put or file in update.moved:
                continue
            if facts.digest is None:
                if not is_written or file in deleted:  # else an entry may have come before its file
                    gone.add(file)
            elif counts[file] > 1 and (tidy or file in written):
                unlisted.insert(0, file)
            elif file not in counts and file not in gone and file not in targets:
                unlisted.append(file)
        room = max(0, MOST_ENTRIES - len(counts) + len(gone & counts.keys()))
        for file in sorted(unlisted)[:room]:
            with suppress(NoSuchMemory, StoreFailed):
                put[file] = (None, read_note(file, self.folder.read(file).data))
        total = 0
        if len(unlisted) > room or has_more(text) or len(counts) + len(put) > MOST_ENTRIES // 2:
            known = heads.count_present([*put, *gone, *moved, INDEX])
            total = heads.here - known + len(put.keys() - gone - moved.keys())
        gone -= update.put.keys()
        return update_index(text, Update(put, frozenset(gone), moved, update.lines, total, len(unlisted) > room))

    def _index_records(self, text: bytes | None, listing: bytes, origin: ChangeOrigin) -> list[Change]:
        """The new index, and before it the current one if the history does not have it."""
        head = self.journal.heads.get(INDEX)
        known, before = head and head.digest, digest_of(text) if text is not None else None
        record = self.change("edit", INDEX, before, listing, origin)
        records = [record]
        if text is not None and before != known:
            kept = record._replace(before=known, after=before, data=text, why="as it was")
            records = [kept, record._replace(number=record.number + 1)]
        return [each._replace(listing=str(each.after)) for each in records]

    def _write_index(self, text: bytes | None, listing: bytes, update: Update | None) -> None:
        """Write the index. If another program changed it first, the update is applied to what that wrote."""
        for _ in range(TRIES):
            if listing == (text or b""):
                return
            try:
                if text is None:
                    self.folder.create(INDEX, listing)
                else:
                    self.folder.replace(INDEX, listing, digest_of(text))
            except (MemoryChanged, MemoryExists, NoSuchMemory) as error:
                if update is None:
                    raise MemoryChanged(f"{INDEX} was changed by another program meanwhile; read it again") from error
                text, listing = self._plan_index(update, self._record_external())
                self.journal.append(self._index_records(text, listing, {"why": "another program was faster"}))
            else:
                return
        raise StoreFailed(f"another program keeps changing {INDEX}")

    def rewrite_index(
        self, change: Callable[[str], str], seen: ExternalChanges, origin: ChangeOrigin, *, follow: bool = False
    ) -> str:
        """Write another index; the history has it, and the one before. Under the lock.

        `follow`: afterwards it is brought in step with every file.
        """
        if self.folder.large_index() is not None:
            raise StoreFailed(TOO_LARGE)
        text, same = self._plan_index(Update({}), seen)
        changed = change(same.decode("utf-8", "surrogateescape"))
        if follow:
            changed = self.follow_index(changed, seen)
        listing = changed.encode("utf-8", "surrogateescape")
        if listing != (text or b""):
            self.journal.append(self._index_records(text, listing, origin))
            self._write_index(text, listing, None)
        return listing.decode("utf-8", "replace")


def now() -> str:
    """The time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


# Changes that other programs made


class ExternalChanges(NamedTuple):
    """What other programs changed. Of very much, the texts are in the history alone."""

    changes: list[Change]

    @property
    def gone(self) -> set[str]:
        """The files that they deleted."""
        return {change.file for change in self.changes if change.after is None}

    @property
    def put(self) -> set[str]:
        """The files that they wrote."""
        return {change.file for change in self.changes if change.after is not None}


Batch = tuple[list[Change], dict[str, Stamp]]


def find_external_changes(folder: MemoryFolder, journal: Journal, *, whole: bool) -> Iterator[Batch]:
    """What differs from the journal, in batches that fit into memory. Under the lock, after its refresh."""
    stamp = now()
    findings: list[Finding] = []
    known = journal.heads.present()
    known.discard(INDEX)
    if whole or len(known) <= LOOK:
        found = folder.files(findings)
        here: Set[str] = found.keys()
    else:
        here, found = folder.look(known, findings)
        found |= folder.stamps(file for file in journal.heads.some(journal.number, IN_TURN) if file in here)
    unseen = {finding.path for finding in findings}
    if folder.path in unseen:
        raise StoreFailed(f"cannot list {folder.path}: {findings[0].message}. Nothing was changed")
    missing = set() if here is known else known - here - found.keys()
    lost = sorted(file for file in missing if unseen.isdisjoint(_above(file)))
    gone = {facts.digest: file for file in lost if (facts := journal.heads.get(file))}
    spent: set[str] = set()
    for batch, stamps in _compare(folder, journal, found, stamp):
        yield [_join_rename(change, gone, spent) for change in batch], stamps
    last = [_deleted(file, journal, stamp) for file in lost if file not in spent]
    last += _index_changes(folder, journal, stamp)
    if last:
        yield last, {}


def _compare(folder: MemoryFolder, journal: Journal, found: dict[str, Stamp], time_: str) -> Iterator[Batch]:
    """The files that are not as they were, read and recorded in batches."""
    changes, stamps, size = list[Change](), dict[str, Stamp](), 0
    for file, seen in found.items():
        head = journal.heads.get(file)
        if head is not None and head.stamp == seen and head.digest is not None:
            continue
        try:
            held = folder.read(file)
        except (NoSuchMemory, StoreFailed):
            continue  # gone, or unreadable; `list` names it
        digest = digest_of(held.data)
        if abs(time.time_ns() - held.stamp.ctime) > TICK:
            stamps[file] = held.stamp
        known = head.digest if head else None
        if digest != known:
            back = head is not None and head.before == digest
            op = "revert" if back else "edit" if known else "create"
            changes.append(Change(0, time_, op, file, known, digest, "other", data=held.data))
            size += len(held.data) + 500  # a record has its own weight
        if size > BATCH:
            yield changes, stamps
            changes, stamps, size = [], {}, 0
    if changes or stamps:
        yield changes, stamps


def _deleted(file: str, journal: Journal, time_: str) -> Change:
    facts = journal.heads.get(file)
    return Change(0, time_, "delete", file, facts.digest if facts else None, None, "other")


def _above(file: str) -> set[str]:
    """A file and the folders it is in."""
    parts = file.split("/")
    return {"/".join(parts[: at + 1]) for at in range(len(parts))}


def _join_rename(change: Change, gone: dict[str | None, str], spent: set[str]) -> Change:
    """A new file with the content of one that is gone is a rename."""
    former = gone.get(change.after) if change.op == "create" else None
    if former is None or former in spent:
        return change
    spent.add(former)
    return change._replace(op="rename", old=former, before=change.after)


def _index_changes(folder: MemoryFolder, journal: Journal, stamp: str) -> list[Change]:
    """The index, if another program wrote it: its whole text is recorded."""
    head = journal.heads.get(INDEX)
    before = head.digest if head else None
    try:
        data = folder.read(INDEX).data
    except NoSuchMemory:
        if journal.listing == NONE or len(journal.earlier) < 2:
            return []  # there may never have been one
        return [Change(0, stamp, "delete", INDEX, before, None, "other", listing=NONE)]
    except StoreFailed:
        return []
    digest = digest_of(data)
    if digest in (journal.listing, *journal.earlier):
        return []  # as we wrote it, or planned to before the process died
    return [Change(0, stamp, "edit", INDEX, before, digest, "other", data=data, listing=digest)]
