"""The instruction events of a Codex rollout.

Codex records the text of all AGENTS.md files as one message, as the model received it; a later message replaces an
earlier one. Which file a sentence came from is not recorded, so the event has no path.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.sessions.formats.codex.zstd import readable
from foretold.sessions.formats.fields import parse_time, text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.instructions_seen.events import CompactionEvent, Event, InstructionText, LoadEvent
from foretold.sessions.model import StoredSession
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.types import Finding

#: how the message begins: now, and in earlier versions
BEGINS = ("# AGENTS.md instructions for ", "<user_instructions>")
ENDS = ("</INSTRUCTIONS>", "</user_instructions>")


def read_events(stored: StoredSession, findings: list[Finding] | None = None) -> Iterator[Event]:
    """Loads, texts and compactions, in the order of the rollout."""
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
