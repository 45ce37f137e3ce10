"""Going back to before a prompt: the conversation, the files, or both.

1. By default, it only says what it would do.
2. Files go back to what they were at the prompt, all or none; what they are is kept, and `foretold files undo`
   brings it back. Obstacles are named, and then nothing is changed, not even the conversation.
3. The conversation goes on from the record before the prompt. Nothing is deleted: what was said since stays in the
   transcript, as a branch. As with the agent itself, the file shows it from the next prompt on.
4. What a compaction has replaced cannot be restored in the same transcript; `foretold.sessions.fork` can.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.errors import NoCheckpoint
from foretold.files.restore.plans import RestorePlan
from foretold.files.restore.restore import Undo, refuse_problems, restore, state_folder
from foretold.harness.interrupts import chain_of, descendants_of, own_records
from foretold.harness.resume import load_conversation
from foretold.sessions.formats.fields import text_at
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.harness.harness import Harness


class Prompt(NamedTuple):
    """A prompt of the user."""

    id: str  #: for `Harness.rewind`
    text: str


class Rewound(NamedTuple):
    """What going back does, or did."""

    id: str  #: of the prompt
    prompt: str  #: what was typed, to be typed again
    dropped: tuple[str, ...] = ()  #: ids of the records that the conversation has no more
    files: RestorePlan | None = None  #: changes of files, and what prevents them
    undo: str = ""  #: brings the files back: `foretold files undo ID`
    is_done: bool = False


def rewind(harness: Harness, message_id: str, *, dry_run: bool, files: bool, conversation: bool) -> Rewound:
    """Go back to before a prompt, or say what that would do."""
    records = harness.recorder.records()
    at = next((number for number, record in enumerate(records) if record.get("uuid") == message_id), -1)
    if at < 0 or not _is_prompt(records[at]):
        raise NoCheckpoint(f"no prompt of this conversation has the id {message_id}; Turn.id is one")
    if conversation and any(record.get("subtype") == "compact_boundary" for record in records[at:]):
        raise NoCheckpoint(
            f"{message_id} was compacted since: go back with conversation=False, or fork the session there with"
            " foretold.sessions.fork"
        )
    plan = harness.history.rewind(message_id, dry_run=True) if files and harness.history is not None else None
    said = Rewound(message_id, _text_of(records[at]), descendants_of(records, message_id) if conversation else (), plan)
    if dry_run:
        return said
    undo = ""
    if plan is not None:
        refuse_problems(plan)
        kept = Undo(state_folder(harness.options.home_folder, harness.options.environ))
        undo = restore(plan, kept, f"rewind to {message_id}").undo
    if conversation:
        # from the records before the prompt, of the branch that it is on
        unled = [record for record in records[: at + 1] if record.get("type") != "last-prompt"]
        harness.instructions.start()
        harness.recorder.branch(load_conversation(harness, own_records(unled, harness.version)[:-1]))
        harness.last = None
    return said._replace(undo=undo, is_done=True)


def prompts(harness: Harness) -> tuple[Prompt, ...]:
    """The prompts that can be rewound to: all since the last compaction."""
    records = {text_at(each, "uuid"): each for each in harness.recorder.records() if text_at(each, "uuid")}
    at, found = harness.recorder.leaf, list[Prompt]()
    if not at and (links := chain_of(list(records.values()), harness.version)):
        at = links[-1].id
    while record := records.pop(at, None):
        if _is_prompt(record):
            found.append(Prompt(at, _text_of(record)))
        at = text_at(record, "parentUuid")
    return tuple(reversed(found))


def _is_prompt(record: Mapping[str, object]) -> bool:
    is_typed = not record.get("isMeta") and not record.get("isCompactSummary") and not record.get("isSidechain")
    return (
        record.get("type") == "user" and isinstance(record.get("promptId"), str) and is_typed and bool(_text_of(record))
    )


def _text_of(record: Mapping[str, object]) -> str:
    return text_at(record.get("message"), "content")
