"""The items of a conversation with Codex, as it reads them from a rollout and sends them to its model.

1. An item of a known type is read field by field. What is not of the type that a field has, or is missing where it must
   not be, makes the whole record unreadable; fields that Codex does not know are not sent.
2. A field that is null or an empty id is not sent, but for those that Codex always sends (`ALWAYS`).
3. A call without its result is followed by one that says `aborted`, and a result without its call is not sent. Calls
   and results belong together by `call_id` and by kind: the result of a function is none for a custom tool.
4. The id of such a result is made from the id of its call, so it is the same each time.

Recorded on 0.166.0.
"""

from __future__ import annotations

from foretold.sessions.formats.claude.records import text_at
from foretold.types import NamedTuple

Item = dict[str, object]

#: (type of a field, whether it must be there)
_MUST, _MAY = True, False
_ID = {"id": (str, _MAY)}
#: type of an item -> its fields. An item of another type is read, and not sent.
FIELDS: dict[str, dict[str, tuple[type | tuple[type, ...], bool]]] = {
    "message": {
        **_ID,
        "role": (str, _MUST),
        "content": (list, _MUST),
        "status": (str, _MAY),
        "phase": (str, _MAY),
    },
    "agent_message": {**_ID, "author": (str, _MUST), "recipient": (str, _MUST), "content": (list, _MUST)},
    "reasoning": {
        **_ID,
        "summary": (list, _MUST),
        "content": (list, _MAY),
        "encrypted_content": (str, _MAY),
        "status": (str, _MAY),
    },
    "function_call": {
        **_ID,
        "name": (str, _MUST),
        "arguments": (str, _MUST),
        "call_id": (str, _MUST),
        "namespace": (str, _MAY),
        "status": (str, _MAY),
    },
    "function_call_output": {**_ID, "call_id": (str, _MUST), "output": ((str, list), _MUST)},
    "custom_tool_call": {
        **_ID,
        "name": (str, _MUST),
        "input": (str, _MUST),
        "call_id": (str, _MUST),
        "namespace": (str, _MAY),
        "status": (str, _MAY),
    },
    "custom_tool_call_output": {
        **_ID,
        "call_id": (str, _MUST),
        "output": ((str, list), _MUST),
        "name": (str, _MAY),
    },
    "local_shell_call": {**_ID, "call_id": (str, _MAY), "status": (str, _MUST), "action": (dict, _MUST)},
    "tool_search_call": {
        **_ID,
        "call_id": (str, _MAY),
        "status": (str, _MAY),
        "execution": (str, _MUST),
        "arguments": (object, _MUST),
    },
    "tool_search_output": {
        **_ID,
        "call_id": (str, _MAY),
        "status": (str, _MUST),
        "execution": (str, _MUST),
        "tools": (list, _MUST),
    },
    "web_search_call": {**_ID, "status": (str, _MAY), "action": (dict, _MAY)},
    "image_generation_call": {
        **_ID,
        "status": (str, _MUST),
        "result": (str, _MUST),
        "revised_prompt": (str, _MAY),
    },
    "compaction": {**_ID, "encrypted_content": (str, _MUST)},
}
#: fields that are sent as null where they are not there
ALWAYS = {
    "reasoning": ("content", "encrypted_content"),
    "local_shell_call": ("call_id",),
    "tool_search_call": ("call_id",),
    "tool_search_output": ("call_id",),
}
#: type of a piece of content -> its fields
PIECES: dict[str, dict[str, tuple[type | tuple[type, ...], bool]]] = {
    "input_text": {"text": (str, _MUST)},
    "output_text": {"text": (str, _MUST), "annotations": (list, _MAY), "logprobs": (list, _MAY)},
    "input_image": {"image_url": (str, _MUST), "detail": (str, _MAY)},
    "input_audio": {"audio_url": (str, _MUST)},
    "summary_text": {"text": (str, _MUST)},
    "reasoning_text": {"text": (str, _MUST)},
    "text": {"text": (str, _MUST)},
    "encrypted_content": {"encrypted_content": (str, _MUST)},
}
_SHELL = ("timeout_ms", "working_directory", "env", "user")  #: fields of a shell action that are always sent


class Family(NamedTuple):
    """Calls and the results that belong to them."""

    calls: tuple[str, ...]
    result: str
    prefix: str  #: of the id of a result that Codex makes


FAMILIES = (
    Family(("function_call", "local_shell_call"), "function_call_output", "fco"),
    Family(("custom_tool_call",), "custom_tool_call_output", "ctco"),
    Family(("tool_search_call",), "tool_search_output", "tso"),
)
#: the namespace of those ids: the same for everybody, or no prompt would be found in a cache
_NAMESPACE = "90d38d3e-6a5b-4d52-bfe2-2f1e634bfac4"


def as_sent(item: object) -> Item | None:
    """An item as it is sent; nothing if Codex cannot read it. One of an unknown type has its type only.

    >>> as_sent({"type": "function_call_output", "call_id": "c", "output": "hi", "id": None, "success": True})
    {'type': 'function_call_output', 'call_id': 'c', 'output': 'hi'}
    >>> as_sent({"type": "function_call", "name": "shell"}), as_sent({"type": "surprise", "x": 1})
    (None, {'type': 'surprise'})
    """
    kind = text_at(item, "type")
    if not isinstance(item, dict) or not kind:
        return None
    if kind not in FIELDS:
        return {"type": kind}
    sent = _fields(item, FIELDS[kind], ALWAYS.get(kind, ()))
    if sent is None:
        return None
    for name in ("content", "summary", "output"):
        pieces = sent.get(name)
        if isinstance(pieces, list):
            read = [_piece(piece) for piece in pieces]
            if None in read:
                return None
            sent[name] = read
    if kind == "local_shell_call" and isinstance(sent["action"], dict):
        sent["action"] = {**sent["action"], **{name: sent["action"].get(name) for name in _SHELL}}
    return {"type": kind, **sent}


def _piece(piece: object) -> Item | None:
    kind = text_at(piece, "type")
    if not isinstance(piece, dict) or kind not in PIECES:
        return None
    sent = _fields(piece, PIECES[kind], ())
    return None if sent is None else {"type": kind, **sent}


def _fields(
    value: Item, fields: dict[str, tuple[type | tuple[type, ...], bool]], always: tuple[str, ...]
) -> Item | None:
    sent: Item = {}
    for name, (kind, must) in fields.items():
        found = value.get(name)
        if found is None or (name == "id" and found == ""):
            if must:
                return None
            if name in always:
                sent[name] = None
        elif isinstance(found, kind):
            sent[name] = found
        else:
            return None
    return sent


def is_sent(item: Item) -> bool:
    """Whether an item is for the model: what Codex does not know is not, nor is a message of the role system.

    >>> is_sent({"type": "message", "role": "system", "content": []}), is_sent({"type": "ghost_snapshot"})
    (False, False)
    """
    return item.get("type") in FIELDS and item.get("role") != "system"


def orphans(items: list[Item]) -> list[int]:
    """Places of results whose call is not there."""
    found = []
    for family in FAMILIES:
        calls = {item.get("call_id") for item in items if item["type"] in family.calls}
        for place, item in enumerate(items):
            if item["type"] != family.result or item.get("execution") == "server":
                continue
            if item.get("call_id") is not None and item["call_id"] not in calls:
                found.append(place)
    return sorted(found)


def with_results(items: list[Item]) -> list[Item]:
    """The items, with a result behind each call that has none.

    >>> with_results([{"type": "function_call", "call_id": "c"}])[1]
    {'type': 'function_call_output', 'call_id': 'c', 'output': 'aborted'}
    """
    there = {(item["type"], item.get("call_id")) for item in items}
    found: list[Item] = []
    for item in items:
        found.append(item)
        for family in FAMILIES:
            call = item.get("call_id")
            if item["type"] in family.calls and call is not None and (family.result, call) not in there:
                found.append(_aborted(item, family))
    return found


def _aborted(item: Item, family: Family) -> Item:
    from uuid import UUID, uuid5

    result: Item = {"type": family.result}
    if text_at(item, "id"):
        result["id"] = f"{family.prefix}_{uuid5(UUID(_NAMESPACE), f'{family.prefix}:' + text_at(item, 'id'))}"
    result["call_id"] = item["call_id"]
    if family.result == "tool_search_output":
        return {**result, "status": "completed", "execution": "client", "tools": []}
    return {**result, "output": "aborted"}
