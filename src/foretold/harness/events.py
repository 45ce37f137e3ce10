"""What happens in a turn, as values: for user interfaces, logs and tests.

`Harness.run` yields them as they happen; the last is `TurnEndEvent`, with the `Turn` that `Harness.prompt` returns.
"""

from __future__ import annotations

from foretold.models.protocol import Usage
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    from foretold.context.attachments import TurnAttachment
    from foretold.harness.tools.base import Result
    from foretold.instructions.compaction.survival import Survival
    from foretold.models.protocol import Reply

    ToolEvent: TypeAlias = "ToolCallEvent | ToolResultEvent"
    Event: TypeAlias = "AttachmentEvent | ReplyEvent | ToolEvent | CompactEvent | ExtractionEvent | TurnEndEvent"
    Message: TypeAlias = dict[str, object]


class AttachmentEvent(NamedTuple):
    """What was attached to the prompt, or to the results of tools."""

    attachments: tuple[TurnAttachment, ...]


class ReplyEvent(NamedTuple):
    """The model replied; `text` is empty if it only wants to use tools."""

    text: str
    reply: Reply


class ToolCallEvent(NamedTuple):
    """The model wants to use a tool, and it is about to run."""

    id: str
    name: str
    input: dict[str, object]


class ToolResultEvent(NamedTuple):
    """A tool has run."""

    id: str
    name: str
    result: Result


class CompactEvent(NamedTuple):
    """The conversation was replaced by a summary; or it was not, and `reason` says why."""

    trigger: str  #: manual, auto
    reason: str = ""  #: empty = it was done; else too_few_groups, empty-summary, model-failed
    summary: str = ""
    kept: tuple[str, ...] = ()  #: ids of the records that stay verbatim
    dropped: tuple[str, ...] = ()  #: ids of those that the summary replaces
    survival: Survival | None = None  #: which instructions and files were restored, and which are lost
    usage: Usage = Usage()

    @property
    def is_done(self) -> bool:
        return not self.reason


class ExtractionEvent(NamedTuple):
    """Memories were extracted from the conversation."""

    extraction: object


class Turn(NamedTuple):
    """The result of a prompt."""

    id: str  #: of the prompt, for `Harness.rewind`
    text: str  #: the model's last reply
    stop: str = "end_turn"  #: why it ended: end_turn, max_tokens, refusal, …, or max_turns
    messages: tuple[Message, ...] = ()  #: what the turn added to the conversation
    usage: Usage = Usage()  #: of all its requests
    requests: int = 0
    findings: tuple[Finding, ...] = ()  #: what went wrong or was left out since the previous turn
    compactions: tuple[CompactEvent, ...] = ()
    extraction: object = None


class TurnEndEvent(NamedTuple):
    """The turn is over."""

    turn: Turn
