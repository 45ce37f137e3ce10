"""A model server that real clients can talk to: over real sockets, in all formats."""

import gzip
import http.client
import json
import socket
import struct
import threading
import zlib
from itertools import pairwise

import pytest

from foretold.proof.probe.http import LIMIT
from foretold.proof.probe.server import Exchange, ModelServer, ToolCall

READ = ToolCall(("read_file", "Read"), {"path": "é.md"})
LIST = ToolCall(("Glob", "list"), {"pattern": "**"})

#: format -> path, path of a stream, body without tools, tools with these names
ASKED = {"model": "m"}
FORMATS = {
    "messages": ("/v1/messages?beta=true", "/v1/messages", ASKED, lambda names: [{"name": name} for name in names]),
    "responses": (
        "/v1/responses",
        "/responses",
        ASKED,
        lambda names: [{"type": "function", "name": name} for name in names],
    ),
    "chat": (
        "/openai/v1/chat/completions",
        "/chat/completions",
        ASKED,
        lambda names: [{"type": "function", "function": {"name": name}} for name in names],
    ),
    "gemini": (
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        {},
        lambda names: [{"functionDeclarations": [{"name": name} for name in names]}],
    ),
}
every_format = pytest.mark.parametrize("name", FORMATS)


@pytest.fixture
def serve():
    """Start servers; when they have stopped, no thread is left."""
    before = set(threading.enumerate())
    servers = []

    def start(*args, **options):
        servers.append(ModelServer(*args, **options))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
    assert set(threading.enumerate()) == before


def connect(server):
    host, port = server.url.removeprefix("http://").split(":")
    return http.client.HTTPConnection(host, int(port), timeout=20)


def ask(server, method, path, body=None, headers=None):
    """Status, media type and body of one request on a connection of its own."""
    connection = connect(server)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.getheader("Content-Type"), response.read()
    finally:
        connection.close()


def make_body(name, *, tools=(), stream=False, **more):
    body = {**FORMATS[name][2], **more}
    if tools:
        body["tools"] = FORMATS[name][3](tools)
    if stream and name != "gemini":
        body["stream"] = True
    return body


def post(server, name, *, stream=False, headers=None, **options):
    """Ask for an answer: an object, or the events of a stream."""
    body = json.dumps(make_body(name, stream=stream, **options))
    status, media, text = ask(server, "POST", FORMATS[name][stream], body, headers)
    assert (status, media) == (200, "text/event-stream" if stream else "application/json")
    return parse_events(text) if stream else json.loads(text)


def parse_events(text):
    """Names and data of server-sent events."""
    events = []
    for block in text.decode().removesuffix("\n\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        data = fields["data"]
        events.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return events


def parts_of(name, answer):
    """The parts of a whole answer: a text, or a tool's name and input."""
    if name == "messages":
        return [part["text"] if part["type"] == "text" else (part["name"], part["input"]) for part in answer["content"]]
    if name == "responses":
        return [
            item["content"][0]["text"] if item["type"] == "message" else (item["name"], json.loads(item["arguments"]))
            for item in answer["output"]
        ]
    if name == "chat":
        message = answer["choices"][0]["message"]
        functions = [call["function"] for call in message.get("tool_calls", ())]
        said = [message["content"]] if message["content"] else []
        return said + [(each["name"], json.loads(each["arguments"])) for each in functions]
    return [
        part.get("text") or (part["functionCall"]["name"], part["functionCall"]["args"])
        for part in answer["candidates"][0]["content"]["parts"]
    ]


# the script


@every_format
def test_a_script_is_played_turn_by_turn(serve, name):
    server = serve([[READ, LIST], [LIST]], answer="That is all.")
    tools = ("Glob", "Read")
    answers = [parts_of(name, post(server, name, tools=tools, user=str(turn))) for turn in range(4)]
    assert answers == [
        [("Read", READ.input), ("Glob", LIST.input)],
        [("Glob", LIST.input)],
        ["That is all."],
        ["That is all."],
    ]
    assert server.problems == []
    assert [(each.number, each.format, each.tools) for each in server.conversation] == [
        (number, name, tools) for number in (1, 2, 3, 4)
    ]


@every_format
@pytest.mark.parametrize("stream", [False, True])
def test_a_side_request_gets_the_text_and_uses_up_nothing(serve, name, stream):
    server = serve([[READ]])
    assert "Done." in json.dumps(post(server, name, stream=stream))
    assert parts_of(name, post(server, name, tools=["Read"])) == [("Read", READ.input)]
    assert [each.number for each in server.requests] == [1, 2]
    assert [each.number for each in server.conversation] == [2]


@every_format
def test_a_retry_gets_the_same_answer_again(serve, name):
    server = serve([[READ], [LIST]])
    first = post(server, name, tools=["Read", "list"], user="a")
    packed = {"Content-Encoding": "gzip"}
    body = gzip.compress(json.dumps(make_body(name, tools=["Read", "list"], user="a")).encode())
    again = json.loads(ask(server, "POST", FORMATS[name][0], body, packed)[2])
    other = post(server, name, tools=["Read", "list"], user="b")
    assert first == again
    assert [parts_of(name, answer) for answer in (first, other)] == [[("Read", READ.input)], [("list", LIST.input)]]
    assert len(server.conversation) == 3


def test_the_same_body_in_another_format_is_no_retry(serve):
    server = serve([[READ], [LIST]])
    body = json.dumps({"tools": [{"type": "custom", "name": "read_file"}, {"type": "custom", "name": "list"}]})
    for path in ("/messages", "/responses"):
        assert ask(server, "POST", path, body)[0] == 200
    assert server.problems == []
    assert ask(server, "POST", "/responses", body)[2].count(b'"list"') == 1


def test_a_call_that_is_not_offered_becomes_a_text(serve):
    server = serve([[READ, LIST]])
    answer = post(server, "messages", tools=["list"])
    problem = "turn 1: no tool named read_file or Read is offered"
    assert parts_of("messages", answer) == [problem, ("list", LIST.input)]
    assert server.problems == [problem]


def test_a_recorded_call_is_made_whether_or_not_it_is_offered(serve):
    server = serve([[READ._replace(anyway=True)]])
    answer = post(server, "messages", tools=["list"])
    assert (parts_of("messages", answer), server.problems) == ([("read_file", READ.input)], [])


def test_a_turn_without_calls_ends_one_prompt(serve):
    server = serve([[READ], [], [LIST]])
    answers = [parts_of("chat", post(server, "chat", tools=["Read", "list"], user=str(turn))) for turn in range(3)]
    assert answers == [[("Read", READ.input)], ["Done."], [("list", LIST.input)]]


@pytest.mark.parametrize(
    ("path", "tools"),
    [
        ("/v1/messages", [{"type": "web_search_20250305", "name": "Read"}]),
        ("/v1/responses", [{"type": "web_search", "name": "Read"}, "Read", None]),
        ("/v1/chat/completions", [{"type": "function", "function": "Read"}]),
        ("/v1beta/models/m:generateContent", [{"googleSearch": {}}]),
        ("/v1/messages", {"name": "Read"}),
    ],
)
def test_tools_that_the_client_does_not_run_are_not_offered(serve, path, tools):
    server = serve([[READ]])
    assert b"Done." in ask(server, "POST", path, json.dumps({"tools": tools}))[2]
    assert (server.requests[0].tools, server.conversation) == ((), [])


def test_tools_of_the_vendor_that_the_client_runs(serve):
    server = serve([[ToolCall(("bash",), {"command": "ls"})]])
    body = json.dumps({"tools": [{"type": "bash_20250124", "name": "bash"}]})
    assert json.loads(ask(server, "POST", "/v1/messages", body)[2])["stop_reason"] == "tool_use"


def test_custom_tools_and_namespaces(serve):
    patch = ToolCall(("apply_patch",), {"input": "+ a\n"})
    server = serve([[patch, ToolCall(("echo",), {}), ToolCall(("mcp.echo",), {}), ToolCall(("mcp.free",), {"a": 1})]])
    nested = [{"type": "function", "name": "echo"}, {"type": "custom", "name": "free"}]
    tools = [{"type": "custom", "name": "apply_patch"}, {"type": "namespace", "name": "mcp", "tools": nested}]
    body = json.dumps({"tools": tools, "stream": True})
    events = parse_events(ask(server, "POST", "/v1/responses", body)[2])
    echo = {"type": "function_call", "name": "echo", "namespace": "mcp", "arguments": "{}"}
    done = [data["item"] for name, data in events if name == "response.output_item.done"]
    assert [{key: value for key, value in item.items() if not key.endswith("id")} for item in done] == [
        {"status": "completed", **item}
        for item in (
            {"type": "custom_tool_call", "name": "apply_patch", "input": "+ a\n"},
            echo,
            echo,
            {"type": "custom_tool_call", "name": "free", "namespace": "mcp", "input": '{"a":1}'},
        )
    ]
    assert ("response.custom_tool_call_input.delta", "+ a\n") in [(name, data.get("delta")) for name, data in events]
    assert server.requests[0].tools == ("apply_patch", "mcp.echo", "mcp.free")


def test_a_custom_tool_of_chat_completions(serve):
    server = serve([[ToolCall(("patch",), {"input": "+ a"})]] * 2)
    tools = [{"type": "custom", "custom": {"name": "patch"}}]
    whole = json.loads(ask(server, "POST", "/chat/completions", json.dumps({"tools": tools}))[2])
    call = whole["choices"][0]["message"]["tool_calls"][0]
    assert call == {"id": call["id"], "type": "custom", "custom": {"name": "patch", "input": "+ a"}}
    events = parse_events(ask(server, "POST", "/chat/completions", json.dumps({"tools": tools, "stream": True}))[2])
    assert events[2][1]["choices"][0]["delta"] == {"tool_calls": [{"index": 0, "custom": {"input": "+ a"}}]}


@every_format
def test_ids_are_unique(serve, name):
    servers = [serve([[READ, READ], [READ]]) for _ in range(2)]
    answers = [post(server, name, tools=["Read"], user=user) for server in servers for user in "abc"]
    field = "responseId" if name == "gemini" else "id"
    assert len({answer[field] for answer in answers}) == 6
    calls = [
        value
        for answer in answers
        for key, value in walk(answer)
        if key in ("id", "call_id") and str(value)[:2] != "ms"
    ]
    assert len(set(calls)) == len(calls) >= 6


def walk(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


# streams


def stream_both(serve, name, **more):
    """The events of an answer with a text and a use, and the whole answer to the same question."""
    server = serve([[ToolCall(("missing",), {}), READ]] * 2)
    events = post(server, name, stream=True, tools=["Read"], **more)
    return events, post(server, name, tools=["Read"], **more)


TEXT = "turn 1: no tool named missing is offered"


def test_a_stream_of_messages(serve):
    events, whole = stream_both(serve, "messages")
    assert all(name == data["type"] for name, data in events)
    use = events[4][1]["content_block"]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert [name for name, _ in events] == ["message_start", *block, *block, "message_delta", "message_stop"]
    assert [data["index"] for _, data in events[1:7]] == [0, 0, 0, 1, 1, 1]
    start = events[0][1]["message"]
    assert (start["role"], start["model"], start["content"], start["stop_reason"]) == ("assistant", "m", [], None)
    assert events[1][1]["content_block"] == {"type": "text", "text": ""}
    assert events[2][1]["delta"] == {"type": "text_delta", "text": TEXT}
    assert use == {"type": "tool_use", "id": use["id"], "name": "Read", "input": {}}
    assert json.loads(events[5][1]["delta"]["partial_json"]) == READ.input
    assert events[7][1]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert events[7][1]["usage"]["output_tokens"] > 0
    assert whole["stop_reason"] == "tool_use"
    assert start.keys() == whole.keys()


def test_a_stream_of_responses(serve):
    events, whole = stream_both(serve, "responses")
    assert all(name == data["type"] for name, data in events)
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    assert [name.removeprefix("response.") for name, _ in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    final = events[-1][1]["response"]
    items = [data["item"] for name, data in events if name == "response.output_item.done"]
    assert (final["status"], final["output"], final.keys()) == ("completed", items, whole.keys())
    assert final["usage"]["total_tokens"] == final["usage"]["input_tokens"] + final["usage"]["output_tokens"]
    assert parts_of("responses", final) == [TEXT, ("Read", READ.input)]
    assert [data["item_id"] for _, data in events[3:7]] == [items[0]["id"]] * 4
    assert json.loads(events[10][1]["arguments"]) == READ.input
    added = events[8][1]["item"]
    assert added == items[1] | {"status": "in_progress", "arguments": ""}


def test_a_stream_of_chat_completions(serve):
    events, whole = stream_both(serve, "chat", stream_options={"include_usage": True})
    chunks = [data for _, data in events[:-1]]
    assert events[-1] == ("", "[DONE]")
    assert {(chunk["id"], chunk["object"]) for chunk in chunks} == {(chunks[0]["id"], "chat.completion.chunk")}
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"].keys() == whole["usage"].keys()
    choices = [chunk["choices"][0] for chunk in chunks[:-1]]
    name = choices[2]["delta"]["tool_calls"][0]
    assert [choice["delta"] for choice in choices] == [
        {"role": "assistant", "content": ""},
        {"content": TEXT},
        {
            "tool_calls": [
                {"index": 0, "id": name["id"], "type": "function", "function": {"name": "Read", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"path":"\\u00e9.md"}'}}]},
        {},
    ]
    assert [choice["finish_reason"] for choice in choices] == [None] * 4 + ["tool_calls"]


def test_usage_is_streamed_only_when_asked_for(serve):
    events = post(serve(), "chat", stream=True)
    assert [data["choices"][0]["finish_reason"] for _, data in events[:-1]] == [None, None, "stop"]
    assert all("usage" not in data for _, data in events[:-1])


def test_a_stream_of_gemini(serve):
    events, whole = stream_both(serve, "gemini")
    assert [name for name, _ in events] == ["", ""]
    # the body is the same, so the second request is a retry
    parts = [part for _, data in events for part in data["candidates"][0]["content"]["parts"]]
    assert parts == whole["candidates"][0]["content"]["parts"]
    assert parts_of("gemini", whole) == [TEXT, ("Read", READ.input)]
    assert [data["candidates"][0].get("finishReason") for _, data in events] == [None, "STOP"]
    assert events[1][1]["usageMetadata"] == whole["usageMetadata"]


def test_gemini_streams_an_array_without_sse(serve):
    server = serve([[READ, READ]])
    body = json.dumps(make_body("gemini", tools=["Read"]))
    status, media, text = ask(server, "POST", "/v1beta/models/m:streamGenerateContent", body)
    assert (status, media) == (200, "application/json")
    assert [parts_of("gemini", response) for response in json.loads(text)] == [[("Read", READ.input)]] * 2


@every_format
@pytest.mark.parametrize("stream", [False, True])
def test_reasons_to_stop(serve, name, stream):
    server = serve([[READ]])
    reasons = {
        "messages": ('"stop_reason": "tool_use"', '"stop_reason": "end_turn"'),
        "responses": ('"status": "completed"',) * 2,
        "chat": ('"finish_reason": "tool_calls"', '"finish_reason": "stop"'),
        "gemini": ('"finishReason": "STOP"',) * 2,
    }
    for user, reason in zip("ab", reasons[name], strict=True):
        assert reason in json.dumps(post(server, name, stream=stream, tools=["Read"], user=user))


# what else is asked


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/v1/messages/count_tokens?beta=true", "input_tokens"),
        ("/messages/count_tokens", "input_tokens"),
        ("/v1beta/models/m:countTokens", "totalTokens"),
    ],
)
def test_tokens_are_counted_and_no_turn_is_used_up(serve, path, key):
    server = serve([[READ]])
    status, _, text = ask(server, "POST", path, json.dumps({"tools": [{"name": "Read"}], "model": "m"}))
    assert status == 200
    assert json.loads(text) == {key: 11}
    assert [(each.format, each.tools) for each in server.requests] == [("", ())]
    assert server.conversation == []


def test_models_are_listed(serve):
    server = serve()
    assert [model["id"] for model in get_json(server, "/v1/models")["data"]] == ["probe-model"]
    for model in ("b", "a", "b"):
        post(server, "chat", model=model)
    ask(server, "POST", "/v1beta/models/g%2Fx:generateContent", "{}")
    for path in ("/v1/models?limit=1000", "/models"):
        assert [model["id"] for model in get_json(server, path)["data"]] == ["b", "a", "g/x"]
    listed = get_json(server, "/v1beta/models")["models"]
    assert [model["name"] for model in listed] == ["models/b", "models/a", "models/g/x"]


def get_json(server, path):
    status, media, text = ask(server, "GET", path)
    assert (status, media) == (200, "application/json")
    return json.loads(text)


def test_pages(serve):
    server = serve(pages={"/a.md": "é", "/b?x=1": "with a query", "/v1/models": "mine"})
    plain = "text/plain; charset=utf-8"
    assert ask(server, "GET", "/a.md?y") == (200, plain, "é".encode())
    assert ask(server, "GET", "/b?x=1") == (200, plain, b"with a query")
    assert ask(server, "GET", "/v1/models") == (200, plain, b"mine")
    assert ask(server, "GET", "/b")[0] == ask(server, "POST", "/a.md")[0] == 404


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"])
def test_anything_else_is_not_found_but_recorded(serve, method):
    server = serve()
    status, media, text = ask(server, method, "/telemetry?x=1", "[1]", {"X-Key": "k"})
    assert (status, media) == (404, "application/json")
    assert json.loads(text)["error"]["message"] == f"nothing is at {method} /telemetry"
    headers = {"host": server.url[7:], "accept-encoding": "identity", "content-length": "3", "x-key": "k"}
    assert server.requests == [Exchange(1, method, "/telemetry?x=1", headers, [1], "", ())]


def test_head_has_headers_only(serve):
    server = serve(pages={"/a": "text"})
    connection = connect(server)
    for path, status, length in (("/a", 200, "4"), ("/v1/models", 200, None), ("/", 404, None), ("/a", 200, "4")):
        connection.request("HEAD", path)
        response = connection.getresponse()
        assert (response.status, response.read()) == (status, b"")
        assert response.getheader("Content-Length") == length or length is None
    connection.close()
    assert [each.method for each in server.requests] == ["HEAD"] * 4


def test_addresses_as_a_proxy_sees_them(serve):
    server = serve()
    assert ask(server, "POST", "http://api.example/v1/messages", "{}")[0] == 200
    assert ask(server, "CONNECT", "api.example:443")[0] == 404
    assert [each.format for each in server.requests] == ["messages", ""]


# bodies


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("gzip", lambda data: gzip.compress(data[:9], mtime=0) + gzip.compress(data[9:], mtime=0)),
        ("GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
        ("deflate, gzip", lambda data: gzip.compress(zlib.compress(data), mtime=0)),
        ("identity", bytes),
    ],
)
def test_packed_bodies(serve, encoding, pack):
    server = serve([[READ]])
    body = make_body("messages", tools=["Read"])
    packed = pack(json.dumps(body).encode())
    status, _, text = ask(server, "POST", "/v1/messages", packed, {"Content-Encoding": encoding})
    assert (status, parts_of("messages", json.loads(text))) == (200, [("Read", READ.input)])
    assert server.requests[0].body == body


@pytest.mark.parametrize(
    ("encoding", "body", "status"),
    [
        ("zstd", b"\x28\xb5\x2f\xfd", 415),
        ("br", b"x", 415),
        ("gzip", b"not gzip", 400),
        ("gzip", gzip.compress(b"{}" * 99, mtime=0)[:-9], 400),
        ("deflate", b"\xff\xff", 400),
        ("gzip", gzip.compress(b" " * (LIMIT + 1), 1, mtime=0), 413),
    ],
)
def test_bodies_that_cannot_be_unpacked(serve, encoding, body, status):
    server = serve()
    found, media, text = ask(server, "POST", "/v1/messages", body, {"Content-Encoding": encoding})
    assert (found, media, json.loads(text)["type"]) == (status, "application/json", "error")
    assert [(each.path, each.body) for each in server.requests] == [("/v1/messages", "")]
    assert server.problems == [f"request 1: {json.loads(text)['error']['message']}"]


def test_a_body_in_chunks(serve):
    server = serve()
    text = json.dumps(make_body("chat", user="é" * 70_000)).encode()
    connection = connect(server)
    for _ in range(2):  # the second shows that the first was read to its end
        chunks = iter([text[:1], text[1:99_999], text[99_999:]])
        connection.request("POST", "/v1/chat/completions", chunks, encode_chunked=True)
        response = connection.getresponse()
        assert (response.status, parts_of("chat", json.loads(response.read()))) == (200, ["Done."])
    connection.close()
    assert [each.body for each in server.requests] == [json.loads(text)] * 2


def converse(server, request):
    """Send bytes and read to the end."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


CHUNKED = b"POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_chunks_with_extensions_and_trailers(serve):
    server = serve()
    request = CHUNKED + b"1;name=value\r\n{\r\n00001\r\n}\r\n0\r\nTrailer: x\r\n\r\n"
    answer = converse(server, request * 2)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert [each.body for each in server.requests] == [{}, {}]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: many\r\n\r\n", b"400"),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (LIMIT + 1), b"413"),
        (CHUNKED + b"many\r\n", b"400"),
        (CHUNKED + b"-1\r\n", b"400"),
        (CHUNKED + b"1\r\nabc\r\n", b"400"),
        (CHUNKED + b"1\r\na\r\n%x\r\n" % LIMIT, b"413"),
    ],
)
def test_bodies_of_no_or_too_great_length(serve, request_, status):
    server = serve()
    answer = converse(server, request_)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"Connection: close" in answer
    assert [each.body for each in server.requests] == [""]


def test_a_body_that_is_too_large_is_refused_while_it_is_sent(serve):
    server = serve()
    assert ask(server, "POST", "/v1/messages", bytes(LIMIT + 1))[0] == 413
    assert ask(server, "POST", "/v1/messages", "{}")[0] == 200


@every_format
@pytest.mark.parametrize("body", ["", "{", "[]", '"text"', "[" * 100_000, b"\xff"])
def test_bodies_that_are_no_object(serve, name, body):
    server = serve()
    status, _, text = ask(server, "POST", FORMATS[name][0], body)
    assert (status, json.loads(text)["error"]["message"]) == (400, "the body is not an object of JSON")
    assert server.requests[0].body == ([] if body == "[]" else "\ufffd" if body == b"\xff" else body)


def test_headers_that_come_twice(serve):
    server = serve()
    converse(server, b"GET / HTTP/1.1\r\nX-A: 1\r\nx-a: 2\r\n\r\n")
    assert server.requests[0].headers == {"x-a": "1, 2"}


# connections


def test_a_connection_is_kept(serve):
    server = serve([[READ]], pages={"/a": "x"})
    connection = connect(server)
    connection.connect()
    port = connection.sock.getsockname()
    for method, path, body in (
        ("POST", "/v1/messages", make_body("messages", stream=True)),
        ("GET", "/a", None),
        ("POST", "/nothing", {"a": 1}),
        ("POST", "/v1beta/models/m:streamGenerateContent", {}),
        ("GET", "/models", None),
    ):
        connection.request(method, path, json.dumps(body) if body is not None else None)
        connection.getresponse().read()
        assert connection.sock.getsockname() == port
    connection.close()
    assert len(server.requests) == 5


def test_a_client_of_http_1_0(serve):
    server = serve()
    body = b'{"stream": true}'
    answer = converse(server, b"POST /v1/messages HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    head, _, text = answer.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert parse_events(text)[-1] == ("message_stop", {"type": "message_stop"})


def test_a_client_that_waits_to_be_told_to_continue(serve):
    server = serve()
    answer = converse(server, b"POST /v1/messages HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


def test_requests_at_the_same_time_get_a_turn_each(serve):
    server = serve([[ToolCall(("Read",), {"turn": turn})] for turn in range(40)])
    barrier = threading.Barrier(8)
    answers = []

    def run(client):
        barrier.wait()
        for number in range(5):
            name = list(FORMATS)[(client + number) % 4]
            answer = post(server, name, tools=["Read"], user=f"{client}.{number}")
            post(server, name, stream=True)
            answers.extend(parts_of(name, answer))

    threads = [threading.Thread(target=run, args=(client,)) for client in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turn["turn"] for _, turn in answers) == list(range(40))
    assert [each.number for each in server.requests] == list(range(1, 81))
    assert len(server.conversation) == 40
    assert server.problems == []


def test_a_client_that_goes_away_does_no_harm(serve):
    server = serve([[ToolCall(("Read",), {"path": "x" * 20_000_000})]])
    body = json.dumps(make_body("messages", tools=["Read"], stream=True)).encode()
    head = b"POST /v1/messages HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    host, port = server.url.removeprefix("http://").split(":")
    for sent, read in ((head + body, 100), (head + body[:9], 0), (head[:20], 0), (b"", 0)):
        client = socket.create_connection((host, int(port)), timeout=20)
        client.sendall(sent)
        assert len(client.recv(read)) == read
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a goodbye
        client.close()
    assert parts_of("messages", post(server, "messages")) == ["Done."]
    assert server.problems == []
    assert [len(each.tools) for each in server.requests] == [1, 0]


def test_stop_ends_connections_in_every_state(serve):
    server = serve([[ToolCall(("Read",), {"path": "x" * 20_000_000})]])
    body = json.dumps(make_body("chat", tools=["Read"], stream=True)).encode()
    head = b"POST /chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    host, port = server.url.removeprefix("http://").split(":")
    clients = [socket.create_connection((host, int(port)), timeout=20) for _ in range(4)]
    for client, sent in zip(clients, (head + body, head + body[:9], head[:9], b""), strict=True):
        client.sendall(sent)
    assert clients[0].recv(9) == b"HTTP/1.1 "  # and reads no further
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=20)
    for client in clients:
        client.close()


def test_start_and_stop_can_be_repeated(serve):
    server = ModelServer([[READ], [LIST]])
    server.stop()
    assert server.url == ""
    with server:
        url = server.url
        server.start()
        assert server.url == url
        post(server, "chat", tools=["Read", "list"], user="a")
    server.stop()
    with server:
        assert parts_of("chat", post(server, "chat", tools=["Read", "list"], user="b")) == [("list", LIST.input)]
    assert [each.number for each in server.conversation] == [1, 2]


def test_an_input_that_is_no_json_is_a_problem(serve):
    server = serve([[ToolCall(("Read",), {"path": b"bytes"})]])
    with pytest.raises(http.client.RemoteDisconnected):
        post(server, "chat", tools=["Read"])
    server.stop()
    assert server.problems == [
        "a request could not be answered: TypeError('Object of type bytes is not JSON serializable')"
    ]


def test_numbers_are_in_the_order_of_arrival(serve):
    server = serve()
    for path in ("/a", "/b", "/c"):
        ask(server, "GET", path)
    assert [each.path for each in server.requests] == ["/a", "/b", "/c"]
    assert all(one.number + 1 == next_.number for one, next_ in pairwise(server.requests))
