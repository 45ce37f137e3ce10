"""A server that does what a function says, for clients in every format."""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from foretold.proof.probe.server import ModelServer, Status, ToolCall

PATHS = {"messages": "/v1/messages", "chat": "/v1/chat/completions"}
TOOLS = {
    "messages": [{"name": "Read", "input_schema": {"type": "object"}}],
    "chat": [{"type": "function", "function": {"name": "Read"}}],
}
both = pytest.mark.parametrize("wire", PATHS)


def post(server, wire, **body):
    sent = json.dumps({"model": "m", **body}).encode()
    with urlopen(Request(server.url + PATHS[wire], sent)) as response:
        return json.loads(response.read())


def said(wire, answer):
    """Texts and calls of an answer, in order."""
    if wire == "messages":
        return [block.get("text") or (block["name"], block["input"]) for block in answer["content"]]
    message = answer["choices"][0]["message"]
    calls = [call["function"] for call in message.get("tool_calls", [])]
    return [message["content"]] * bool(message["content"]) + [(c["name"], json.loads(c["arguments"])) for c in calls]


@both
def test_a_text(wire):
    with ModelServer(respond=lambda body, name: f"{name}: {body['model']}") as server:
        assert said(wire, post(server, wire)) == [f"{wire}: m"]


@both
def test_one_call_and_several_in_order(wire):
    lines = iter([("Read", {"a": 1}), ["Look:", ("Read", {"a": 2}), ToolCall(("read", "Read"), {"a": 3})]])
    with ModelServer(respond=lambda body, name: next(lines)) as server:
        assert said(wire, post(server, wire, tools=TOOLS[wire])) == [("Read", {"a": 1})]
        assert said(wire, post(server, wire, tools=TOOLS[wire])) == ["Look:", ("Read", {"a": 2}), ("Read", {"a": 3})]
    assert server.problems == []


@both
def test_a_call_of_what_is_not_offered_is_a_problem(wire):
    with ModelServer(respond=lambda body, name: ("Write", {})) as server:
        assert said(wire, post(server, wire, tools=TOOLS[wire])) == ["turn 0: no tool named Write is offered"]
    assert server.problems == ["turn 0: no tool named Write is offered"]


@both
def test_a_status(wire):
    with ModelServer(respond=lambda body, name: Status(529, "too many")) as server:
        with pytest.raises(HTTPError) as caught:
            post(server, wire)
        assert caught.value.code == 529
        assert json.loads(caught.value.read())["error"]["message"] == "too many"
        caught.value.close()


@both
def test_a_function_that_fails_is_a_problem_and_is_not_tried_again(wire):
    with ModelServer(respond=lambda body, name: body["gone"]) as server:
        with pytest.raises(HTTPError) as caught:
            post(server, wire)
        assert caught.value.code == 400
        caught.value.close()
    assert server.problems == ["the function failed: KeyError('gone')"]


@both
def test_none_goes_on_with_the_turns_and_an_object_is_the_whole_answer(wire):
    lines = iter([None, {"mine": True}])
    with ModelServer([[ToolCall(("Read",), {"a": 1})]], respond=lambda body, name: next(lines)) as server:
        assert said(wire, post(server, wire, tools=TOOLS[wire])) == [("Read", {"a": 1})]
        assert post(server, wire) == {"mine": True}


@both
def test_tokens_grow_with_the_body_and_bodies_are_kept_as_they_came(wire):
    with ModelServer(respond=lambda body, name: "Yes.") as server:
        short, long = (post(server, wire, messages=["x" * size]) for size in (4, 4004))
    field = "input_tokens" if wire == "messages" else "prompt_tokens"
    assert long["usage"][field] - short["usage"][field] == 1000
    assert [json.loads(body) for body in server.bodies] == [exchange.body for exchange in server.requests]
