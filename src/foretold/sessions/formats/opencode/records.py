"""A message of opencode, which is kept in pieces, as one of ours.

1. A message has a role and `time`; what it says are its parts, each a record of its own. A part of the type `tool` is a
   call and, when it has ended, its result as well.
2. A text that opencode itself has put there is `synthetic`: a message of the user that has only such texts is context.
   An answer that is a `summary` is what a compaction left.
3. Other types of parts (steps, snapshots, patches) are kept as they are, and so is the record of the message: as its
   last part. Fields of it that we do not know are there.
"""

from __future__ import annotations

from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.model import Message, Part
from foretold.types import NamedTuple

Json = dict[str, object]


class StoredMessage(NamedTuple):
    """A message as opencode keeps it."""

    id: str
    created: int  #: milliseconds since 1970
    data: Json
    parts: tuple[object, ...]  #: the records of its parts, in order


def message_of(kept: StoredMessage, end: int) -> Message:
    """What a message says."""
    data = kept.data
    parts: list[Part] = []
    for record in kept.parts:
        parts += _parts(record)
    error = data.get("error")
    said = text_at(error.get("data") if isinstance(error, dict) else None, "message")
    role = text_at(data, "role")
    model = text_at(data, "modelID") or text_at(data.get("model"), "modelID")
    about = Part("other", said, failed=error is not None, raw=data)
    known = role in ("user", "assistant")
    return Message(
        kept.id,
        role if known else "system",
        (*parts, about),
        kept.created / 1000 if kept.created else None,
        model if role == "assistant" else "",
        text_at(data, "parentID"),
        _kind(data, kept.parts) if known else "notice",
        0,
        kept.created,
        end,
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
    state = record.get("state")
    state = state if isinstance(state, dict) else {}
    given = state.get("input")
    tool, name = text_at(record, "tool"), text_at(record, "callID")
    call = Part("call", tool=tool, id=name, input=given if isinstance(given, dict) else None, raw=record)
    status = text_at(state, "status")
    if status not in ("completed", "error"):
        return [call]
    text = text_at(state, "error" if status == "error" else "output")
    about = state.get("metadata")
    code = about.get("exit") if isinstance(about, dict) else None
    failed = status == "error" or (isinstance(code, int) and code != 0)
    return [call, Part("result", text, tool, name, failed=failed, raw=state)]


def is_over(kept: StoredMessage) -> bool:
    """Whether nothing will be added to a message."""
    if not kept.parts:
        return False
    time = kept.data.get("time")
    return text_at(kept.data, "role") == "user" or (isinstance(time, dict) and time.get("completed") is not None)
