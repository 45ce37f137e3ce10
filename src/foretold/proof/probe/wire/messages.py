"""Anthropic Messages.

1. A tool is offered if the client runs it: it has a schema of its own, or is one of the vendor's for the client's
   machine. What the vendor runs itself (its web search, say) cannot be called from here.
2. A stream is `message_start`, for each part a content block, `message_delta` with the reason to stop, `message_stop`.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.proof.probe.script import Json, ModelAnswer, Offer, TextPart, ToolUse, dump, objects, string

NAME = "messages"

#: types of the vendor's tools that run where the client is; a date follows
CLIENT_TYPES = ("bash_", "computer_", "memory_", "text_editor_")


def find_offers(body: Json) -> list[Offer]:
    """The tools that a request offers.

    >>> find_offers({"tools": [{"name": "Read", "input_schema": {}}, {"type": "web_search_20250305", "name": "web"}]})
    [Offer(name='Read', kind='function', namespace='')]
    """
    offers = []
    for tool in objects(body.get("tools")):
        kind = string(tool.get("type"))
        if kind in ("", "custom") or kind.startswith(CLIENT_TYPES):
            offers.append(Offer(string(tool.get("name"))))
    return offers


def make_whole(answer: ModelAnswer) -> Json:
    """The answer in one piece."""
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [
            _empty(part) | ({"input": dict(part.input)} if isinstance(part, ToolUse) else {"text": part.text})
            for part in answer.parts
        ],
        "stop_reason": _stop_reason(answer),
        "stop_sequence": None,
        "usage": _usage(answer, answer.output_tokens),
    }


def make_events(answer: ModelAnswer) -> Iterator[tuple[str, object]]:
    """The answer as a stream: names of events and their data."""
    start = make_whole(answer) | {"content": [], "stop_reason": None, "usage": _usage(answer, 1)}
    yield _event("message_start", message=start)
    for index, part in enumerate(answer.parts):
        yield _event("content_block_start", index=index, content_block=_empty(part))
        delta: Json = {"type": "text_delta", "text": part.text}
        if isinstance(part, ToolUse):
            delta = {"type": "input_json_delta", "partial_json": dump(part.input)}
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event(
        "message_delta",
        delta={"stop_reason": _stop_reason(answer), "stop_sequence": None},
        usage={"output_tokens": answer.output_tokens},
    )
    yield _event("message_stop")


def make_count(tokens: int) -> Json:
    """The answer to a question for the number of tokens."""
    return {"input_tokens": tokens}


def _event(name: str, **data: object) -> tuple[str, object]:
    return name, {"type": name, **data}


def _empty(part: TextPart | ToolUse) -> Json:
    if isinstance(part, ToolUse):
        return {"type": "tool_use", "id": f"toolu_{part.id}", "name": part.offer.name, "input": {}}
    return {"type": "text", "text": ""}


def _stop_reason(answer: ModelAnswer) -> str:
    return "tool_use" if answer.uses else "end_turn"


def _usage(answer: ModelAnswer, output_tokens: int) -> Json:
    return {
        "input_tokens": answer.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    }
