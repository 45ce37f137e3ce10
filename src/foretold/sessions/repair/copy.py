"""The lines of a copy of a session in which nothing is lost.

1. Records keep everything that they have, also what we do not know; but they name the new session. One is written anew
   only if something in it changes; else its bytes are copied.
2. Where records are linked, they get the parents that `mending.py` says. Those without a uuid get one; an answer that
   is a text becomes a list of blocks, for older versions refuse it. A rollout gets what `rollout.py` says.
"""

from __future__ import annotations

import json
import os
import uuid

from foretold.errors import SessionFailed
from foretold.sessions.formats.claude.records import moment, text_at
from foretold.sessions.formats.codex.validity import acceptable
from foretold.sessions.formats.codex.zstd import readable
from foretold.sessions.model import StoredSession
from foretold.sessions.repair.relink import mended
from foretold.sessions.repair.salvage import Found, saved_lines
from foretold.sessions.resumption.graph import Links, is_hollow
from foretold.sessions.resumption.nodes import LINKS
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.sessions.archive.store_session import Progress

    Row = tuple[Found | None, dict[str, object]]

LINKED = ("claude-code",)  #: agents whose records name their parents
ROLLOUTS = ("codex",)  #: agents that refuse a whole file for one fault of it
EPOCH = "1970-01-01T00:00:00.000Z"
#: agent -> where records have the session's id, as keys from the top
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "claude-code": (("sessionId",),),
    "codex": (("payload", "id"), ("payload", "session_id")),
    "gemini-cli": (("sessionId",), ("$set", "sessionId")),
}


def session_lines(stored: StoredSession, progress: Progress | None) -> Iterator[Found]:
    """The lines of a session, unpacked where its agent has packed it."""
    problems: list[Finding] = []
    try:
        with readable(stored.path, problems) as path:
            if not path:
                raise SessionFailed(f"cannot read {stored.path}: {problems[0].message if problems else 'it is empty'}")
            size = os.path.getsize(path)
            for found in saved_lines(path):
                yield found
                if progress:
                    progress(found.line.end, size)
    except OSError as error:
        raise SessionFailed(f"cannot read {stored.path}: {error.strerror}") from error


def copied(stored: StoredSession, name: str, links: Links, progress: Progress | None) -> Iterator[bytes]:
    """The mended file, a line at a time."""
    for found, record in _rows(stored, links, progress):
        fresh = _renamed(record, stored, name)
        is_same = found is not None and fresh is found.saved.records[0] and not found.saved.why
        yield found.line.data + b"\n" if is_same and found else _line(fresh)


def _rows(stored: StoredSession, links: Links, progress: Progress | None) -> Iterator[Row]:
    """The records of a copy, and the lines they come from."""
    if stored.agent in LINKED:
        return relinked(stored, links, progress)
    rows = ((found, record) for found in session_lines(stored, progress) for record in found.saved.records)
    return acceptable(rows, stored.id, stored.cwd) if stored.agent in ROLLOUTS else rows


def relinked(stored: StoredSession, links: Links, progress: Progress | None) -> Iterator[Row]:
    """The records of a session with the links that reach all of them."""
    changes = mended(links)
    names = _names(stored, links, {*changes.parents.values(), changes.leaf})
    numbers, came, ended, dated = links.records(), 0, None, ""
    for found in session_lines(stored, progress):
        for record in found.saved.records:
            if record.get("type") == "last-prompt":
                ended = record
            if record.get("type") not in LINKS:
                yield found, record
                continue
            if is_hollow(record):
                continue
            came += 1
            if came - 1 in links.double_at:
                continue
            number = next(numbers)
            fresh = _whole(record)
            if number in links.unnamed:
                fresh = {**fresh, "uuid": names[number]}
            if number in changes.parents:
                fresh = {**fresh, "parentUuid": names.get(changes.parents[number])}
            if number in changes.undated:
                fresh = {**fresh, "timestamp": dated or EPOCH}
            dated = text_at(record, "timestamp") if moment(record.get("timestamp")) is not None else dated
            yield found, fresh
    if changes.leaf >= 0:
        yield None, {**(ended or {"type": "last-prompt", "sessionId": stored.id}), "leafUuid": names[changes.leaf]}


def _whole(record: dict[str, object]) -> dict[str, object]:
    """A record whose answer is a list of blocks: older versions refuse one that is a text."""
    message = record.get("message")
    if record.get("type") != "assistant" or not isinstance(message, dict) or not isinstance(message["content"], str):
        return record
    return {**record, "message": {**message, "content": [{"type": "text", "text": message["content"]}]}}


def _names(stored: StoredSession, links: Links, wanted: set[int]) -> dict[int, object]:
    """The uuids of some records; those without one get one."""
    names: dict[int, object] = {number: str(uuid.uuid4()) for number in links.unnamed}
    numbers, came = links.records(), 0
    if not any(number >= 0 for number in wanted - names.keys()):
        return names
    for found in session_lines(stored, None):
        for record in found.saved.records:
            if record.get("type") in LINKS and not is_hollow(record):
                came += 1
                if came - 1 not in links.double_at:
                    number = next(numbers)
                    if number in wanted:
                        names.setdefault(number, record.get("uuid"))
    return names


def _renamed(record: dict[str, object], stored: StoredSession, name: str) -> dict[str, object]:
    """A record of the new session; the same object if it does not name the old one."""
    for keys in NAMES[stored.agent]:
        record = _set(record, keys, stored.id, name)
    return record


def _set(record: dict[str, object], keys: tuple[str, ...], old: str, new: str) -> dict[str, object]:
    value = record.get(keys[0])
    if len(keys) == 1:
        return {**record, keys[0]: new} if value == old else record
    if not isinstance(value, dict):
        return record
    inner = _set(value, keys[1:], old, new)
    return record if inner is value else {**record, keys[0]: inner}


def _line(record: dict[str, object]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, as agents write it: escaped
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"
