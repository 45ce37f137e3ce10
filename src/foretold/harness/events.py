"""What happens in a turn, as values: for user interfaces, logs and tests.

`Harness.run` gives them as they happen; the last of a turn is `Ended`, with the `Turn` that `Harness.prompt` returns.
"""

from __future__ import annotations

from foretold.models.protocol import Usage
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    from foretold.context.attachments import Attachment
    from foretold.harness.tools.base import Result
    from foretold.instructions.compaction.survival import Survival
    from foretold.models.protocol import Reply

    Event: TypeAlias = "Attached | Said | Called | Resulted | Compacted | Extracted | Ended"
    Message: TypeAlias = dict[str, object]


class Attached(NamedTuple):
    """What was put beside the prompt, or beside the results of tools."""

    attachments: tuple[Attachment, ...]


class Said(NamedTuple):
    """The model replied; `text` is empty if it only wants to use tools."""

    text: str
    reply: Reply


class Called(NamedTuple):
    """The model wants to use a tool, and it is about to run."""

    id: str
    name: str
    input: dict[str, object]


class Resulted(NamedTuple):
    """A tool has run."""

    id: str
    name: str
    result: Result


class Compacted(NamedTuple):
    """The conversation was replaced by a summary; or it was not, and `reason` says why."""

    trigger: str  #: manual, auto
    reason: str = ""  #: empty = it was done; else too_few_groups, empty-summary, model-failed
    summary: str = ""
    kept: tuple[str, ...] = ()  #: ids of the records that stay word for word
    dropped: tuple[str, ...] = ()  #: ids of those that the summary stands for
    survival: Survival | None = None  #: which instructions and files it has again, and which are lost
    usage: Usage = Usage()

    @property
    def is_done(self) -> bool:
        return not self.reason


class Extracted(NamedTuple):
    """Memories were made of what was said: what `foretold.extract` gives."""

    extraction: object


class Turn(NamedTuple):
    """What came of a prompt."""

    id: str  #: of the prompt, for `Harness.rewind`
    text: str  #: the last thing that the model said
    stop: str = "end_turn"  #: why it ended: end_turn, max_tokens, refusal, …, or max_turns
    messages: tuple[Message, ...] = ()  #: what the turn added to the conversation
    usage: Usage = Usage()  #: of all its requests
    requests: int = 0
    findings: tuple[Finding, ...] = ()  #: what went wrong or was left out since the turn before
    compactions: tuple[Compacted, ...] = ()
    extraction: object = None


class Ended(NamedTuple):
    """The turn is over."""

    turn: Turn
