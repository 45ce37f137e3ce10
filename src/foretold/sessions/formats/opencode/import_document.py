"""An archived session of opencode in the form that `opencode import` accepts.

1. The session's row becomes `info`: names as opencode exports them, groups of columns as objects, no nulls.
2. A message is its `data` with its id and the session's; a part also has the id of its message. Both ordered by id.
3. Importing in a folder moves the session to that folder (measured on opencode 1.18.33).
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from foretold.errors import SessionFailed

Json = dict[str, object]
#: columns of a session. Each is a field of `info`, or of an object in it: `time_created` is `created` of `time`.
COLUMNS = (
    *("id", "slug", "project_id", "workspace_id", "parent_id", "directory", "path", "title", "agent", "model"),
    *("version", "summary_additions", "summary_deletions", "summary_files", "summary_diffs", "cost"),
    *("tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write"),
    *("metadata", "revert", "permission", "time_created", "time_updated", "time_archived"),
)
CODED = ("model", "summary_diffs", "metadata", "revert", "permission")  #: columns that hold JSON


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
    for column in COLUMNS:
        value = row.get(column)
        if value is None:
            continue
        if column in CODED and isinstance(value, str):
            value = json.loads(value)
        at = info
        *above, name = column.replace("_id", "ID").split("_")
        for key in above:
            inner = at.setdefault(key, {})
            assert isinstance(inner, dict)
            at = inner
        at[name] = value
    return info
