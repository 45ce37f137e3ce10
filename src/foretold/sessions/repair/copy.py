"""Write a repaired copy of a session, in which nothing is lost.

1. The copy is a new file with a new session id, written completely or not at all, mode 0600; the damaged one stays as
   it is.
2. Records keep all their fields, known or not, but name the new session. A record is serialized again only if something
   in it changes; otherwise its bytes are copied.
3. Records of agents that link them get the parents that `relink.py` finds. Those without a uuid get one; an answer that
   is a text becomes a list of blocks, because older versions refuse it. A rollout gets what `codex/validity.py` adds.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

from foretold.errors import RestoreRefused, SessionFailed
from foretold.sessions.formats.claude.reader import has_own_folder, sibling_path
from foretold.sessions.formats.codex.validity import make_acceptable
from foretold.sessions.formats.codex.zstd import PACKED, readable
from foretold.sessions.formats.fields import parse_time, text_at
from foretold.sessions.formats.jsonl import encode_record
from foretold.sessions.model import StoredSession
from foretold.sessions.repair.relink import relink
from foretold.sessions.repair.salvage import SalvagedLine, salvage_lines
from foretold.sessions.resumption.graph import NODE_TYPES, NONE, Graph, is_hollow
from foretold.storage.atomic import create_file
from foretold.storage.kernel import KERNEL, Kernel, failed
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.sessions.archive.store_session import Progress

    Json = dict[str, object]
    Row = tuple[SalvagedLine | None, Json]

LINKED = ("claude-code",)  #: agents whose records name their parents
ROLLOUTS = ("codex",)  #: agents that refuse a whole file for one fault in it
EPOCH = "1970-01-01T00:00:00.000Z"
#: agent -> where records have the session's id, as keys from the top
ID_KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "claude-code": (("sessionId",),),
    "codex": (("payload", "id"), ("payload", "session_id")),
    "gemini-cli": (("sessionId",), ("$set", "sessionId")),
}
SHORT_NAMES = {"gemini-cli": 8}  #: agent -> how many characters of the id its file is named by


def write_repaired_copy(
    stored: StoredSession,
    folder: str | None = None,
    *,
    name: str | None = None,
    kernel: Kernel = KERNEL,
    progress: Progress | None = None,
) -> StoredSession:
    """Write a repaired copy next to a session, or into a folder. `name` is its id; by default a new one."""
    if stored.agent not in ID_KEYS:
        raise SessionFailed(f"sessions of {stored.agent} are not files, and cannot be repaired")
    graph = read_graph(stored) if stored.agent in LINKED else Graph()
    name = name or str(uuid.uuid4())
    path = _copy_path(stored, name, folder)
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    try:
        create_file(path, _copy_lines(stored, name, graph, progress), kernel=kernel)
    except FileExistsError:
        raise RestoreRefused(f"{path} exists already, and was not overwritten") from None
    except OSError as error:
        raise failed(f"cannot write {path}", error) from error
    return stored._replace(id=name, path=path, size=os.path.getsize(path), changed=os.stat(path).st_mtime)


def _copy_path(stored: StoredSession, name: str, folder: str | None) -> str:
    if folder is None and has_own_folder(stored.path):
        return sibling_path(stored.path, name)
    return os.path.join(folder or os.path.dirname(stored.path), _file_name(stored, name))


def _file_name(stored: StoredSession, name: str) -> str:
    old, last = stored.id, os.path.basename(stored.path).removesuffix(PACKED)
    short = SHORT_NAMES.get(stored.agent, len(old))
    if old[:short] not in last:
        return f"{name}{os.path.splitext(last)[1]}"
    return last.replace(old[:short], name[:short])


def session_lines(stored: StoredSession, progress: Progress | None = None) -> Iterator[SalvagedLine]:
    """The lines of a session, decompressed where its agent has compressed it."""
    problems: list[Finding] = []
    try:
        with readable(stored.path, problems) as path:
            if not path:
                raise SessionFailed(f"cannot read {stored.path}: {problems[0].message if problems else 'it is empty'}")
            size = os.path.getsize(path)
            for found in salvage_lines(path):
                yield found
                if progress:
                    progress(found.line.end, size)
    except OSError as error:
        raise SessionFailed(f"cannot read {stored.path}: {error.strerror}") from error


def read_graph(stored: StoredSession) -> Graph:
    """The graph of all records that can be saved, to repair them."""
    graph = Graph(is_for_repair=True)
    for found in session_lines(stored):
        for record in found.saved.records:
            graph.add(record)
    return graph.close()


def _copy_lines(stored: StoredSession, name: str, graph: Graph, progress: Progress | None) -> Iterator[bytes]:
    """The repaired file, a line at a time."""
    rows: Iterator[Row]
    if stored.agent in LINKED:
        rows = relinked_rows(stored, graph, progress)
    else:
        plain = ((found, record) for found in session_lines(stored, progress) for record in found.saved.records)
        rows = make_acceptable(plain, stored.id, stored.cwd) if stored.agent in ROLLOUTS else iter(plain)
    for found, record in rows:
        fresh = record
        for keys in ID_KEYS[stored.agent]:
            fresh = _replace_id(fresh, keys, stored.id, name)
        is_same = found is not None and fresh is found.saved.records[0] and not found.saved.damage
        yield (found.line.data if is_same and found else encode_record(fresh)) + b"\n"


def relinked_rows(stored: StoredSession, graph: Graph, progress: Progress | None = None) -> Iterator[Row]:
    """The records of a session with parents by which all of them are reached."""
    changes = relink(graph)
    uuids = _uuids_of(stored, graph, {*changes.parents.values(), changes.leaf})
    ended, dated = None, ""
    for found, record, number in _numbered_records(stored, graph, progress):
        if record.get("type") == "last-prompt":
            ended = record
        fresh = record
        if number != NONE:
            fresh = _with_blocks(record)
            if number in graph.unnamed:
                fresh = {**fresh, "uuid": uuids[number]}
            if number in changes.parents:
                fresh = {**fresh, "parentUuid": uuids.get(changes.parents[number])}
            if number in changes.undated:
                fresh = {**fresh, "timestamp": dated or EPOCH}
            dated = text_at(record, "timestamp") if parse_time(record.get("timestamp")) is not None else dated
        yield found, fresh
    if changes.leaf >= 0:
        yield None, {**(ended or {"type": "last-prompt", "sessionId": stored.id}), "leafUuid": uuids[changes.leaf]}


def _numbered_records(
    stored: StoredSession, graph: Graph, progress: Progress | None = None
) -> Iterator[tuple[SalvagedLine, Json, int]]:
    """The records that stay, with their numbers in the graph, NONE if they are not nodes."""
    numbers, added = graph.records(), 0
    for found in session_lines(stored, progress):
        for record in found.saved.records:
            if record.get("type") not in NODE_TYPES:
                yield found, record, NONE
            elif not is_hollow(record):
                added += 1
                if added - 1 not in graph.double_at:
                    yield found, record, next(numbers)


def _with_blocks(record: Json) -> Json:
    """A record whose answer is a list of blocks: older versions refuse one that is a text."""
    message = record.get("message")
    if record.get("type") != "assistant" or not isinstance(message, dict) or not isinstance(message["content"], str):
        return record
    return {**record, "message": {**message, "content": [{"type": "text", "text": message["content"]}]}}


def _uuids_of(stored: StoredSession, graph: Graph, wanted: set[int]) -> dict[int, object]:
    """The uuids of some records; those without one get one."""
    uuids: dict[int, object] = {number: str(uuid.uuid4()) for number in graph.unnamed}
    if any(number >= 0 for number in wanted - uuids.keys()):
        for _, record, number in _numbered_records(stored, graph):
            if number != NONE and number in wanted:
                uuids.setdefault(number, record.get("uuid"))
    return uuids


def _replace_id(record: Json, keys: tuple[str, ...], old: str, new: str) -> Json:
    """A record that names the new session; the same object if it does not name the old one."""
    value = record.get(keys[0])
    if len(keys) == 1:
        return {**record, keys[0]: new} if value == old else record
    if not isinstance(value, dict):
        return record
    inner = _replace_id(value, keys[1:], old, new)
    return record if inner is value else {**record, keys[0]: inner}
