"""What a transcript records about instruction files: the texts, the loads, the compactions.

1. Claude Code: since 2.1.325, an `instructions` record has the text of every file loaded at the start; a later one has
   the files that differ from their earlier copies. Earlier versions record no text: only the times of loads are known.
2. A `nested_memory` record has the text of a file loaded with a file that was read; `rawContent` is the whole file.
3. A process loads the files of the start once. A `last-prompt` record ends a process; what follows is a new one. In a
   running process, a compaction loads them again and drops the nested ones.
4. Codex records the text of all AGENTS.md files as one message, as the model received it; a later message replaces an
   earlier one. Which file a sentence came from is not recorded, so the event has no path.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.sessions.formats.codex.zstd import readable
from foretold.sessions.formats.fields import Json, list_at, object_at, parse_time, text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import StoredSession
from foretold.types import Finding, NamedTuple

#: how the message begins: now, and in earlier versions
BEGINS = ("# AGENTS.md instructions for ", "<user_instructions>")
ENDS = ("</INSTRUCTIONS>", "</user_instructions>")


class InstructionText(NamedTuple):
    """The text of an instruction file that the model received."""

    path: str  #: empty where the text of all files is recorded as one
    text: str
    time: float | None
    event: str  #: start, or read: it was loaded with a file that was read
    raw: str | None = None  #: the whole file, where that is recorded


class LoadEvent(NamedTuple):
    """A moment at which the files of the start were loaded."""

    time: float | None
    event: str  #: start, resume, compact


class CompactionEvent(NamedTuple):
    """A moment at which the conversation was replaced by its summary."""

    number: int  #: from 1
    time: float | None
    trigger: str  #: manual, auto


Event = InstructionText | LoadEvent | CompactionEvent


def read_events(stored: StoredSession, findings: list[Finding]) -> Iterator[Event]:
    """Loads, texts and compactions, in the order of the transcript."""
    if stored.agent == "claude-code":
        return _read_claude(stored, findings)
    if stored.agent == "codex":
        return _read_codex(stored, findings)
    return iter([LoadEvent(stored.started, "start")])


def _read_claude(stored: StoredSession, findings: list[Finding]) -> Iterator[Event]:
    is_new, is_first, count = True, True, 0
    for record in records_of(stored.path, findings=findings):
        value = record.value
        if value.get("isSidechain"):
            continue
        kind, time = value.get("type"), parse_time(value.get("timestamp"))
        is_typed = isinstance(object_at(value, "message").get("content"), str) and not value.get("isMeta")
        if kind == "user" and is_new and is_typed:
            yield LoadEvent(time, "start" if is_first else "resume")
            is_new = is_first = False
        elif kind == "last-prompt":
            is_new = True
        elif kind == "system" and value.get("subtype") == "compact_boundary":
            count += 1
            yield CompactionEvent(count, time, str(object_at(value, "compactMetadata").get("trigger", "")))
            yield LoadEvent(time, "compact")
        elif kind == "attachment":
            yield from _read_attachment(object_at(value, "attachment"), time)


def _read_attachment(attachment: Json, time: float | None) -> Iterator[InstructionText]:
    if attachment.get("type") == "instructions":
        for file in list_at(attachment, "files"):
            if isinstance(file, dict) and isinstance(file.get("content"), str):
                yield InstructionText(str(file.get("path", "")), file["content"], time, "start")
    elif attachment.get("type") == "nested_memory":
        nested = object_at(attachment, "content")
        text, raw = nested.get("content"), nested.get("rawContent")
        if isinstance(text, str):
            raw = raw if isinstance(raw, str) else text
            yield InstructionText(str(nested.get("path", "")), text, time, "read", raw)


def _read_codex(stored: StoredSession, findings: list[Finding]) -> Iterator[Event]:
    count = 0
    with readable(stored.path, findings) as path:
        for record in records_of(path, findings=findings) if path else ():
            time, payload = parse_time(record.value.get("timestamp")), record.value.get("payload")
            kind = record.value.get("type")
            if kind == "session_meta":
                yield LoadEvent(time, "start")
            elif kind == "compacted":
                count += 1
                yield CompactionEvent(count, time, "")
            elif kind == "response_item" and isinstance(payload, dict) and payload.get("role") == "user":
                for text in _texts(payload.get("content")):
                    yield InstructionText("", text, time, "start")


def _texts(content: object) -> list[str]:
    """The instruction text of a message."""
    found = []
    for part in content if isinstance(content, list) else ():
        text = text_at(part, "text")
        if text.startswith(BEGINS):
            end = max(text.rfind(mark) for mark in ENDS)
            found.append(text[text.find(">") + 1 : end if end >= 0 else len(text)])
    return found
