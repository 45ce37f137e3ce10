"""Read the sessions of Codex: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, one record per line.

1. `find_sessions` reads folders only: `sessions`, where older versions put files directly, and `archived_sessions`.
2. `summarize` reads the two ends of a file. The title is the last name given to the session, from
   `session_index.jsonl`, else the first prompt that a person typed.
3. `read_messages` streams; `since` is a byte of the file. It holds one line, and the names of calls whose result has
   not come yet.
4. A file that Codex has compressed (`.jsonl.zst`) is unpacked into a temporary one; byte offsets refer to that.

The format: docs/formats/codex-session.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache

from foretold.sessions.formats.codex.records import Names, message_of, prompt_of, unwrapped
from foretold.sessions.formats.codex.zstd import readable
from foretold.sessions.formats.fields import (
    Json,
    first_text,
    list_folder,
    one_line,
    parse_time,
    parse_times,
    session_file,
    text_at,
)
from foretold.sessions.formats.jsonl import ends_of, field_in, records_of
from foretold.sessions.model import Homes, Message, StoredSession
from foretold.types import Finding

AGENT = "codex"
_NAME = re.compile(
    r"rollout-(\d{4}-\d\d-\d\d)(?:T(\d\d)-(\d\d)-(\d\d))?-([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl(\.zst)?\Z"
)
LONGEST_INDEX = 1 << 20  #: bytes of the head, and of the tail, of the index of names
_DEEPEST = 3  #: folders of year, month and day


def codex_home(homes: Homes) -> str:
    """The configuration folder of Codex."""
    return homes.env.get("CODEX_HOME") or os.path.join(homes.home, ".codex")


def find_sessions(homes: Homes) -> Iterator[StoredSession]:
    """Every session, in the order of the names of their folders and files."""
    yield from _sessions_in(os.path.join(codex_home(homes), "sessions"), "main", _DEEPEST)
    yield from _sessions_in(os.path.join(codex_home(homes), "archived_sessions"), "archived", _DEEPEST)


def _sessions_in(folder: str, kind: str, depth: int) -> Iterator[StoredSession]:
    for entry in list_folder(folder):
        name = _NAME.match(entry.name)
        if name:
            yield from session_file(AGENT, name[5], entry, kind)
        elif depth and entry.is_dir():
            yield from _sessions_in(entry.path, kind, depth - 1)


def read_messages(stored: StoredSession, since: int = 0, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The records of a session as messages, from a byte on, in file order."""
    names: Names = {}
    model = ""
    with readable(stored.path, findings) as path:
        for record in records_of(path, since, findings) if path else ():
            kind, payload = unwrapped(record.value)
            if kind == "turn_context":
                model = text_at(payload, "model")
            yield message_of(record, names, model)


def summarize(stored: StoredSession) -> StoredSession:
    """A session with what the two ends of its file say; of a compressed one, only what its name says."""
    name = _NAME.match(os.path.basename(stored.path))
    if name and name[6]:
        return stored._replace(
            started=parse_time(f"{name[1]}T{name[2] or '00'}:{name[3] or '00'}:{name[4] or '00'}+00:00")
        )
    ends = ends_of(stored.path)
    records = (*ends.head, *ends.tail)
    pairs = [unwrapped(value) for value in records]
    meta = next((payload for kind, payload in pairs if kind == "session_meta"), {})
    turns = [payload for kind, payload in reversed(pairs) if kind == "turn_context"]
    events = [payload for kind, payload in reversed(pairs) if kind == "event_msg"]
    names = [payload for payload in events if payload.get("type") == "thread_name_updated"]
    title = _name_of(stored) or first_text(names, "thread_name") or next(filter(None, map(prompt_of, records)), "")
    times = parse_times(records)
    began = (meta.get("timestamp"), field_in(ends.cut, "timestamp"), *(value.get("timestamp") for value in ends.head))
    kind, parent = _lineage(meta)
    return stored._replace(
        cwd=text_at(meta, "cwd") or field_in(ends.cut, "cwd") or first_text(turns, "cwd"),
        title=one_line(title),
        started=next((time for value in began if (time := parse_time(value)) is not None), None),
        changed=times[-1] if times else stored.changed,
        branch=text_at(meta.get("git"), "branch"),
        version=text_at(meta, "cli_version") or field_in(ends.cut, "cli_version"),
        model=first_text(turns, "model"),
        kind=kind if stored.kind == "main" else stored.kind,
        parent=parent,
    )


def _name_of(stored: StoredSession) -> str:
    """The name that a session was given; the index is read once, and again when it has changed."""
    before, folder, _ = stored.path.rpartition(f"{os.sep}archived_sessions{os.sep}")
    if not folder:
        before, folder, _ = stored.path.rpartition(f"{os.sep}sessions{os.sep}")
    try:
        status = os.stat(path := os.path.join(before, "session_index.jsonl"))
    except OSError:
        return ""
    return _names(path, status.st_mtime_ns, status.st_size).get(stored.id, "") if folder else ""


@lru_cache(maxsize=4)
def _names(path: str, _changed: int, _size: int) -> dict[str, str]:
    """The names in the last part of the index; a later line is newer."""
    ends = ends_of(path, LONGEST_INDEX)
    return {text_at(value, "id"): text_at(value, "thread_name") for value in (*ends.head, *ends.tail)}


def _lineage(meta: Json) -> tuple[str, str]:
    """Whether a session is a subagent or a fork, and of which session."""
    source = meta.get("source")
    spawned = source.get("subagent") if isinstance(source, dict) else None
    if spawned is not None or text_at(meta, "thread_source") == "subagent":
        inner = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
        return "subagent", text_at(inner, "parent_thread_id") or text_at(meta, "parent_thread_id")
    if text_at(meta, "forked_from_id"):
        return "fork", text_at(meta, "forked_from_id")
    return "main", ""
