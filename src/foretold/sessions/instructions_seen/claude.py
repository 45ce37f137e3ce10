"""The instruction events of a Claude Code transcript.

1. Since 2.1.325, an `instructions` record has the text of every file loaded at the start; a later one has the files
   that differ from their earlier copies. Earlier versions record no text: only the times of loading are known.
2. A `nested_memory` record has the text of a file loaded with a file that was read; `rawContent` is the whole file.
3. A process loads the files of the start once. A `last-prompt` record ends a process; what follows is a new one. In a
   running process, a compaction loads them again and drops the nested ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.sessions.formats.fields import Json, list_at, object_at, parse_time
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.instructions_seen.events import CompactionEvent, Event, InstructionText, LoadEvent
from foretold.sessions.model import StoredSession
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.types import Finding


def read_events(stored: StoredSession, findings: list[Finding] | None = None) -> Iterator[Event]:
    """Loads, texts and compactions, in the order of the transcript."""
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
