"""Which messages of a conversation belong together: a call of a tool and its results are never parted.

1. A call is a `tool_use` block (Anthropic), or one of `tool_calls` (OpenAI). Its result is a `tool_result` block of a
   later message, or a later message of the role `tool`; the id joins them. Of calls with the same id, a result belongs
   to the last one before it.
2. A group is a range of messages: from a call to the last of its results, with whatever stands between. Calls that were
   made side by side, and ranges that overlap, are one group. Any other message is a group of its own.
3. The calls of the model's last answer are pending: their results are not there yet, or it has not seen them.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Message = Mapping[str, object]


class MessageGroup(NamedTuple):
    """The messages from `start` to before `end`."""

    start: int
    end: int
    is_pending: bool = False  #: the model waits for a result in it


def calls_in(message: Message) -> list[str]:
    """The ids of the calls that a message makes.

    >>> calls_in({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Read", "input": {}}]})
    ['a']
    >>> calls_in({"role": "assistant", "tool_calls": [{"id": "b", "type": "function"}]})
    ['b']
    """
    if message.get("role") != "assistant":
        return []
    found = [block.get("id") for block in _objects(message.get("content")) if block.get("type") == "tool_use"]
    found += [call.get("id") for call in _objects(message.get("tool_calls"))]
    return [name for name in found if isinstance(name, str)]


def results_in(message: Message) -> list[str]:
    """The ids of the calls that a message answers.

    >>> results_in({"role": "tool", "tool_call_id": "b", "content": "ok"})
    ['b']
    """
    if message.get("role") == "tool":
        return [str(message.get("tool_call_id", ""))]
    if message.get("role") != "user":
        return []
    blocks = _objects(message.get("content"))
    return [str(block.get("tool_use_id", "")) for block in blocks if block.get("type") == "tool_result"]


def is_result(message: Message) -> bool:
    """Whether a message has the result of a tool: none may stand first behind a summary."""
    return bool(results_in(message))


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, list | tuple):
        yield from (each for each in value if isinstance(each, dict))


def group_messages(messages: Sequence[Message]) -> list[MessageGroup]:
    """The groups of a conversation, in order; together they are all of it.

    >>> call = {"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}
    >>> results = [{"role": "tool", "tool_call_id": name, "content": "x"} for name in "ba"]
    >>> talk = [{"role": "user", "content": "hi"}, call, *results, {"role": "assistant", "content": "done"}]
    >>> found = group_messages(talk)
    >>> [(group.start, group.end) for group in found]
    [(0, 1), (1, 4), (4, 5)]
    """
    last_of, pending = _reaches(messages)
    found: list[MessageGroup] = []
    start, end = 0, 0
    for at in range(len(messages)):
        if at >= end and at > start:
            found.append(MessageGroup(start, at, any(start <= each < at for each in pending)))
            start = at
        end = max(end, last_of.get(at, at) + 1)
    if messages:
        found.append(MessageGroup(start, len(messages), any(each >= start for each in pending)))
    return found


def _reaches(messages: Sequence[Message]) -> tuple[dict[int, int], list[int]]:
    """For each message that calls: where its last result is. And those whose calls are pending."""
    made: dict[str, int] = {}
    last_of: dict[int, int] = {}
    pending: list[int] = []
    for at, message in enumerate(messages):
        for name in results_in(message):
            if name in made:
                last_of[made[name]] = at
        made |= dict.fromkeys(calls_in(message), at)
        if message.get("role") == "assistant":
            pending = [at] if calls_in(message) else []
    return last_of, pending
