"""What all readers need: fields of JSON objects, times, titles, folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime

from foretold.sessions.model import StoredSession

LONGEST_TITLE = 120

Json = dict[str, object]


def text_at(value: object, name: str) -> str:
    """A field that is a string; empty if the value is not an object, or the field anything else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def object_at(value: object, name: str) -> Json:
    """A field that is an object; empty if it is anything else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def list_at(value: object, name: str) -> list[object]:
    """A field that is a list; empty if it is anything else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def first_text(values: Iterable[object], name: str) -> str:
    """The first field of some values that is a string and not empty; empty if there is none."""
    return next((found for value in values if (found := text_at(value, name))), "")


def parse_time(value: object) -> float | None:
    """A time as agents write it, in seconds since 1970.

    >>> parse_time("2026-11-15T08:36:46.184Z"), parse_time("soon")
    (1794731806.184, None)
    """
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time.timestamp() if time.tzinfo else None


def parse_times(values: Iterable[Json], name: str = "timestamp") -> list[float]:
    """The times that a field of some values says."""
    return [time for value in values if (time := parse_time(value.get(name))) is not None]


def one_line(text: str) -> str:
    """A text on one line, truncated if it is too long for a list."""
    text = " ".join(text[: LONGEST_TITLE * 8].split())
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1] + "…"


def list_folder(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def list_names(folder: str) -> list[str]:
    """The names in a folder, sorted; none if it cannot be read."""
    return [entry.name for entry in list_folder(folder)]


def session_file(
    agent: str, name: str, entry: os.DirEntry[str], kind: str = "main", parent: str = ""
) -> list[StoredSession]:
    """The session of a file; none if it was just deleted, or is a dangling link."""
    try:
        status = entry.stat()
    except OSError:
        return []
    return [
        StoredSession(agent, name, entry.path, changed=status.st_mtime, size=status.st_size, kind=kind, parent=parent)
    ]


def with_status(stored: StoredSession) -> list[StoredSession]:
    """A session with the time and the size of its file; none if that was just deleted."""
    try:
        status = os.stat(stored.path)
    except OSError:
        return []
    return [stored._replace(changed=status.st_mtime, size=status.st_size)]
