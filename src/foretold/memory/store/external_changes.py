"""Changes that other programs made in a store's folder.

1. A file whose stamp (inode, size, times) is the recorded one is unchanged; any other is read and compared. A stamp of
   this very moment is not recorded: a second change within one tick of the clock would leave it as it is.
2. A file that is as it was before the last record means that the recorded change never happened, or was undone:
   `revert`.
3. A file that disappeared while another with the same content appeared is a rename.
4. A file that could not be looked at is not gone.
"""

from __future__ import annotations

import time

from foretold.errors import NoSuchMemory, StoreFailed
from foretold.memory.note import INDEX, Memory, read_note
from foretold.memory.store.folder import MemoryFolder
from foretold.memory.store.index_file import Update
from foretold.memory.store.journal import Change, Journal
from foretold.storage.digest import digest_of
from foretold.storage.dirfd import Stamp
from foretold.types import Finding, NamedTuple

NONE = "none"  #: the listing of a store whose index was deleted
TICK = 50_000_000  #: nanoseconds; more than a tick of any clock by which files are stamped


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
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
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
