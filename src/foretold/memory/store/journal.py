"""The history of a store: a record per change, written and synced before the change is made.

1. A record names the change (`op`), the file, its digest before and after, who made it, and carries the whole text
   after it; so every version that ever existed can be restored from this one file.
2. The record comes first, the change after it. If the change never happened, the file is still as it was before, and
   the next look at it records a `revert`.
3. What is known about each file (its last digest, and the stamp by which an unchanged file is recognised without
   reading it) is kept in a separate cache that may vanish at any moment. It is written after some changes, the more
   files the more of them, and the log has what came after.
4. The index is in step with every file while its digest is `settled`, except for the files that are `behind`: they were
   changed by other programs since.
"""

from __future__ import annotations

import base64
import json
import os

from foretold.memory.note import INDEX
from foretold.storage.append_log import RecordLog
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


class Change(NamedTuple):
    """One change of one file."""

    number: int  #: counts from 1: the order of changes, whatever the clock says
    time: str  #: when it was made, or noticed; UTC
    op: str  #: create, edit, rename, delete, restore, bring, revert, leftover
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

    def changes(self, findings: list[Finding] | None = None) -> list[Change]:
        """Every change, oldest first."""
        return [change_of(record) for record in self.lines.read(0, findings)[0]]

    def refresh(self) -> None:
        """Read what other processes have written since."""
        if not self._end:
            self._load()
        records, self._end = self.lines.read(self._end)
        for record in records:
            self._apply(change_of(record))

    def append(self, changes: list[Change]) -> None:
        """Record changes. Under the store's lock, after `refresh`."""
        if changes:
            self.lines.append([record_of(change) for change in changes])
            self.refresh()

    def stamp(self, file: str, stamp: Stamp) -> None:
        """Remember the stamp of an unchanged file."""
        head = self.heads.get(file)
        if head:
            self.heads[file] = head._replace(stamp=stamp)
            self._stamped += 1

    def _apply(self, change: Change) -> None:
        self.number = change.number
        if change.listing:
            self.earlier, self.listing = [*self.earlier, self.listing][-LISTINGS:], change.listing
        if change.op == "leftover":
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
        names = ("number", "listing", "earlier", "settled", "behind")
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
            self.number, self._end, self._saved = data["number"], end, data["number"]
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


def record_of(change: Change) -> dict[str, object]:
    """A change as a record of the log."""
    values = change._asdict()
    record = {key: value for key, value in values.items() if value not in ("", None) or key in ("before", "after")}
    if change.data is not None:
        del record["data"]
        try:
            record["text"] = change.data.decode("utf-8")
        except UnicodeDecodeError:
            record["base64"] = base64.b64encode(change.data).decode()
    return record


def change_of(record: dict[str, object]) -> Change:
    """The change in a record of the log. Keys of later versions are ignored."""
    values = {key: value for key, value in record.items() if key in Change._fields}
    text, coded = record.get("text"), record.get("base64")
    if isinstance(text, str):
        values["data"] = text.encode("utf-8", "surrogatepass")
    elif isinstance(coded, str):
        values["data"] = base64.b64decode(coded)
    return Change(**values)  # type: ignore[arg-type]
