"""What a session of Codex was told, as its rollout records it.

Codex records the text of all AGENTS.md files together, as the message that the model received; a later message
replaces an earlier one. Which file a sentence came from is not recorded, so that the telling has no path.
"""

from __future__ import annotations

from foretold.sessions.formats.claude.records import moment
from foretold.sessions.formats.codex.zstd import readable
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.instructions_seen.events import Compaction, Load, Telling
from foretold.sessions.model import Stored
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.types import Finding

#: how the message begins: now, and in earlier versions
BEGINS = ("# AGENTS.md instructions for ", "<user_instructions>")
ENDS = ("</INSTRUCTIONS>", "</user_instructions>")


def tellings(stored: Stored, findings: list[Finding] | None = None) -> Iterator[Telling | Load | Compaction]:
    """Loads, texts and compactions, in the order of the rollout."""
    count = 0
    with readable(stored.path, findings) as path:
        for record in records_of(path, findings=findings) if path else ():
            time, payload = moment(record.value.get("timestamp")), record.value.get("payload")
            kind = record.value.get("type")
            if kind == "session_meta":
                yield Load(time, "start")
            elif kind == "compacted":
                count += 1
                yield Compaction(count, time, "")
            elif kind == "response_item" and isinstance(payload, dict) and payload.get("role") == "user":
                for text in _texts(payload.get("content")):
                    yield Telling("", text, time, "start")


def _texts(content: object) -> list[str]:
    """The instruction text of a message."""
    found = []
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str) and text.startswith(BEGINS):
            end = max(text.rfind(mark) for mark in ENDS)
            found.append(text[text.find(">") + 1 : end if end >= 0 else len(text)])
    return found
