"""A folder of memories with its history and its index, changed together.

1. Under the locks of history and folder: what other programs did is recorded, then the change is recorded, then it is
   made, then the index follows.
2. A change that cannot be made is refused before it is recorded; one that the disk refuses afterwards leaves the file
   as it was, and the next look records that.
3. The index follows everything that is known, not this change alone: so it catches up with what a process that died,
   or one that only looked, left undone.

What other programs did:

4. A file whose stamp (inode, size, times) is the recorded one is unchanged; any other is read and compared. A stamp of
   this very moment is not recorded: a second change within one tick of the clock would leave it as it is.
5. A file that is as it was before the last record means that the recorded change never happened, or was undone:
   `revert`.
6. A file that disappeared while another with the same content appeared is a rename.
7. A file that could not be looked at is not gone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from foretold.errors import BadName, MemoryChanged, MemoryExists, NoSuchMemory, NotSynced, StoreFailed
from foretold.memory.note import INDEX, MAX_FILE, Memory, read_note
from foretold.memory.store.index_file import Update, entries_of, entry_line, update_index
from foretold.memory.store.journal import Change, Journal
from foretold.storage.digest import digest_of
from foretold.storage.dirfd import INSIDE, Stamp, stamp_of
from foretold.storage.folder import Folder, Modes
from foretold.storage.kernel import FOLDER, KERNEL, Kernel
from foretold.storage.names import MAX_PARTS, safe_parts
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.store.journal import ChangeOrigin

TRIES = 8  #: to write an index that another program keeps changing
NONE = "none"  #: the listing of a store whose index was deleted
TICK = 50_000_000  #: nanoseconds; more than a tick of any clock by which files are stamped


class MemoryFolder(Folder):
    """A folder of memories: every Markdown file below it, except the index."""

    ending, largest = ".md", MAX_FILE

    def files(self, findings: list[Finding] | None = None) -> dict[str, Stamp]:
        """Every memory file with its stamp, sorted by name. `findings` gets what was skipped, and why."""
        found: dict[str, Stamp] = {}
        _scan(self.path, None, "", found, [] if findings is None else findings)
        return dict(sorted(found.items()))

    def read_index(self) -> bytes | None:
        """The bytes of the index; None if there is none."""
        with suppress(NoSuchMemory):
            return self.read(INDEX).data
        return None


def _scan(name: str, above: int | None, prefix: str, found: dict[str, Stamp], skipped: list[Finding]) -> None:
    """All files of a folder, and of those in it; `above` is the descriptor of the one that it is in."""
    try:
        folder = os.open(name, FOLDER if above is None else INSIDE, dir_fd=above)
    except OSError as error:
        if above is not None or not isinstance(error, FileNotFoundError | NotADirectoryError):
            skipped.append(Finding(prefix[:-1] or name, None, "unreadable", error.strerror or str(error)))
        return
    try:
        with os.scandir(folder) as items:
            for item in items:
                file = prefix + item.name
                if item.name.startswith("."):
                    continue
                if item.is_symlink():
                    said = "it is a symbolic link, and the store does not follow links"
                    skipped.append(Finding(file, None, "memory-link", said, "put the file itself here"))
                elif item.is_dir(follow_symlinks=False) and file.count("/") + 2 > MAX_PARTS:
                    said = f"the store looks only {MAX_PARTS} folders deep"
                    skipped.append(Finding(file, None, "memory-too-deep", said))
                elif item.is_dir(follow_symlinks=False):
                    _scan(item.name, folder, file + "/", found, skipped)
                elif item.name.endswith(".md") and file != INDEX and item.is_file(follow_symlinks=False):
                    _add(item, file, found, skipped)
    finally:
        os.close(folder)


def _add(item: os.DirEntry[str], file: str, found: dict[str, Stamp], skipped: list[Finding]) -> None:
    try:
        safe_parts(file, ".md")
        about = item.stat(follow_symlinks=False)
    except BadName as error:
        shown = os.fsencode(file).decode("utf-8", "replace")
        skipped.append(Finding(shown, None, "memory-name", str(error), "rename the file"))
        return
    except OSError:
        return  # deleted in this moment
    if about.st_size > MAX_FILE:
        said = f"it has {about.st_size:,} bytes; a memory has at most {MAX_FILE:,}"
        skipped.append(Finding(file, None, "memory-too-large", said))
    else:
        found[file] = stamp_of(about)


class VersionedFolder:
    """A folder of memories with its history."""

    def __init__(self, folder: str, state: str, cache: str, modes: Modes, kernel: Kernel = KERNEL) -> None:
        self.folder = MemoryFolder(folder, modes, kernel)
        self.state = Folder(state, Modes(), kernel)
        self.journal = Journal(state, cache, kernel)

    @contextmanager
    def locked(self) -> Iterator[ExternalChanges]:
        """Lock the folder, with everything that happened to it until now recorded."""
        with self.state.locked(), self.folder.locked(self._save_leftover):
            self.journal.refresh()
            if not self.journal.number:
                self.folder.root()  # repair its mode: an agent made it
            yield self._record_external()
            self.journal.save()

    def history(self, findings: list[Finding] | None = None) -> list[Change]:
        """Every change, with what other programs did until now. Locked: another process may be writing a record."""
        has_folder = os.path.isdir(self.folder.path)
        if not has_folder and not os.path.isdir(self.state.path):
            return []
        with self.locked() if has_folder else self.state.locked():
            return self.journal.changes(findings)

    def _record_external(self) -> ExternalChanges:
        seen = find_external_changes(self.folder, self.journal)
        self.journal.append(seen.changes)
        for file, stamp in seen.stamps.items():
            self.journal.stamp(file, stamp)
        if seen.changes:
            self.journal.save(always=True)
        return seen

    def _save_leftover(self, data: bytes) -> None:
        """Record what a process that died left in a temporary file, unless the history has it, or more than it."""
        self.journal.refresh()
        changes = self.journal.changes()
        if not data or any((change.data or b"").startswith(data) for change in changes):
            return
        if digest_of(data) not in {change.listing for change in changes} and not self._is_start_of_index(data, changes):
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
        update = self._catch_up(seen.merge_into(update), seen)
        text, listing = self._plan_index(update)
        self.journal.append([change._replace(listing=digest_of(listing))])
        self._apply(change)
        try:
            self._write_index(text, listing, update)
        except StoreFailed as error:
            reason = str(error).removesuffix(". Nothing was changed")
            message = f"{change.file} is changed, but {INDEX} does not follow yet: {reason}"
            raise NotSynced(f"{message}. Try: foretold memory doctor --fix") from error

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

    def _catch_up(self, update: Update, seen: ExternalChanges) -> Update:
        """An update that also names files without an entry, and those that are known to be gone."""
        index = (self.folder.read_index() or b"").decode("utf-8", "surrogateescape")
        listed = {entry.file for entry in entries_of(index)}
        is_written = any(change.file == INDEX for change in seen.changes)  # by another program: a file may follow
        put, gone = dict(update.put), set(update.gone)
        for file, head in self.journal.heads.items():
            if file == INDEX or file in put or file in update.moved:
                continue
            if head.digest is None:
                if not is_written:
                    gone.add(file)
            elif file not in listed and file not in gone:
                with suppress(NoSuchMemory, StoreFailed):
                    put[file] = (None, read_note(file, self.folder.read(file).data))
        return update._replace(put=put, gone=frozenset(gone))

    def _plan_index(self, update: Update) -> tuple[bytes | None, bytes]:
        """The index as it is, and as it will be."""
        text = self.folder.read_index()
        before = (text or b"").decode("utf-8", "surrogateescape")
        return text, update_index(before, update).encode("utf-8", "surrogateescape")

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
                seen = self._record_external()
                update = self._catch_up(seen.merge_into(update), seen)
                text, listing = self._plan_index(update)
                self.journal.append(self._index_records(text, listing, {"why": "another program was faster"}))
            else:
                return
        raise StoreFailed(f"another program keeps changing {INDEX}")

    def make_index_updater(self, memories: Iterable[Memory], seen: ExternalChanges) -> Callable[[str], str]:
        """A function that brings an index in step with the files."""
        known: dict[str, tuple[Memory | None, Memory]] = {memory.file: (None, memory) for memory in memories}
        heads = self.journal.heads.items()
        gone = frozenset(file for file, head in heads if head.digest is None and file not in known)
        update = seen.merge_into(Update(known, gone))
        return lambda text: update_index(text, update)

    def rewrite_index(self, change: Callable[[str], str], seen: ExternalChanges, origin: ChangeOrigin) -> str:
        """Write another index; the history has it, and the one before. Under the lock."""
        text, same = self._plan_index(seen.merge_into(Update({})))
        listing = change(same.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if listing != (text or b""):
            self.journal.append(self._index_records(text, listing, origin))
            self._write_index(text, listing, None)
        return listing.decode("utf-8", "replace")


def now() -> str:
    """The time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


# Changes that other programs made


class ExternalChanges(NamedTuple):
    """What other programs changed, and the stamps of the files that were read."""

    changes: list[Change]
    stamps: dict[str, Stamp]

    def merge_into(self, update: Update) -> Update:
        """An update of the index that covers these changes too."""
        put: dict[str, tuple[Memory | None, Memory]] = {}
        gone: set[str] = set()
        moved: dict[str, str] = {}
        for change in self.changes:
            if change.file == INDEX:
                continue
            if change.data is None:
                gone.add(change.file)
                put.pop(change.file, None)
            else:
                put[change.file] = (None, read_note(change.file, change.data))
            if change.old:
                moved[change.old] = change.file
        put.update(update.put)
        gone = (gone | update.gone) - update.put.keys()
        return update._replace(put=put, gone=frozenset(gone), moved={**moved, **update.moved})


def find_external_changes(folder: MemoryFolder, journal: Journal) -> ExternalChanges:
    """What differs from the journal. Under the lock, after its refresh."""
    stamp = now()
    stamps: dict[str, Stamp] = {}
    found: list[Change] = []
    findings: list[Finding] = []
    present = folder.files(findings)
    unseen = {finding.path for finding in findings}
    if folder.path in unseen:
        raise StoreFailed(f"cannot list {folder.path}: {findings[0].message}. Nothing was changed")
    for file, seen in present.items():
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
            found.append(Change(0, stamp, op, file, known, digest, "other", data=held.data))
    for file, head in journal.heads.items():
        if head.digest is not None and file not in present and file != INDEX and unseen.isdisjoint(_above(file)):
            found.append(Change(0, stamp, "delete", file, head.digest, None, "other"))
    found = _join_renames(found)
    found += _index_changes(folder, journal, stamp)
    first = journal.number + 1
    return ExternalChanges([change._replace(number=first + at) for at, change in enumerate(found)], stamps)


def _above(file: str) -> set[str]:
    """A file and the folders it is in."""
    parts = file.split("/")
    return {"/".join(parts[: at + 1]) for at in range(len(parts))}


def _join_renames(changes: list[Change]) -> list[Change]:
    """A deleted file and a new one with the same content are a rename."""
    gone = {change.before: change for change in changes if change.after is None and change.op == "delete"}
    joined, spent = [], set()
    for change in changes:
        former = gone.get(change.after) if change.op == "create" and change.after else None
        if former is not None and former.file not in spent:
            spent.add(former.file)
            change = change._replace(op="rename", old=former.file, before=former.before)
        joined.append(change)
    return [change for change in joined if change.after is not None or change.file not in spent]


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
