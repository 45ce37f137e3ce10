"""opencode's database, read without leaving a trace in it.

1. Nothing of the agent's is written: neither the database nor its `-wal` and `-shm`. SQLite's own read-only mode writes
   into `-shm`, and makes both files where there are none; so it depends on what is there (measured on 3.40):
   both files: read-only, and `-shm` too; no `-wal`: as a file that does not change; `-wal` alone: a copy is read.
2. Only columns that are there are asked for: the tables have grown with the versions.
3. A database that is damaged, or busy for longer than `WAIT`, gives what can be read, and says so.
"""

from __future__ import annotations

import contextlib
import json
import os

from foretold.sessions.formats.opencode.records import Json, StoredMessage
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

WAIT = 5.0  #: seconds for another process to end its writing
COLUMNS = ("id", "parent_id", "directory", "title", "version", "model", "time_created", "time_updated", "time_archived")


@contextlib.contextmanager
def opened(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that leaves no trace."""
    import sqlite3

    if not os.path.exists(path + "-wal"):
        target, mode = path, "immutable=1"
    elif os.path.exists(path + "-shm"):
        target, mode = path, "mode=ro&readonly_shm=1"
    else:
        target, mode = "", ""
    with contextlib.ExitStack() as stack:
        if not target:
            target, mode = stack.enter_context(_copied(path)), "mode=rw"
        quoted = target.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = sqlite3.connect(f"file:{quoted}?{mode}", uri=True, timeout=WAIT)
        stack.callback(connection.close)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        yield connection


@contextlib.contextmanager
def _named() -> Iterator[None]:
    """What SQLite raises, in one form. Where its message is no UTF-8, Python raises ValueError (3.11)."""
    import sqlite3

    try:
        yield
    except (sqlite3.Error, ValueError) as error:
        raise OSError(str(error)) from None


@contextlib.contextmanager
def _copied(path: str) -> Iterator[str]:
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="foretold-") as folder:
        target = os.path.join(folder, "copy.db")
        shutil.copyfile(path, target)
        shutil.copyfile(path + "-wal", target + "-wal")
        yield target


def sessions_in(path: str, session: str | None = None) -> list[dict[str, object]]:
    """The sessions of a database, or one of them; one that cannot be read raises OSError with what SQLite says."""
    with _named(), opened(path) as connection:
        there = [str(row[1]) for row in connection.execute("PRAGMA table_info(session)")]
        columns = [name for name in COLUMNS if name in there]
        if "id" not in columns:
            return []
        where = "" if session is None else " WHERE id = ?"
        rows = connection.execute(
            f"SELECT {', '.join(columns)} FROM session{where} ORDER BY time_created, id",  # noqa: S608
            () if session is None else (session,),
        )
        return [dict(zip(columns, row, strict=True)) for row in rows]


def messages_in(path: str, session: str, since: int, findings: list[Finding] | None) -> Iterator[StoredMessage]:
    """The messages of a session that were begun at a time or later, one by one."""
    try:
        with _named(), opened(path) as connection:
            rows = connection.execute(
                "SELECT id, time_created, data FROM message WHERE session_id = ? AND time_created >= ?"
                " ORDER BY time_created, id",
                (session, since),
            )
            for name, created, data in rows:
                parts = connection.execute("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", (name,))
                records = tuple(parsed(path, part, text, findings) for part, text in parts)
                value = parsed(path, name, data, findings)
                began = created if isinstance(created, int) else 0
                yield StoredMessage(str(name), began, value if isinstance(value, dict) else {}, records)
    except OSError as error:
        if findings is not None:
            findings.append(Finding(path, None, "database-damaged", f"the database cannot be read to its end: {error}"))


def parsed(path: str, name: object, text: object, findings: list[Finding] | None) -> Json | str:
    """A record of a database or a file; the text itself if it is no object of JSON."""
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    try:
        value = json.loads(shown)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    if findings is not None:
        findings.append(Finding(path, None, "record-damaged", f"{name} is damaged and is kept as it is"))
    return shown
