"""Models of OpenAI, and of servers that speak like them, through its own package (extra `openai`).

1. The key and the address are the package's business: `OPENAI_API_KEY`, `OPENAI_BASE_URL`; so are retries.
2. A reply is one with something in it. A refusal, silence, and whatever the package raises is a ModelFailed.
"""

from __future__ import annotations

from types import SimpleNamespace

from foretold.errors import ModelFailed
from foretold.extras import missing
from foretold.models.failure import Vendor, failed, is_of_package
from foretold.models.openai_messages import call_of, reply_of
from foretold.models.protocol import Reply, Request
from foretold.models.sendable import sendable
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

VARIABLE = "OPENAI_API_KEY"


class OpenAIModel:
    """A model of OpenAI, or one behind an address that speaks chat completions.

    `client` is an `openai.OpenAI` (or one of its kin for a cloud); else one is made. `max_tokens` replaces that of the
    requests. `on_text` hears what is said while it is said. `options` go into every call (`reasoning_effort`, …).
    `system_role` is `system`, which every server knows, or `developer`.
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
        system_role: str = "system",
        **options: object,
    ) -> None:
        self.name = model
        self.max_tokens = max_tokens
        self.stream = stream
        self.on_text = on_text
        self.system_role = system_role
        self.options = options
        self.client = client if client is not None else _client(base_url, api_key)

    def reply(self, request: Request) -> Reply:
        """The answer; ModelFailed if there is none."""
        limit = self.max_tokens or request.max_tokens
        call = {**sendable(call_of(request, self.name, limit, system_role=self.system_role)), **self.options}
        try:
            if self.stream or self.on_text is not None:
                completion, message, finish = self._streamed(call)
            else:
                completion = self.client.chat.completions.create(**call)
                message, finish = _choice(completion)
            reply = reply_of(completion, message, finish)
        except Exception as error:
            if is_of_package(error):
                raise failed(error, self._vendor()) from error
            raise
        return _said(reply if reply.model else reply._replace(model=self.name), message, limit)

    def _streamed(self, call: dict[str, object]) -> tuple[Any, Any, str | None]:
        gathered = Gathered()
        options = {"include_usage": True}
        with self.client.chat.completions.create(**call, stream=True, stream_options=options) as stream:
            for chunk in stream:
                text = gathered.take(chunk)
                if text and self.on_text is not None:
                    self.on_text(text)
        if gathered.finish is None:
            raise ModelFailed(f"the answer of {self.name} broke off; ask again")
        return gathered, gathered.message, gathered.finish

    def _vendor(self) -> Vendor:
        key = getattr(self.client, "api_key", None)
        address = str(getattr(self.client, "base_url", ""))
        return Vendor("OpenAI", VARIABLE, address, key if isinstance(key, str) else "")


class Gathered:
    """A completion out of the chunks of a stream."""

    def __init__(self) -> None:
        self.id, self.model, self.usage = "", "", None
        self.finish: str | None = None
        self.message = SimpleNamespace(content="", refusal="", tool_calls=[])
        self._calls: dict[int, SimpleNamespace] = {}

    def take(self, chunk: Any) -> str:
        """Add a chunk; what is said in it."""
        self.id, self.model = chunk.id or self.id, chunk.model or self.model
        self.usage = chunk.usage or self.usage
        said = ""
        for choice in chunk.choices[:1]:
            self.finish = choice.finish_reason or self.finish
            said = choice.delta.content or ""
            self.message.content += said
            self.message.refusal += choice.delta.refusal or ""
            for part in choice.delta.tool_calls or ():
                self._add(part)
        return said

    def _add(self, part: Any) -> None:
        call = self._calls.get(part.index)
        if call is None:
            call = SimpleNamespace(id="", type="function", function=SimpleNamespace(name="", arguments=""))
            self._calls[part.index] = call
            self.message.tool_calls.append(call)
        call.id = part.id or call.id
        if part.function is not None:
            call.function.name += part.function.name or ""
            call.function.arguments += part.function.arguments or ""


def _choice(completion: Any) -> tuple[Any, str | None]:
    for choice in getattr(completion, "choices", None) or ():
        if choice.message is not None:
            return choice.message, choice.finish_reason
    raise ModelFailed("the server answered something else than a completion; check the base URL")


def _client(base_url: str | None, api_key: str | None) -> Any:
    try:
        from openai import OpenAI
    except ImportError as error:
        raise missing("a model of OpenAI", "openai") from error
    try:
        return OpenAI(base_url=base_url, api_key=api_key)
    except Exception as error:
        raise failed(error, Vendor("OpenAI", VARIABLE, base_url or "")) from error


def _said(reply: Reply, message: Any, limit: int) -> Reply:
    """A reply with something in it, or a failure."""
    refusal = getattr(message, "refusal", None)
    if refusal or reply.stop == "refusal":
        said = f": {' '.join(str(refusal).split())}" if refusal else " (its content filter)"
        raise ModelFailed(f"{reply.model} refused to answer{said}; say it otherwise, or ask another model")
    if reply.content:
        return reply
    if reply.stop == "max_tokens":
        raise ModelFailed(f"{reply.model} thought for all {limit:,} tokens and said nothing; allow it more tokens")
    raise ModelFailed(f"{reply.model} said nothing ({reply.stop}); ask again")
