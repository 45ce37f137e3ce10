"""What was said in a conversation already: a file of notes for each, so that nothing is said twice.

1. One line a note: a word, then values, with tabs between. Lines are only ever added, each in one write: hooks of one
   conversation run at the same time.
2. A subagent has a conversation of its own.
3. A compaction takes from the model what was said before it: `since` begins after the last `compacted`.
4. Without a file to write to, everything counts as never said, and stays unsaid if saying it twice would annoy.
5. Notes of conversations that ended are removed after DAYS.
"""

from __future__ import annotations

import os
import time

MOST = 512 * 1024  #: bytes that are read, from the end
DAYS = 30
_ADDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))

Note = tuple[str, ...]


def folder_of(state: str) -> str:
    """Where notes are."""
    return f"{state}/hooks"


def name_of(session: str, subagent: str = "") -> str:
    """The file of a conversation's notes: its id, as far as that is a name.

    >>> name_of("8a1c-33"), name_of("8a1c-33", "a7"), name_of("../x")
    ('8a1c-33', '8a1c-33+a7', '---x')
    """
    named = [
        "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in each)[:80]
        for each in (session, subagent)
        if each
    ]
    return "+".join(named) or "none"


class Notes:
    """The notes of one conversation. `dry` ones are never written."""

    def __init__(self, state: str, session: str, subagent: str = "", *, dry: bool = False) -> None:
        self.path = f"{folder_of(state)}/{name_of(session, subagent)}.notes"
        self.dry = dry
        self._all: list[Note] | None = None

    @property
    def all(self) -> list[Note]:
        if self._all is None:
            self._all = _read(self.path)
        return self._all

    def since(self, *words: str) -> list[Note]:
        """The notes with one of these words since the last compaction, in their order."""
        found = self.all
        start = max((at for at, note in enumerate(found) if note[0] == "compacted"), default=-1)
        return [note for note in found[start + 1 :] if note[0] in words]

    def claim(self, *notes: Note) -> list[Note]:
        """Write down those notes that nobody has written down since the last compaction; these.

        Hooks of calls that run at the same time are asked at the same time: what one of them says, the others do not.
        """
        if self.dry or not notes:
            self.add(*notes)
            return list(notes)
        from foretold.storage.lock import wait_for_lock

        os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
        handle = os.open(self.path, _ADDING, 0o600)
        try:
            wait_for_lock(handle)
            self._all = None
            known = {_what(note) for note in self.since(*{note[0] for note in notes})}
            new = [note for note in notes if _what(note) not in known]
            self.add(*new)
        finally:
            os.close(handle)
        return new

    def add(self, *notes: Note) -> None:
        """Write down. OSError if that is not possible."""
        text = "".join("\t".join(map(_escaped, note)) + "\n" for note in notes)
        if not text:
            return
        self.all.extend(notes)
        if self.dry:
            return
        data = text.encode("utf-8", "surrogateescape")
        try:
            handle = os.open(self.path, _ADDING, 0o600)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
            handle = os.open(self.path, _ADDING, 0o600)
        try:
            if os.write(handle, data) != len(data):
                raise OSError("a note was not written whole")
        finally:
            os.close(handle)


def _what(note: Note) -> Note:
    """What makes two notes the same: not who attached a file."""
    return note[:2] if note[0] == "attached" else note


def _read(path: str) -> list[Note]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        size = os.fstat(handle).st_size
        data = os.pread(handle, MOST, max(0, size - MOST))
    finally:
        os.close(handle)
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    whole = lines[1:-1] if size > MOST else lines[:-1]
    return [tuple(map(_plain, line.split("\t"))) for line in whole if line]


def _escaped(value: str) -> str:
    for plain, escape in _ESCAPES:
        value = value.replace(plain, escape)
    return value


def _plain(value: str) -> str:
    if "\\" not in value:
        return value
    marks = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}
    parts = value.split("\\")
    found, at = parts[0], 1
    while at < len(parts):
        if parts[at]:
            found += marks.get(parts[at][0], "\\" + parts[at][0]) + parts[at][1:]
            at += 1
        else:  # two of them: one that was meant
            found += "\\" + (parts[at + 1] if at + 1 < len(parts) else "")
            at += 2
    return found


def sweep(folder: str, now: float | None = None) -> None:
    """Remove files that nobody has written to for long: of conversations that ended, of places that nobody visits."""
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
