"""A model server on the loopback interface, for real agents to talk to instead of their vendor's.

1. It speaks Anthropic Messages, OpenAI Responses, OpenAI chat completions and Gemini, streamed or not, under whatever
   prefix an agent is configured with. It never contacts anything.
2. Every request is recorded before it is answered, whatever it is for; objects and arrays of JSON are parsed, other
   bodies are text, and one that could not be read is the empty text.
3. Requests for an answer play the script (`script.py`); the others get a number of tokens, one of the given pages, the
   list of the models asked for so far, or 404.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foretold.proof.probe.http import BodyFault, HttpRequest, Listener, Response
from foretold.proof.probe.script import (
    DEFAULT_MODEL,
    Json,
    ModelAnswer,
    Offer,
    Respond,
    Said,
    Script,
    Status,
    ToolCall,
    dump,
    estimate_tokens,
)
from foretold.proof.probe.wire.routes import Route, Wire, find_route, frame_events, list_models

__all__ = ["Exchange", "ModelServer", "Status", "ToolCall"]

JSON = "application/json"


class Exchange(NamedTuple):
    """A request, the first is number 1. `path` is as sent, with its query; names of headers are in lower case.

    `format` and `tools` are of requests for an answer; of others, also those that count tokens, they are empty.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: object
    format: str
    tools: tuple[str, ...]


class ModelServer:
    """A model that plays a script, or does what a function says. Use it as a context, or call `start` and `stop`.

    >>> from urllib.request import urlopen
    >>> with ModelServer(pages={"/note": "Read me."}) as server:
    ...     text = urlopen(server.url + "/note").read().decode()
    >>> text, server.requests[0].path, server.conversation
    ('Read me.', '/note', [])
    """

    def __init__(
        self,
        turns: Sequence[Sequence[ToolCall]] = (),
        *,
        pages: Mapping[str, str] = {},
        answer: str = "Done.",
        respond: Respond | None = None,
    ) -> None:
        self.url = ""
        self.requests: list[Exchange] = []
        self.bodies: list[bytes] = []  #: of the requests, as they came
        self._respond_with = respond
        self._pages = dict(pages)
        self._script = Script(turns, answer)
        self._models: dict[str, None] = {}
        self._lock = threading.Lock()
        self._listener: Listener | None = None

    def __enter__(self) -> ModelServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen, on a port that the system chooses; the script goes on where it was."""
        if self._listener is None:
            self._listener = Listener(self._respond, self.problems.append)
            self.url = f"http://127.0.0.1:{self._listener.port}"

    def stop(self) -> None:
        """End every connection and thread. What was recorded stays."""
        if self._listener is not None:
            self._listener.stop()
            self._listener = None

    @property
    def conversation(self) -> list[Exchange]:
        """The requests of the main conversation: those that offer tools, retries as well."""
        with self._lock:
            return [exchange for exchange in self.requests if exchange.tools]

    @property
    def problems(self) -> list[str]:
        """What did not go as the script has it."""
        return self._script.problems

    def _respond(self, request: HttpRequest) -> Response:
        body = b"" if isinstance(request.body, BodyFault) else request.body
        parsed = parse_body(body)
        route = find_route(request.method, request.target, parsed)
        offers = route.wire.find_offers(parsed) if route.wire and isinstance(parsed, dict) else []
        self._record(request, parsed, route, offers)
        if isinstance(request.body, BodyFault):
            return refuse(*request.body)
        if route.action in ("page", "models"):
            return self._serve_page(request, route)
        if not isinstance(parsed, dict):
            return refuse(400, "the body is not an object of JSON")
        if route.make_count:
            return respond_json(route.make_count(estimate_tokens(len(body))))
        assert route.wire
        return self._answer(route, route.wire, offers, body, parsed)

    def _record(self, request: HttpRequest, parsed: object, route: Route, offers: Sequence[Offer]) -> None:
        name = route.wire.name if route.wire else ""
        tools = tuple(offer.label for offer in offers)
        with self._lock:
            number = len(self.requests) + 1
            self.requests.append(Exchange(number, request.method, request.target, request.headers, parsed, name, tools))
            self.bodies.append(b"" if isinstance(request.body, BodyFault) else request.body)
            if route.model:
                self._models[route.model] = None
            if isinstance(request.body, BodyFault):
                self.problems.append(f"request {number}: {request.body.text}")

    def _answer(self, route: Route, wire: Wire, offers: Sequence[Offer], body: bytes, parsed: Json) -> Response:
        said = self._ask(parsed, wire.name)
        if isinstance(said, Status):
            return refuse(*said)
        if isinstance(said, dict):
            return respond_json(said)
        if isinstance(said, bytes):
            return Response(200, "text/event-stream" if route.framing == "sse" else JSON, said)
        digest, tokens = hashlib.sha256(wire.name.encode() + b"\0" + body).digest(), estimate_tokens(len(body))
        model = route.model or DEFAULT_MODEL
        with self._lock:
            if said is None:
                answer = self._script.answer(digest, offers, model, tokens)
            else:
                answer = self._script.say(said if isinstance(said, list) else [said], offers, model, tokens)
        return _framed(answer, route, wire, parsed)

    def _ask(self, parsed: Json, wire: str) -> Said:
        """What the function says; a function that fails is a problem, and none that a client tries again."""
        if self._respond_with is None:
            return None
        try:
            return self._respond_with(parsed, wire)
        except Exception as error:
            with self._lock:
                self.problems.append(f"the function failed: {error!r}")
            return Status(400, f"the function failed: {error!r}")

    def _serve_page(self, request: HttpRequest, route: Route) -> Response:
        text = self._pages.get(request.target, self._pages.get(route.path))
        if text is not None and request.method in ("GET", "HEAD"):
            return Response(200, "text/plain; charset=utf-8", text.encode("utf-8", "replace"))
        if route.action == "page":
            return refuse(404, f"nothing is at {request.method} {route.path}")
        with self._lock:
            return respond_json(list_models(route.path, self._models))


def _framed(answer: ModelAnswer, route: Route, wire: Wire, parsed: Json) -> Response:
    """An answer in one piece, or as a stream."""
    options = parsed.get("stream_options")
    asked = isinstance(options, dict) and options.get("include_usage") is True
    answer = answer._replace(model=route.model or DEFAULT_MODEL, usage_asked=asked)
    if route.framing == "whole":
        return respond_json(wire.make_whole(answer))
    media = "text/event-stream" if route.framing == "sse" else JSON
    return Response(200, media, frame_events(wire.make_events(answer), route.framing))


def parse_body(body: bytes) -> object:
    """An object or array of JSON, or a text.

    >>> parse_body(b' {"a": 1}'), parse_body(b"1"), parse_body(b"{")
    ({'a': 1}, '1', '{')
    """
    text = body.decode("utf-8", "replace")
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return parsed if isinstance(parsed, dict | list) else text


def respond_json(value: Json) -> Response:
    return Response(200, JSON, dump(value).encode())


def refuse(status: int, text: str) -> Response:
    """An error in a shape that clients of all vendors read."""
    kind = "not_found_error" if status == 404 else "invalid_request_error"
    error = {"type": kind, "code": status, "message": text, "param": None}
    return Response(status, JSON, dump({"type": "error", "error": error}).encode())
