"""The life of one memory, read from the log: under all the names it had, and as it was at any time.

1. A life is walked backwards from the file that a memory has now, or had last; a rename leads on to the former name.
2. What a name means is decided by what is there now; only if nothing is, by who had it last.
"""

from __future__ import annotations

from foretold.errors import NoSuchMemory
from foretold.memory.note import read_note
from foretold.memory.store.journal import Change


def life_of(changes: list[Change], file: str) -> list[Change]:
    """Every change of the memory that is, or was last, in a file; the first first."""
    found: list[Change] = []
    for change in reversed(changes) if file else ():
        if change.file == file:
            found.append(change)
            file = change.old or file
        elif change.old == file:
            found.append(change)
    return found[::-1]


def last_file(changes: list[Change], name: str) -> str:
    """The file of the memory that had a name last; empty if none had it."""
    for change in reversed(changes):
        if name in (change.file, change.file.removesuffix(".md")) or _is_called(change, name):
            return change.file
        if change.old and name in (change.old, change.old.removesuffix(".md")):
            return change.file
    return ""


def _is_called(change: Change, name: str) -> bool:
    return change.data is not None and read_note(change.file, change.data).name == name


def version_of(life: list[Change], name: str, at: int, now: str) -> Change:
    """The change that left a memory as it is to be again: number `at`, else the one before the last.

    If the last one is not how it is now, that one: the memory was deleted. So to restore a deleted memory once more
    changes nothing.
    """
    texts = [change for change in life if change.data is not None]
    if at:
        wanted = [change for change in texts if change.number == at]
    else:
        wanted = texts[:-1] if texts and texts[-1].after == now else texts
    if not wanted:
        which = f"change {at}" if at else "earlier version"
        raise NoSuchMemory(f"the history has no {which} of {name!r}; see: foretold memory log")
    return wanted[-1]


def entry_before(life: list[Change], file: str) -> str:
    """The line that a file had in the index when it was deleted last; empty if that is not known."""
    return next((change.entry for change in reversed(life) if change.entry and change.file == file), "")
