"""Going back to before a prompt: the conversation, the files, or both.

1. Without being told to, it only says what it would do.
2. Files go back to what they were at the prompt, all or none; what they are is kept, and `headnote files undo`
   brings it back. What stands in the way is named, and then nothing is changed, the conversation neither.
3. The conversation goes on from the record before the prompt. Nothing is deleted: what was said since stays in the
   transcript, as a branch. As with the agent itself, the file tells of it from the next prompt on.
4. What a compaction has replaced cannot be gone back to in the same transcript; `headnote.sessions.fork` can.
"""

from __future__ import annotations

from headnote.errors import NoCheckpoint
from headnote.files.plans import Plan
from headnote.files.restore import refuse_problems, restore
from headnote.files.undo import Undo, state_folder
from headnote.harness.resuming import take_up
from headnote.sessions.claude_records import text_at
from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headnote.harness.harness import Harness


class Rewound(NamedTuple):
    """What going back does, or did."""

    id: str  #: of the prompt
    prompt: str  #: what was typed, to be typed again
    dropped: tuple[str, ...] = ()  #: ids of the records that the conversation has no more
    files: Plan | None = None  #: changes of files, and what stands in their way
    undo: str = ""  #: brings the files back: `headnote files undo ID`
    is_done: bool = False


def rewind(harness: Harness, message_id: str, *, dry_run: bool, files: bool, conversation: bool) -> Rewound:
    """Go back to before a prompt, or say what that would do."""
    records = harness.recording.records()
    at = next((number for number, record in enumerate(records) if record.get("uuid") == message_id), -1)
    if at < 0 or not _is_prompt(records[at]):
        raise NoCheckpoint(f"no prompt of this conversation has the id {message_id}; Turn.id is one")
    if conversation and any(record.get("subtype") == "compact_boundary" for record in records[at:]):
        raise NoCheckpoint(
            f"{message_id} was compacted since: go back with conversation=False, or fork the session there with"
            " headnote.sessions.fork"
        )
    plan = harness.history.rewind(message_id, dry_run=True) if files and harness.history is not None else None
    dropped = tuple(text_at(each, "uuid") for each in records[at:] if text_at(each, "uuid")) if conversation else ()
    said = Rewound(message_id, _typed(records[at]), dropped, plan)
    return said if dry_run else _done(harness, said, records[:at], conversation=conversation)


def _done(harness: Harness, said: Rewound, before: Sequence[Mapping[str, object]], *, conversation: bool) -> Rewound:
    undo = ""
    if said.files is not None:
        refuse_problems(said.files)
        kept = Undo(state_folder(harness.given.home_folder, harness.given.environ))
        undo = restore(said.files, kept, f"rewind to {said.id}").undo
    if conversation:
        harness.instructions.start()
        harness.recording.branch(take_up(harness, before))
        harness.last = None
    return said._replace(undo=undo, is_done=True)


def _is_prompt(record: Mapping[str, object]) -> bool:
    return record.get("type") == "user" and isinstance(record.get("promptId"), str) and bool(_typed(record))


def _typed(record: Mapping[str, object]) -> str:
    said = record.get("message")
    content = said.get("content") if isinstance(said, dict) else None
    return content if isinstance(content, str) else ""
