"""OpenAI chat completions.

1. All texts of an answer are one content; its uses of tools are `tool_calls`.
2. A stream is a chunk with the role, one with the content, two for each use (its name, its arguments), one with the
   reason to finish, one with the usage if the request asked for it, and `[DONE]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.proof.probe.script import Json, ModelAnswer, Offer, ToolUse, objects, string

NAME = "chat"


def find_offers(body: Json) -> list[Offer]:
    """The tools that a request offers.

    >>> find_offers({"tools": [{"type": "function", "function": {"name": "read"}}]})
    [Offer(name='read', kind='function', namespace='')]
    """
    offers = []
    for tool in objects(body.get("tools")):
        for kind in ("function", "custom"):
            for described in objects([tool.get(kind)]):
                offers.append(Offer(string(described.get("name")), kind))
    return offers


def make_whole(answer: ModelAnswer) -> Json:
    """The answer in one piece."""
    message: Json = {"role": "assistant", "content": answer.said or None, "refusal": None}
    if answer.uses:
        message["tool_calls"] = [_call(use, use.text) for use in answer.uses]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answer)}
    return _frame(answer, "chat.completion") | {"choices": [choice], "usage": _usage(answer)}


def make_events(answer: ModelAnswer) -> Iterator[tuple[str, object]]:
    """The answer as a stream of data without names."""
    yield _chunk(answer, {"role": "assistant", "content": ""})
    if answer.said:
        yield _chunk(answer, {"content": answer.said})
    for index, use in enumerate(answer.uses):
        yield _chunk(answer, {"tool_calls": [{"index": index, **_call(use, "")}]})
        field = "input" if use.offer.kind == "custom" else "arguments"
        yield _chunk(answer, {"tool_calls": [{"index": index, use.offer.kind: {field: use.text}}]})
    yield _chunk(answer, {}, _finish_reason(answer))
    if answer.usage_asked:
        yield "", _frame(answer, "chat.completion.chunk") | {"choices": [], "usage": _usage(answer)}
    yield "", "[DONE]"


def _frame(answer: ModelAnswer, kind: str) -> Json:
    return {"id": f"chatcmpl-{answer.id}", "object": kind, "created": answer.created, "model": answer.model}


def _chunk(answer: ModelAnswer, delta: Json, finish_reason: str | None = None) -> tuple[str, object]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    usage = {"usage": None} if answer.usage_asked else {}
    return "", _frame(answer, "chat.completion.chunk") | {"choices": [choice]} | usage


def _call(use: ToolUse, text: str) -> Json:
    field = "input" if use.offer.kind == "custom" else "arguments"
    return {"id": f"call_{use.id}", "type": use.offer.kind, use.offer.kind: {"name": use.offer.name, field: text}}


def _finish_reason(answer: ModelAnswer) -> str:
    return "tool_calls" if answer.uses else "stop"


def _usage(answer: ModelAnswer) -> Json:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
    }
