"""Gemini `generateContent`.

1. Declared functions are offered; what the vendor runs itself (`googleSearch`, say) cannot be called from here.
2. A stream is a response for each part. The last part carries the reason to finish, so that no response is without
   content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foretold.proof.probe.script import Json, ModelAnswer, Offer, TextPart, ToolUse, objects, string

NAME = "gemini"


def find_offers(body: Json) -> list[Offer]:
    """The tools that a request offers.

    >>> find_offers({"tools": [{"functionDeclarations": [{"name": "read_file"}]}, {"googleSearch": {}}]})
    [Offer(name='read_file', kind='function', namespace='')]
    """
    offers = []
    for tool in objects(body.get("tools")):
        for spelling in ("functionDeclarations", "function_declarations"):
            offers += [Offer(string(each.get("name"))) for each in objects(tool.get(spelling))]
    return offers


def make_whole(answer: ModelAnswer) -> Json:
    """The answer in one piece."""
    return _response(answer, answer.parts, last=True)


def make_events(answer: ModelAnswer) -> Iterator[tuple[str, object]]:
    """The answer as a stream of data without names."""
    for number, part in enumerate(answer.parts, 1):
        yield "", _response(answer, [part], last=number == len(answer.parts))


def make_count(tokens: int) -> Json:
    """The answer to a question for the number of tokens."""
    return {"totalTokens": tokens}


def _response(answer: ModelAnswer, parts: Sequence[TextPart | ToolUse], *, last: bool) -> Json:
    shown = [
        {"functionCall": {"id": f"call_{part.id}", "name": part.offer.name, "args": dict(part.input)}}
        if isinstance(part, ToolUse)
        else {"text": part.text}
        for part in parts
    ]
    candidate: Json = {"content": {"role": "model", "parts": shown}, "index": 0}
    return {
        "candidates": [candidate | ({"finishReason": "STOP"} if last else {})],
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens,
            "candidatesTokenCount": answer.output_tokens,
            "totalTokenCount": answer.input_tokens + answer.output_tokens,
        },
        "modelVersion": answer.model,
        "responseId": answer.id,
    }
