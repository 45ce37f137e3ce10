"""What code-assist keeps in its process: notes about the conversation, the history of files, their state.

1. A note has a text, an importance (high, normal, low) and a time. At most 100 are kept: the oldest is removed, and
   returned, so that it is not lost silently. The context string is `Session context:` and the last 20 notes, a line
   each.
2. Notes are saved as JSON, atomically. A damaged file is refused with a reason, not taken for empty.
3. An entry of the file history has a path, an action (create, write, edit, delete), a time and the id of the tool call.
   code-assist keeps no contents, so it cannot go back. Given a `FileHistory`, a tracker here starts to track each file
   that is recorded; record it before the change, and `FileHistory.rewind` goes back. `records` are for the transcript.
4. The state of a file is the time of its last change, its size and a digest of its content; the 4,096 paths that were
   used last are kept. code-assist stats a file after it has read it, so that a change in between is never seen; this
   stats it before. It forbids nothing: `foretold.files.ReadState` checks that a file was read before it is changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from foretold.compat.engine import Folder
from foretold.errors import ForetoldError, StoreFailed
from foretold.files.history.history import FileHistory
from foretold.storage.atomic import replace_file
from foretold.storage.tree import read_regular

MAX_ENTRIES = 100
MOST = 1 << 30  #: bytes of a file that is read
MAX_IN_CONTEXT = 20
IMPORTANCE = ("high", "normal", "low")


class SessionEntry(NamedTuple):
    """One note."""

    content: str
    importance: str = "normal"
    timestamp: float = 0.0


class SessionMemory:
    """The notes of one conversation.

    >>> memory = SessionMemory()
    >>> memory.add("The tests need Redis.", "high", now=1.0)
    >>> print(memory.context())
    Session context:
    - The tests need Redis.
    """

    def __init__(self, entries: Iterable[SessionEntry] = ()) -> None:
        self.entries: list[SessionEntry] = list(entries)[-MAX_ENTRIES:]

    def add(self, content: str, importance: str = "normal", *, now: float | None = None) -> SessionEntry | None:
        """Add a note; returns the one that was removed for it."""
        if importance not in IMPORTANCE:
            raise ForetoldError(f"importance is {importance!r}; it can be {', '.join(IMPORTANCE)}")
        self.entries.append(SessionEntry(content, importance, time.time() if now is None else now))
        return self.entries.pop(0) if len(self.entries) > MAX_ENTRIES else None

    def get(self, importance: str | None = None) -> list[SessionEntry]:
        """The notes, or those of one importance, oldest first."""
        return [entry for entry in self.entries if importance in (None, entry.importance)]

    def context(self) -> str:
        """The notes for a prompt; empty without notes."""
        if not self.entries:
            return ""
        return "\n".join(["Session context:", *(f"- {entry.content}" for entry in self.entries[-MAX_IN_CONTEXT:])])

    def save(self, path: Folder) -> None:
        """Write the notes to a file."""
        data = json.dumps([entry._asdict() for entry in self.entries], ensure_ascii=False)
        try:
            replace_file(os.fspath(path), data.encode(), mode=None)
        except OSError as error:
            raise StoreFailed(f"{path} cannot be written: {error}") from None

    @classmethod
    def load(cls, path: Folder) -> SessionMemory:
        """The notes of a file."""
        try:
            return cls([SessionEntry(**entry) for entry in json.loads(read_regular(os.fspath(path), MOST))])
        except OSError as error:
            raise StoreFailed(f"{path} cannot be read: {error}") from None
        except (ValueError, TypeError) as error:
            raise ForetoldError(f"{path} is not a saved session: {error}") from None


class FileAction(StrEnum):
    CREATE = "create"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"


class FileHistoryEntry(NamedTuple):
    """One change of a file."""

    path: str
    action: FileAction
    timestamp: float
    tool_use_id: str = ""


class FileHistoryTracker:
    """The changes of one session.

    >>> tracker = FileHistoryTracker()
    >>> entry = tracker.record("/w/a.py", FileAction.EDIT, tool_use_id="t1")
    >>> tracker.modified_files, [each.action.value for each in tracker.get_entries_for("/w/a.py")], len(tracker)
    ({'/w/a.py'}, ['edit'], 1)
    """

    def __init__(self, history: FileHistory | None = None) -> None:
        self.history = history
        self.records: list[dict[str, object]] = []
        self._entries: list[FileHistoryEntry] = []

    def record(self, path: str, action: FileAction, *, tool_use_id: str = "") -> FileHistoryEntry:
        """Record a change. With a history, before it is made: StoreFailed if the file's content cannot be stored."""
        if self.history is not None:
            record = self.history.before_edit(path, tool_use_id)
            self.records += [record] if record else []
        entry = FileHistoryEntry(path, FileAction(action), time.time(), tool_use_id)
        self._entries.append(entry)
        return entry

    @property
    def entries(self) -> list[FileHistoryEntry]:
        """All changes, oldest first."""
        return list(self._entries)

    @property
    def modified_files(self) -> set[str]:
        return {entry.path for entry in self._entries}

    def get_entries_for(self, path: str) -> list[FileHistoryEntry]:
        """The changes of one file, oldest first."""
        return [entry for entry in self._entries if entry.path == path]

    def clear(self) -> None:
        """Forget the changes; stored contents stay."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)


class FileState(NamedTuple):
    """The state of a file."""

    mtime: float
    size: int
    content_hash: str


class FileStateCache:
    """The states of the files that were used last.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b"a")
    >>> cache = FileStateCache()
    >>> cache.is_stale(path), cache.update(path)[:8], cache.is_stale(path), path in cache
    (True, 'ca978112', False, True)
    """

    def __init__(self, max_size: int = 4096) -> None:
        self._most = max_size
        self._states: dict[str, FileState] = {}  #: the most recently used is last

    def get(self, path: str) -> FileState | None:
        """The known state of a file; it counts as used."""
        if path in self._states:
            self._states[path] = self._states.pop(path)
        return self._states.get(path)

    def is_stale(self, path: str) -> bool:
        """Whether a file is unknown, gone, or changed."""
        known = self.get(path)
        try:
            status = os.stat(path)
        except OSError:
            return True
        return known is None or (status.st_mtime, status.st_size) != known[:2]

    def update(self, path: str, *, content: bytes | None = None) -> str:
        """Note the state of a file, and return the digest of its content. OSError if it cannot be read."""
        status = os.stat(path)
        if content is None:
            content = read_regular(path, MOST)
        self.invalidate(path)
        self._states[path] = FileState(status.st_mtime, status.st_size, hashlib.sha256(content).hexdigest())
        while len(self._states) > self._most:
            del self._states[next(iter(self._states))]
        return self._states[path].content_hash if path in self._states else hashlib.sha256(content).hexdigest()

    def invalidate(self, path: str) -> None:
        """Forget a file."""
        self._states.pop(path, None)

    def clear(self) -> None:
        """Forget all of them."""
        self._states.clear()

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, path: object) -> bool:
        return path in self._states
