"""A record of Gemini CLI's chats as a message.

1. A message has a `type`: `user`, `gemini`, or `info`, `warning`, `error`, which the terminal shows but the model does
   not receive: those are notices. Its content is a text, a part of Gemini's API, or a list of both.
2. The calls of a `gemini` message are in `toolCalls`, each with its result, or, when a session was resumed, parts
   `functionCall`; results are repeated in a message of the user, as parts `functionResponse`. Each is returned once.
3. What the agent puts before the first prompt, and what its hooks add, is context.
"""

from __future__ import annotations

import json

from foretold.sessions.formats.fields import Json, list_at, parse_time, text_at
from foretold.sessions.model import Message, Part

Place = tuple[int, int, int]  #: line, start and end of a record
Seen = set[tuple[str, str]]  #: kind and id of the messages, calls and results that were returned already

CONTEXT = ("<session_context>", "<hook_context>")
_ROLES = {"user": "user", "gemini": "assistant"}


def message_of(value: Json, place: Place, seen: Seen) -> Message | None:
    """What is new in a message; None if nothing is."""
    name, kind = text_at(value, "id"), text_at(value, "type")
    is_repeated = ("message", name) in seen
    parts = []
    for part in (*_calls(value), *_content(value)):
        key = (part.kind, part.id)
        if part.kind not in ("call", "result"):
            is_new = not is_repeated and (bool(part.text) or part.kind in ("image", "other"))
        else:
            is_new = not part.id or key not in seen
            seen.add(key)
        parts += [part] if is_new else []
    seen.add(("message", name))
    if kind in _ROLES and not parts:
        return None
    role = _ROLES.get(kind, "system")
    if role == "system":
        parts = [Part("other", "\n".join(part.text for part in parts), raw=value)]
    why = "notice" if role == "system" else "context" if is_context(parts) else ""
    model = text_at(value, "model")
    return Message(  # positional: keywords make reading slower
        name or f"byte {place[1]}", role, tuple(parts), parse_time(value.get("timestamp")), model, "", why, *place
    )


def is_context(parts: list[Part]) -> bool:
    """Whether a message was added by the agent."""
    texts = [part.text.lstrip() for part in parts if part.kind == "text"]
    return bool(texts) and all(text.startswith(CONTEXT) for text in texts)


def _content(value: Json) -> list[Part]:
    """Thoughts and content of a message."""
    found = []
    for one in list_at(value, "thoughts"):
        texts = (text_at(one, "subject"), text_at(one, "description"))
        found.append(Part("thinking", ": ".join(text for text in texts if text), raw=one))
    content = value.get("content")
    return found + [_part(one) for one in (content if isinstance(content, list) else [content]) if one is not None]


def _part(part: object) -> Part:
    if isinstance(part, str):
        return Part("text", part, raw=part)
    if not isinstance(part, dict):
        return Part("other", raw=part)
    if isinstance(part.get("text"), str):
        return Part("thinking" if part.get("thought") is True else "text", part["text"], raw=part)
    if isinstance(part.get("functionCall"), dict):
        return _call(part["functionCall"], part)
    if isinstance(part.get("functionResponse"), dict):
        return _response(part["functionResponse"], part)
    data = part.get("inlineData") or part.get("fileData")
    media = text_at(data, "mimeType")
    return Part("image" if media.startswith("image/") else "other", media, raw=part)


def _calls(value: Json) -> list[Part]:
    """The calls of a message, and their results."""
    found = []
    for call in list_at(value, "toolCalls"):
        if not isinstance(call, dict):
            continue
        found.append(_call(call, call))
        result = call.get("result")
        if result is not None:
            found += _result(call, result if isinstance(result, list) else [result])
    return found


def _result(call: Json, pieces: list[object]) -> list[Part]:
    """The result of a call: its text in one part, and its images."""
    read = [_part(piece) for piece in pieces]
    texts, images = [part for part in read if part.kind != "image"], [part for part in read if part.kind == "image"]
    failed = any(part.failed for part in texts) or text_at(call, "status") in ("error", "cancelled")
    text = "\n".join(part.text for part in texts)
    return [Part("result", text, text_at(call, "name"), text_at(call, "id"), failed=failed, raw=pieces), *images]


def _call(call: Json, raw: object) -> Part:
    given = call.get("args")
    tool, name = text_at(call, "name"), text_at(call, "id")
    return Part("call", tool=tool, id=name, input=given if isinstance(given, dict) else None, raw=raw)


def _response(response: Json, raw: object) -> Part:
    """A result: its output, or its error."""
    content = response.get("response")
    failed = isinstance(content, dict) and "error" in content and "output" not in content
    value = content.get("error" if failed else "output", content) if isinstance(content, dict) else content
    try:
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = ""
    return Part("result", text, text_at(response, "name"), text_at(response, "id"), failed=failed, raw=raw)


def prompt_of(value: Json) -> str:
    """What a person typed; empty if the message is something else."""
    if value.get("type") != "user":
        return ""
    parts = _content(value)
    return "" if is_context(parts) else "\n".join(part.text for part in parts if part.kind == "text").strip()
