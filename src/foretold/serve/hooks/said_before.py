"""What was already said in a conversation: one file of notes each, so that nothing is said twice.

1. One line per note: a word, then values, separated by tabs. Lines are only appended, each in one write: hooks of one
   conversation run at the same time.
2. A subagent has its own notes.
3. A compaction drops what was said before it: `since` begins after the last `compacted`.
4. If the file cannot be written, everything counts as not said, and is not said if repeating it would annoy.
5. Notes of old conversations are removed after DAYS.
"""

from __future__ import annotations

import os
import time

from foretold.serve.hooks.log import open_to_append
from foretold.storage.tree import open_regular

MOST = 512 * 1024  #: bytes that are read, from the end
DAYS = 30
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))

Note = tuple[str, ...]


def folder_of(state: str) -> str:
    """The folder of all notes."""
    return f"{state}/hooks"


def notes_name(session: str, subagent: str = "") -> str:
    """The file name of a conversation's notes: its id, with other characters replaced.

    >>> notes_name("8a1c-33"), notes_name("8a1c-33", "a7"), notes_name("../x")
    ('8a1c-33', '8a1c-33+a7', '---x')
    """
    names = [
        "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in each)[:80]
        for each in (session, subagent)
        if each
    ]
    return "+".join(names) or "none"


class Notes:
    """The notes of one conversation. `dry` ones are never written."""

    def __init__(self, state: str, session: str, subagent: str = "", *, dry: bool = False) -> None:
        self.path = f"{folder_of(state)}/{notes_name(session, subagent)}.notes"
        self.dry = dry
        self._all: list[Note] | None = None

    @property
    def all(self) -> list[Note]:
        if self._all is None:
            start, data = tail_of(self.path, MOST, os.O_NOFOLLOW)
            lines = data.decode("utf-8", "surrogateescape").split("\n")[1 if start else 0 : -1]
            self._all = [tuple(map(_unescape, line.split("\t"))) for line in lines if line]
        return self._all

    def since(self, *words: str) -> list[Note]:
        """The notes with one of these words since the last compaction, in their order."""
        found = self.all
        start = max((at for at, note in enumerate(found) if note[0] == "compacted"), default=-1)
        return [note for note in found[start + 1 :] if note[0] in words]

    def claim(self, *notes: Note) -> list[Note]:
        """Write those notes that were not written since the last compaction, and return them.

        Hooks of calls that run at the same time run at the same time: what one of them says, the others do not.
        """
        if self.dry or not notes:
            self.add(*notes)
            return list(notes)
        from foretold.storage.lock import wait_for_lock

        handle = open_to_append(self.path)
        try:
            wait_for_lock(handle)
            self._all = None
            known = {_identity(note) for note in self.since(*{note[0] for note in notes})}
            new = [note for note in notes if _identity(note) not in known]
            self.add(*new)
        finally:
            os.close(handle)
        return new

    def add(self, *notes: Note) -> None:
        """Append notes. OSError if that is not possible."""
        text = "".join("\t".join(map(_escape, note)) + "\n" for note in notes)
        if not text:
            return
        self.all.extend(notes)
        if self.dry:
            return
        data = text.encode("utf-8", "surrogateescape")
        handle = open_to_append(self.path)
        try:
            if os.write(handle, data) != len(data):
                raise OSError("a note was only partly written")
        finally:
            os.close(handle)


def _identity(note: Note) -> Note:
    """What two equal notes have in common: who attached a file does not count."""
    return note[:2] if note[0] == "attached" else note


def tail_of(path: str, most: int, flags: int) -> tuple[int, bytes]:
    """The last bytes of a file, and where they begin; nothing if it cannot be read."""
    try:
        handle = open_regular(path, flags)
    except (OSError, ValueError):
        return 0, b""
    try:
        start = max(0, os.fstat(handle).st_size - most)
        return start, os.pread(handle, most, start)
    except OSError:
        return 0, b""
    finally:
        os.close(handle)


def _escape(value: str) -> str:
    for plain, escape in _ESCAPES:
        value = value.replace(plain, escape)
    return value


def _unescape(value: str) -> str:
    if "\\" not in value:
        return value
    parts = value.split("\\\\")
    for plain, escape in _ESCAPES[1:]:
        parts = [part.replace(escape, plain) for part in parts]
    return "\\".join(parts)


def sweep(folder: str, now: float | None = None) -> None:
    """Remove files that were not written for DAYS: of old conversations, and of places no longer visited."""
    moment = time.time() if now is None else now
    try:
        with os.scandir(folder) as items:
            old = [item.path for item in items if moment - item.stat(follow_symlinks=False).st_mtime > DAYS * 86400]
    except OSError:
        return
    for path in old:
        try:
            os.unlink(path)
        except OSError:
            continue
