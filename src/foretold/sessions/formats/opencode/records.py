"""A message of opencode, which is stored in several records, as a `Message`.

1. A message has a role and `time`; its contents are parts, each a separate record. A part of the type `tool` is a call
   and, when it has ended, its result as well.
2. A text that opencode has added is `synthetic`: a message of the user that has only such texts is context. An answer
   that is a `summary` is the result of a compaction.
3. Other types of parts (steps, snapshots, patches) are kept unchanged, and so is the record of the message, as its last
   part, with fields that are not known.
"""

from __future__ import annotations

from foretold.sessions.formats.fields import Json, object_at, text_at
from foretold.sessions.model import Message, Part
from foretold.types import NamedTuple


class StoredMessage(NamedTuple):
    """A message as opencode stores it."""

    id: str
    created: int  #: milliseconds since 1970
    data: Json
    parts: tuple[object, ...]  #: the records of its parts, in order


def message_of(stored: StoredMessage, end: int) -> Message:
    """A stored message as a `Message`."""
    data = stored.data
    parts: list[Part] = []
    for record in stored.parts:
        parts += _parts(record)
    error = data.get("error")
    text = text_at(object_at(error, "data"), "message")
    role = text_at(data, "role")
    model = text_at(data, "modelID") or text_at(data.get("model"), "modelID")
    about = Part("other", text, failed=error is not None, raw=data)
    is_known = role in ("user", "assistant")
    return Message(
        stored.id,
        role if is_known else "system",
        (*parts, about),
        time=stored.created / 1000 if stored.created else None,
        model=model if role == "assistant" else "",
        parent=text_at(data, "parentID"),
        kind=_kind(data, stored.parts) if is_known else "notice",
        start=stored.created,
        end=end,
    )


def _kind(data: Json, records: tuple[object, ...]) -> str:
    if data.get("summary") is True:
        return "summary"
    texts = [record for record in records if isinstance(record, dict) and record.get("type") == "text"]
    if texts and text_at(data, "role") == "user" and all(record.get("synthetic") is True for record in texts):
        return "context"
    return ""


def _parts(record: object) -> list[Part]:
    kind = text_at(record, "type")
    if not isinstance(record, dict):
        return [Part("other", raw=record)]
    if kind == "text":
        return [Part("text", text_at(record, "text"), raw=record)]
    if kind == "reasoning":
        return [Part("thinking", text_at(record, "text"), raw=record)]
    if kind == "tool":
        return _tool(record)
    if kind == "file":
        media = text_at(record, "mime")
        return [
            Part("image" if media.startswith("image/") else "other", text_at(record, "filename") or media, raw=record)
        ]
    return [Part("other", raw=record)]


def _tool(record: Json) -> list[Part]:
    """A call, and its result if it has ended."""
    state = object_at(record, "state")
    given = state.get("input")
    tool, name = text_at(record, "tool"), text_at(record, "callID")
    call = Part("call", tool=tool, id=name, input=given if isinstance(given, dict) else None, raw=record)
    status = text_at(state, "status")
    if status not in ("completed", "error"):
        return [call]
    text = text_at(state, "error" if status == "error" else "output")
    code = object_at(state, "metadata").get("exit")
    failed = status == "error" or (isinstance(code, int) and code != 0)
    return [call, Part("result", text, tool, name, failed=failed, raw=state)]


def is_complete(stored: StoredMessage) -> bool:
    """Whether a message is complete."""
    if not stored.parts:
        return False
    is_prompt = text_at(stored.data, "role") == "user"
    return is_prompt or object_at(stored.data, "time").get("completed") is not None
