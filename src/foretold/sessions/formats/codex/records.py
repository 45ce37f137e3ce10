"""A record of Codex's rollouts as a message.

1. A record is `{"timestamp", "type", "payload"}`; in older files it is the payload itself. What the model received or
   answered are records of the type `response_item`.
2. `developer` messages are context, and so are those of the user that contain only what Codex adds: instructions, the
   environment, skills. Where Codex records the kind of a text, that decides.
3. Reasoning, calls and answers of the model have the role assistant, results of tools the role user.
4. Bookkeeping (token counts, settings, events that repeat an item) has the kind meta; other events (errors, a turn that
   was stopped, a rollback) and unknown records are notices.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from foretold.sessions.formats.fields import Json, list_at, object_at, parse_time, text_at
from foretold.sessions.formats.jsonl import JsonlRecord
from foretold.sessions.model import Message, Part

Names = dict[str, str]  #: calls whose result has not come: id -> tool

#: a text of the role user that begins like this was added by Codex
CONTEXT = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<skills_instructions>",
    "<skill>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<INSTRUCTIONS>",
)
#: events that no other record repeats, and the field with their text
_EVENTS = {
    "error": "message",
    "warning": "message",
    "stream_error": "message",
    "turn_aborted": "reason",
    "thread_rolled_back": "",
    "thread_name_updated": "thread_name",
    "entered_review_mode": "user_facing_hint",
    "exited_review_mode": "",
}
#: types of records that are bookkeeping
_BOOKKEEPING = (
    "event_msg",
    "turn_context",
    "world_state",
    "token_usage_record",
    "session_meta",
    "dynamic_tools_updated",
)
#: type of a call -> the fields that hold its tool and its input
_CALLS = {
    "function_call": ("name", "arguments"),
    "custom_tool_call": ("name", "input"),
    "local_shell_call": ("", "action"),
    "web_search_call": ("", "action"),
    "tool_search_call": ("", "arguments"),
    "image_generation_call": ("", "revised_prompt"),
}
_RESULTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
_IMAGES = ("input_image", "image")
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)


def unwrapped(value: Json) -> tuple[str, Json]:
    """The type of a record and its payload, in the newer form and in the older one."""
    payload = value.get("payload")
    if isinstance(payload, dict):
        return text_at(value, "type"), payload
    if text_at(value, "type") in ("message", "reasoning", *_CALLS, *_RESULTS):
        return "response_item", value
    if "record_type" in value:
        return "event_msg", value
    if "id" in value and "timestamp" in value and "type" not in value:
        return "session_meta", value
    return text_at(value, "type"), value


def message_of(record: JsonlRecord, names: Names, model: str = "") -> Message:
    """A record as a message. Names of calls are kept in `names` until their result comes."""
    kind, payload = unwrapped(record.value)
    if kind == "response_item":
        role, parts, why = item_of(payload, names)
    else:
        role, parts, why = _other_record(kind, payload, record.value)
    time = parse_time(record.value.get("timestamp")) or parse_time(payload.get("timestamp"))
    name = text_at(payload, "id") if kind == "response_item" else ""
    author = model if role == "assistant" else ""
    return Message(  # positional: keywords make reading slower
        name or f"byte {record.start}", role, parts, time, author, "", why, record.line, record.start, record.end
    )


def _other_record(kind: str, payload: Json, value: Json) -> tuple[str, tuple[Part, ...], str]:
    """Role, parts and kind of a record that is not an item of the conversation."""
    if kind == "compacted":
        return "system", (Part("text", text_at(payload, "message"), raw=payload),), "summary"
    if kind == "session_meta":
        text = text_at(payload.get("base_instructions"), "text") or text_at(payload, "instructions")
        return "system", (*((Part("text", text, raw=text),) if text else ()), Part("other", raw=payload)), "context"
    if kind == "inter_agent_communication":
        return "user", (Part("text", text_at(payload, "content"), raw=payload),), "meta"
    event = text_at(payload, "type") if kind == "event_msg" else ""
    if event in _EVENTS:
        return "system", (Part("other", text_at(payload, _EVENTS[event]), raw=payload),), "notice"
    return "system", (Part("other", raw=value),), "meta" if kind in _BOOKKEEPING else "notice"


def item_of(item: Json, names: Names) -> tuple[str, tuple[Part, ...], str]:
    """Role, parts and kind of an item of the conversation."""
    kind = text_at(item, "type")
    if kind == "message":
        return _message(item)
    if kind == "reasoning":
        pieces = [*list_at(item, "summary"), *list_at(item, "content")]
        return "assistant", (Part("thinking", "\n".join(text_at(piece, "text") for piece in pieces), raw=item),), ""
    if kind in _CALLS:
        return "assistant", (_call(item, names),), ""
    if kind in _RESULTS:
        return "user", _result(item, names), ""
    return "system", (Part("other", raw=item),), "notice"


def _message(item: Json) -> tuple[str, tuple[Part, ...], str]:
    content = item.get("content")
    parts = tuple(_piece(piece) for piece in content) if isinstance(content, list) else (Part("other", raw=content),)
    role = text_at(item, "role")
    if role == "assistant":
        return role, parts, ""
    if role != "user":
        return "system", parts, "context"
    kinds = list_at(object_at(item, "internal_chat_message_metadata_passthrough"), "content_item_kinds")
    if kinds and kinds != ["unknown"] * len(kinds):
        is_typed = any(isinstance(kind, str) and kind.startswith("user.") for kind in kinds)
    else:
        is_typed = not all(part.kind == "text" and part.text.lstrip().startswith(CONTEXT) for part in parts)
    return role, parts, "context" if parts and not is_typed else ""


def _piece(piece: object) -> Part:
    kind = text_at(piece, "type")
    if kind in _IMAGES:
        return Part("image", text_at(piece, "image_url").partition(";")[0].removeprefix("data:"), raw=piece)
    known = kind in ("input_text", "output_text", "text")
    return Part("text" if known else "other", text_at(piece, "text"), raw=piece)


def _call(item: Json, names: Names) -> Part:
    kind = text_at(item, "type")
    name, field = _CALLS[kind]
    tool = text_at(item, name) if name else kind.removesuffix("_call")
    call = text_at(item, "call_id") or text_at(item, "id")
    names[call] = tool
    return Part("call", tool=tool, id=call, input=_input_of(item.get(field), field), raw=item)


def _input_of(value: object, field: str) -> Json | None:
    """The input of a call: an object, even if it is written as a text."""
    if isinstance(value, str) and field == "arguments":
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return value if value is None or isinstance(value, dict) else {field: value}


def _result(item: Json, names: Names) -> tuple[Part, ...]:
    call = text_at(item, "call_id")
    output = item.get("output", item.get("tools"))
    failed = False
    if isinstance(output, dict):  # as older versions wrote it
        failed, output = output.get("success") is False, output.get("content")
    pieces = [_piece(piece) for piece in output] if isinstance(output, list) else []
    text = output if isinstance(output, str) else "\n".join(piece.text for piece in pieces if piece.kind == "text")
    text, code = _shell_output(text)
    result = Part("result", text, names.pop(call, ""), call, failed=failed or code != 0, raw=item)
    return (result, *(piece for piece in pieces if piece.kind == "image"))


def _shell_output(text: str) -> tuple[str, int]:
    """The output and the exit status of a command; older versions wrote both as JSON."""
    if text.startswith('{"output":'):
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            value = json.loads(text)
            return str(value["output"]), int(value["metadata"]["exit_code"])
        return text, 0
    code = _EXIT.search(text[:200])
    return text, int(code[1]) if code else 0


def prompt_of(value: Json) -> str:
    """What a person typed; empty if the record is something else."""
    kind, item = unwrapped(value)
    if kind != "response_item" or text_at(item, "role") != "user":
        return ""
    _, parts, why = item_of(item, {})
    typed = [part.text for part in parts if part.kind == "text" and not part.text.lstrip().startswith(CONTEXT)]
    return "" if why else "\n".join(typed).strip()
