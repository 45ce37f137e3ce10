"""A record of Claude Code's transcripts as a message.

1. `user` and `assistant` are messages of that role; a content that is a text is one part.
2. An `attachment` is what the agent added to a prompt: its role is system, its kind attachment; what a person typed
   while the agent was working (`queued_command`) is a message of the user.
3. `system` records and unknown ones are notices: the record itself is their one part, `other`.
4. The kind is the purpose of a record, empty for messages: sidechain, meta, summary, attachment, notice.
5. The bytes of an image are in `raw` only.
"""

from __future__ import annotations

from foretold.sessions.formats.fields import Json, list_at, object_at, parse_time, text_at
from foretold.sessions.formats.jsonl import JsonlRecord
from foretold.sessions.model import Message, Part

Names = dict[str, str]  #: calls whose result has not come: id -> tool

CHAINED = ("user", "assistant", "attachment", "system")  #: types of records that name their parents

#: a prompt that begins like this was not typed: a command of the terminal added it
_NOT_TYPED = (
    "<command-",
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<system-reminder>",
    "Caveat: The messages",
)


def message_of(record: JsonlRecord, names: Names, *, is_subagent: bool = False) -> Message:
    """A record as a message. Names of calls are kept in `names` until their result comes."""
    value = record.value
    kind = value.get("type")
    message = value.get("message")
    if kind in ("user", "assistant") and isinstance(message, dict):
        role, parts = str(kind), _parts(message.get("content"), names)
    elif kind == "attachment":
        given = value.get("attachment")
        text = _attachment_text(given) or "\n".join(text_at(one, "content") for one in list_at(value, "rendered"))
        is_typed = text_at(given, "type") == "queued_command"
        role, parts = "user" if is_typed else "system", (Part("text" if is_typed else "other", text, raw=given),)
    elif kind == "summary":
        role, parts = "system", (Part("text", text_at(value, "summary"), raw=value),)
    else:
        role, parts = "system", (Part("other", text_at(value, "content"), raw=value),)
    return Message(  # positional: with keywords, reading a session takes 7 % longer
        text_at(value, "uuid") or f"byte {record.start}",
        role,
        parts,
        parse_time(value.get("timestamp")),
        text_at(message, "model"),
        text_at(value, "parentUuid"),
        _kind(value, role, is_subagent=is_subagent),
        record.line,
        record.start,
        record.end,
    )


def _kind(value: Json, role: str, *, is_subagent: bool) -> str:
    if value.get("isSidechain") is True and not is_subagent:
        return "sidechain"
    if value.get("type") == "attachment":
        return "attachment"
    if value.get("isCompactSummary") is True or value.get("type") == "summary":
        return "summary"
    if role == "system" or value.get("isApiErrorMessage") is True:
        return "notice"
    return "meta" if value.get("isMeta") is True else ""


def _attachment_text(attachment: object) -> str:
    """The text of an attachment, as far as it has one."""
    if not isinstance(attachment, dict):
        return ""
    for name in ("content", "prompt", "snippet", "addedLines"):
        value = attachment.get(name)
        if isinstance(value, dict):
            value = value.get("file", value)
            value = value.get("content") if isinstance(value, dict) else None
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "\n".join(item if isinstance(item, str) else text_at(item, "text") for item in value)
    return ""


def _parts(content: object, names: Names) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Part("text", content, raw=content),)
    if not isinstance(content, list):
        return (Part("other", raw=content),)
    parts: list[Part] = []
    for block in content:
        parts += _part(block, names)
    return tuple(parts)


def _part(block: object, names: Names) -> list[Part]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text":
        return [Part("text", text_at(block, "text"), raw=block)]
    if kind in ("thinking", "redacted_thinking"):
        return [Part("thinking", text_at(block, "thinking"), raw=block)]
    if kind == "image":
        return [_image(block)]
    if not isinstance(block, dict):
        return [Part("other", raw=block)]
    if kind in ("tool_use", "server_tool_use"):
        given, name, call = block.get("input"), text_at(block, "name"), text_at(block, "id")
        names[call] = name
        return [Part("call", tool=name, id=call, input=given if isinstance(given, dict) else None, raw=block)]
    if kind == "tool_result":
        return _result(block, names)
    return [Part("other", raw=block)]


def _result(block: Json, names: Names) -> list[Part]:
    call = text_at(block, "tool_use_id")
    content, tool, failed = block.get("content"), names.pop(call, ""), block.get("is_error") is True
    inner = list_at(block, "content")
    texts = [text_at(one, "text") for one in inner if text_at(one, "type") == "text"]
    text = content if isinstance(content, str) else "\n".join(texts)
    images = [_image(one) for one in inner if text_at(one, "type") == "image"]
    return [Part("result", text, tool, call, failed=failed, raw=block), *images]


def _image(block: object) -> Part:
    return Part("image", text_at(object_at(block, "source"), "media_type"), raw=block)


def prompt_of(value: Json) -> str:
    """What a person typed; empty if the record is something else."""
    if value.get("type") != "user" or value.get("isMeta") or value.get("isCompactSummary"):
        return ""
    parts = _parts(object_at(value, "message").get("content"), {})
    if any(part.kind == "result" for part in parts):
        return ""
    text = "\n".join(part.text for part in parts if part.kind == "text").strip()
    return "" if text.startswith(_NOT_TYPED) else text
