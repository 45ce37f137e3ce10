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
from collections.abc import Callable, Mapping, Sequence

from foretold.context.compaction.transcript import timestamp
from foretold.errors import ForetoldError
from foretold.harness.events import ExtractionEvent
from foretold.harness.tools.base import failure
from foretold.memory.format.agent import age_note, style_of
from foretold.memory.format.write import normalize_note
from foretold.sessions.formats.jsonl import records_of
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.harness.harness import Harness
    from foretold.harness.options import NotesWriter
    from foretold.harness.tools.base import Result
    from foretold.memory.extraction.transcript import TranscriptPiece
    from foretold.models.protocol import ModelRequest


CHANGING = ("Write", "Edit")
TEXTS = ("content", "new_string")  #: fields of their input that are written
REFUSED = (
    "Nothing was written: the memories of this project are not written by agents ({setting}). If it matters, tell the"
    " user what you would have saved; `foretold memory add` saves it."
)
CREDENTIAL = "Nothing was written: this looks like a credential ({kind}), and memories hold none."


def guard_memory(harness: Harness, call: Mapping[str, object], run: Callable[[], Result]) -> Result:
    """Run a call, and mind what is special about the memory folder."""
    given, name, state = call.get("input"), call.get("name"), harness.state
    named = given.get("file_path") if isinstance(given, dict) else None
    if harness.memory is None or not isinstance(given, dict) or not isinstance(named, str):
        return run()
    place, path = harness.memory.place, state.path_of(named)
    if path == place.store or not is_inside(path, place.store):
        return run()
    if name in CHANGING and place.policy != "auto":
        return failure(REFUSED.format(setting=f'policy = "{place.policy}"'), is_tagged=True)
    if name in CHANGING:
        from foretold.secrets.forms import credentials_in

        for found in credentials_in("\n".join(str(given.get(field, "")) for field in TEXTS)):
            return failure(CREDENTIAL.format(kind=found.kind), is_tagged=True)
    result, seconds = run(), harness.clock()
    known = state.entries.get(path)
    if result.is_error:
        return result
    if name in CHANGING and path.endswith(".md") and known is not None and known.whole:
        text = normalize_note(known.content, harness.session, style_of(harness.agent), timestamp(seconds))
        if text != known.content:
            state.write(path, text)
    if name == "Read" and isinstance(result.content, str):
        return result._replace(content=age_note(os.stat(path).st_mtime, seconds) + result.content)
    return result


def update_memories(harness: Harness) -> ExtractionEvent | None:
    """Extract memories and write notes, if it is time; what was extracted."""
    notes: NotesWriter | None = harness.notes if hasattr(harness.notes, "update") else None  # type: ignore[assignment]
    if harness.last is None or (harness.extractor is None and notes is None):
        return None
    from foretold.memory.extraction.transcript import pieces_of

    said = pieces_of(records_of(harness.path))
    if notes is not None:
        _update_notes(harness, notes, said)
    return _extract(harness, said)


def _extract(harness: Harness, said: Sequence[TranscriptPiece]) -> ExtractionEvent | None:
    if harness.extractor is None:
        return None
    entries = (*harness.instructions.view.entries, *harness.instructions.attached)
    try:
        if not harness.extractor.due(said):
            return None
        texts, asked = tuple(entry.text for entry in entries), final_request(harness)
        done = harness.extractor.run(harness.model, asked, said, session=harness.session, instructions=texts)
    except (ForetoldError, OSError) as error:
        harness.add_finding(Finding(harness.path, None, "extraction-failed", f"no memories were extracted: {error}"))
        return None
    for name, code in (("refused", "memory-refused"), ("warned", "memory-doubtful")):
        for file, reason, detail in getattr(done, name, ()):
            harness.add_finding(Finding(file, None, code, f"{reason}: {detail}"))
    if stopped := getattr(done, "stopped", ""):
        harness.add_finding(Finding(harness.path, None, "extraction-failed", f"the extraction ended early: {stopped}"))
    return ExtractionEvent(done)


def _update_notes(harness: Harness, notes: NotesWriter, said: Sequence[TranscriptPiece]) -> None:
    try:
        if notes.due(said, is_end=True):
            for finding in notes.update(harness.model, final_request(harness), said).findings:
                harness.add_finding(finding)
    except (ForetoldError, OSError) as error:
        said_no = f"no notes of the conversation were written: {error}"
        harness.add_finding(Finding(harness.path, None, "notes-failed", said_no))


def final_request(harness: Harness) -> ModelRequest:
    """The last request with what the model answered to it: what a fork goes on from."""
    assert harness.last is not None
    request, count = harness.last[0], len(harness.last[0].messages)
    return request._replace(messages=(*request.messages, *harness.dialogue.messages[count : count + 1]))
