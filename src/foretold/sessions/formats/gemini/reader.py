"""Read the sessions of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<start of the id>.jsonl`.

1. `find_sessions` reads folders and the first bytes of each file, because a file name has only eight characters of the
   id. A subagent has a separate file, `chats/<session>/<id>.jsonl`.
2. A line is the session header (`sessionId`), a message, a change (`$set`), or `$rewindTo`, which takes back the
   message it names and everything after it. A message that is written again, with its calls, is returned again with
   only what is new; so is a `$set` of all messages, which the agent writes when a session is resumed or compressed.
3. `since` is a byte of the file. The part before it is read only if the new part begins with such a repetition, or
   contains all messages once more.
4. Older versions wrote one JSON document, `session-*.json`. It is parsed as a whole; `since` counts its messages. Of a
   torn document, the messages before the tear are read.
5. A session that was resumed in a later minute than it began has a second file with the same name ending and no
   conversation in it. Gemini CLI deletes that file, and all with the same ending, at its next start: a finding.
6. The folder of a session is in `.project_root` next to `chats`, or in `projects.json`; older versions named the
   project folder by the SHA-256 of its path.

The format: docs/formats/gemini-session.md.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile

from foretold.sessions.formats.fields import (
    Json,
    first_text,
    list_at,
    list_folder,
    object_at,
    one_line,
    parse_time,
    parse_times,
    session_file,
    text_at,
)
from foretold.sessions.formats.gemini.records import Seen, message_of, prompt_of
from foretold.sessions.formats.jsonl import JsonlRecord, ends_of, field_in, read_ends, records_of
from foretold.sessions.model import Homes, Message, Part, StoredSession
from foretold.storage.tree import open_regular, read_regular
from foretold.types import Finding

AGENT = "gemini-cli"
START = 512  #: bytes of a file that contain its id
LONGEST = 256 * 1024 * 1024  #: bytes of a document that is parsed
_NAME = re.compile(r"session-.*?-?([0-9A-Za-z]{1,8})\.jsonl?\Z")
_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_BOOKKEEPING = ("lastUpdated", "sessionId", "summary", "memoryScratchpad", "directories", "activeExtensionName", "kind")


def gemini_home(homes: Homes) -> str:
    """The configuration folder of Gemini CLI."""
    return os.path.join(homes.env.get("GEMINI_CLI_HOME") or homes.home, ".gemini")


def find_sessions(homes: Homes) -> Iterator[StoredSession]:
    """Every session, and every subagent of one, in the order of their names."""
    for project in list_folder(os.path.join(gemini_home(homes), "tmp")):
        for entry in list_folder(os.path.join(project.path, "chats")):
            name = _NAME.match(entry.name)
            if name:
                yield from _with_id(session_file(AGENT, name[1], entry))
            elif entry.is_dir():
                for one in list_folder(entry.path):
                    name_of_one, ending = os.path.splitext(one.name)
                    if ending in (".jsonl", ".json"):
                        yield from _with_id(session_file(AGENT, name_of_one, one, "subagent", entry.name))


def _with_id(found: list[StoredSession]) -> Iterator[StoredSession]:
    """A session file with its id; a file name has only the beginning of it."""
    for stored in found:
        with suppress(OSError), open(stored.path, "rb", opener=open_regular) as file:  # it may be deleted just now
            yield stored._replace(id=field_in(file.read(START), "sessionId") or stored.id)


def read_messages(stored: StoredSession, since: int = 0, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The messages of a session, from a byte or a message on, in file order."""
    seen: Seen = set()
    if findings is not None and since == 0:
        findings += _find_deletion(stored)
    if stored.path.endswith(".json"):
        for number, value in enumerate(_elements(stored.path, findings)):
            message = message_of(value, (0, number, number + 1), seen) if isinstance(value, dict) else None
            if message and number >= since:
                yield message
        return
    is_known, is_first = since == 0, True
    for record in records_of(stored.path, since, findings):
        if not is_known and _repeats(record.value, is_first=is_first):
            is_known = True
            for earlier in takewhile(lambda each: each.start < since, records_of(stored.path)):
                list(_messages_in_record(earlier, seen))
        is_first = is_first and "id" not in record.value
        yield from _messages_in_record(record, seen)


def _find_deletion(stored: StoredSession) -> list[Finding]:
    """That the agent is about to delete a session (recorded on 0.61.0)."""
    folder, own = os.path.split(stored.path)
    name = _NAME.match(own)
    for entry in list_folder(folder) if stored.kind == "main" else ():
        other = _NAME.match(entry.name)
        if name and other and other[1] == name[1] and entry.name != own and not _has_conversation(entry.path):
            message = f"Gemini CLI deletes this session at its next start: {entry.name} has the same name"
            hint = f"keep a copy of it, or remove {entry.path}"
            return [Finding(stored.path, None, "session-doomed", f"{message} and no conversation", hint)]
    return []


def _has_conversation(path: str) -> bool:
    """Whether a session file has a prompt or an answer."""
    ends = ends_of(path)
    spoken = (value for record in ends.head for value in _messages_of(record))
    return bool(ends.cut or ends.tail) or any(prompt_of(value) or value.get("type") == "gemini" for value in spoken)


def _repeats(value: Json, *, is_first: bool) -> bool:
    """Whether a record may repeat what an earlier one, not just the one before it, contains."""
    if isinstance(value.get("$set"), dict):
        return "messages" in object_at(value, "$set")
    first = next(iter(list_at(value, "content")), None)
    is_result = isinstance(first, dict) and "functionResponse" in first
    return is_first and "id" in value and ("toolCalls" in value or is_result)


def _messages_in_record(record: JsonlRecord, seen: Seen) -> Iterator[Message]:
    value, place = record.value, (record.line, record.start, record.end)
    change = value.get("$set")
    listed = change.get("messages") if isinstance(change, dict) else None
    if isinstance(value.get("id"), str):
        listed = [value]
    if isinstance(listed, list):
        for one in listed:
            message = message_of(one, place, seen) if isinstance(one, dict) else None
            if message:
                yield message
        return
    is_known = isinstance(change, dict) and all(name in _BOOKKEEPING for name in change)
    kind = "meta" if is_known or "sessionId" in value else "notice"
    part = Part("other", raw=value)
    yield Message(f"byte {record.start}", "system", (part,), None, "", "", kind, *place)


def _elements(path: str, findings: list[Finding] | None) -> Iterator[object]:
    """The messages of a document; of one that is damaged, those before the damage."""
    with open(path, "rb", opener=open_regular) as file:
        data = file.read(LONGEST + 1)
    findings = [] if findings is None else findings
    if len(data) > LONGEST:
        message = "the session is one document that is too long to be read"
        findings.append(Finding(path, None, "record-long", message))
        return
    text = data.decode("utf-8", "replace")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
        findings.append(Finding(path, None, "record-torn", "the document is incomplete: it was torn, or damaged"))
    listed = whole.get("messages") if isinstance(whole, dict) else None
    yield from listed if isinstance(listed, list) else _parse_elements(text)


def _parse_elements(text: str) -> Iterator[object]:
    begin = _MESSAGES.search(text)
    at = begin.end() if begin else len(text)
    decoder = json.JSONDecoder()
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield value


def summarize(stored: StoredSession) -> StoredSession:
    """A session with what the two ends of its file say, and its folder."""
    filled = _summarize_document(stored) if stored.path.endswith(".json") else _summarize_lines(stored)
    chats = os.path.dirname(stored.path) if stored.kind == "main" else os.path.dirname(os.path.dirname(stored.path))
    return filled._replace(cwd=_project_folder(os.path.dirname(chats)))


def _summarize_lines(stored: StoredSession) -> StoredSession:
    ends = ends_of(stored.path)
    records = (*ends.head, *ends.tail)
    about = next((value for value in records if "sessionId" in value), {})
    changes = [change for value in records if isinstance(change := value.get("$set"), dict)]
    spoken = [message for value in records for message in _messages_of(value)]
    times = parse_times(spoken) + parse_times(changes, "lastUpdated")
    summary = first_text(reversed(changes), "summary")
    return stored._replace(
        id=text_at(about, "sessionId") or field_in(ends.cut, "sessionId") or stored.id,
        title=one_line(summary or next(filter(None, map(prompt_of, spoken)), "")),
        started=parse_time(about.get("startTime")) or (min(times) if times else None),
        changed=max(times) if times else stored.changed,
        model=first_text(reversed(spoken), "model"),
        kind="subagent" if about.get("kind") == "subagent" else stored.kind,
    )


def _messages_of(value: Json) -> list[Json]:
    listed = object_at(value, "$set").get("messages")
    return [one for one in (listed if isinstance(listed, list) else [value]) if isinstance(one, dict) and "type" in one]


def _summarize_document(stored: StoredSession) -> StoredSession:
    head, tail, _ = read_ends(stored.path)
    spoken = [value for value in _parse_elements(head.decode("utf-8", "replace")) if isinstance(value, dict)]
    prompt = next(filter(None, map(prompt_of, spoken)), "")
    changed = parse_time(field_in(head, "lastUpdated")) or parse_time(field_in(tail, "lastUpdated"))
    return stored._replace(
        id=field_in(head, "sessionId") or stored.id,
        title=one_line(field_in(tail[-4096:] or head[-4096:], "summary") or prompt),
        started=parse_time(field_in(head, "startTime")),
        changed=changed or stored.changed,
        model=first_text(reversed(spoken), "model"),
    )


def _project_folder(project: str) -> str:
    """The folder of a project, by its folder in Gemini CLI's; empty if it is not known."""
    with suppress(OSError, ValueError):
        return read_regular(os.path.join(project, ".project_root"), 4096).decode().strip()
    top, name = os.path.dirname(os.path.dirname(project)), os.path.basename(project)
    known = None
    with suppress(OSError, ValueError, AttributeError):
        known = json.loads(read_regular(f"{top}/projects.json", 1 << 20)).get("projects")
    import hashlib

    for folder, short in known.items() if isinstance(known, dict) else ():
        if name in (short, hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest()):
            return str(folder)
    return ""
