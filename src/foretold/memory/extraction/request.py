"""Asking the model: a fork of the conversation whose first bytes are the conversation's own.

1. The fork has the system prompt, the tools, the messages and the marks of the conversation's last request, unchanged;
   behind them stands one message of the user, the prompt. So a provider that has read the conversation reads only that.
2. Where a conversation has no tools that could write, or only its transcript is there, a request of our own asks: its
   own system prompt, three tools, and a digest of what is new.
3. Calls are answered (`desk`) until the model has none, or ROUNDS requests were made.
"""

from __future__ import annotations

from foretold.memory.extraction.digest import SYSTEM
from foretold.memory.extraction.tools import NEEDED
from foretold.models.protocol import Request, Usage
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.extraction.tools import Desk
    from foretold.models.protocol import Model

ROUNDS = 8
_PATH = {"type": "string", "description": "The whole path of a file of the memory directory"}


def _tool(name: str, said: str, **fields: str) -> dict[str, object]:
    properties: dict[str, object] = {"file_path": _PATH}
    properties |= {key: {"type": "string", "description": text} for key, text in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"name": name, "description": said, "input_schema": schema}


OWN_TOOLS = (
    _tool("Read", "Read a memory."),
    _tool("Write", "Write a memory, new or changed.", content="The whole text of the file, frontmatter first"),
    _tool("Edit", "Change a memory.", old_string="What stands in it, once", new_string="What shall stand there"),
)


class Talk(NamedTuple):
    """What asking came to."""

    usage: Usage
    requests: int
    is_done: bool  #: whether the model had no more calls


def can_fork(request: Request | None) -> bool:
    """Whether a conversation's own tools can write memories.

    >>> can_fork(None), can_fork(Request((), (), ({"name": "Write"}, {"name": "Edit"})))
    (False, True)
    """
    names = {tool.get("name") for tool in request.tools} if request is not None else set()
    return names.issuperset(NEEDED)


def forked(request: Request, prompt: str) -> Request:
    """A conversation's request with a prompt behind it.

    >>> last = Request(("Be brief.",), ({"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}))
    >>> fork = forked(last, "What shall be remembered?")
    >>> fork.messages[:2] == last.messages, fork[0::2] == last[0::2], len(fork.messages)
    (True, True, 3)
    """
    return request._replace(messages=(*request.messages, {"role": "user", "content": prompt}))


def own_request(text: str, prompt: str) -> Request:
    """A request of our own about a digest."""
    content = [{"type": "text", "text": f"The conversation:\n\n{text}"}, {"type": "text", "text": prompt}]
    return Request((SYSTEM,), ({"role": "user", "content": content},), OWN_TOOLS)


def talk(model: Model, request: Request, desk: Desk, rounds: int = ROUNDS, told: list[Usage] | None = None) -> Talk:
    """Ask, and answer calls. `told` has the usage of every reply, also of those before a failure."""
    used = [] if told is None else told
    for _ in range(rounds):
        reply = model.reply(request)
        used.append(reply.usage)
        if not reply.calls:
            return Talk(total(used), len(used), is_done=True)
        results = [desk.run(call) for call in reply.calls]
        asked: dict[str, object] = {"role": "assistant", "content": list(reply.content)}
        request = request._replace(messages=(*request.messages, asked, {"role": "user", "content": results}))
    return Talk(total(used), len(used), is_done=False)


def total(used: list[Usage]) -> Usage:
    """The sum of several."""
    found = Usage()
    for each in used:
        found = found.plus(each)
    return found
