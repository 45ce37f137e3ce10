"""Models of Anthropic, through its own package (extra `anthropic`), and requests and replies in its Messages API.

1. The key and the address are left to the package: `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`; so are retries.
2. Long answers are streamed, with or without `on_text`: the API demands it.
3. A message's bytes depend on the message and its mark alone, not on its neighbours: a content that is a text is sent
   as one block, marked or not. So a request that continues another has the same first bytes.
4. The last section of the system prompt is marked, and the last block that can be of each message in `cached`; blocks
   of thinking cannot. Without a system prompt the last tool is.
5. What the API refuses is left out: blocks of blank text, and what a harness notes next to role and content. A message
   that would be empty says `(no content)`.
6. A message of the role `system` stays one where the model takes it; for older families it is a user's, in tags that
   its text cannot close.
"""

from __future__ import annotations

from foretold.errors import ModelFailed
from foretold.models.client import Vendor, VendorModel, blocks_of
from foretold.models.protocol import COUNTS, ModelRequest, Reply, Usage
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

Json = dict[str, object]

WHOLE = 8192  #: tokens of an answer that need no stream, for every model
#: families of models that take no system messages inside a conversation; a test keeps them equal to the dialect's
OLDER_MODELS = ("claude-3-", "haiku-4-", "sonnet-4-", "opus-4-5", "opus-4-6", "opus-4-7")
MARK: Json = {"type": "ephemeral"}
MARKS = 3  #: in messages; the API takes four, and one is the system's
EMPTY = "(no content)"
OPEN, CLOSE = "<system-reminder>\n", "\n</system-reminder>"
THOUGHT = ("thinking", "redacted_thinking")


class AnthropicModel(VendorModel):
    """A model of Anthropic. `system_role` says whether it takes system messages inside a conversation.

    By default the name of the model decides that.
    """

    vendor = Vendor("Anthropic", "ANTHROPIC_API_KEY")
    package = "anthropic"

    def _client_class(self) -> Any:
        from anthropic import Anthropic

        return Anthropic

    def _call_of(self, request: ModelRequest, limit: int) -> Json:
        system_role = takes_system(self.name) if self.system_role is None else bool(self.system_role)
        return call_of(request, self.name, limit, system_role=system_role)

    def _ask(self, call: Json, limit: int) -> tuple[Reply, str | None]:
        streams = self.stream or self.on_text is not None or limit > WHOLE
        message = self._stream(call) if streams else self.client.messages.create(**call)
        reply = reply_of(message)
        refusal = getattr(getattr(message, "stop_details", None), "explanation", None)
        return reply, str(refusal or "") if reply.stop == "refusal" else None

    def _stream(self, call: Json) -> Any:
        with self.client.messages.stream(**call) as stream:
            for text in stream.text_stream:
                if self.on_text is not None:
                    self.on_text(text)
            try:
                message = stream.get_final_message()
            except AssertionError:
                message = None  # what the package raises for a stream without a beginning
        if message is None or message.stop_reason is None:
            raise ModelFailed(f"the answer of {self.name} broke off; ask again")
        return message

    def _has_content(self, reply: Reply) -> bool:
        return bool(reply.text.strip()) or any(block.get("type") not in ("text", "thinking") for block in reply.content)

    def _is_of_package(self, error: Exception) -> bool:
        """Without a key the package raises a plain TypeError."""
        is_of_key = isinstance(error, TypeError) and "authentication" in str(error)
        return is_of_key or super()._is_of_package(error)


def takes_system(model: str) -> bool:
    """Whether a model takes messages of the role `system` inside a conversation."""
    return not any(part in model for part in OLDER_MODELS)


def call_of(request: ModelRequest, model: str, max_tokens: int, *, system_role: bool) -> Json:
    """What the API is called with."""
    call: Json = {"model": model, "max_tokens": max_tokens}
    if request.tools:
        fields = ("name", "description", "input_schema")
        call["tools"] = [{key: tool[key] for key in fields if key in tool} for tool in request.tools]
    sections = [_text(section) for section in request.system if section.strip()]
    for marked in (sections or call.get("tools") or [])[-1:]:  # type: ignore[index]
        marked["cache_control"] = MARK
    if sections:
        call["system"] = sections
    cached = set(sorted(set(request.cached))[-MARKS:])
    call["messages"] = [
        message_of(message, marked=number in cached, system_role=system_role)
        for number, message in enumerate(request.messages)
    ]
    return call


def message_of(message: Json, *, marked: bool = False, system_role: bool = True) -> Json:
    """One message."""
    role = str(message["role"])
    blocks = [
        dict(block)
        for block in blocks_of(message.get("content"))
        if block.get("type") != "text" or str(block.get("text", "")).strip()
    ]
    if role == "system" and not system_role:
        role, blocks = "user", [_tag_block(block) for block in blocks]
    blocks = blocks or [_text(EMPTY)]
    for block in [block for block in blocks if block.get("type") not in THOUGHT][-1:] if marked else ():
        block["cache_control"] = MARK
    return {"role": role, "content": blocks}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _tag_block(block: Json) -> Json:
    text = str(block.get("text", ""))
    if block.get("type") != "text" or text.startswith(OPEN):
        return block
    return {**block, "text": OPEN + text.replace("</system-reminder", "<\\/system-reminder") + CLOSE}


def reply_of(message: Any) -> Reply:
    """The reply of a message of the package: every block as it came, thinking too. ModelFailed for anything else."""
    if not isinstance(getattr(message, "content", None), list) or getattr(message, "usage", None) is None:
        raise ModelFailed("the server did not answer with a message; check the base URL")
    dumped = [block.model_dump(mode="json", exclude_none=True) for block in message.content]
    content = tuple({"text": "", **block} if block.get("type") == "text" else block for block in dumped)
    usage = Usage(*(getattr(message.usage, name) or 0 for name in COUNTS))
    return Reply(content, message.stop_reason or "end_turn", usage, message.model or "", message.id or "")
