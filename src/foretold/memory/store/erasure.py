"""Erasing from a store: a memory with all its versions, or a text wherever it is.

1. Under the locks of the store: what is erased goes from the memory files, the index, the history and the proposals.
   The new history is on the disk before the first file is changed, and takes its place after the last: a process that
   is killed in between leaves the old history, whole, and files that the next look records. A second run completes it.
2. Of a memory that is erased, every record stays, with its number and without its text. A text is replaced by
   `(erased)`: the rest of each version can still be restored. Both say when, under `erased`.
3. Digests of what was erased go too: who knows the rest of a text can find a short password by its digest. Random
   values take their place, the same for the same digest, so that the records still fit together.
4. The history gets a record `erase` for each memory: when, by whom, how often; not what.
5. A file that cannot be read stops nothing: it is named under `unread`, and everything else is erased.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

from foretold.errors import ForetoldError, NoSuchMemory, NotSynced, StoreFailed, WriteRefused
from foretold.memory.note import INDEX, read_note
from foretold.memory.store.index_file import Update, entries_of, update_index
from foretold.memory.store.journal import Change
from foretold.memory.store.store import Store
from foretold.memory.store.transaction import NONE
from foretold.secrets.erasure.scrub import RecordChange, replace_in_value, scrub_records
from foretold.secrets.erasure.spellings import Spellings, blank
from foretold.storage.append_log import RecordLog
from foretold.storage.digest import digest_of
from foretold.storage.folder import TEMPORARY
from foretold.storage.kernel import store_errors
from foretold.types import NamedTuple

NAMED = "erased"  #: what takes the place of a text in the name of a file


class StoreErasure(NamedTuple):
    """What is, or was, erased from a store."""

    files: dict[str, int]  #: memory files and the index: how often it is in each
    versions: int  #: records of the history that have it
    history: int  #: how often it is in them
    proposals: int  #: how often it is in proposals and plans
    memories: dict[str, tuple[int, int]]  #: of each memory: how often it is in its records, and in how many
    read: tuple[str, ...]  #: the files that were searched
    unread: dict[str, str]  #: those that could not be, and why

    @property
    def total(self) -> int:
        return sum(self.files.values()) + self.history + self.proposals


class Eraser:
    """What to erase from a store. Subclasses say what of a file, of a change, and of another record."""

    def __init__(self) -> None:
        self.touched: set[str] = set()  #: files that have, or had, what is erased
        self._digests: dict[str, str] = {}

    def look(self, change: Change) -> int:
        """How often a change has it. Called for every change, in order, before `clean`."""
        raise NotImplementedError

    def clean(self, change: Change, when: str) -> Change | None:
        """The change without it; None if it stays as it is."""
        raise NotImplementedError

    def clean_file(self, file: str, data: bytes) -> tuple[str, bytes | None, int]:
        """The file's name and bytes without it; None: the file goes."""
        raise NotImplementedError

    def clean_record(self, record: dict[str, object]) -> tuple[dict[str, object], int]:
        """A record of proposals or plans without it, and how often it was there."""
        raise NotImplementedError

    def memory_of(self, change: Change) -> str:
        """The file of the memory that a change counts for."""
        return change.file

    @property
    def spellings(self) -> Spellings | None:
        """The texts, if texts are erased."""
        return None

    def look_at_damage(self, line: bytes) -> int:
        """How often a line of the history that does not add up has it."""
        return len(self.spellings.find(line)) if self.spellings else 0

    def clean_damage(self, line: bytes) -> bytes:
        """Such a line without it. One with a packed text goes: no search can read it."""
        if b'"zlib":"' in line or b'"delta":"' in line:
            return b""
        return self.spellings.replace(line, blank)[0] if self.spellings else line

    def safe_name(self, file: str) -> str:
        """The name of a file without what is erased."""
        return file

    def known(self, old: str | None) -> str | None:
        """What takes the place of a digest; itself, if nothing does."""
        return self._digests.get(old, old) if old else old

    def listing(self, old: str) -> str:
        """A random value in place of the digest of an index: no one can tell what was in it."""
        return old if old in ("", NONE) else str(self.digest(old))

    def digest(self, old: str | None) -> str | None:
        """A random value in place of a digest, the same each time."""
        if old is None:
            return None
        return self._digests.setdefault(old, os.urandom(32).hex())


class TextEraser(Eraser):
    """Erases texts wherever they are."""

    def __init__(self, spellings: Spellings) -> None:
        super().__init__()
        self._spellings = spellings
        self._is_met = False

    @property
    def spellings(self) -> Spellings:
        return self._spellings

    def safe_name(self, file: str) -> str:
        stem = file.removesuffix(".md")
        return file if file == INDEX else self._spellings.replace_text(stem, NAMED)[0] + file[len(stem) :]

    def look(self, change: Change) -> int:
        words = (change.file, change.old, change.why, change.entry, change.session)
        count = sum(self._spellings.replace_text(word)[1] for word in words)
        if change.has_text:
            count += self._spellings.replace(change.data or b"")[1]
        if count:
            self.touched.update(filter(None, (change.file, change.old)))
        return count

    def clean(self, change: Change, when: str) -> Change | None:
        data, count = self._spellings.replace(change.data or b"") if change.has_text else (None, 0)
        if count and data is not None and change.after is not None:
            self._digests.setdefault(change.after, digest_of(data))
        whole = self._spellings.replace_text
        found = change._replace(
            file=self.safe_name(change.file),
            old=self.safe_name(change.old),
            why=whole(change.why)[0],
            entry=whole(change.entry)[0],
            session=whole(change.session, NAMED)[0],
        )
        self._is_met = self._is_met or bool(count) or tuple(found) != tuple(change)
        if not self._is_met:
            return None
        found = found._replace(
            before=self._map(change.before, change), after=self._map(change.after, change, is_text=change.has_text)
        )
        found = found._replace(listing=self.listing(change.listing))
        if count:
            found = found._replace(data=data, erased=when)
        return None if tuple(found) == tuple(change) else found

    def _map(self, old: str | None, change: Change, *, is_text: bool = False) -> str | None:
        """A digest, unless it is one of a text that is erased, or may be: a version that was dropped is not known."""
        if old is None or old in self._digests:
            return self._digests.get(old) if old else None
        return self.digest(old) if change.file in self.touched and change.dropped and not is_text else old

    def clean_file(self, file: str, data: bytes) -> tuple[str, bytes | None, int]:
        clean, count = self._spellings.replace(data)
        name = self.safe_name(file)
        return name, clean, count + (name != file)

    def clean_record(self, record: dict[str, object]) -> tuple[dict[str, object], int]:
        value, count = replace_in_value(record, self._spellings)
        return (value, count) if isinstance(value, dict) else (record, 0)


class MemoryEraser(Eraser):
    """Erases one memory with all its versions."""

    def __init__(self, store: Store, name: str) -> None:
        super().__init__()
        life = store.log(name)
        if not life:
            raise NoSuchMemory("no memory has, or had, this name; see: foretold memory list, foretold memory log")
        self.numbers = {change.number for change in life}
        self.files = {file for change in life for file in (change.file, change.old) if file}
        self.current = life[-1].file
        self._first = min(self.numbers)
        self._texts = {change.after for change in life if change.has_text}

    def look(self, change: Change) -> int:
        if change.number in self.numbers:
            self.touched.add(self.current)
            return 1
        if change.file == INDEX and change.has_text:
            return self._without_lines(change.data or b"")[1]
        return int(self._is_leftover(change))

    def memory_of(self, change: Change) -> str:
        return self.current if change.number in self.numbers or self._is_leftover(change) else change.file

    def clean(self, change: Change, when: str) -> Change | None:
        if change.number < self._first:
            return None
        found = change._replace(listing=self.listing(change.listing))
        if change.number in self.numbers or self._is_leftover(change):
            before, after = self.digest(change.before), self.digest(change.after)
            return found._replace(data=None, before=before, after=after, why="", entry="", erased=when)
        if change.file == INDEX and change.has_text:
            data, count = self._without_lines(change.data or b"")
            if count:
                self._digests.setdefault(str(change.after), digest_of(data))
                found = found._replace(data=data, erased=when)
        if change.file == INDEX:
            before, after = (self._digests.get(old or "", old) for old in (change.before, change.after))
            found = found._replace(before=before, after=after)
        return None if tuple(found) == tuple(change) else found

    def _is_leftover(self, change: Change) -> bool:
        return change.op == "leftover" and change.has_text and change.after in self._texts

    def _without_lines(self, data: bytes) -> tuple[bytes, int]:
        """An index without the entries of the memory."""
        text = data.decode("utf-8", "surrogateescape")
        gone = {entry.number for entry in entries_of(text) if entry.file in self.files}
        lines = [line for number, line in enumerate(text.split("\n")) if number not in gone]
        return "\n".join(lines).encode("utf-8", "surrogateescape"), len(gone)

    def clean_file(self, file: str, data: bytes) -> tuple[str, bytes | None, int]:
        if file == INDEX:
            clean, count = self._without_lines(data)
            return file, clean, count
        return (file, None, 1) if file == self.current else (file, data, 0)

    def clean_record(self, record: dict[str, object]) -> tuple[dict[str, object], int]:
        if record.get("kind") == "propose" and record.get("file") in self.files:
            return {"kind": "erased", **{key: record[key] for key in ("id", "time", "file") if key in record}}, 1
        steps = record.get("steps")
        if isinstance(steps, list) and any(self._is_about(step) for step in steps):
            return {**record, "steps": []}, 1
        return record, 0

    def _is_about(self, step: object) -> bool:
        if not isinstance(step, dict):
            return False
        gone = step.get("gone")
        names = [each[0] for each in gone if isinstance(each, list) and each] if isinstance(gone, list) else []
        return not self.files.isdisjoint([step.get("file"), *names])


def find_in_store(store: Store, eraser: Eraser) -> StoreErasure:
    """What would be erased. Under the store's lock; what other programs wrote is recorded first."""
    counts = []
    memories: dict[str, tuple[int, int]] = {}
    for line, change in store.journal.scan():
        count = eraser.look_at_damage(line.data) if change is None else eraser.look(change)
        if not count:
            continue
        counts.append(count)
        if change is not None:
            times, records = memories.get(file := eraser.memory_of(change), (0, 0))
            memories[file] = times + count, records + 1
    unread: dict[str, str] = {}
    held = {file: eraser.clean_file(file, data)[2] for file, data in _files(store, unread)}
    files = {file: count for file, count in held.items() if count}
    proposals = sum(_scrub(log, eraser, apply=False) for log in _other_logs(store))
    return StoreErasure(files, len(counts), sum(counts), proposals, memories, tuple(held), unread)


def erase_in_store(store: Store, eraser: Eraser, when: str, *, apply: bool, by: str = "user") -> StoreErasure:
    """Erase from a store; what was erased, or would be."""
    if apply and store.policy == "read-only":
        raise WriteRefused("the write policy is read-only: nothing is erased")
    if not os.path.isdir(store.path) and not os.path.isdir(store.state):
        return StoreErasure({}, 0, 0, 0, {}, (), {})
    with store.versioned.locked_all(reading=not apply):
        store.journal.refresh()
        found = find_in_store(store, eraser)
        if apply and found.total:
            for log in _other_logs(store):
                _scrub(log, eraser, apply=True)
            if found.files or found.history:
                _commit(store, eraser, found, when, by)
            with suppress(FileNotFoundError):  # half a record, packed perhaps: no search can read it
                os.unlink(f"{store.journal.lines.path}.torn")
    return found


def _commit(store: Store, eraser: Eraser, found: StoreErasure, when: str, by: str) -> None:
    """Prepare the new history, change the files, adopt the history."""
    changed = [(file, data, *eraser.clean_file(file, data)) for file, data in _files(store, {}) if file in found.files]
    is_there = os.path.isdir(store.path) and INDEX not in found.unread
    index = store.folder.read_index() if is_there else None
    listing = _plan_index(eraser, changed, index)
    clean = _cleaner(eraser, when)
    named = {file for file in eraser.touched if file in found.memories}
    files = sorted((named | {each[0] for each in changed}) - {INDEX}) or [INDEX]
    for change in store.journal.changes():
        clean(change)  # the digests that are replaced are known before the first line is written
    records = list(_records(store, files, changed, eraser, found, when, by))
    if records and listing is not None:
        records[-1] = records[-1]._replace(listing=digest_of(listing))
    store.journal.prepare(clean, records, eraser.clean_damage)
    done = 0
    try:
        for each in changed:
            done += _change_file(store, *each)
        if index is not None and listing is not None and listing != index:
            done += 1
            store.folder.replace(INDEX, listing, digest_of(index))
        _remove_copies(store)
    except BaseException as error:
        store.journal.lines.discard()
        if not done or not isinstance(error, ForetoldError):
            raise
        reason = str(error).removesuffix(". Nothing was changed")
        raise NotSynced(
            f"files of {store.path} are changed, but the history is not yet: {reason}. Erase again"
        ) from error
    store.journal.adopt()


def _change_file(store: Store, file: str, old: bytes, name: str, new: bytes | None, _: int) -> bool:
    """Give a memory file its new name and bytes, or remove it; the index follows later."""
    if file == INDEX:
        return False
    if new is None:
        store.folder.remove(file, digest_of(old))
    elif name == file:
        store.folder.replace(file, new, digest_of(old))
    else:
        store.folder.create(name, new)
        store.folder.remove(file, digest_of(old))
    return True


def _remove_copies(store: Store) -> None:
    """Remove what a failed step left of the old files: the next look would take it for a text that is known nowhere."""
    if not os.path.isdir(store.path):
        return
    for name in os.listdir(store.path):
        if name.startswith(TEMPORARY):
            path = os.path.join(store.path, name)
            with store_errors(f"cannot remove {path}, a copy of what is erased"):
                store.folder.kernel.unlink(path)


def _cleaner(eraser: Eraser, when: str) -> Callable[[Change], Change | None]:
    return lambda change: eraser.clean(change, when)


def _plan_index(
    eraser: Eraser, changed: list[tuple[str, bytes, str, bytes | None, int]], index: bytes | None
) -> bytes | None:
    """The index that goes with the changed files, without what is erased; None if there is no index."""
    if index is None:
        return None
    put, gone, moved = {}, set(), {}
    for file, old, name, new, _ in changed:
        if file == INDEX:
            continue
        if new is None:
            gone.add(file)
        else:
            put[name] = (read_note(file, old), read_note(name, new))
            if name != file:
                moved[file] = name
    text = update_index(index.decode("utf-8", "surrogateescape"), Update(put, frozenset(gone), moved))
    return eraser.clean_file(INDEX, text.encode("utf-8", "surrogateescape"))[1]


def _records(
    store: Store,
    files: list[str],
    changed: list[tuple[str, bytes, str, bytes | None, int]],
    eraser: Eraser,
    found: StoreErasure,
    when: str,
    by: str,
) -> Iterator[Change]:
    """A record for each memory: that it was erased from, and how the file is now."""
    now = {file: (name, new) for file, _, name, new, _ in changed}
    for number, file in enumerate(files, store.journal.number + 1):
        head = store.journal.heads.get(file)
        before = eraser.known(head.digest) if head else None
        name, data = now.get(file, (eraser.safe_name(file), None))
        after = before if file not in now else None if data is None else digest_of(data)
        times, records = found.memories.get(file, (0, 0))
        why = f"erased {_count(times + found.files.get(file, 0), 'time')}; {_count(records, 'record')} had it"
        record = Change(number, when, "erase", name, before, after, by, why=why, erased=when)
        yield record._replace(data=data) if after != before else record


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + "s" * (number != 1)


def _files(store: Store, unread: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """Every memory file with its bytes, and the index; `unread` gets those that cannot be read, and why."""
    if not os.path.isdir(store.path):
        return
    for file in (*store.folder.files(), INDEX):
        try:
            yield file, store.folder.read(file).data
        except NoSuchMemory:
            continue
        except StoreFailed as error:
            unread[file] = str(error).removesuffix(". Nothing was changed")


def _other_logs(store: Store) -> Iterator[RecordLog]:
    """Proposals, plans, and what extraction did."""
    for folder in (store.state, os.path.join(store.state, "extracted")):
        names: list[str] = []
        with suppress(OSError):
            names = sorted(os.listdir(folder))
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".jsonl") and path != store.journal.lines.path and os.path.isfile(path):
                yield RecordLog(path, store.folder.kernel)


def _scrub(log: RecordLog, eraser: Eraser, *, apply: bool) -> int:
    change: RecordChange = eraser.clean_record
    return scrub_records(log, change, eraser.spellings, apply=apply)
