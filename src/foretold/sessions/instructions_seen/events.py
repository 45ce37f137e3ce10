"""What a transcript records about instruction files: the texts, the loads, the compactions, and which release ran.

1. Claude Code: since 2.1.325, an `instructions` record has the text of every file loaded at the start; a later one has
   the files that differ from their earlier copies. Earlier versions record no text: only the times of loads are known.
2. A `nested_memory` record has the text of a file loaded with a file that was read; `rawContent` is the whole file.
3. A process loads the files of the start once. A `last-prompt` record ends a process; what follows is a new one. In a
   running process, a compaction loads them again and drops the nested ones.
4. Codex records the text of all AGENTS.md files as one message, as the model received it; a later message replaces an
   earlier one, or says that it no longer applies. Which file a sentence came from is not recorded, so the event has no
   path.
5. What either of them sends after the start is an event of its own (`SentAgain`), with the prompt that it came with.
6. Every record of Claude Code has the version that wrote it: one that differs from the one before is an event. Codex
   names its version when a session begins; a fork repeats what its parent named, so only the first counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.dialects.registry import dialect_at
from foretold.sessions.formats.codex.records import CONTEXT
from foretold.sessions.formats.codex.zstd import readable
from foretold.sessions.formats.fields import Json, list_at, object_at, parse_time, text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import StoredSession
from foretold.text.frontmatter import trim
from foretold.types import Finding, NamedTuple

CODEX = dialect_at("codex").continuation  #: how it says that instructions are replaced, or no longer apply

#: how the message begins, and the tags around its text: now, and in earlier versions
FORMS = (
    ("# AGENTS.md instructions", "<INSTRUCTIONS>", "</INSTRUCTIONS>"),
    ("<user_instructions>", "<user_instructions>", "</user_instructions>"),
)


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


class ReleaseEvent(NamedTuple):
    """A record that names another release of its agent than the one before."""

    version: str  #: as it is written: it may be anything
    time: float | None
    line: int  #: from 1; 0 where it is not known


class CompactionEvent(NamedTuple):
    """A moment at which the conversation was replaced by its summary."""

    number: int  #: from 1
    time: float | None
    trigger: str  #: manual, auto


class SentFile(NamedTuple):
    """A file of instructions that were sent again."""

    path: str  #: empty where the text of all files is recorded as one
    text: str | None  #: None if it no longer applies
    before: str | None  #: what the model had; None if it had none


class SentAgain(NamedTuple):
    """A moment at which the model was sent instructions again, after the start of the session."""

    time: float | None
    prompt: int  #: the number of the prompt that it came with, from 1
    effect: str  #: added, replaced or withdrawn, as in `foretold.instructions.continuation`
    files: tuple[SentFile, ...]


Event = InstructionText | LoadEvent | CompactionEvent | SentAgain | ReleaseEvent


def read_events(stored: StoredSession, findings: list[Finding]) -> Iterator[Event]:
    """Loads, texts, compactions and releases, in the order of the transcript."""
    if stored.agent == "claude-code":
        return _read_claude(stored, findings)
    if stored.agent == "codex":
        return _read_codex(stored, findings)
    release = [ReleaseEvent(stored.version, stored.started, 0)] if stored.version else []
    return iter([*release, LoadEvent(stored.started, "start")])


def _read_claude(stored: StoredSession, findings: list[Finding]) -> Iterator[Event]:
    is_new, is_first, count, prompts, version = True, True, 0, 0, ""
    known: dict[str, str] = {}
    for record in records_of(stored.path, findings=findings):
        value = record.value
        if value.get("isSidechain"):
            continue
        if text_at(value, "version") not in ("", version):
            version = text_at(value, "version")
            yield ReleaseEvent(version, parse_time(value.get("timestamp")), record.line)
        kind, time = value.get("type"), parse_time(value.get("timestamp"))
        is_typed = isinstance(object_at(value, "message").get("content"), str) and not value.get("isMeta")
        prompts += kind == "user" and is_typed
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
            attachment = object_at(value, "attachment")
            texts = list(_read_attachment(attachment, time))
            yield from texts
            if attachment.get("type") == "instructions":
                yield from _find_resent(attachment, texts, known, time, prompts)


def _find_resent(
    attachment: Json, texts: list[InstructionText], known: dict[str, str], time: float | None, prompt: int
) -> Iterator[SentAgain]:
    """What Claude Code sent again: files that differ from their earlier copies, and those that are gone."""
    had_any = bool(known)
    removed = [path for path in list_at(attachment, "removed") if isinstance(path, str)]
    files = [SentFile(each.path, each.text, known.get(each.path)) for each in texts]
    files += [SentFile(path, None, known.get(path)) for path in removed]
    known.update({each.path: each.text for each in texts})
    for path in removed:
        known.pop(path, None)
    if files and (attachment.get("changed") or (prompt > 1 and not had_any)):
        effect = "replaced" if attachment.get("changed") and texts else "added" if texts else "withdrawn"
        yield SentAgain(time, prompt, effect, tuple(files))


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
    count = prompts = 0
    last: str | None = None
    version = ""
    with readable(stored.path, findings) as path:
        for record in records_of(path, findings=findings) if path else ():
            time, payload = parse_time(record.value.get("timestamp")), record.value.get("payload")
            kind = record.value.get("type")
            if kind == "session_meta":
                if not version and (version := text_at(payload, "cli_version")):
                    yield ReleaseEvent(version, time, record.line)
                yield LoadEvent(time, "start")
            elif kind == "compacted":
                count += 1
                yield CompactionEvent(count, time, "")
            elif kind == "response_item" and isinstance(payload, dict) and payload.get("role") == "user":
                texts = [text_at(part, "text") for part in list_at(payload, "content")]
                told = [told for text in texts if (told := _instructions_in(text)) is not None]
                prompts += not told and any(text and not text.startswith(CONTEXT) for text in texts)
                for text, effect in told:
                    yield InstructionText("", text or "", time, "start")
                    if prompts and text != last:
                        yield SentAgain(time, prompts + 1, effect, (SentFile("", text, last),))
                    last = text


def _instructions_in(message: str) -> tuple[str | None, str] | None:
    """The instructions of a message (None if it withdraws them), and what it does; None if it has none."""
    for begin, opened, closed in FORMS:
        if message.startswith(begin) and opened in message:
            text = message.partition(opened)[2].rpartition(closed)[0] or message.partition(opened)[2]
            if trim(text) == CODEX.withdraws:
                return None, "withdrawn"
            body = text.removeprefix("\n")
            is_new = body.startswith(CODEX.replaces)
            return body.removeprefix(CODEX.replaces), "replaced" if is_new else "added"
    return None
