"""The session memory of code-assist: notes about the conversation that is going on, kept in the process.

1. A note has a text, an importance (high, normal, low) and a time. At most 100 are kept: the oldest goes, and is given
   back, so that nobody loses it unseen.
2. The context string is `Session context:` and the last 20 notes, a line each.
3. A session is saved as JSON, whole or not at all. A damaged file is refused with a reason, not taken for empty.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from typing import NamedTuple

from foretold.compat.asking import Folder
from foretold.errors import ForetoldError, StoreFailed
from foretold.storage.atomic import replace_file

__all__ = ["IMPORTANCE", "MAX_ENTRIES", "MAX_IN_CONTEXT", "SessionEntry", "SessionMemory"]

MAX_ENTRIES = 100
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
        """Take a note; the one that had to go for it."""
        if importance not in IMPORTANCE:
            raise ForetoldError(f"importance is {importance!r}; it can be {', '.join(IMPORTANCE)}")
        self.entries.append(SessionEntry(content, importance, time.time() if now is None else now))
        return self.entries.pop(0) if len(self.entries) > MAX_ENTRIES else None

    def get(self, importance: str | None = None) -> list[SessionEntry]:
        """The notes, or those of one importance, oldest first."""
        return [entry for entry in self.entries if importance in (None, entry.importance)]

    def context(self) -> str:
        """What a prompt says of the session; empty without notes."""
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
            with open(path, encoding="utf-8") as file:
                return cls([SessionEntry(**entry) for entry in json.load(file)])
        except OSError as error:
            raise StoreFailed(f"{path} cannot be read: {error}") from None
        except (ValueError, TypeError) as error:
            raise ForetoldError(f"{path} is not a saved session: {error}") from None
