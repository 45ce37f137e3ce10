"""Requests and replies in the words of OpenAI's chat completions.

1. The system prompt is the first message. A message of the role `system` later on stays where it is.
2. The results of tools are messages of their own, directly behind the calls; what else stood in that message follows.
   A result that is an error says so. Pictures cannot be in a result: they follow in the user's message, by name of
   their call.
3. Thinking is another vendor's and is not sent; the transcript keeps it. A block of a kind that the API does not know
   is named in its place.
4. Arguments that are no object of JSON become an input with the one key `invalid_json`, which no tool takes: so the
   tool's own refusal tells the model. They go back as that object: many servers refuse arguments that are no JSON.
5. A message's bytes depend on the message alone, so a request that goes on from another has the same first bytes.
"""

from __future__ import annotations

import json

from foretold.models.protocol import Reply, Request, Usage
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

Json = dict[str, object]

INVALID = "invalid_json"
STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "function_call": "tool_use"}
STOPS |= {"content_filter": "refusal"}
THOUGHT = ("thinking", "redacted_thinking")


def call_of(request: Request, model: str, max_tokens: int, *, system_role: str = "system") -> Json:
    """What the API is called with.

    >>> asked = Request(("Be brief.", "Be kind."), ({"role": "user", "content": "Hi."},))
    >>> call_of(asked, "gpt-5", 100)["messages"]
    [{'role': 'system', 'content': 'Be brief.\\n\\nBe kind.'}, {'role': 'user', 'content': 'Hi.'}]
    """
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
    """The messages that one message is.

    >>> messages_of({"role": "user", "content": [
    ...     {"type": "tool_result", "tool_use_id": "1", "content": "gone", "is_error": True},
    ...     {"type": "text", "text": "Go on."}]})
    [{'role': 'tool', 'tool_call_id': '1', 'content': 'Error: gone'}, {'role': 'user', 'content': 'Go on.'}]
    """
    role, content = message["role"], message.get("content")
    blocks = _blocks(content)
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
        found.append({"role": "user", "content": parts[0]["text"] if _is_one_text(parts) else parts})
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
    inner = _blocks(block.get("content"))
    texts = _texts(inner)
    if any(each.get("type") == "image" for each in inner):
        texts.append("(The picture follows.)")
    text = "\n\n".join(texts)
    if block.get("is_error") and not text.startswith(("Error", "<tool_use_error>")):
        text = f"Error: {text}"
    return {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": text}


def _pictures(result: Json) -> list[Json]:
    found = [part for block in _blocks(result.get("content")) if block.get("type") == "image" for part in _part(block)]
    named: Json = {"type": "text", "text": f"The picture that {result.get('tool_use_id')} gave:"}
    return [named, *found] if found else []


def _part(block: Json) -> list[Json]:
    """The parts of a user's message that a block is."""
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


def _is_one_text(parts: list[Json]) -> bool:
    return len(parts) == 1 and parts[0]["type"] == "text"


def _texts(blocks: list[Json]) -> list[str]:
    return [str(block["text"]) for block in blocks if block.get("type") == "text" and block.get("text")]


def _blocks(content: object) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list | tuple) else []


def _tool(tool: Json) -> Json:
    described = {"name": tool["name"], "description": tool.get("description", "")}
    return {"type": "function", "function": {**described, "parameters": tool.get("input_schema", {"type": "object"})}}


def reply_of(completion: Any, message: Any, finish: str | None) -> Reply:
    """The reply that a completion of the package is; `message` is that of its first choice."""
    said = message.content if isinstance(message.content, str) else "\n\n".join(_texts(_blocks(message.content)))
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
    """The input of a call.

    >>> input_of('{"a": 1}'), input_of(""), input_of('{"a": ')
    ({'a': 1}, {}, {'invalid_json': '{"a": '})
    """
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
