"""Read opencode's database without leaving a trace in it.

1. Nothing is written: neither the database nor its `-wal` and `-shm`. SQLite's read-only mode writes into `-shm`, and
   creates both files if they are missing; so it depends on what is there (measured on 3.40): both files: read-only,
   `-shm` too; no `-wal`: as a file that does not change; `-wal` alone: a copy is read.
2. Only existing columns are queried: the tables have grown with the versions.
3. A database that is damaged, or busy for longer than `WAIT`, gives what can be read, and a finding.
4. An archive stores a session as lines (`rows_of`), each `{"table": …, "row": {…}}`: messages and parts in the order of
   their ids, then everything else with the session's id, its own row last. Rows are not changed; bytes become base64.
5. `import_document` makes of those lines what `opencode import` accepts: the session's row becomes `info`, with names
   as opencode exports them, groups of columns as objects, and no nulls. A message is its `data` with its id and the
   session's; a part also has the id of its message; both ordered by id. Importing in a folder moves the session to
   that folder (measured on opencode 1.18.33).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator

from foretold.errors import SessionFailed
from foretold.sessions.formats.fields import Json
from foretold.sessions.formats.opencode.records import StoredMessage
from foretold.storage.tree import open_regular, require_regular
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    import sqlite3


WAIT = 5.0  #: seconds to wait for another process to finish writing
COLUMNS = ("id", "parent_id", "directory", "title", "version", "model", "time_created", "time_updated", "time_archived")


@contextlib.contextmanager
def open_read_only(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that leaves no trace. OSError if SQLite fails (where its message is not UTF-8, Python 3.11 raises
    ValueError)."""
    import sqlite3

    require_regular(path)
    has_wal, has_shm = os.path.exists(path + "-wal"), os.path.exists(path + "-shm")
    mode = "mode=ro&readonly_shm=1" if has_wal else "immutable=1"
    with contextlib.ExitStack() as stack:
        if has_wal and not has_shm:
            import shutil
            import tempfile

            copy = os.path.join(stack.enter_context(tempfile.TemporaryDirectory(prefix="foretold-")), "copy.db")
            for ending in ("", "-wal"):
                with open(path + ending, "rb", opener=open_regular) as source, open(copy + ending, "wb") as target:
                    shutil.copyfileobj(source, target)
            path, mode = copy, "mode=rw"
        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        try:
            connection = sqlite3.connect(f"file:{quoted}?{mode}", uri=True, timeout=WAIT)
            stack.callback(connection.close)
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            yield connection
        except (sqlite3.Error, ValueError) as error:
            raise OSError(str(error)) from None


def sessions_in(path: str, session: str | None = None) -> list[dict[str, object]]:
    """The sessions of a database, or one of them. Raises OSError if it cannot be read."""
    with open_read_only(path) as connection:
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
    """The messages of a session that began at a time or later, one by one."""
    try:
        with open_read_only(path) as connection:
            rows = connection.execute(
                "SELECT id, time_created, data FROM message WHERE session_id = ? AND time_created >= ?"
                " ORDER BY time_created, id",
                (session, since),
            )
            for name, created, data in rows:
                parts = connection.execute("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", (name,))
                records = tuple(parse_record(path, part, text, findings) for part, text in parts)
                value = parse_record(path, name, data, findings)
                began = created if isinstance(created, int) else 0
                yield StoredMessage(str(name), began, value if isinstance(value, dict) else {}, records)
    except OSError as error:
        if findings is not None:
            findings.append(Finding(path, None, "database-damaged", f"the database cannot be read completely: {error}"))


def parse_record(path: str, name: object, text: object, findings: list[Finding] | None) -> Json | str:
    """A record of a database or a file; the text itself if it is not a JSON object."""
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


OWN = "session"  #: the table of sessions
KEYS = ("session_id", "aggregate_id")  #: columns with the id of the session
RANKS = {"message": 0, "part": 1, OWN: 3}  #: of tables in an archive: messages and parts only grow, others may change


def rows_of(path: str, session: str) -> Iterator[bytes]:
    """The rows of a session, a line each."""
    import sqlite3

    try:
        with open_read_only(path) as connection:
            connection.row_factory = sqlite3.Row
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in sorted(tables, key=lambda name: (RANKS.get(name, 2), name)):
                yield from _rows(connection, table, session)
    except OSError as error:
        raise SessionFailed(f"cannot read {path}: {error}") from error


def _rows(connection: sqlite3.Connection, table: str, session: str) -> Iterator[bytes]:
    from base64 import b64encode

    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    key = "id" if table == OWN else next((name for name in KEYS if name in columns), "")
    if not key:
        return
    order = ", ".join(f'"{name}"' for name in ("seq", "id", "position") if name in columns) or "rowid"
    query = f'SELECT * FROM "{table}" WHERE "{key}" = ? ORDER BY {order}'  # noqa: S608 - names of their own tables
    for row in connection.execute(query, (session,)):
        values = {
            name: {"base64": b64encode(row[name]).decode()} if isinstance(row[name], bytes) else row[name]
            for name in columns
        }
        yield json.dumps({"table": table, "row": values}, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


#: columns of a session. Each is a field of `info`, or of an object in it: `time_created` is `created` of `time`.
EXPORTED = (
    *("id", "slug", "project_id", "workspace_id", "parent_id", "directory", "path", "title", "agent", "model"),
    *("version", "summary_additions", "summary_deletions", "summary_files", "summary_diffs", "cost"),
    *("tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write"),
    *("metadata", "revert", "permission", "time_created", "time_updated", "time_archived"),
)
JSON_COLUMNS = ("model", "summary_diffs", "metadata", "revert", "permission")  #: columns that hold JSON


def import_document(lines: Iterable[bytes]) -> Json:
    """The document for `opencode import`, from the rows of a session."""
    own: Json = {}
    messages: dict[str, Json] = {}
    parts: dict[str, list[Json]] = {}
    for line in lines:
        value = json.loads(line)
        table, row = value["table"], value["row"]
        if table == "session":
            own = row
        elif table == "message":
            messages[row["id"]] = {**json.loads(row["data"]), "id": row["id"], "sessionID": row["session_id"]}
        elif table == "part":
            names = {"id": row["id"], "sessionID": row["session_id"], "messageID": row["message_id"]}
            parts.setdefault(row["message_id"], []).append({**json.loads(row["data"]), **names})
    if not own:
        raise SessionFailed("the archive lacks the row of the session, so it cannot be imported")
    listed = [{"info": info, "parts": parts.get(name, [])} for name, info in sorted(messages.items())]
    return {"info": info_of(own), "messages": listed}


def info_of(row: Json) -> Json:
    """The session as opencode exports it.

    >>> info_of({"id": "ses_1", "parent_id": None, "time_created": 5, "model": '{"id": "m"}'})
    {'id': 'ses_1', 'model': {'id': 'm'}, 'time': {'created': 5}}
    """
    info: Json = {}
    for column in EXPORTED:
        value = row.get(column)
        if value is None:
            continue
        if column in JSON_COLUMNS and isinstance(value, str):
            value = json.loads(value)
        at = info
        *above, name = column.replace("_id", "ID").split("_")
        for key in above:
            inner = at.setdefault(key, {})
            assert isinstance(inner, dict)
            at = inner
        at[name] = value
    return info
