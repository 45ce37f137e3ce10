"""The history of a store: a record per change, written and synced before the change is made.

1. A record names the change (`op`), the file, its digest before and after, who made it, and carries the text after it
   (version_text.py); so every version can be restored from this one file.
2. The record comes first, the change after it. If the change never happened, the file is still as it was before, and
   the next look at it records a `revert`.
3. What is known about each file (its last digest, and the stamp by which an unchanged file is recognised without
   reading it) is kept in a separate cache that may vanish at any moment. It is written after some changes, the more
   files the more of them, and the log has what came after.
4. The index is in step with every file while its digest is `settled`, except for the files that are `behind`: they were
   changed by other programs since.
5. Reading holds one record at a time: a change that was read gets its text when somebody asks for it.
6. A log can be replaced by one in which texts are erased (erasure.py) or dropped (retention.py). Numbers stay. A
   process that knew the old one recognises that by its inode and its last bytes, and reads the new one from the start.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress

from foretold.memory.note import INDEX
from foretold.storage.append_log import LogLine, RecordLog, encode
from foretold.storage.atomic import replace_file
from foretold.storage.dirfd import FileTable, Head, Stamp
from foretold.storage.folder import Folder
from foretold.storage.kernel import KERNEL, Kernel
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from typing import TypedDict

    class ChangeOrigin(TypedDict, total=False):
        """Who makes a change, and why."""

        by: str  #: user or agent
        session: str
        why: str


NAME = "log.jsonl"
LISTINGS = 16  #: earlier ones that are remembered
EVERY = 32  #: changes after which the cache of heads is written again, of a small store
SHARE = 100  #: of a large one, after this part of its files: writing 100,000 takes as long as reading 5,000 records
MOST_BEHIND = 1000  #: files that are remembered as behind; beyond, the whole index is compared
SILENT = ("leftover", "compact")  #: operations that say nothing about a memory's file
SMALL = 4 * 1024  #: bytes; a text above it is packed
KEYS = ("text", "base64", "zlib", "delta")  #: of a record that has a text


class Change(NamedTuple):
    """One change of one file."""

    number: int  #: counts from 1: the order of changes, whatever the clock says
    time: str  #: when it was made, or noticed; UTC
    op: str  #: create, edit, rename, delete, restore, bring, revert, leftover, erase, compact
    file: str
    before: str | None  #: digest of the file before; None: there was none
    after: str | None  #: digest of the file afterwards; None: there is none
    by: str = "user"  #: user, agent; other: another program
    old: str = ""  #: the file's former path, of a rename
    session: str = ""
    why: str = ""
    data: bytes | None = None  #: the file's bytes afterwards
    listing: str = ""  #: digest of the index that goes with it
    entry: str = ""  #: the line of the index that went with a deleted memory
    erased: str = ""  #: when its text, or a part of it, was erased
    dropped: str = ""  #: when its text was dropped to make room

    @property
    def has_text(self) -> bool:
        """Whether there is a text to restore. Reads nothing."""
        return self[DATA] is not None


DATA = Change._fields.index("data")


class StoredText(NamedTuple):
    """Where the text of a change is."""

    log: RecordLog
    number: int
    at: int
    base: int  #: where the record begins that it is based on; -1: it is stored whole

    def read(self) -> bytes | None:
        """The text; None if it was erased or dropped since."""
        record = self.log.record_at(self.at)
        base = self.log.record_at(self.base) if self.base >= 0 else None
        if record is None or record.get("number") != self.number or (base or {}).get("number") != record.get("base"):
            record, base = self._find()  # the log was replaced meanwhile
        return None if record is None else text_of(record, base)

    def _find(self) -> tuple[dict[str, object] | None, dict[str, object] | None]:
        wholes: dict[object, int] = {}
        for line in self.log.scan():
            record = line.record
            if record is None:
                continue
            if record.get("number") == self.number:
                return record, self.log.record_at(wholes.get(record.get("base"), line.at)) if "base" in record else None
            if is_whole(record):
                wholes[record.get("number")] = line.at
        return None, None


class LoggedChange(Change):
    """A change that was read from the log: its text is read when it is asked for."""

    __slots__ = ()

    @property
    def data(self) -> bytes | None:
        held: object = self[DATA]
        return held.read() if isinstance(held, StoredText) else held  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        """Two changes are equal if their texts are, wherever these are stored."""
        if not isinstance(other, Change) or self[:DATA] + self[DATA + 1 :] != other[:DATA] + other[DATA + 1 :]:
            return False
        return self[DATA] == other[DATA] or self.data == other.data

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = Change.__hash__


class Journal:
    """The changes of one store, and what they say about each file now."""

    def __init__(self, state: str, cache: str, kernel: Kernel = KERNEL) -> None:
        self.lines = RecordLog(os.path.join(state, NAME), kernel)
        self.cache = os.path.join(cache, "heads")
        self.heads = FileTable()
        self.listing = ""  #: digest of the index as it was last planned, or seen
        #: those before it: the index is still one of them if processes died before they wrote
        self.earlier: list[str] = []
        self.settled = ""  #: digest of the index that is in step with every file but those behind
        self.behind: dict[str, None] = {}
        self.number = self._end = self._saved = self._stamped = 0
        self.wholes: dict[str, tuple[int, int]] = {}  #: number and offset of the last large text that is stored whole
        self.tried = 0  #: the size at which the log could not be made smaller; see retention.py
        self._inode, self._ending = 0, ""  #: of the log as far as it is known

    @property
    def size(self) -> int:
        """Bytes of the log, as far as it is known."""
        return self._end

    def changes(self, findings: list[Finding] | None = None) -> list[Change]:
        """Every change, oldest first. Their texts are read when they are asked for."""
        return [change for _, change in self.scan(findings) if change is not None]

    def scan(self, findings: list[Finding] | None = None) -> Iterator[tuple[LogLine, Change | None]]:
        """Every line of the log, and the change in it; None if it is damaged."""
        wholes: dict[object, int] = {}
        for line in self.lines.scan(0, findings):
            record = line.record
            if record is None:
                yield line, None
                continue
            if is_whole(record):
                wholes[record.get("number")] = line.at
            yield line, self._logged(line, record, wholes)

    def _logged(self, line: LogLine, record: dict[str, object], wholes: dict[object, int]) -> Change:
        number = record.get("number")
        base = wholes.get(record["base"], -1) if "base" in record else -1
        is_here = isinstance(number, int) and (is_whole(record) or base >= 0)
        held = StoredText(self.lines, int(str(number)), line.at, base) if is_here else None
        return LoggedChange(*fields_of(record)._replace(data=held))  # type: ignore[arg-type]

    def refresh(self) -> None:
        """Read what other processes have written since."""
        if self._end and not self._is_same():
            self.forget()
        if not self._end:
            self._load()
        end = self._end
        for line in self.lines.scan(self._end):
            if line.data.endswith(b"\n"):
                end = line.end
            if line.record is not None:
                self._apply(fields_of(line.record), line.record, line)
        self._end = end if os.path.exists(self.lines.path) else 0
        self._mark()

    def append(self, changes: list[Change]) -> None:
        """Record changes. Under the store's lock, after `refresh`."""
        if changes:
            self.lines.append([self._record(change) for change in changes])
            self.refresh()

    def _record(self, change: Change) -> dict[str, object]:
        """A change as a record; a large text as its difference from the last one that is stored whole."""
        number, at = self.wholes.get(change.file) or self.wholes.get(change.old) or (0, 0)
        data = change.data
        base = self.lines.record_at(at) if number and data is not None and len(data) >= SMALL else None
        if base is None or base.get("number") != number:
            return record_of(change)
        return record_of(change, text_of(base), number)

    # Another log in place of this one

    def prepare(
        self,
        replace: Callable[[Change], Change | None],
        more: list[Change],
        damaged: Callable[[bytes], bytes] = lambda line: line,
    ) -> int:
        """Write a log in which changes are replaced, with more at its end; its size. It counts after `adopt`.

        `replace` gets every change, and returns what is recorded instead; None: it stays byte for byte. One that was
        based on a text that is no longer there is packed again. `damaged` gets the lines that do not add up; half of
        one at the end, which no caller was told about, goes.
        """
        return self.lines.prepare(self._rewrite(replace, more, damaged))

    def adopt(self) -> None:
        """Let what was prepared be the log, and read it from its start."""
        self.lines.adopt()
        self.forget()
        with suppress(OSError):  # its end is not the log's: it is not believed
            os.unlink(self.cache)
        self.refresh()
        self.save(always=True)

    def _rewrite(
        self,
        replace: Callable[[Change], Change | None],
        more: list[Change],
        damaged: Callable[[bytes], bytes],
    ) -> Iterator[bytes]:
        moved: set[object] = set()  # the numbers of those whose text is no longer what it was, or not whole
        file, number, base = "", 0, None  # the last text that was packed again
        for line, change in self.scan():
            if change is None or line.record is None:
                yield damaged(line.data) if line.data.endswith(b"\n") else b""
                continue
            other = replace(change)
            if other is None and line.record.get("base") not in moved:
                yield line.data.removesuffix(b"\n") + b"\n"
                continue
            new = other or change
            if new[DATA] is change[DATA] and line.record.get("base") not in moved:
                text = {key: line.record[key] for key in (*KEYS, "base") if key in line.record}
                yield encode({**record_of(new._replace(data=None)), **text})
                continue
            moved.add(change.number)
            record = record_of(new, base if new.file == file else None, number)
            if is_whole(record) and new.has_text:
                file, number, base = new.file, new.number, new.data
            yield encode(record)
        for each in more:
            yield encode(record_of(each))

    def forget(self) -> None:
        """Forget what is known: the log is read from its start."""
        self.heads, self.wholes, self.listing, self.earlier = FileTable(), {}, "", []
        self.settled, self.behind = "", {}
        self.number = self._end = self._saved = self._stamped = 0

    def _mark(self) -> None:
        try:
            self._inode = os.stat(self.lines.path).st_ino
        except OSError:
            self._inode = 0
        self._ending = self._tail(self._end)

    def _is_same(self) -> bool:
        """Whether the log is still the one that was read; one that is missing leaves what is known as it is."""
        try:
            inode = os.stat(self.lines.path).st_ino
        except OSError:
            return True
        return inode == self._inode and self._tail(self._end) == self._ending

    def stamp(self, file: str, stamp: Stamp) -> None:
        """Remember the stamp of an unchanged file."""
        head = self.heads.get(file)
        if head:
            self.heads[file] = head._replace(stamp=stamp)
            self._stamped += 1

    def _apply(self, change: Change, record: dict[str, object], line: LogLine) -> None:
        self.number = change.number
        if len(line.data) >= SMALL and is_whole(record):  # a packed text may be shorter; then it is no loss
            self.wholes[change.file] = change.number, line.at
        if change.listing:
            self.earlier, self.listing = [*self.earlier, self.listing][-LISTINGS:], change.listing
        if change.op in SILENT:
            return
        if change.old:
            self.heads[change.old] = Head(None, change.before)
        self.heads[change.file] = Head(change.after, None if change.old else change.before)
        self._settle(change)

    def _settle(self, change: Change) -> None:
        if change.file == INDEX:
            self.settled = ""
        elif change.listing:
            self.settled = change.listing
            self.behind.clear()
        else:
            self.behind.update(dict.fromkeys(filter(None, (change.file, change.old))))
            if len(self.behind) > MOST_BEHIND:
                self.settled = ""
                self.behind.clear()

    # The cache

    def save(self, *, always: bool = False) -> None:
        """Save what is known for the next process. A cache: it is not synced, and may be lost."""
        every = max(EVERY, self.heads.count // SHARE)
        if self.number - self._saved + self._stamped < every and not (always and every == EVERY):
            return
        names = ("number", "listing", "earlier", "settled", "behind", "wholes", "tried")
        data = {name: getattr(self, name) for name in names} | {"behind": list(self.behind)}
        data["log"] = [self._end, self._tail(self._end)]
        beside = f"{os.path.basename(self.cache)}.new"  # under the lock one name is enough: a leftover is overwritten
        try:
            Folder(os.path.dirname(self.cache)).make()
            whole = json.dumps(data).encode() + b"\n" + self.heads.pack()
            replace_file(self.cache, whole, sync=False, temporary=beside)
        except (OSError, ValueError):
            return
        self._saved, self._stamped = self.number, 0

    def _load(self) -> None:
        try:
            with open(self.cache, "rb", opener=open_regular) as file:
                data = json.loads(file.readline())
                end, tail = data["log"]
                if not end or self._tail(end) != tail:
                    return
                heads = FileTable.unpack(file.read())
            self.heads, self.listing, self.earlier = heads, data["listing"], data["earlier"]
            self.settled, self.behind = data["settled"], dict.fromkeys(data["behind"])
            self.wholes = {file: (int(number), int(at)) for file, (number, at) in data["wholes"].items()}
            self.number, self._end, self._saved = data["number"], end, data["number"]
            self.tried = int(data["tried"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return  # no readable cache: the log has everything

    def _tail(self, end: int) -> str:
        """The bytes before an offset of the log, so that a cache of another log is not used."""
        try:
            with open(self.lines.path, "rb", opener=open_regular) as file:
                file.seek(max(0, end - 64))
                return file.read(min(64, end)).decode("latin-1")
        except OSError:
            return ""


def record_of(
    change: Change, base: bytes | None = None, number: int = 0, *, is_packed: bool = True
) -> dict[str, object]:
    """A change as a record of the log; its text as the difference from `base`, of change `number`, if that is small."""
    values = change._asdict()
    record = {key: value for key, value in values.items() if value not in ("", None) or key in ("before", "after")}
    record.pop("data", None)
    data = change.data
    if data is None:
        return record
    if is_packed and len(data) >= SMALL:
        from foretold.memory.store.version_text import pack_text  # not where a memory is small

        if packed := pack_text(data, base, number):
            return {**record, **packed}
    try:
        return {**record, "text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {**record, "base64": base64.b64encode(data).decode()}


def text_of(record: dict[str, object], base: dict[str, object] | None = None) -> bytes | None:
    """The text in a record, with the record that it is based on if there is one; None if it has none."""
    text, coded = record.get("text"), record.get("base64")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(coded, str):
        return base64.b64decode(coded)
    if "zlib" not in record and "delta" not in record:
        return None
    from foretold.memory.store.version_text import unpack_text

    return unpack_text(record, text_of(base) if base else None)


def is_whole(record: dict[str, object]) -> bool:
    """Whether a record has its text without another one, so that others can be based on it."""
    return "delta" not in record and any(key in record for key in KEYS)


def fields_of(record: dict[str, object]) -> Change:
    """The change in a record of the log, without its text. Keys of later versions are ignored."""
    known = {key: value for key, value in record.items() if key in Change._fields and key not in KEYS}
    return Change(**known)  # type: ignore[arg-type]


def change_of(record: dict[str, object]) -> Change:
    """The change in a record of the log whose text is stored whole."""
    return fields_of(record)._replace(data=text_of(record))


def describe_missing(change: Change) -> str:
    """Why the text of a change cannot be had; empty if it can, or if the change had none.

    A deletion had none, nor a record that something was erased: that is not the version that was.
    """
    is_version = change.op not in ("erase", "delete")
    if change.has_text or not is_version or not (change.erased or change.dropped):
        return ""
    if change.erased:
        return f"the text of change {change.number} was erased on {change.erased[:10]}"
    return f"the text of change {change.number} was dropped on {change.dropped[:10]} to bound the history"
