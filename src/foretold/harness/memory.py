"""Memory in a harness: what the model writes to the memory folder, and what is extracted at the end of a turn.

1. Who may write is the project's setting (`foretold memory`): unless agents may, a Write or Edit in the folder is
   refused, and the model is asked to inform the user. So is what looks like a credential.
2. After a Write or Edit of a `.md` file there, its frontmatter is in the agent's own format, with the session it came
   from (`memory.format`). The model may edit it again without a Read.
3. A Read of a file that is two days old or more begins with a note about its age.
4. After a turn that the model ended by itself, without a tool, the extractor decides whether it is time. It continues
   from the last request and its answer, so that a provider has cached all of that.
5. Session notes (`memory/extraction/session_notes`) are updated by their own thresholds. They serve as the summary when
   the conversation is compacted.
6. What fails is a finding, and so is every memory that was refused. The turn is not affected.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from foretold.errors import ForetoldError
from foretold.harness.attachments import texts_of
from foretold.harness.events import ExtractionEvent
from foretold.harness.tools.base import Result
from foretold.memory.format.agent import age_note, style_of
from foretold.memory.format.write import normalize_note
from foretold.sessions.formats.jsonl import records_of
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.files.read_state.state import ReadState
    from foretold.harness.harness import Harness
    from foretold.harness.options import NotesReader, NotesWriter
    from foretold.memory.extraction.transcript import TranscriptPiece
    from foretold.memory.location import MemoryLocation
    from foretold.models.protocol import ModelRequest


CHANGING = ("Write", "Edit")
TEXTS = ("content", "new_string")  #: fields of their input that are written
REFUSED = (
    "Nothing was written: the memories of this project are not written by agents ({setting}). If it matters, tell the"
    " user what you would have saved; `foretold memory add` saves it."
)
CREDENTIAL = "Nothing was written: this looks like a credential ({kind}), and memories hold none."


class MemoryToolGuard:
    """What is special about the memory folder of a conversation."""

    def __init__(
        self, place: MemoryLocation, state: ReadState, session: str, agent: str, clock: Callable[[], float] = time.time
    ) -> None:
        self.place, self.state, self.session = place, state, session
        self.form, self.clock = style_of(agent), clock

    def refused(self, call: Mapping[str, object]) -> Result | None:
        """Why a call must not be run; None if it may."""
        path, given = self._path(call), call.get("input")
        if call.get("name") not in CHANGING or not self._is_memory(path) or not isinstance(given, dict):
            return None
        if self.place.policy != "auto":
            return _refusal(REFUSED.format(setting=f'policy = "{self.place.policy}"'))
        from foretold.secrets.forms import credentials_in

        for found in credentials_in("\n".join(str(given.get(name, "")) for name in TEXTS)):
            return _refusal(CREDENTIAL.format(kind=found.kind))
        return None

    def after(self, call: Mapping[str, object], result: Result) -> Result:
        """The result of a call that was run."""
        path = self._path(call)
        if result.is_error or not self._is_memory(path):
            return result
        if call.get("name") in CHANGING and path.endswith(".md"):
            self._store(path)
        if call.get("name") == "Read" and isinstance(result.content, str):
            return result._replace(content=age_note(os.stat(path).st_mtime, self.clock()) + result.content)
        return result

    def _store(self, path: str) -> None:
        entry = self.state.entries.get(path)
        if entry is None or not entry.whole:
            return
        seconds = self.clock()
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03}Z"
        text = normalize_note(entry.content, self.session, self.form, now)
        if text != entry.content:
            self.state.write(path, text)

    def _path(self, call: Mapping[str, object]) -> str:
        given = call.get("input")
        path = given.get("file_path") if isinstance(given, dict) else None
        return self.state.path_of(path) if isinstance(path, str) else ""

    def _is_memory(self, path: str) -> bool:
        store = self.place.store
        return bool(path) and path != store and is_inside(path, store)


def _refusal(said: str) -> Result:
    return Result(f"<tool_use_error>{said}</tool_use_error>", is_error=True, value=f"Error: {said}")


def update_memories(harness: Harness) -> ExtractionEvent | None:
    """Extract memories and write notes, if it is time; what was extracted."""
    notes = _writable_notes(harness.notes)
    if harness.last is None or (harness.extractor is None and notes is None):
        return None
    from foretold.memory.extraction.transcript import pieces_of

    said = pieces_of(records_of(harness.path))
    if notes is not None:
        _update_notes(harness, notes, said)
    return _extract(harness, said)


def _writable_notes(notes: NotesReader | None) -> NotesWriter | None:
    """Notes that can be written, not only read."""
    return notes if hasattr(notes, "update") else None  # type: ignore[return-value]


def _extract(harness: Harness, said: Sequence[TranscriptPiece]) -> ExtractionEvent | None:
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
        harness.add_finding(Finding(harness.path, None, "extraction-failed", f"no memories were extracted: {error}"))
        return None
    _report_refusals(harness, done)
    return ExtractionEvent(done)


def _report_refusals(harness: Harness, done: object) -> None:
    """What an extraction did not do, or not without a doubt, as findings."""
    for file, reason, detail in getattr(done, "refused", ()):
        harness.add_finding(Finding(file, None, "memory-refused", f"{reason}: {detail}"))
    for file, reason, detail in getattr(done, "warned", ()):
        harness.add_finding(Finding(file, None, "memory-doubtful", f"{reason}: {detail}"))
    if stopped := getattr(done, "stopped", ""):
        harness.add_finding(Finding(harness.path, None, "extraction-failed", f"the extraction ended early: {stopped}"))


def _update_notes(harness: Harness, notes: NotesWriter, said: Sequence[TranscriptPiece]) -> None:
    try:
        if notes.due(said, is_end=True):
            for finding in notes.update(harness.model, final_request(harness), said).findings:
                harness.add_finding(finding)
    except (ForetoldError, OSError) as error:
        harness.add_finding(
            Finding(harness.path, None, "notes-failed", f"no notes of the conversation were written: {error}")
        )


def final_request(harness: Harness) -> ModelRequest:
    """The last request with what the model answered to it: what a fork goes on from."""
    assert harness.last is not None
    request, _ = harness.last
    return request._replace(messages=tuple(harness.dialogue.messages[: len(request.messages) + 1]))
