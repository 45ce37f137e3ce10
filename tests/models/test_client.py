"""Both vendors' real packages against our own server: what goes out, what comes back, and what fails."""

import json
import sys

import anthropic
import openai
import pytest

from foretold.dialects.claude_code.instructions import OLDER_MODELS
from foretold.errors import ExtraMissing, ModelFailed, UnknownModel
from foretold.models import anthropic as anthropic_models, from_name
from foretold.models.anthropic import AnthropicModel
from foretold.models.openai import OpenAIModel
from foretold.models.protocol import ModelRequest, Usage
from foretold.proof.probe.server import ModelServer, Status

KEY = "sk-" + "not-a-real-key-of-anybody"
READ = {"name": "Read", "description": "Reads.", "input_schema": {"type": "object", "properties": {}}}
ASKED = ModelRequest(("Be brief.", "", "Be kind."), ({"role": "user", "content": "Hi."},), (READ,), cached=(0,))
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
NAMES = {"messages": "claude-opus-5-5", "chat": "gpt-6"}
both = pytest.mark.parametrize("wire", NAMES)
streamed_or_not = pytest.mark.parametrize("stream", [False, True])


@pytest.fixture(scope="module", autouse=True)
def _closed():
    """Clients share their connections: to make such a pool takes longer than all that is asked here."""
    yield
    for client in POOLS.values():
        client.close()
    POOLS.clear()


POOLS = {}


def client_of(wire, url, retries):
    if wire not in POOLS:
        kind = anthropic.Anthropic if wire == "messages" else openai.OpenAI
        POOLS[wire] = kind(base_url=url, api_key=KEY)
    return POOLS[wire].with_options(base_url=url if wire == "messages" else f"{url}/v1", max_retries=retries)


def model_of(wire, url, *, name="", retries=0, **options):
    kind = AnthropicModel if wire == "messages" else OpenAIModel
    return kind(name or NAMES[wire], client=client_of(wire, url, retries), **options)


def ask(wire, respond, request=ASKED, **options):
    """The reply to a request, and what the server got."""
    with ModelServer(respond=lambda body, name: respond) as server:
        reply = model_of(wire, server.url, **options).reply(request)
    assert server.problems == []
    return reply, server.requests[0].body


def fail(wire, respond, **options):
    with ModelServer(respond=lambda body, name: respond) as server:
        model = model_of(wire, server.url, **options)
        with pytest.raises(ModelFailed) as caught:
            model.reply(ASKED)
    text = str(caught.value)
    assert KEY not in text
    assert "\n" not in text
    return text


# -- what comes back


@both
@streamed_or_not
def test_a_text(wire, stream):
    reply, body = ask(wire, "Hello.", stream=stream)
    assert (reply.content, reply.stop, reply.model) == (({"type": "text", "text": "Hello."},), "end_turn", NAMES[wire])
    assert body.get("stream", False) is stream
    assert reply.usage.input > 20
    assert reply.usage.output == 2
    assert reply.id


@both
@streamed_or_not
def test_calls_side_by_side_in_order(wire, stream):
    given = ["Two at once.", ("Read", {"a": "é"}), ("Read", {"b": [1, None]})]
    reply, _ = ask(wire, given, stream=stream)
    assert [block["type"] for block in reply.content] == ["text", "tool_use", "tool_use"]
    assert [call["input"] for call in reply.calls] == [{"a": "é"}, {"b": [1, None]}]
    assert len({call["id"] for call in reply.calls}) == 2
    assert reply.stop == "tool_use"


@both
@streamed_or_not
def test_half_a_character_does_not_stop_a_conversation(wire, stream):
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"a": "\udcff.py"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "\ud800 é"}
    said = ({"role": "user", "content": "Hi."}, {"role": "assistant", "content": [call]})
    asked = ASKED._replace(messages=(*said, {"role": "user", "content": [result]}))
    reply, body = ask(wire, "Hello.", asked, stream=stream)
    assert reply.text == "Hello."
    told = json.dumps(body["messages"], ensure_ascii=False)
    assert "\ufffd.py" in told
    assert "\ufffd é" in told


@both
def test_somebody_listens(wire):
    heard = []
    reply, _ = ask(wire, "Hello.", on_text=heard.append)
    assert "".join(heard) == reply.text == "Hello."


@both
def test_what_a_listener_raises_is_its_own(wire):
    def listen(text):
        raise KeyError(text)

    with pytest.raises(KeyError, match=r"Hello\."):
        ask(wire, "Hello.", on_text=listen)


def test_long_answers_are_streamed_where_the_api_asks_for_it():
    _, body = ask("messages", "Hello.", ASKED._replace(max_tokens=64_000))
    assert (body["stream"], body["max_tokens"]) == (True, 64_000)


def test_max_tokens_of_the_client_replace_those_of_the_request():
    assert ask("messages", "Hello.", max_tokens=100)[1]["max_tokens"] == 100
    assert ask("chat", "Hello.", max_tokens=100)[1]["max_completion_tokens"] == 100


def test_thinking_is_kept_and_what_the_cache_gave_is_counted():
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    text = {"type": "text", "text": "Yes."}
    usage = {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}
    reply, _ = ask("messages", whole_message([thinking, text], usage=usage))
    assert reply.content == (thinking, text)
    assert reply.usage == Usage(1, 2, cache_read=3, cache_write=4)
    _, body = ask("messages", "Yes.", ASKED._replace(messages=(message("assistant", *reply.content),), cached=()))
    assert body["messages"][0]["content"] == [thinking, text]
    _, body = ask("chat", "Yes.", ASKED._replace(messages=(message("assistant", *reply.content),)))
    assert body["messages"][1] == {"role": "assistant", "content": "Yes."}


def test_tokens_of_the_other_vendors_cache_are_counted_once():
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    reply, _ = ask("chat", completion({"content": "a"}, usage={**usage, "prompt_tokens_details": {"cached_tokens": 8}}))
    assert reply.usage == Usage(2, 2, cache_read=8)


@pytest.mark.parametrize("arguments", ['{"a": ', "[1]", "null", "{" * 100_000])
def test_arguments_that_are_no_object_are_a_call_that_the_tool_refuses(arguments):
    call = {"id": "call_1", "type": "function", "function": {"name": "Read", "arguments": arguments}}
    reply, _ = ask("chat", completion({"content": None, "tool_calls": [call]}, finish_reason="tool_calls"))
    block = {"type": "tool_use", "id": "call_1", "name": "Read", "input": {"invalid_json": arguments}}
    assert (reply.content, reply.stop) == ((block,), "tool_use")
    _, body = ask("chat", "Yes.", ASKED._replace(messages=(message("assistant", *reply.content),)))
    sent = body["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"invalid_json": arguments}


def test_a_call_without_arguments_has_an_empty_input():
    call = {"id": "", "type": "function", "function": {"name": "Read", "arguments": ""}}
    reply, _ = ask("chat", completion({"content": None, "tool_calls": [call]}))
    assert reply.content == ({"type": "tool_use", "id": "call_chatcmpl-1_0", "name": "Read", "input": {}},)


@pytest.mark.parametrize(
    ("wire", "respond", "stop"),
    [
        ("messages", "whole:max_tokens", "max_tokens"),
        ("messages", "whole:pause_turn", "pause_turn"),
        ("chat", "whole:length", "max_tokens"),
        ("chat", "whole:stop", "end_turn"),
    ],
)
def test_reasons_to_stop(wire, respond, stop):
    reason = respond.partition(":")[2]
    if wire == "messages":
        answer = whole_message([{"type": "text", "text": "a"}], stop_reason=reason)
    else:
        answer = completion({"content": "a"}, finish_reason=reason)
    assert ask(wire, answer)[0].stop == stop


def whole_message(content, **more):
    usage = {"input_tokens": 1, "output_tokens": 1}
    base = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return {**base, "stop_sequence": None, "content": content, "usage": usage, **more}


def completion(said, finish_reason="stop", **more):
    choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], **more}


ODD = [
    ("chat", {"choices": [{"message": {"content": "a"}}], "usage": {}}, {"type": "text", "text": "a"}),
    ("chat", {"choices": [{"message": {"content": [{"type": "text", "text": "a"}]}}]}, {"type": "text", "text": "a"}),
    (
        "chat",
        {"id": "c", "choices": [{"message": {"tool_calls": [{"function": {"name": "Read"}}]}}]},
        {"type": "tool_use", "id": "call_c_0", "name": "Read", "input": {}},
    ),
    ("messages", {"content": [{"type": "new", "x": 1}], "usage": {}}, {"type": "new", "x": 1}),
]


@pytest.mark.parametrize(("wire", "answer", "block"), ODD)
def test_servers_that_leave_things_out(wire, answer, block):
    reply, _ = ask(wire, answer)
    assert (reply.content, reply.model, reply.usage) == ((block,), NAMES[wire], Usage())


# -- what goes out


def message(role, *blocks):
    return {"role": role, "content": list(blocks)}


TALK = (
    {"role": "user", "content": "Read both.", "pin": True},
    message(
        "assistant",
        {"type": "text", "text": "Yes."},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"f": "ä"}},
        {"type": "tool_use", "id": "t2", "name": "Read", "input": {}},
    ),
    message(
        "user",
        {"type": "tool_result", "tool_use_id": "t1", "content": "gone", "is_error": True},
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "see"}, PICTURE]},
        {"type": "text", "text": "Go on."},
    ),
    {"role": "system", "content": [{"type": "text", "text": "It is late."}]},
)


def test_what_anthropic_gets():
    _, body = ask("messages", "Yes.", ASKED._replace(messages=TALK, cached=(0, 2)))
    mark = {"cache_control": {"type": "ephemeral"}}
    results = [{**block, **(mark if block["type"] == "text" else {})} for block in TALK[2]["content"]]
    assert body == {
        "model": "claude-opus-5-5",
        "max_tokens": 8192,
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind.", **mark}],
        "tools": [READ],
        "messages": [
            message("user", {"type": "text", "text": "Read both.", **mark}),
            TALK[1],
            message("user", *results),
            TALK[3],
        ],
    }


def test_what_openai_gets():
    _, body = ask("chat", "Yes.", ASKED._replace(messages=TALK, cached=(0, 2)))
    calls = [("t1", '{"f": "ä"}'), ("t2", "{}")]
    assert body == {
        "model": "gpt-6",
        "max_completion_tokens": 8192,
        "tools": [
            {
                "type": "function",
                "function": {"name": "Read", "description": "Reads.", "parameters": READ["input_schema"]},
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief.\n\nBe kind."},
            {"role": "user", "content": "Read both."},
            {
                "role": "assistant",
                "content": "Yes.",
                "tool_calls": [
                    {"id": id_, "type": "function", "function": {"name": "Read", "arguments": given}}
                    for id_, given in calls
                ],
            },
            {"role": "tool", "tool_call_id": "t1", "content": "Error: gone"},
            {"role": "tool", "tool_call_id": "t2", "content": "see\n\n(The picture follows.)"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "The picture that t2 gave:"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                    {"type": "text", "text": "Go on."},
                ],
            },
            {"role": "system", "content": "It is late."},
        ],
    }


def test_system_messages_for_models_that_take_none_are_tagged_and_cannot_close_the_tag():
    talk = (TALK[0], {"role": "system", "content": "a</system-reminder>b"})
    _, body = ask("messages", "Yes.", ASKED._replace(messages=talk), name="claude-haiku-4-5")
    text = "<system-reminder>\na<\\/system-reminder>b\n</system-reminder>"
    assert body["messages"][1] == message("user", {"type": "text", "text": text})
    _, body = ask("messages", "Yes.", ASKED._replace(messages=talk), name="my-model", system_role=False)
    assert body["messages"][1]["role"] == "user"
    _, body = ask("chat", "Yes.", ASKED._replace(messages=talk), system_role="developer")
    assert [each["role"] for each in body["messages"]] == ["developer", "user", "developer"]


def test_the_families_are_those_of_the_dialect():
    assert anthropic_models.OLDER_MODELS == OLDER_MODELS


def test_blank_texts_are_left_out_and_a_message_is_never_empty():
    talk = (
        message("user", {"type": "text", "text": " "}, PICTURE),
        message("assistant"),
        {"role": "user", "content": ""},
    )
    _, body = ask("messages", "Yes.", ASKED._replace(messages=talk, system=(), cached=()))
    nothing = {"type": "text", "text": "(no content)"}
    assert body["messages"] == [message("user", PICTURE), message("assistant", nothing), message("user", nothing)]
    assert "system" not in body
    assert body["tools"][0]["cache_control"] == {"type": "ephemeral"}
    _, body = ask("chat", "Yes.", ASKED._replace(messages=talk[1:], system=()))
    assert body["messages"] == []


def test_a_mark_never_stands_on_thinking_and_never_on_the_callers_own_values():
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    talk = (message("assistant", {"type": "text", "text": "a"}, thinking),)
    _, body = ask("messages", "Yes.", ASKED._replace(messages=talk))
    assert [sorted(block) for block in body["messages"][0]["content"]] == [
        ["cache_control", "text", "type"],
        ["signature", "thinking", "type"],
    ]
    assert talk == (message("assistant", {"type": "text", "text": "a"}, thinking),)


def test_at_most_three_messages_are_marked():
    talk = tuple({"role": "user", "content": str(number)} for number in range(6))
    _, body = ask("messages", "Yes.", ASKED._replace(messages=talk, cached=(0, 1, 2, 3, 5)))
    assert [number for number, each in enumerate(body["messages"]) if "cache_control" in each["content"][0]] == [
        2,
        3,
        5,
    ]


def test_documents_and_unknown_blocks_are_shown_or_named():
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="}}
    text = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Read me."}}
    _, body = ask("chat", "Yes.", ASKED._replace(messages=(message("user", pdf, text, {"type": "new"}),), system=()))
    assert body["messages"][0]["content"] == [
        {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,aGk="}},
        {"type": "text", "text": "Read me."},
        {"type": "text", "text": "[a block of the type new that this model cannot be shown]"},
    ]


def part_of(raw, key):
    """The bytes of one value of a body, without the bracket at its end."""
    text = raw.decode()
    at = text.index(f'"{key}":') + len(key) + 3
    _, end = json.JSONDecoder().raw_decode(text, at)
    return text[at : end - 1]


@both
def test_a_request_that_goes_on_from_another_has_its_bytes(wire):
    """Three requests of a conversation, and a fork from the second: each begins with the bytes of the one before."""
    with ModelServer(respond=lambda body, name: ["é", ("Read", {"z": 1, "a": "ü", "m": {"b": 2, "a": 1}})]) as server:
        model = model_of(wire, server.url)
        first = ASKED
        reply = model.reply(first)
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "ok"} for call in reply.calls]
        going_on = (*first.messages, message("assistant", *reply.content), message("user", *results))
        second = first._replace(messages=going_on, cached=(0, 2))
        model.reply(second)
        fork = second._replace(messages=(*going_on, {"role": "user", "content": "Remember."}), cached=(0, 2, 3))
        other = second._replace(messages=(*going_on, *TALK[1:3]), cached=(0, 2, 4))
        model.reply(fork)
        model.reply(other)
    one, two, three, four = server.bodies
    for before, after in ((one, two), (two, three), (two, four)):
        for key in ("tools", *(["system"] if wire == "messages" else [])):
            assert part_of(after, key) == part_of(before, key)
        assert part_of(after, "messages").startswith(part_of(before, "messages"))
        assert len(part_of(after, "messages")) > len(part_of(before, "messages"))


# -- what fails


ANSWERS = {"messages": "Anthropic answered", "chat": "OpenAI answered"}


@both
@pytest.mark.parametrize(
    ("status", "line"),
    [
        (400, " 400: KEY is wrong: the request was refused; if it is too long, compact the conversation"),
        (401, " 401: the key was refused; set VARIABLE to a valid one"),
        (404, " 404: KEY is wrong: there is no such model, or no such address; check the name of the model and"),
        (413, " 413: KEY is wrong: the request is too large; compact the conversation, or send smaller files"),
        (429, " 429: KEY is wrong: the limit of requests is reached; wait a minute and try again, or raise the"),
        (500, " 500: KEY is wrong: the vendor's server failed; try again later"),
        (529, " 529: KEY is wrong: the model is overloaded; wait a minute and try again"),
    ],
)
def test_statuses_say_what_to_do_and_never_the_key(wire, status, line):
    text = fail(wire, Status(status, f"{KEY}\nis wrong"))
    expected = ANSWERS[wire] + line.replace("KEY", "[key]")
    variable = {"messages": "ANTHROPIC_API_KEY", "chat": "OPENAI_API_KEY"}[wire]
    assert text.startswith(expected.replace("VARIABLE", variable))


@both
def test_a_stream_fails_like_a_whole_answer(wire):
    assert "429" in fail(wire, Status(429), stream=True)


@both
def test_long_words_of_a_server_are_cut_and_the_advice_stays(wire):
    text = fail(wire, Status(400, "x" * 5000))
    assert len(text) < 450
    assert text.endswith("compact the conversation")


@both
def test_the_package_tries_again_by_itself(wire):
    lines = iter([Status(529), "Yes."])
    with ModelServer(respond=lambda body, name: next(lines)) as server:
        assert model_of(wire, server.url, retries=1).reply(ASKED).text == "Yes."
    assert len(server.requests) == 2


@both
def test_nobody_is_there(wire):
    with ModelServer() as server:
        url = server.url
    model = model_of(wire, url)
    with pytest.raises(ModelFailed, match=r"cannot reach .*Connection refused; check the connection"):
        model.reply(ASKED)


@both
def test_a_page_instead_of_an_answer(wire):
    kind = {"messages": "a message", "chat": "a completion"}[wire]
    said = f"the server did not answer with {kind}; check the base URL"
    assert fail(wire, {"error": "what?"}) == said
    assert fail(wire, {"choices": [{"message": None}], "content": "text"}) == said


@both
def test_something_else_than_json(wire):
    text = fail(wire, b"<html>")
    assert "did not answer with JSON; check the base URL" in text


def begun(wire):
    """The first event of a stream."""
    if wire == "chat":
        choice = {"index": 0, "delta": {"role": "assistant", "content": "Half an"}, "finish_reason": None}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
        return f"data: {json.dumps(chunk)}\n\n".encode()
    data = {"type": "message_start", "message": whole_message([], stop_reason=None)}
    return f"event: message_start\ndata: {json.dumps(data)}\n\n".encode()


@both
@pytest.mark.parametrize("begins", [True, False])
def test_a_stream_that_breaks_off_is_no_answer(wire, begins):
    said = f"the answer of {NAMES[wire]} broke off; ask again"
    assert fail(wire, begun(wire) if begins else b"", stream=True) == said


@both
def test_an_error_in_the_middle_of_a_stream(wire):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    event = b"event: error\ndata: " + json.dumps(error).encode() + b"\n\n"
    text = fail(wire, begun(wire) + event, stream=True)
    assert text == f"{ANSWERS[wire]} 529: Overloaded: the model is overloaded; wait a minute and try again"


def test_refusals_and_silence():
    details = {"type": "refusal", "category": "bio", "explanation": "Not this."}
    said = fail("messages", whole_message([], stop_reason="refusal", stop_details=details))
    assert said == "m refused to answer: Not this.; rephrase it, or ask another model"
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    said = fail("messages", whole_message([thinking], stop_reason="max_tokens"))
    assert said == "m thought for all 8,192 tokens and said nothing; allow it more tokens"
    assert fail("messages", whole_message([])) == "m said nothing (end_turn); ask again"
    said = fail("chat", completion({"content": None, "refusal": "No."}))
    assert said == "m refused to answer: No.; rephrase it, or ask another model"
    said = fail("chat", completion({"content": None}, "content_filter"))
    assert said == "m refused to answer: by its content filter; rephrase it, or ask another model"
    said = fail("chat", completion({"content": ""}, "length"))
    assert said == "m thought for all 8,192 tokens and said nothing; allow it more tokens"
    assert fail("chat", completion({"content": ""})) == "m said nothing (end_turn); ask again"


# -- by name


def test_a_model_by_its_name(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name, kind in (("anthropic:claude-opus-5-5", AnthropicModel), ("openai:org/gpt:6", OpenAIModel)):
        model = from_name(name, base_url="http://127.0.0.1:1", max_tokens=5)
        assert (type(model), model.name, model.max_tokens) == (kind, name.partition(":")[2], 5)
        model.client.close()
    for name in ("", "claude", "anthropic:", "google:gemini"):
        with pytest.raises(UnknownModel, match="write vendor:model"):
            from_name(name)


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
def test_without_a_key_or_a_package(monkeypatch, vendor):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelFailed, match=f"there is no key; set {vendor.upper()}_API_KEY"):
        from_name(f"{vendor}:m", base_url="http://127.0.0.1:1").reply(ASKED)
    monkeypatch.setitem(sys.modules, vendor, None)
    with pytest.raises(ExtraMissing, match=f"-m pip install '{vendor}>="):
        from_name(f"{vendor}:m")
