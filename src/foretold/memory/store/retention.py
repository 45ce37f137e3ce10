"""Which versions the history keeps, and a bound on its size.

1. Always kept: the last version of every memory, whether it exists or was deleted; the version before each deletion,
   restore and step of a consolidation, so that each of these can be undone; and every record: of a version that is
   dropped only the text goes, and the log says when.
2. `compact --history` keeps every version of the last 90 days, then the last one of each day, and after a year the last
   one of each week.
3. The history has a bound. A write that exceeds it drops texts until the log has three quarters of it: of the memory
   that takes most, the oldest first. So a memory that is written over and over cannot push out versions of others.
4. The log is replaced in one step, under the lock of the store: it is the old one or the new one, whole. The new one
   is written next to the old one first; if the disk has no room for it, nothing is changed.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress

from foretold.errors import StoreFailed
from foretold.memory.store.journal import KEYS, Change, Journal
from foretold.storage.append_log import encode
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.store.store import Store

DAYS = 90  #: of which every version is kept
YEAR = 365  #: days of which the last version of a day is kept; before them, of a week
AIM = 0.75  #: of the bound; so the log is not rewritten at each change
LEAST = 1024  #: bytes of a record; the text of a shorter one is not worth dropping: its record stays
NOTE = "log.jsonl"  #: the file that the record of a compaction names
NOTE_SIZE = 210  #: bytes of that record, about
MARK_SIZE = len(',"dropped":"2026-11-18T00:00:00Z"')  #: bytes that say when a text was dropped
EMPTY = len(encode({})) + 1  #: bytes of a record without its keys; less than a comma
UNDONE = ("delete", "restore")  #: operations before which the version is kept


class HistoryPlan(NamedTuple):
    """What compacting a history would do."""

    size: int  #: bytes of the log
    after: int  #: bytes that it would have, about
    versions: int  #: that can be restored now
    drop: frozenset[int]  #: the numbers of the changes whose text would go
    files: dict[str, int]  #: how many of each file
    spared: int = 0  #: versions that are old enough, and stay: without them the log would not be smaller


class _Version(NamedTuple):
    """A change with a text, as long as it takes to choose."""

    number: int
    file: str
    day: int  #: since 1970; 0 if its time cannot be read
    size: int  #: bytes of its record
    base: int  #: the number of the change it is based on; 0: it is stored whole
    text: int  #: bytes of its record that are its text


def plan_compaction(journal: Journal, *, days: int = DAYS, bound: int = 0, today: int | None = None) -> HistoryPlan:
    """Which texts to drop: by age, and then until the log is not larger than `bound`, if one is given."""
    versions, protected, size = _look(journal)
    now = int(time.time() // 86400) if today is None else today
    drop = _too_old(versions, protected, now, days)
    kept = {each.number for each in versions} - drop
    free = sum(each.size for each in versions if each.number in drop)
    if bound and size - free > bound:
        drop |= _beyond(versions, protected | drop, size - free - int(bound * AIM))
    after = size + NOTE_SIZE - sum(each.text - MARK_SIZE for each in versions if each.number in drop)
    if after >= size:
        return HistoryPlan(size, size, len(kept | drop), frozenset(), {}, len(drop))
    files = Counter(each.file for each in versions if each.number in drop)
    return HistoryPlan(size, after, len(kept | drop), frozenset(drop), dict(files))


def compact_history(journal: Journal, plan: HistoryPlan, *, by: str, when: str, why: str) -> int:
    """Drop texts, and record that; the size of the log afterwards. Under the store's lock, after `refresh`."""

    def replace(change: Change) -> Change | None:
        return change._replace(data=None, dropped=when) if change.number in plan.drop and change.has_text else None

    note = Change(journal.number + 1, when, "compact", NOTE, None, None, by=by, why=why)
    size = journal.prepare(replace, [note])
    if size >= plan.size:
        journal.lines.discard()
        return plan.size
    journal.adopt()
    return size


def keep_bound(journal: Journal, bound: int, when: str) -> None:
    """Bring a log that has outgrown its bound below it. If that fails, the next write tries again; `doctor` says so."""
    if journal.size <= bound or journal.size < journal.tried * 9 // 8:
        return
    with suppress(StoreFailed):
        plan = plan_compaction(journal, days=10**6, bound=bound)
        why = f"the history was larger than {bound // 1024**2} MiB: {len(plan.drop):,} old texts dropped"
        size = compact_history(journal, plan, by="auto", when=when, why=why) if plan.drop else plan.size
        if size > bound * AIM:
            journal.tried = size  # what is left is protected: not tried again before it has grown


def check_history(store: Store, changes: Iterable[Change]) -> list[Finding]:
    """What the owner of a store should know about the size of its history."""
    found = []
    path, bound = store.journal.lines.path, store.versioned.bound
    with suppress(OSError):
        size = os.path.getsize(path)
        if size > bound:
            said = f"the history has {size:,} bytes, more than its bound of {bound:,}"
            found.append(Finding(path, None, "history-large", said, "foretold memory compact --history"))
    month = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 30 * 86400))
    for change in changes:
        if change.op == "compact" and change.by == "auto" and change.time >= month:
            said = f"{change.why}, on {change.time[:10]}; they cannot be restored"
            found.append(Finding(path, None, "history-dropped", said))
    return found


def _look(journal: Journal) -> tuple[list[_Version], set[int], int]:
    """Every version with a text, the numbers of those that are always kept, and the size of the log."""
    versions, protected, size = [], set(), 0
    last: dict[str, int] = {}  # of each file, the number of its last change with a text
    for line, change in journal.scan():
        size = line.end
        if change is None or line.record is None:
            continue
        for file in filter(None, (change.file, change.old)):
            if file in last and (change.op in UNDONE or change.after is None or _is_step(change)):
                protected.add(last[file])
        if change.has_text:
            base = line.record.get("base", 0)
            day = _day_of(change.time)
            text = sum(len(encode({key: line.record[key]})) - EMPTY for key in (*KEYS, "base") if key in line.record)
            base = base if type(base) is int else 0
            versions.append(_Version(change.number, change.file, day, len(line.data), base, text))
            last[change.file] = change.number
    return versions, protected | set(last.values()), size


def _is_step(change: Change) -> bool:
    """Whether a change is a step of a consolidation, or undoes one."""
    return change.why.startswith(("consolidation ", "undo of "))


def _day_of(moment: str) -> int:
    try:
        year, month, day = map(int, moment[:10].split("-"))
        from datetime import date  # not where the bound is not reached

        return date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        return 0


def _too_old(versions: list[_Version], protected: set[int], today: int, days: int) -> set[int]:
    """The numbers of versions before the last one of their day, or week."""
    last: dict[tuple[str, int, int], int] = {}
    drop = set()
    for each in versions:
        age = today - each.day
        if age < days or not each.day:
            continue
        span = 1 if age < YEAR else 7
        slot = each.file, span, (each.day + 3) // span  # 1 January 1970 was a Thursday
        if slot in last and last[slot] not in protected:
            drop.add(last[slot])
        last[slot] = each.number
    return drop


def _beyond(versions: list[_Version], kept: set[int], excess: int) -> set[int]:
    """The numbers of versions to drop so that a log loses `excess` bytes.

    A version that others are based on frees nothing until the last of them goes: its text moves to the next.
    """
    files: defaultdict[str, list[_Version]] = defaultdict(list)
    based = Counter(each.base for each in versions if each.base)
    sizes = {each.number: each.size for each in versions}
    for each in versions:
        if each.number not in kept and each.size >= LEAST:
            files[each.file].append(each)
    taken = {file: sum(each.size for each in found) for file, found in files.items()}
    for found in files.values():
        found.reverse()  # the oldest at the end
    drop: set[int] = set()
    while excess > 0 and taken:
        file = max(taken, key=lambda each: taken[each])
        version = files[file].pop()
        drop.add(version.number)
        taken[file] -= version.size
        if version.base:
            based[version.base] -= 1
            is_last = version.base in drop and not based[version.base]
            excess -= version.size + (sizes.get(version.base, 0) if is_last else 0)
        elif not based[version.number]:
            excess -= version.size
        if not files[file]:
            del taken[file], files[file]
    return drop
