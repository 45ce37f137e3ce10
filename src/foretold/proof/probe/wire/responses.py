"""OpenAI Responses.

1. Functions and custom tools are offered by name, also those of a namespace; what the vendor runs itself (its web
   search, say) has no name and cannot be called from here.
2. A stream is `response.created` and `response.in_progress`, for each part an item that is added, filled and done,
   and `response.completed` with everything; each event has the next `sequence_number`.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.proof.probe.script import Json, ModelAnswer, Offer, TextPart, ToolUse, objects, string

NAME = "responses"

#: kind of tool -> type of its item, start of the item's id, field of the input, name of the events that fill it
CALLS = {
    "function": ("function_call", "fc", "arguments", "response.function_call_arguments"),
    "custom": ("custom_tool_call", "ctc", "input", "response.custom_tool_call_input"),
}


def find_offers(body: Json) -> list[Offer]:
    """The tools that a request offers.

    >>> find_offers({"tools": [{"type": "custom", "name": "patch"}, {"type": "web_search"}]})
    [Offer(name='patch', kind='custom', namespace='')]
    """
    offers = []
    for tool in objects(body.get("tools")):
        if tool.get("type") == "namespace":
            offers += [_offer(inner, string(tool.get("name"))) for inner in objects(tool.get("tools"))]
        elif tool.get("type") in CALLS:
            offers.append(_offer(tool))
    return offers


def make_whole(answer: ModelAnswer) -> Json:
    """The answer in one piece."""
    return _response(answer) | {
        "status": "completed",
        "output": [_item(part) for part in answer.parts],
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        },
    }


def make_events(answer: ModelAnswer) -> Iterator[tuple[str, object]]:
    """The answer as a stream: names of events and their data."""
    for number, (name, data) in enumerate(_events(answer)):
        yield name, {"type": name, "sequence_number": number, **data}


def _events(answer: ModelAnswer) -> Iterator[tuple[str, Json]]:
    yield "response.created", {"response": _response(answer)}
    yield "response.in_progress", {"response": _response(answer)}
    for index, part in enumerate(answer.parts):
        done = _item(part)
        place: Json = {"item_id": done["id"], "output_index": index}
        empty: Json = {CALLS[part.offer.kind][2]: ""} if isinstance(part, ToolUse) else {"content": []}
        yield "response.output_item.added", {"output_index": index, "item": done | {"status": "in_progress", **empty}}
        if isinstance(part, ToolUse):
            _, _, field, event = CALLS[part.offer.kind]
            yield event + ".delta", {**place, "delta": part.text}
            yield event + ".done", {**place, "name": part.offer.name, field: part.text}
        else:
            place["content_index"] = 0
            yield "response.content_part.added", {**place, "part": _content("")}
            yield "response.output_text.delta", {**place, "delta": part.text, "logprobs": []}
            yield "response.output_text.done", {**place, "text": part.text, "logprobs": []}
            yield "response.content_part.done", {**place, "part": _content(part.text)}
        yield "response.output_item.done", {"output_index": index, "item": done}
    yield "response.completed", {"response": make_whole(answer)}


def _offer(tool: Json, namespace: str = "") -> Offer:
    return Offer(string(tool.get("name")), "custom" if tool.get("type") == "custom" else "function", namespace)


def _item(part: TextPart | ToolUse) -> Json:
    if isinstance(part, TextPart):
        said = {"role": "assistant", "content": [_content(part.text)]}
        return {"type": "message", "id": f"msg_{part.id}", "status": "completed", **said}
    kind, start, field, _ = CALLS[part.offer.kind]
    namespace = {"namespace": part.offer.namespace} if part.offer.namespace else {}
    called = {"call_id": f"call_{part.id}", "name": part.offer.name, field: part.text, **namespace}
    return {"type": kind, "id": f"{start}_{part.id}", "status": "completed", **called}


def _content(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _response(answer: ModelAnswer) -> Json:
    """The answer as long as nothing is in it."""
    return {
        "id": f"resp_{answer.id}",
        "object": "response",
        "created_at": answer.created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": answer.model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }
