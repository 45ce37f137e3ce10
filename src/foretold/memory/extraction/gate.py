"""The gate: whether enough was said since the last extraction to be worth another one.

1. Tokens are an estimate, four bytes each, of what was typed, answered and given by tools since then; calls are those
   of tools. Either is enough. What the agent adds by itself does not count.
2. If a person typed nothing, there is nothing to learn: then it is never due.
3. `Gate.always()` asks after every turn, `Gate.never()` after none.
"""

from __future__ import annotations

from collections.abc import Iterable

from foretold.types import TYPE_CHECKING, NamedTuple, estimate_tokens

if TYPE_CHECKING:
    from foretold.memory.extraction.transcript import TranscriptPiece


TOKENS, TOOL_CALLS = 2000, 5
WHEN = ("gated", "always", "never")
_COUNTED = ("user", "assistant", "tool", "file")


class Activity(NamedTuple):
    """What happened since the last extraction."""

    tokens: int
    tool_calls: int
    prompts: int  #: that a person typed


class Gate(NamedTuple):
    """How much has to be said before memories are extracted."""

    tokens: int = TOKENS
    tool_calls: int = TOOL_CALLS
    when: str = "gated"  #: or always, never

    @classmethod
    def always(cls) -> Gate:
        return cls(0, 0, "always")

    @classmethod
    def never(cls) -> Gate:
        return cls(0, 0, "never")

    def reason_to_wait(self, since: Activity) -> str:
        """Why nothing is extracted: never, nothing-typed or not-due; empty if it is due.

        >>> gate = Gate(tokens=100, tool_calls=3)
        >>> [gate.reason_to_wait(Activity(*each)) for each in ((20, 1, 1), (20, 3, 1), (500, 9, 0))]
        ['not-due', '', 'nothing-typed']
        """
        if self.when == "never":
            return "never"
        if not since.prompts:
            return "nothing-typed"
        is_due = self.when == "always" or since.tokens >= self.tokens or since.tool_calls >= self.tool_calls
        return "" if is_due else "not-due"


def activity_of(said: Iterable[TranscriptPiece]) -> Activity:
    """The activity in pieces of a conversation."""
    pieces = list(said)
    tokens = sum(estimate_tokens(piece.text) for piece in pieces if piece.origin in _COUNTED)
    calls = sum(len(piece.tool.split()) for piece in pieces if piece.origin == "assistant")
    return Activity(tokens, calls, sum(piece.origin == "user" for piece in pieces))
