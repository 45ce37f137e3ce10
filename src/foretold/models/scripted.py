"""A model that plays a script: for tests, examples and demonstrations without a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from foretold.errors import ModelFailed
from foretold.models.protocol import Reply, Usage
from foretold.types import TYPE_CHECKING, estimate_tokens

if TYPE_CHECKING:
    from typing import TypeAlias

    from foretold.models.protocol import ModelRequest

    Line: TypeAlias = str | tuple[str, dict[str, object]] | list[tuple[str, dict[str, object]]]


class Scripted:
    """Plays one line after the other; each request is kept.

    A line is a text, a call of a tool as its name and input, several calls in a list, or a function from the request to
    one of these.

    >>> from foretold.models.protocol import ModelRequest
    >>> model = Scripted([("Read", {"file_path": "a.py"}), "It is empty."])
    >>> asked = ModelRequest(("Be brief.",), ({"role": "user", "content": "What is in a.py?"},))
    >>> [call["name"] for call in model.reply(asked).calls], model.reply(asked).text
    (['Read'], 'It is empty.')
    >>> len(model.requests)
    2
    """

    def __init__(self, lines: Iterable[Line | Callable[[ModelRequest], Line]], name: str = "scripted") -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._lines = list(lines)

    def reply(self, request: ModelRequest) -> Reply:
        """The next line; ModelFailed after the last."""
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._lines):
            raise ModelFailed(f"the script has {len(self._lines)} lines, and this is request {number + 1}")
        line = self._lines[number]
        content = _blocks(line(request) if callable(line) else line, number)
        stop = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
        usage = Usage(_tokens(request.system) + _tokens(request.messages), _tokens(content))
        return Reply(content, stop, usage, self.name, f"msg_{number + 1:04}")


def _blocks(line: Line, number: int) -> tuple[dict[str, object], ...]:
    if isinstance(line, str):
        return ({"type": "text", "text": line},)
    calls = [line] if isinstance(line, tuple) else line
    return tuple(
        {"type": "tool_use", "id": f"toolu_{number + 1:04}_{place}", "name": name, "input": given}
        for place, (name, given) in enumerate(calls)
    )


def _tokens(value: object) -> int:
    return estimate_tokens(repr(value))
