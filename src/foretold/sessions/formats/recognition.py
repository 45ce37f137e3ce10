"""Recognize a transcript by what is in it, wherever the file is and whatever it is called.

1. Only a regular file is opened. Its head decides: at most `HEAD` bytes are read, however large the file is.
2. A file that begins as an SQLite database is one of opencode; if it has several sessions, `FILE#ID` names one.
3. Else its first records decide, by the keys that only one agent writes (`MARKS`). A document (one JSON object in the
   whole file) of Gemini CLI or opencode must be called `.json`, because their readers go by that.
4. A file of Claude Code in which a subagent speaks is a subagent's.
"""

from __future__ import annotations

import os

from foretold.errors import NoSuchSession, SessionFailed
from foretold.sessions.formats.fields import Json, text_at
from foretold.sessions.formats.jsonl import field_in, parse_records
from foretold.sessions.formats.readers import READERS
from foretold.sessions.model import StoredSession
from foretold.storage.tree import open_regular

HEAD = 256 * 1024  #: bytes that are read to recognize a file; records of 100 KiB are usual at the start of a session
DATABASE = b"SQLite format 3\0"
PACKED = b"\x28\xb5\x2f\xfd"  #: how a Zstandard file begins; Codex packs old sessions so
_CODEX = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_CLAUDE = ("user", "assistant", "system", "attachment")
_GEMINI = ("user", "gemini")


def recognize_transcript(name: str) -> StoredSession:
    """The session in a file. Raises SessionFailed for what is not a transcript, and says what it is instead."""
    path, session = _split(name)
    try:
        with open(path, "rb", opener=open_regular) as file:
            head, status = file.read(HEAD), os.fstat(file.fileno())
    except (OSError, ValueError) as error:
        raise SessionFailed(f"{name!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not head.strip():
        raise SessionFailed(f"{name!r} is empty")
    path = os.path.abspath(path)
    if head.startswith(DATABASE):
        return _session_in_database(path, session)
    stored = _recognize_head(head, path)
    if stored is None:
        known = ", ".join(READERS)
        raise SessionFailed(f"{name!r} is not a transcript of an agent that can be read ({known})")
    return stored._replace(changed=status.st_mtime, size=status.st_size)


def _split(name: str) -> tuple[str, str]:
    """A file and, after `#`, the session in it."""
    path, mark, session = name.rpartition("#")
    return (path, session) if mark and not os.path.lexists(name) else (name, "")


def _session_in_database(path: str, session: str) -> StoredSession:
    from foretold.sessions.formats.opencode.database import sessions_in

    try:
        rows = sessions_in(path, session or None)
    except OSError as error:
        raise SessionFailed(f"{path!r} is a database, but not one of opencode: {error}") from None
    ids = [text_at(row, "id") for row in rows]
    if not ids:
        raise NoSuchSession(f"{path!r} has no session{f' {session!r}' if session else ''}")
    if len(ids) > 1:
        some = ", ".join(ids[:5]) + (f" and {len(ids) - 5:,} more" if len(ids) > 5 else "")
        raise NoSuchSession(f"{path!r} has {len(ids):,} sessions; name one as FILE#ID: {some}")
    return StoredSession("opencode", ids[0], path)


def _recognize_head(head: bytes, path: str) -> StoredSession | None:
    stem = os.path.basename(path).split(".")[0]
    if head.startswith(PACKED):
        return StoredSession("codex", stem, path) if path.endswith(".zst") else None
    records = parse_records(head)
    for record in records[:50]:
        if record.get("type") in _CODEX and isinstance(record.get("payload"), dict):
            return StoredSession("codex", _codex_id(records) or stem, path)
        if record.get("type") in _CLAUDE and isinstance(record.get("message"), dict) and "uuid" in record:
            return _claude_session(records, stem, path)
        if "projectHash" in record or (record.get("type") in _GEMINI and "content" in record and "id" in record):
            return StoredSession("gemini-cli", field_in(head, "sessionId") or stem, path)
    return _recognize_cut(head, path, stem)


def _recognize_cut(head: bytes, path: str, stem: str) -> StoredSession | None:
    """A head without a whole record: a document over several lines, or a first record that is longer than the head."""
    if not head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        return None
    if b'"projectHash"' in head:
        return _document("gemini-cli", field_in(head, "sessionId") or stem, path)
    session = field_in(head, "id") or _spaced(head, b'"id"')
    if session.startswith("ses_"):
        return _document("opencode", session, path)
    kind = field_in(head, "type")
    if kind in _CODEX and b'"payload"' in head:
        return StoredSession("codex", field_in(head, "id") or stem, path)
    if kind in _CLAUDE and b'"sessionId"' in head:
        return StoredSession("claude-code", field_in(head, "sessionId") or stem, path)
    return None


def _spaced(head: bytes, key: bytes) -> str:
    """The value of a field in a document that is printed with spaces."""
    after = head.partition(key)[2].lstrip(b" :\n\t")[:200]
    return after.split(b'"')[1].decode("utf-8", "replace") if after.startswith(b'"') and after.count(b'"') > 1 else ""


def _document(agent: str, session: str, path: str) -> StoredSession:
    if not path.endswith(".json"):
        raise SessionFailed(f"{path!r} is a document of {agent}; give it a name that ends with .json to read it")
    return StoredSession(agent, session, path)


def _codex_id(records: tuple[Json, ...]) -> str:
    metas = (record.get("payload") for record in records if record.get("type") == "session_meta")
    return next((found for meta in metas if (found := text_at(meta, "id"))), "")


def _claude_session(records: tuple[Json, ...], stem: str, path: str) -> StoredSession:
    session = next((found for record in records if (found := text_at(record, "sessionId"))), "")
    said = [record for record in records if record.get("type") in _CLAUDE[:2]]
    if said and all(record.get("isSidechain") is True for record in said):
        agent = next((found for record in said if (found := text_at(record, "agentId"))), "")
        return StoredSession("claude-code", f"agent-{agent}" if agent else stem, path, kind="subagent", parent=session)
    return StoredSession("claude-code", session or stem, path)
