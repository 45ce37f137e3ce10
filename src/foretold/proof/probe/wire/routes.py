"""What a request asks for: by its method, its path whatever stands before, and its body.

1. `POST` of `messages`, `responses`, `chat/completions` and `models/NAME:generateContent` wants an answer; of
   `messages/count_tokens` and `models/NAME:countTokens`, a number.
2. An answer is streamed if the body says so; for Gemini, if the path does: as events with `alt=sse`, else as an array.
3. `GET` of `models` wants the list of models; anything else is a page, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import parse_qs, unquote

from foretold.proof.probe.script import DEFAULT_MODEL, Json, ModelAnswer, Offer, dump, string
from foretold.proof.probe.wire import chat, gemini, messages, responses


class Wire(NamedTuple):
    """A wire format."""

    name: str
    find_offers: Callable[[Json], list[Offer]]
    make_whole: Callable[[ModelAnswer], Json]
    make_events: Callable[[ModelAnswer], Iterator[tuple[str, object]]]


class Route(NamedTuple):
    """What is asked for. `action` is "answer", "count", "models" or "page"; `framing` is "whole", "sse" or "array"."""

    action: str
    path: str
    wire: Wire | None = None
    make_count: Callable[[int], Json] | None = None
    model: str = ""
    framing: str = "whole"


def _wire(module: object) -> Wire:
    return Wire(*(getattr(module, name) for name in ("NAME", "find_offers", "make_whole", "make_events")))


MESSAGES, RESPONSES, CHAT, GEMINI = map(_wire, (messages, responses, chat, gemini))

#: how the path of a request that wants an answer ends
ENDINGS = (("/messages", MESSAGES), ("/responses", RESPONSES), ("/chat/completions", CHAT))
GEMINI_PATH = re.compile(r"/models/([^:]+):(generateContent|streamGenerateContent|countTokens)\Z")


def find_route(method: str, target: str, body: object) -> Route:
    """What a request asks for.

    >>> find_route("POST", "/v1/messages?beta=true", {"model": "m", "stream": True})[4:]
    ('m', 'sse')
    >>> find_route("POST", "/v1beta/models/m:streamGenerateContent", {})[4:]
    ('m', 'array')
    """
    path, query = split_target(target)
    if method in ("GET", "HEAD") and path.endswith("/models"):
        return Route("models", path)
    if method == "POST" and (found := GEMINI_PATH.search(path)):
        return _gemini_route(path, unquote(found[1]), found[2], query)
    asked = body if isinstance(body, dict) else {}
    model = string(asked.get("model"))
    if method == "POST" and path.endswith("/messages/count_tokens"):
        return Route("count", path, make_count=messages.make_count, model=model)
    for ending, wire in ENDINGS:
        if method == "POST" and path.endswith(ending):
            framing = "sse" if asked.get("stream") is True else "whole"
            return Route("answer", path, wire, model=model, framing=framing)
    return Route("page", path)


def _gemini_route(path: str, model: str, verb: str, query: str) -> Route:
    if verb == "countTokens":
        return Route("count", path, make_count=gemini.make_count, model=model)
    streamed = "sse" if parse_qs(query).get("alt") == ["sse"] else "array"
    framing = streamed if verb == "streamGenerateContent" else "whole"
    return Route("answer", path, GEMINI, model=model, framing=framing)


def split_target(target: str) -> tuple[str, str]:
    """Path and query of a request's target, which for a proxy is a whole address.

    >>> split_target("http://api.example/v1/models?limit=1"), split_target("models")
    (('/v1/models', 'limit=1'), ('/models', ''))
    """
    path, _, query = re.sub(r"\Ahttps?://[^/?]*", "", target).partition("?")
    return "/" + path.lstrip("/"), query


def list_models(path: str, names: Iterable[str]) -> Json:
    """The list of models: Gemini's at its path, else one that is both Anthropic's and OpenAI's."""
    listed = list(names) or [DEFAULT_MODEL]
    if path.endswith("/v1beta/models"):
        methods = ["generateContent", "countTokens"]
        return {"models": [{"name": f"models/{name}", "supportedGenerationMethods": methods} for name in listed]}
    about = {"object": "model", "type": "model", "created": 0, "created_at": "1970-01-01T00:00:00Z"}
    data = [{"id": name, "display_name": name, "owned_by": "foretold", **about} for name in listed]
    return {"object": "list", "data": data, "has_more": False, "first_id": listed[0], "last_id": listed[-1]}


def frame_events(events: Iterable[tuple[str, object]], framing: str) -> Iterator[bytes]:
    r"""A stream as bytes: server-sent events, or an array of JSON.

    >>> list(frame_events([("start", {"a": 1}), ("", "[DONE]")], "sse"))
    [b'event: start\ndata: {"a":1}\n\n', b'data: [DONE]\n\n']
    >>> b"".join(frame_events([("", {"a": 1}), ("", {"a": 2})], "array"))
    b'[{"a":1},\r\n{"a":2}]'
    """
    before = "["
    for name, data in events:
        if framing == "array":
            yield (before + dump(data)).encode()
            before = ",\r\n"
        else:
            head = f"event: {name}\n" if name else ""
            yield f"{head}data: {data if isinstance(data, str) else dump(data)}\n\n".encode()
    if framing == "array":
        yield b"]"
