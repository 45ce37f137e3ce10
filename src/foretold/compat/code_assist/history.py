"""The file history of code-assist: which tool changed which file, and when.

1. An entry has a path, an action (create, write, edit, delete), a time and the id of the tool call. Entries are kept in
   the process, in their order.
2. code-assist keeps no contents, so it cannot go back. Given a `FileHistory`, a tracker here begins to track each file
   that it is told of; tell it before the change, and `FileHistory.rewind` goes back. `records` are for the transcript.
"""

from __future__ import annotations

import time
from enum import StrEnum
from typing import NamedTuple

from foretold.files.history.history import FileHistory

__all__ = ["FileAction", "FileHistoryEntry", "FileHistoryTracker"]


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
        """Write down a change. With a history, before it is made: StoreFailed if what the file is cannot be kept."""
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
        """Forget the changes; what files were is not forgotten."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)
