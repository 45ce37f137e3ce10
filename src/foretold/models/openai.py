"""Models of OpenAI, and of servers that speak like them, through its own package (extra `openai`).

Requests and replies in the form of chat completions:

1. The key and the address are left to the package: `OPENAI_API_KEY`, `OPENAI_BASE_URL`; so are retries.
2. The system prompt is the first message. A message of the role `system` later on stays where it is.
3. The results of tools are messages of their own, directly after the calls; what else was in that message follows. A
   result that is an error says so. A result cannot hold pictures: they follow in the user's message, named by their
   call.
4. Thinking is another vendor's and is not sent; the transcript keeps it. A block of a kind that the API does not know
   is named in its place.
5. Arguments that are not a JSON object become an input with the one key `invalid_json`, which no tool takes: so the
   tool's own refusal reaches the model. They go back as that object: many servers refuse arguments that are not JSON.
6. A message's bytes depend on the message alone, so a request that continues another has the same first bytes.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

from foretold.errors import ModelFailed
from foretold.models.client import Vendor, VendorModel, blocks_of
from foretold.models.protocol import ModelRequest, Reply, Usage
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

Json = dict[str, object]

INVALID = "invalid_json"
STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
THOUGHT = ("thinking", "redacted_thinking")


class OpenAIModel(VendorModel):
    """A model of OpenAI, or one behind an address that speaks chat completions.

    `system_role` is `system` by default, which every server knows, or `developer`.
    """

    vendor = Vendor("OpenAI", "OPENAI_API_KEY")
    package = "openai"

    def _client_class(self) -> Any:
        from openai import OpenAI

        return OpenAI

    def _call_of(self, request: ModelRequest, limit: int) -> Json:
        return call_of(request, self.name, limit, system_role=str(self.system_role or "system"))

    def _ask(self, call: Json, limit: int) -> tuple[Reply, str | None]:  # noqa: ARG002
        if self.stream or self.on_text is not None:
            completion, message, finish = self._stream(call)
        else:
            completion = self.client.chat.completions.create(**call)
            choices = [each for each in getattr(completion, "choices", None) or () if each.message is not None]
            if not choices:
                raise ModelFailed("the server did not answer with a completion; check the base URL")
            message, finish = choices[0].message, choices[0].finish_reason
        reply = reply_of(completion, message, finish)
        refusal = getattr(message, "refusal", None)
        if reply.stop == "refusal":
            return reply, str(refusal or "by its content filter")
        return reply, str(refusal) if refusal else None

    def _stream(self, call: Json) -> tuple[Any, Any, str]:
        """A completion, its message and why it ended, put together of the chunks of a stream."""
        completion, finish = SimpleNamespace(id="", model="", usage=None), ""
        message, calls = SimpleNamespace(content="", refusal=""), dict[int, SimpleNamespace]()
        options = {"include_usage": True}
        with self.client.chat.completions.create(**call, stream=True, stream_options=options) as stream:
            for chunk in stream:
                completion.id, completion.model = chunk.id or completion.id, chunk.model or completion.model
                completion.usage = chunk.usage or completion.usage
                for choice in chunk.choices[:1]:
                    finish, delta = choice.finish_reason or finish, choice.delta
                    message.content += delta.content or ""
                    message.refusal += delta.refusal or ""
                    for part in delta.tool_calls or ():
                        _add_part(calls, part)
                    if delta.content and self.on_text is not None:
                        self.on_text(delta.content)
        if not finish:
            raise ModelFailed(f"the answer of {self.name} broke off; ask again")
        message.tool_calls = list(calls.values())
        return completion, message, finish


def _add_part(calls: dict[int, SimpleNamespace], part: Any) -> None:
    new = SimpleNamespace(id="", type="function", function=SimpleNamespace(name="", arguments=""))
    call = calls.setdefault(part.index, new)
    call.id = part.id or call.id
    if part.function is not None:
        call.function.name += part.function.name or ""
        call.function.arguments += part.function.arguments or ""


def call_of(request: ModelRequest, model: str, max_tokens: int, *, system_role: str = "system") -> Json:
    """What the API is called with."""
    call: Json = {"model": model, "max_completion_tokens": max_tokens}
    if request.tools:
        call["tools"] = [_tool(tool) for tool in request.tools]
    system = "\n\n".join(section for section in request.system if section.strip())
    messages: list[Json] = [{"role": system_role, "content": system}] if system else []
    for message in request.messages:
        messages += messages_of(message, system_role)
    call["messages"] = messages
    return call


def messages_of(message: Json, system_role: str = "system") -> list[Json]:
    """One message as messages of the API."""
    role, content = message["role"], message.get("content")
    blocks = blocks_of(content)
    if role == "assistant":
        return _assistant(blocks)
    if role == "system":
        text = "\n\n".join(_texts(blocks))
        return [{"role": system_role, "content": text}] if text else []
    results = [block for block in blocks if block.get("type") == "tool_result"]
    parts = [part for result in results for part in _pictures(result)]
    parts += [part for block in blocks if block.get("type") != "tool_result" for part in _part(block)]
    found: list[Json] = [_result(block) for block in results]
    if parts:
        is_text = len(parts) == 1 and parts[0]["type"] == "text"
        found.append({"role": "user", "content": parts[0]["text"] if is_text else parts})
    return found


def _assistant(blocks: list[Json]) -> list[Json]:
    texts = _texts(blocks)
    calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    if not texts and not calls:
        return []
    message: Json = {"role": "assistant", "content": "\n\n".join(texts) or None}
    return [message | ({"tool_calls": calls} if calls else {})]


def _call(block: Json) -> Json:
    arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
    return {"id": block.get("id"), "type": "function", "function": {"name": block.get("name"), "arguments": arguments}}


def _result(block: Json) -> Json:
    inner = blocks_of(block.get("content"))
    texts = _texts(inner)
    if any(each.get("type") == "image" for each in inner):
        texts.append("(The picture follows.)")
    text = "\n\n".join(texts)
    if block.get("is_error") and not text.startswith(("Error", "<tool_use_error>")):
        text = f"Error: {text}"
    return {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": text}


def _pictures(result: Json) -> list[Json]:
    found = [
        part for block in blocks_of(result.get("content")) if block.get("type") == "image" for part in _part(block)
    ]
    named: Json = {"type": "text", "text": f"The picture that {result.get('tool_use_id')} gave:"}
    return [named, *found] if found else []


def _part(block: Json) -> list[Json]:
    """A block as parts of a user's message."""
    kind, source = block.get("type"), block.get("source")
    if kind == "text":
        return [{"type": "text", "text": block["text"]}] if block.get("text") else []
    if kind in THOUGHT:
        return []
    if kind == "image" and isinstance(source, dict):
        return [{"type": "image_url", "image_url": {"url": source.get("url") or _data(source)}}]
    if kind == "document" and isinstance(source, dict) and source.get("type") == "text":
        return [{"type": "text", "text": str(source.get("data"))}]
    if kind == "document" and isinstance(source, dict) and source.get("type") == "base64":
        named = {"filename": str(block.get("title") or "document.pdf"), "file_data": _data(source)}
        return [{"type": "file", "file": named}]
    return [{"type": "text", "text": f"[a block of the type {kind} that this model cannot be shown]"}]


def _data(source: Json) -> str:
    return f"data:{source.get('media_type')};base64,{source.get('data')}"


def _texts(blocks: list[Json]) -> list[str]:
    return [str(block["text"]) for block in blocks if block.get("type") == "text" and block.get("text")]


def _tool(tool: Json) -> Json:
    described = {"name": tool["name"], "description": tool.get("description", "")}
    return {"type": "function", "function": {**described, "parameters": tool.get("input_schema", {"type": "object"})}}


def reply_of(completion: Any, message: Any, finish: str | None) -> Reply:
    """The reply of a completion of the package; `message` is that of its first choice."""
    said = message.content if isinstance(message.content, str) else "\n\n".join(_texts(blocks_of(message.content)))
    content: list[Json] = [{"type": "text", "text": said}] if said else []
    for number, call in enumerate(message.tool_calls or ()):
        function = getattr(call, "function", None)
        if function is not None:
            id_ = call.id or f"call_{completion.id}_{number}"
            given = input_of(function.arguments)
            content.append({"type": "tool_use", "id": id_, "name": function.name or "", "input": given})
    called = any(block["type"] == "tool_use" for block in content)
    stop = "tool_use" if called and finish != "length" else STOPS.get(finish or "stop", finish or "end_turn")
    return Reply(tuple(content), stop, usage_of(completion.usage), completion.model or "", completion.id or "")


def input_of(arguments: str | None) -> Json:
    """The input of a call."""
    if not (arguments or "").strip():
        return {}
    try:
        given = json.loads(arguments or "")
    except (ValueError, RecursionError):
        given = None
    return given if isinstance(given, dict) else {INVALID: arguments}


def usage_of(used: Any) -> Usage:
    """Tokens; the API counts those from its cache among the input."""
    if used is None:
        return Usage()
    details = used.prompt_tokens_details
    read = (details.cached_tokens or 0) if details else 0
    written = (getattr(details, "cache_write_tokens", None) or 0) if details else 0
    return Usage(max(0, (used.prompt_tokens or 0) - read - written), used.completion_tokens or 0, read, written)
