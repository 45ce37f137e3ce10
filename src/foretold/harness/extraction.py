"""What is learned at the end of a turn: memories, and notes of the conversation.

1. After a turn that the model ended by itself, without a tool, the extractor is asked whether it is time; then it goes
   on from the last request and what the model answered, so that a provider has read all of that already.
2. Session notes (`memory/extraction/session_notes`) are updated by their own thresholds. They serve as the summary when
   the conversation is compacted.
3. What fails is a finding, and so is every memory that was refused. The turn stands.
"""

from __future__ import annotations

from foretold.errors import ForetoldError
from foretold.harness.attachments import texts_of
from foretold.harness.events import Extracted
from foretold.sessions.formats.jsonl import records_of
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foretold.harness.harness import Harness
    from foretold.harness.options import Notes, WritesNotes
    from foretold.memory.extraction.transcript import Said
    from foretold.models.protocol import Request


def learn(harness: Harness) -> Extracted | None:
    """Extract memories and write notes, if it is time; what was extracted."""
    notes = _writer(harness.notes)
    if harness.last is None or (harness.extractor is None and notes is None):
        return None
    from foretold.memory.extraction.transcript import said_of

    said = said_of(records_of(harness.path))
    if notes is not None:
        _note(harness, notes, said)
    return _extract(harness, said)


def _writer(notes: Notes | None) -> WritesNotes | None:
    """Notes that can be written, not only read."""
    return notes if hasattr(notes, "update") else None  # type: ignore[return-value]


def _extract(harness: Harness, said: Sequence[Said]) -> Extracted | None:
    if harness.extractor is None:
        return None
    entries = (*harness.instructions.view.entries, *harness.instructions.attached)
    try:
        if not harness.extractor.due(said):
            return None
        done = harness.extractor.run(
            harness.model, final_request(harness), said, session=harness.session, instructions=texts_of(entries)
        )
    except (ForetoldError, OSError) as error:
        harness.find(Finding(harness.path, None, "extraction-failed", f"no memories were extracted: {error}"))
        return None
    _tell(harness, done)
    return Extracted(done)


def _tell(harness: Harness, done: object) -> None:
    """What an extraction did not do, or not without a doubt, as findings."""
    for file, reason, detail in getattr(done, "refused", ()):
        harness.find(Finding(file, None, "memory-refused", f"{reason}: {detail}"))
    for file, reason, detail in getattr(done, "warned", ()):
        harness.find(Finding(file, None, "memory-doubtful", f"{reason}: {detail}"))
    if stopped := getattr(done, "stopped", ""):
        harness.find(Finding(harness.path, None, "extraction-failed", f"the extraction ended early: {stopped}"))


def _note(harness: Harness, notes: WritesNotes, said: Sequence[Said]) -> None:
    try:
        if notes.due(said, is_end=True):
            for finding in notes.update(harness.model, final_request(harness), said).findings:
                harness.find(finding)
    except (ForetoldError, OSError) as error:
        harness.find(Finding(harness.path, None, "notes-failed", f"no notes of the conversation were written: {error}"))


def final_request(harness: Harness) -> Request:
    """The last request with what the model answered to it: what a fork goes on from."""
    assert harness.last is not None
    request, _ = harness.last
    return request._replace(messages=tuple(harness.dialogue.messages[: len(request.messages) + 1]))
