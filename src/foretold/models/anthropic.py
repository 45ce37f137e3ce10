"""Models of Anthropic, through its own package (extra `anthropic`).

1. The key and the address are the package's business: `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`; so are retries.
2. Long answers are streamed, whether somebody listens or not: the API asks for that.
3. A reply is one with something in it. A refusal, silence, and whatever the package raises is a ModelFailed.
"""

from __future__ import annotations

from foretold.errors import ModelFailed
from foretold.extras import missing
from foretold.models.anthropic_blocks import call_of, reply_of, takes_system
from foretold.models.failure import Vendor, failed, is_of_package
from foretold.models.protocol import Reply, Request
from foretold.models.sendable import sendable
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WHOLE = 8192  #: tokens of an answer that need no stream, for every model
VARIABLE = "ANTHROPIC_API_KEY"


class AnthropicModel:
    """A model of Anthropic.

    `client` is an `anthropic.Anthropic` (or one of its kin for a cloud); else one is made. `max_tokens` replaces that
    of the requests. `on_text` hears what is said while it is said. `options` go into every call (`thinking`, …).
    `system_role` says whether the model takes system messages inside a conversation; by default its name does.
    """

    def __init__(
        self,
        model: str,
        *,
        client: Any = None,
        base_url: str | None = None,
        api_key: str | None = None,
        max_tokens: int | None = None,
        stream: bool = False,
        on_text: Callable[[str], None] | None = None,
        system_role: bool | None = None,
        **options: object,
    ) -> None:
        self.name = model
        self.max_tokens = max_tokens
        self.stream = stream
        self.on_text = on_text
        self.system_role = takes_system(model) if system_role is None else system_role
        self.options = options
        self.client = client if client is not None else _client(base_url, api_key)

    def reply(self, request: Request) -> Reply:
        """The answer; ModelFailed if there is none."""
        limit = self.max_tokens or request.max_tokens
        call = {**sendable(call_of(request, self.name, limit, system_role=self.system_role)), **self.options}
        try:
            message = self._streamed(call) if self._streams(limit) else self.client.messages.create(**call)
            reply = reply_of(message)
        except Exception as error:
            if is_of_package(error) or _is_of_key(error):
                raise failed(error, self._vendor()) from error
            raise
        return _said(reply if reply.model else reply._replace(model=self.name), message, limit)

    def _streams(self, limit: int) -> bool:
        return self.stream or self.on_text is not None or limit > WHOLE

    def _streamed(self, call: dict[str, object]) -> Any:
        with self.client.messages.stream(**call) as stream:
            for text in stream.text_stream:
                if self.on_text is not None:
                    self.on_text(text)
            try:
                message = stream.get_final_message()
            except AssertionError:
                message = None  # what the package says of a stream without a beginning
        if message is None or message.stop_reason is None:
            raise ModelFailed(f"the answer of {self.name} broke off; ask again")
        return message

    def _vendor(self) -> Vendor:
        key = getattr(self.client, "api_key", None)
        address = str(getattr(self.client, "base_url", ""))
        return Vendor("Anthropic", VARIABLE, address, key if isinstance(key, str) else "")


def _client(base_url: str | None, api_key: str | None) -> Any:
    try:
        from anthropic import Anthropic
    except ImportError as error:
        raise missing("a model of Anthropic", "anthropic") from error
    try:
        return Anthropic(base_url=base_url, api_key=api_key)
    except Exception as error:
        raise failed(error, Vendor("Anthropic", VARIABLE, base_url or "")) from error


def _is_of_key(error: Exception) -> bool:
    """Without a key the package raises a plain TypeError."""
    return isinstance(error, TypeError) and "authentication" in str(error)


def _said(reply: Reply, message: Any, limit: int) -> Reply:
    """A reply with something in it, or a failure."""
    if reply.stop == "refusal":
        why = getattr(getattr(message, "stop_details", None), "explanation", None)
        said = f": {' '.join(str(why).split())}" if why else ""
        raise ModelFailed(f"{reply.model} refused to answer{said}; say it otherwise, or ask another model")
    if reply.text.strip() or any(block.get("type") not in ("text", "thinking") for block in reply.content):
        return reply
    if reply.stop == "max_tokens":
        raise ModelFailed(f"{reply.model} thought for all {limit:,} tokens and said nothing; allow it more tokens")
    raise ModelFailed(f"{reply.model} said nothing ({reply.stop}); ask again")
