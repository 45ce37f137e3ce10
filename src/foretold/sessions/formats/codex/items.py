"""The items of a conversation with Codex, as it reads them from a rollout and sends them to its model.

1. An item of a known type is read field by field. A field of the wrong type, or a required one that is missing, makes
   the whole record unreadable; fields that Codex does not know are not sent.
2. A field that is null or an empty id is not sent, except those that Codex always sends (`ALWAYS`).
3. A call without its result is followed by one that says `aborted`, and a result without its call is not sent. Calls
   and results match by `call_id` and by kind: the result of a function does not match a custom tool.
4. The id of such a result is derived from the id of its call, so it is the same each time.

Recorded on 0.166.0.
"""

from __future__ import annotations

from foretold.sessions.formats.fields import text_at

Item = dict[str, object]

Fields = dict[str, tuple[type | tuple[type, ...], bool]]  #: name -> its type, and whether it is required


def _fields_of(names: str, **types: type | tuple[type, ...]) -> Fields:
    """Fields by name, strings unless another type is given; `?` = optional."""
    return {
        name.removesuffix("?"): (types.get(name.removesuffix("?"), str), not name.endswith("?"))
        for name in names.split()
    }


#: type of an item -> its fields. An item of another type is read, but not sent.
FIELDS: dict[str, Fields] = {
    "message": _fields_of("id? role content status? phase?", content=list),
    "agent_message": _fields_of("id? author recipient content", content=list),
    "reasoning": _fields_of("id? summary content? encrypted_content? status?", summary=list, content=list),
    "function_call": _fields_of("id? name arguments call_id namespace? status?"),
    "function_call_output": _fields_of("id? call_id output", output=(str, list)),
    "custom_tool_call": _fields_of("id? name input call_id namespace? status?"),
    "custom_tool_call_output": _fields_of("id? call_id output name?", output=(str, list)),
    "local_shell_call": _fields_of("id? call_id? status action", action=dict),
    "tool_search_call": _fields_of("id? call_id? status? execution arguments", arguments=object),
    "tool_search_output": _fields_of("id? call_id? status execution tools", tools=list),
    "web_search_call": _fields_of("id? status? action?", action=dict),
    "image_generation_call": _fields_of("id? status result revised_prompt?"),
    "compaction": _fields_of("id? encrypted_content"),
}
#: fields that are sent as null if they are missing
ALWAYS = {
    "reasoning": ("content", "encrypted_content"),
    "local_shell_call": ("call_id",),
    "tool_search_call": ("call_id",),
    "tool_search_output": ("call_id",),
}
#: type of a piece of content -> its fields
PIECES: dict[str, Fields] = {
    "input_text": _fields_of("text"),
    "output_text": _fields_of("text annotations? logprobs?", annotations=list, logprobs=list),
    "input_image": _fields_of("image_url detail?"),
    "input_audio": _fields_of("audio_url"),
    "summary_text": _fields_of("text"),
    "reasoning_text": _fields_of("text"),
    "text": _fields_of("text"),
    "encrypted_content": _fields_of("encrypted_content"),
}
_SHELL = ("timeout_ms", "working_directory", "env", "user")  #: fields of a shell action that are always sent


#: calls, the type of the results that belong to them, and the prefix of the id of a result that Codex makes
FAMILIES = (
    (("function_call", "local_shell_call"), "function_call_output", "fco"),
    (("custom_tool_call",), "custom_tool_call_output", "ctco"),
    (("tool_search_call",), "tool_search_output", "tso"),
)
#: the namespace of those ids: the same for everyone, otherwise no prompt would be found in a cache
_NAMESPACE = "90d38d3e-6a5b-4d52-bfe2-2f1e634bfac4"


def as_sent(item: object) -> Item | None:
    """An item as it is sent; None if Codex cannot read it. One of an unknown type has only its type.

    >>> as_sent({"type": "function_call_output", "call_id": "c", "output": "hi", "id": None, "success": True})
    {'type': 'function_call_output', 'call_id': 'c', 'output': 'hi'}
    >>> as_sent({"type": "function_call", "name": "shell"}), as_sent({"type": "surprise", "x": 1})
    (None, {'type': 'surprise'})
    """
    kind = text_at(item, "type")
    if kind and kind not in FIELDS:
        return {"type": kind}
    sent = _read(item, FIELDS)
    if sent is None:
        return None
    for name in ("content", "summary", "output"):
        pieces = sent.get(name)
        if isinstance(pieces, list):
            read = [_read(piece, PIECES) for piece in pieces]
            if None in read:
                return None
            sent[name] = read
    action = sent.get("action")
    if kind == "local_shell_call" and isinstance(action, dict):
        sent["action"] = {**action, **{name: action.get(name) for name in _SHELL}}
    return sent


def _read(value: object, table: dict[str, Fields]) -> Item | None:
    """A value of a type that is in a table, with its fields."""
    kind = text_at(value, "type")
    if not isinstance(value, dict) or kind not in table:
        return None
    sent: Item = {"type": kind}
    for name, (type_, is_required) in table[kind].items():
        found = value.get(name)
        if found is None or (name == "id" and found == ""):
            if is_required:
                return None
            if name in ALWAYS.get(kind, ()):
                sent[name] = None
        elif isinstance(found, type_):
            sent[name] = found
        else:
            return None
    return sent


def is_sent(item: Item) -> bool:
    """Whether an item is for the model: unknown items are not, nor are messages of the role system."""
    return item.get("type") in FIELDS and item.get("role") != "system"


def find_orphans(items: list[Item]) -> list[int]:
    """Indexes of results whose call is missing."""
    called = {(result, item.get("call_id")) for calls, result, _ in FAMILIES for item in items if item["type"] in calls}
    results = [result for _, result, _ in FAMILIES]
    return [
        place
        for place, item in enumerate(items)
        if item["type"] in results and item.get("execution") != "server"
        if item.get("call_id") is not None and (item["type"], item["call_id"]) not in called
    ]


def add_results(items: list[Item]) -> list[Item]:
    """The items, with a result after each call that has none."""
    there = {(item["type"], item.get("call_id")) for item in items}
    found: list[Item] = []
    for item in items:
        found.append(item)
        call = item.get("call_id")
        for calls, result, prefix in FAMILIES:
            if item["type"] in calls and call is not None and (result, call) not in there:
                found.append(_aborted(item, result, prefix))
    return found


def _aborted(item: Item, kind: str, prefix: str) -> Item:
    from uuid import UUID, uuid5

    name = text_at(item, "id")
    given = {"id": f"{prefix}_{uuid5(UUID(_NAMESPACE), f'{prefix}:{name}')}"} if name else {}
    is_search = kind == "tool_search_output"
    said = {"status": "completed", "execution": "client", "tools": []} if is_search else {"output": "aborted"}
    return {"type": kind, **given, "call_id": item["call_id"], **said}
