"""Read the sessions of opencode: rows of `$XDG_DATA_HOME/opencode/opencode.db`; in older versions, files in `storage`.

1. `find_sessions` queries each database once and reads the folders of `storage`; a session in both is returned once. A
   database that cannot be read is returned as a session named after it, so that it is not skipped silently.
2. `summarize` of a row is one query by its key.
3. `read_messages` streams, one message with its parts at a time. `since` is a time in milliseconds: messages that began
   then or later. A message that is not complete when it is read ends where it begins, so that it is read again.
4. The databases are never written to (`database.py`).

The format: docs/formats/opencode-session.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from foretold.sessions.formats.fields import Json, list_names, object_at, one_line, text_at, with_status
from foretold.sessions.formats.opencode.database import messages_in, parse_record, sessions_in
from foretold.sessions.formats.opencode.records import StoredMessage, is_complete, message_of
from foretold.sessions.model import Homes, Message, StoredSession
from foretold.storage.tree import open_regular
from foretold.types import Finding

AGENT = "opencode"
LONGEST = 64 * 1024 * 1024  #: bytes of a file of `storage` that is parse_record


def data_folder(homes: Homes) -> str:
    """The data folder of opencode."""
    return os.path.join(homes.env.get("XDG_DATA_HOME") or os.path.join(homes.home, ".local", "share"), "opencode")


def databases(homes: Homes) -> list[str]:
    """The existing databases: that of `OPENCODE_DB`, and one for each release channel."""
    folder = data_folder(homes)
    named = homes.env.get("OPENCODE_DB") or ""
    found = [os.path.join(folder, named)] if named and named != ":memory:" else []
    found += [os.path.join(folder, name) for name in list_names(folder) if name.startswith("opencode")]
    return list(dict.fromkeys(path for path in found if path.endswith(".db") and os.path.isfile(path)))


def find_sessions(homes: Homes) -> Iterator[StoredSession]:
    """Every session, of the databases and then of the files."""
    known: set[str] = set()
    for path in databases(homes):
        for stored in _sessions_in(path):
            known.add(stored.id)
            yield stored
    folder = os.path.join(data_folder(homes), "storage", "session")
    for project in list_names(folder):
        for name in list_names(os.path.join(folder, project)):
            session, ending = os.path.splitext(name)
            path = os.path.join(folder, project, name)
            if ending == ".json" and session.startswith("ses_") and session not in known:
                yield from with_status(StoredSession(AGENT, session, path))


def _sessions_in(path: str) -> list[StoredSession]:
    try:
        return [_fill(StoredSession(AGENT, text_at(row, "id"), path), row) for row in sessions_in(path)]
    except OSError as error:
        broken = StoredSession(AGENT, os.path.basename(path), path, title=f"cannot be read: {error}")
        return with_status(broken)


def _fill(stored: StoredSession, row: Json) -> StoredSession:
    """A session with what its row in the database says."""
    parent = text_at(row, "parent_id")
    return stored._replace(
        cwd=text_at(row, "directory"),
        title=one_line(text_at(row, "title")),
        started=_seconds(row.get("time_created")),
        changed=_seconds(row.get("time_updated")) or stored.changed,
        version=text_at(row, "version"),
        model=_model(row.get("model")),
        kind="subagent" if parent else "archived" if row.get("time_archived") else "main",
        parent=parent,
    )


def _seconds(value: object) -> float | None:
    return value / 1000 if isinstance(value, (int, float)) else None


def _model(value: object) -> str:
    try:
        known = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return ""
    return text_at(known, "id") or text_at(known, "modelID")


def summarize(stored: StoredSession) -> StoredSession:
    """A session with what its row, or its file, says."""
    if stored.path.endswith(".json"):
        data = _read(stored.path, None)
        data = object_at(data, "info") or data  # of a document that `opencode export` wrote
        times = {f"time_{name}": time for name, time in object_at(data, "time").items()}
        return _fill(stored, {**data, **times, "parent_id": data.get("parentID"), "model": None})
    try:
        rows = sessions_in(stored.path, stored.id)
    except OSError:
        return stored
    return _fill(StoredSession(AGENT, text_at(rows[0], "id"), stored.path), rows[0]) if rows else stored


def read_messages(stored: StoredSession, since: int = 0, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The messages of a session, from a time on, in the order in which they began."""
    read = _messages_in_files if stored.path.endswith(".json") else messages_in
    last: StoredMessage | None = None
    for stored_message in read(stored.path, stored.id, since, findings):
        if last is not None:
            yield message_of(last, stored_message.created)
        last = stored_message
    if last is not None:
        yield message_of(last, last.created + 1 if is_complete(last) else last.created)


def _messages_in_files(path: str, session: str, since: int, findings: list[Finding] | None) -> Iterator[StoredMessage]:
    """The messages of `storage/message/<session>`, each with its parts of `storage/part/<message>`."""
    exported = _read(path, findings).get("messages")
    if isinstance(exported, list):
        yield from _messages_in_export(exported, since)
        return
    storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    folder = os.path.join(storage, "message", session)
    for name in list_names(folder):
        if not name.endswith(".json"):
            continue
        data = _read(os.path.join(folder, name), findings)
        created = object_at(data, "time").get("created")
        began = int(created) if isinstance(created, (int, float)) else 0
        if began >= since:
            own = name.removesuffix(".json")
            place = os.path.join(storage, "part", own)
            files = [os.path.join(place, file) for file in list_names(place) if file.endswith(".json")]
            parts = tuple(_read(file, findings) for file in files)
            yield StoredMessage(text_at(data, "id") or own, began, data, parts)


def _messages_in_export(rows: list[object], since: int) -> Iterator[StoredMessage]:
    """The messages of a document that `opencode export` wrote."""
    for row in rows:
        data, parts = (row.get("info"), row.get("parts")) if isinstance(row, dict) else (None, None)
        if not isinstance(data, dict):
            continue
        created = object_at(data, "time").get("created")
        began = int(created) if isinstance(created, (int, float)) else 0
        if began >= since:
            yield StoredMessage(text_at(data, "id"), began, data, tuple(parts) if isinstance(parts, list) else ())


def _read(path: str, findings: list[Finding] | None) -> Json:
    """A record of `storage`; an empty one if it cannot be read."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read(LONGEST)
    except OSError as error:
        if findings is not None:
            findings.append(Finding(path, None, "unreadable", f"it cannot be read: {error.strerror}"))
        return {}
    value = parse_record(path, os.path.basename(path), data, findings)
    return value if isinstance(value, dict) else {}
