"""The instruction events of a Claude Code transcript.

1. Since 2.1.325, an `instructions` record has the text of every file loaded at the start; a later one has the files
   that differ from their earlier copies. Earlier versions record no text: only the times of loading are known.
2. A `nested_memory` record has the text of a file loaded with a file that was read; `rawContent` is the whole file.
3. A process loads the files of the start once. A `last-prompt` record ends a process; what follows is a new one. In a
   running process, a compaction loads them again and drops the nested ones.
"""

from __future__ import annotations

from foretold.sessions.formats.fields import parse_time
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.instructions_seen.events import CompactionEvent, Event, InstructionText, LoadEvent
from foretold.sessions.model import StoredSession
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.types import Finding


def read_events(stored: StoredSession, findings: list[Finding] | None = None) -> Iterator[Event]:
    """Loads, texts and compactions, in the order of the transcript."""
    is_new, is_first, count = True, True, 0
    for record in records_of(stored.path, findings=findings):
        value = record.value
        if value.get("isSidechain"):
            continue
        kind, time = value.get("type"), parse_time(value.get("timestamp"))
        if kind == "user" and is_new and _is_prompt(value):
            yield LoadEvent(time, "start" if is_first else "resume")
            is_new = is_first = False
        elif kind == "last-prompt":
            is_new = True
        elif kind == "system" and value.get("subtype") == "compact_boundary":
            count += 1
            yield CompactionEvent(count, time, _trigger(value))
            yield LoadEvent(time, "compact")
        elif kind == "attachment":
            yield from _attached(value.get("attachment"), time)


def _is_prompt(value: dict[str, object]) -> bool:
    said = value.get("message")
    return isinstance(said, dict) and isinstance(said.get("content"), str) and not value.get("isMeta")


def _trigger(value: dict[str, object]) -> str:
    metadata = value.get("compactMetadata")
    return str(metadata.get("trigger", "")) if isinstance(metadata, dict) else ""


def _attached(attachment: object, time: float | None) -> Iterator[InstructionText]:
    if not isinstance(attachment, dict):
        return
    if attachment.get("type") == "instructions" and isinstance(attachment.get("files"), list):
        for file in attachment["files"]:
            if isinstance(file, dict) and isinstance(file.get("content"), str):
                yield InstructionText(str(file.get("path", "")), file["content"], time, "start")
    elif attachment.get("type") == "nested_memory" and isinstance(attachment.get("content"), dict):
        file = attachment["content"]
        text = file.get("content")
        if isinstance(text, str):
            raw = file.get("rawContent")
            yield InstructionText(str(file.get("path", "")), text, time, "read", raw if isinstance(raw, str) else text)
