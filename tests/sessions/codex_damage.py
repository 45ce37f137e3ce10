"""Ways to change a rollout of Codex, each small: what `codex resume` makes of it was recorded from the real program.

A way takes the lines of a rollout and gives the bytes of another. `tests/system/live_codex.py` plays them to the
program again; `test_codex_resume.py` compares ours with what was recorded.
"""

import base64
import copy
import json
import struct
import zlib

MOMENT = "2026-11-16T03:26:27.656Z"
FUNCTION = {"type": "function_call", "id": "fc_9", "name": "x", "arguments": "{}", "call_id": "c6"}
CUSTOM = {"type": "custom_tool_call", "id": "ctc_1", "status": "completed", "call_id": "c9", "name": "p", "input": "x"}
SHELL = {"type": "local_shell_call", "id": "lsh_1", "status": "completed"}
EXEC = {"type": "exec", "command": ["ls"]}
SEARCH = {"type": "tool_search_call", "id": "ts_1", "execution": "client", "arguments": {"query": "x"}}


def dumped(records):
    return "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records).encode()


def parsed(lines):
    return [json.loads(line) for line in lines]


def png():
    """A picture of one pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head, pixel = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0), zlib.compress(b"\0\xff\0\0")
    whole = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(whole).decode()


def items(records, kind=None):
    """Places of the items of a conversation, or of those of one type."""
    found = [place for place, record in enumerate(records) if record["type"] == "response_item"]
    return [place for place in found if kind is None or records[place]["payload"]["type"] == kind]


def said(text, **more):
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}], **more}


def prompts(records):
    """Places of the prompts."""
    users = [place for place in items(records, "message") if records[place]["payload"]["role"] == "user"]
    return [place for place in users if "# AGENTS.md" not in records[place]["payload"]["content"][0]["text"]]


def put(*payloads, kind="response_item", place=len):
    """Put records at a place, and number all of them anew."""

    def way(lines):
        records = parsed(lines)
        at = place(records)
        records[at:at] = [{"timestamp": MOMENT, "type": kind, "payload": payload} for payload in payloads]
        order = ("timestamp", "ordinal", "type", "payload")
        numbered = [{**record, "ordinal": number} for number, record in enumerate(records)]
        return dumped([{name: record[name] for name in order} for record in numbered])

    return way


def kept(test):
    """Keep the records that pass."""
    return lambda lines: dumped([record for record in parsed(lines) if test(record)])


def edited(place, **fields):
    """Give an item other fields."""

    def way(lines):
        records = parsed(lines)
        records[items(records)[place]]["payload"].update(fields)
        return dumped(records)

    return way


def without(kind, number):
    """Leave out one item of a type."""

    def way(lines):
        records = parsed(lines)
        del records[items(records, kind)[number]]
        return dumped(records)

    return way


def line_in_the_middle(text, *, replaces=False):
    """A line of our own before the fifth item, or in its place."""

    def way(lines):
        at = items(parsed(lines))[4]
        return b"".join([*lines[:at], text.encode() + b"\n", *lines[at + replaces :]])

    return way


def doubled(place):
    def way(lines):
        at = items(parsed(lines))[place]
        return b"".join([*lines[: at + 1], *lines[at:]])

    return way


def as_older(lines):
    """Without what newer versions write: the mode and the numbers."""
    records = parsed(lines)
    del records[0]["payload"]["history_mode"]
    return [{name: value for name, value in record.items() if name != "ordinal"} for record in records]


def second_start(*, older=False):
    def way(lines):
        records = as_older(lines) if older else parsed(lines)
        return dumped([*records[:10], copy.deepcopy(records[0]), *records[10:]])

    return way


def reversed_middle(lines):
    return b"".join([*lines[:9], *lines[9:20][::-1], *lines[20:]])


def torn_in_last_item(lines):
    at = items(parsed(lines))[-1]
    return b"".join(lines[:at]) + lines[at][:100]


def no_times(lines):
    records = parsed(lines)
    return dumped([records[0], *({k: v for k, v in record.items() if k != "timestamp"} for record in records[1:])])


def no_ids(lines):
    records = parsed(lines)
    for place in items(records):
        records[place]["payload"].pop("id", None)
    return dumped(records)


def result_before_call(lines):
    records = parsed(lines)
    call, result = items(records, "function_call")[0], items(records, "function_call_output")[0]
    records.insert(call, records.pop(result))
    return dumped(records)


def before_last_turn(records):
    """Before the records of the last prompt's turn."""
    return max(
        place for place in range(prompts(records)[-1]) if records[place]["payload"].get("type") == "task_started"
    )


def fork_of(lines, name, child):
    """A fork of a session from its first turn on, with an item of its own, as the program writes it."""
    records = parsed(lines)
    end = next(n for n, record in enumerate(records) if record["payload"].get("type") == "task_complete") + 1
    base = {"thread_id": name, "end_ordinal_exclusive": end, "end_byte_offset": sum(map(len, lines[:end]))}
    begin = copy.deepcopy(records[0])
    begin["ordinal"] = end
    begin["payload"].update(
        {"id": child, "session_id": child, "forked_from_id": name, "forked_from_ordinal_exclusive": end}
    )
    begin["payload"]["history_base"] = base
    own = {"timestamp": MOMENT, "ordinal": end + 1, "type": "response_item", "payload": said("In the fork")}
    return dumped([begin, own])


COMPACTED = {"message": "Summary", "replacement_history": [said("kept"), said("the summary")]}
ENVIRONMENT = said("<environment_context>\n  <cwd>/elsewhere</cwd>\n</environment_context>")

WAYS = {
    "as it is": b"".join,
    "torn tail": lambda lines: b"".join(lines)[:-30],
    "torn in its last item": torn_in_last_item,
    "torn within a character": lambda lines: b"".join(lines) + '{"timestamp":"日'.encode()[:-1],
    "no newline at the end": lambda lines: b"".join(lines)[:-1],
    "item damaged": line_in_the_middle('{"timest', replaces=True),
    "line of garbage": line_in_the_middle("garbage"),
    "line that is an array": line_in_the_middle("[1, 2]"),
    "line of bytes that are no text": lambda lines: b"".join([*lines[:9], b"\xff\xfe\x00\n", *lines[9:]]),
    "record of an unknown type": line_in_the_middle(json.dumps({"timestamp": MOMENT, "type": "new", "payload": {}})),
    "blank lines": lambda lines: b"\n".join(lines) + b"\n\n",
    "carriage returns": lambda lines: b"".join(lines).replace(b"\n", b"\r\n"),
    "byte order mark": lambda lines: b"\xef\xbb\xbf" + b"".join(lines),
    "without its first record": lambda lines: b"".join(lines[1:]),
    "first record damaged": lambda lines: b"".join([b"{\n", *lines[1:]]),
    "result missing": without("function_call_output", 0),
    "two results missing": lambda lines: without("function_call_output", 0)(
        without("function_call_output", 1)(lines).splitlines(keepends=True)
    ),
    "call missing": without("function_call", 0),
    "call doubled": doubled(3),
    "result doubled": doubled(4),
    "result before its call": result_before_call,
    "records in another order": reversed_middle,
    "only items": kept(lambda record: record["type"] in ("session_meta", "response_item")),
    "no events": kept(lambda record: record["type"] != "event_msg"),
    "no state of the world": kept(lambda record: record["type"] != "world_state"),
    "no context of turns": kept(lambda record: record["type"] != "turn_context"),
    "no numbers": lambda lines: dumped(
        [{name: value for name, value in record.items() if name != "ordinal"} for record in parsed(lines)]
    ),
    "no times": no_times,
    "no ids": no_ids,
    "as older versions write": lambda lines: dumped(as_older(lines)),
    "begins twice": second_start(),
    "begins twice, older": second_start(older=True),
    "field unknown": edited(3, strange=1),
    "fields null": edited(3, id=None, status=None),
    "id empty": put({**FUNCTION, "id": ""}),
    "piece with an unknown field": put(
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "t", "strange": 1}], "foo": 2}
    ),
    "item unknown": put({"type": "brand_new_item", "x": 1}),
    "ghost snapshot": put({"type": "ghost_snapshot", "ghost_commit": {"id": "abc"}}),
    "role system": put({**said("s"), "role": "system"}),
    "role unknown": put({**said("s"), "role": "tool"}),
    "piece unknown": put({"type": "message", "role": "user", "content": [{"type": "strange"}]}),
    "content empty": put({"type": "message", "role": "user", "content": []}),
    "payload null": put(None),
    "field missing": put({"type": "function_call", "name": "x"}),
    "arguments an object": put({**FUNCTION, "arguments": {"a": 1}}),
    "reasoning": put({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"}),
    "reasoning shown": put(
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "s"}],
            "content": [{"type": "reasoning_text", "text": "t"}],
        }
    ),
    "answer with a phase": put({**said("x"), "role": "user", "phase": "final_answer", "end_turn": True}),
    "custom tool": put(CUSTOM, {"type": "custom_tool_call_output", "call_id": "c9", "output": "ok"}),
    "custom tool without result": put(CUSTOM),
    "custom result alone": put({"type": "custom_tool_call_output", "call_id": "c9", "output": "ok"}),
    "result of another kind": put(FUNCTION, {"type": "custom_tool_call_output", "call_id": "c6", "output": "hi"}),
    "result of pieces": put(
        FUNCTION, {"type": "function_call_output", "call_id": "c6", "output": [{"type": "input_text", "text": "hi"}]}
    ),
    "result an object": put(FUNCTION, {"type": "function_call_output", "call_id": "c6", "output": {"content": "hi"}}),
    "result empty": put(FUNCTION, {"type": "function_call_output", "call_id": "c6", "output": "", "success": True}),
    "call of a namespace": put({**FUNCTION, "namespace": "mcp"}),
    "shell without result": put({**SHELL, "call_id": "c8", "action": EXEC}),
    "shell without an id": put({**SHELL, "call_id": None, "action": EXEC}),
    "search of the web": put({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
    "search of tools without result": put({**SEARCH, "call_id": "c7"}),
    "image made": put({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "x"}),
    "image shown": put({"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": png()}]}),
    "other agent": put(
        {"author": "/root/a", "recipient": "/root", "content": "hello", "other_recipients": [], "trigger_turn": False},
        kind="inter_agent_communication",
    ),
    "compacted at the end": put(COMPACTED, kind="compacted"),
    "compacted before the last turn": put(COMPACTED, kind="compacted", place=before_last_turn),
    "compacted by an older version": put({"message": "Summary"}, kind="compacted"),
    "compacted earlier by an older version": put({"message": "Summary"}, kind="compacted", place=before_last_turn),
    "compaction of the server": put({"type": "compaction", "encrypted_content": "abc"}),
    "one turn rolled back": put({"type": "thread_rolled_back", "num_turns": 1}, kind="event_msg"),
    "two turns rolled back": put({"type": "thread_rolled_back", "num_turns": 2}, kind="event_msg"),
    "nine turns rolled back": put({"type": "thread_rolled_back", "num_turns": 9}, kind="event_msg"),
    "no turn rolled back": put({"type": "thread_rolled_back", "num_turns": 0}, kind="event_msg"),
    "turn with context rolled back": lambda lines: put(
        {"type": "thread_rolled_back", "num_turns": 1}, kind="event_msg"
    )(put(ENVIRONMENT, place=lambda records: prompts(records)[-1])(lines).splitlines(keepends=True)),
    "turn aborted": put({"type": "turn_aborted", "turn_id": "t", "reason": "interrupted"}, kind="event_msg"),
}
