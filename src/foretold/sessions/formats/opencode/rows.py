"""A session of a database as lines: what an archive keeps of it.

1. The database is opened for reading only, and leaves no trace of it (`opencode_database.py`).
2. A line is `{"table": …, "row": {…}}`: messages and parts in the order of their ids, then whatever else has the
   session's id, its own row last. Rows are taken as they are; bytes come as base64.
"""

from __future__ import annotations

import base64
import json

from foretold.errors import SessionFailed
from foretold.sessions.formats.opencode.database import opened
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

OWN = "session"  #: the table of sessions
KEYS = ("session_id", "aggregate_id")  #: columns that say whose a row is
FIRST = ("message", "part")  #: these grow; what comes behind them may change


def rows_of(path: str, session: str) -> Iterator[bytes]:
    """The rows of a session, a line each."""
    import sqlite3

    try:
        with opened(path) as connection:
            connection.row_factory = sqlite3.Row
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            first = [name for name in FIRST if name in tables]
            own = [OWN] if OWN in tables else []
            for table in (*first, *sorted(set(tables) - {*FIRST, OWN}), *own):
                yield from _rows(connection, table, session)
    except sqlite3.Error as error:
        raise SessionFailed(f"cannot read {path}: {error}") from error


def _rows(connection: sqlite3.Connection, table: str, session: str) -> Iterator[bytes]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    key = "id" if table == OWN else next((name for name in KEYS if name in columns), "")
    if not key:
        return
    order = ", ".join(f'"{name}"' for name in ("seq", "id", "position") if name in columns) or "rowid"
    query = f'SELECT * FROM "{table}" WHERE "{key}" = ? ORDER BY {order}'  # noqa: S608 - names of their own tables
    for row in connection.execute(query, (session,)):
        values = {name: _plain(row[name]) for name in columns}
        yield json.dumps({"table": table, "row": values}, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _plain(value: object) -> object:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
