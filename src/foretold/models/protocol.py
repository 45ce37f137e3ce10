"""What a model is asked and what it replies: the small protocol that a harness needs, and nothing that is a vendor's.

1. The shape is that of Anthropic's Messages: texts for the system, messages of blocks, tools with a schema. A client of
   another vendor translates it on its way out and the reply on its way back.
2. A request that continues another has the same first bytes. `cached` names the messages after which a provider may
   cache what it has read; such marks are not part of the content, and a fork has those of the request it continues.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    class Model(Protocol):
        """Whatever answers a request."""

        @property
        def name(self) -> str:
            """The model's id, as transcripts hold it."""

        def reply(self, request: ModelRequest) -> Reply:
            """The answer; ModelFailed if there is none."""


class ModelRequest(NamedTuple):
    """What a model is asked."""

    system: tuple[str, ...]  #: sections of the system prompt, in order
    messages: tuple[dict[str, object], ...]  #: role `user`, `assistant` or `system`; content a text or blocks
    tools: tuple[dict[str, object], ...] = ()  #: `name`, `description`, `input_schema`
    max_tokens: int = 8192
    #: numbers of messages after which a provider may cache what it has read; three at most
    cached: tuple[int, ...] = ()


#: what the numbers of `Usage` are called by Anthropic, and in transcripts
COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class Usage(NamedTuple):
    """Tokens of one reply, as the provider counts them."""

    input: int = 0  #: without what came from or went into a cache
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def context(self) -> int:
        """All tokens that the model read and wrote: how full its window is."""
        return self.input + self.output + self.cache_read + self.cache_write

    def plus(self, other: Usage) -> Usage:
        """The sum of two.

        >>> Usage(10, 2).plus(Usage(1, 1, cache_read=5))
        Usage(input=11, output=3, cache_read=5, cache_write=0)
        """
        return Usage(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Reply(NamedTuple):
    """What a model replied."""

    content: tuple[dict[str, object], ...]  #: blocks: `text`, `tool_use`, `thinking`
    stop: str = "end_turn"  #: or tool_use, max_tokens, refusal, …
    usage: Usage = Usage()
    model: str = ""
    id: str = ""

    @property
    def text(self) -> str:
        """All of its text.

        >>> Reply(({"type": "text", "text": "Done."},)).text
        'Done.'
        """
        return "\n\n".join(str(block["text"]) for block in self.content if block.get("type") == "text")

    @property
    def calls(self) -> tuple[dict[str, object], ...]:
        """The tool calls in it."""
        return tuple(block for block in self.content if block.get("type") == "tool_use")
