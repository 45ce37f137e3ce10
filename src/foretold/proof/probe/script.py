"""What the model answers: turns of tool calls, then a text; before any wire format.

Answers:

1. An answer has an id, and so has each of its parts. Ids are unique over all answers and servers, because an agent that
   resumes a session sends old ids again.
2. Tokens are counted as a quarter of the characters, and at least one.
3. A request may hold values of any type: one that is not of the expected type is read as empty.

Script:

1. A request that offers tools is of the main conversation and gets the next turn; when no turn is left, the text. A
   turn without calls is the text too: it ends what the agent does for one prompt.
2. A request that offers none (for a title, a summary, a look at the quota) gets the text, and the turns stay.
3. Of a call's names the first that the request offers is used, with or without its namespace. If it offers none of
   them, the answer says so in place of the call, and so do the problems; a call that is recorded is made `anyway`, as
   models do that remember a tool from elsewhere. # claude-code: ag-nested-edit
4. A request of the main conversation with the body of an earlier one is a retry: it gets the same answer, ids and all.
5. Instead of turns there may be a function from a request's body and the name of its format to the answer: a text, a
   call as the tool's name and its input, several of these in order, a status to fail with, or the whole body of the
   answer, as an object or as bytes. It is asked for every request, including retries and those without tools; for None
   the turns continue.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Json = dict[str, object]

DEFAULT_MODEL = "probe-model"


class Offer(NamedTuple):
    """A tool that a request offers and its client runs. A `custom` one takes a text instead of an object."""

    name: str
    kind: str = "function"
    namespace: str = ""

    @property
    def label(self) -> str:
        """The name with its namespace.

        >>> Offer("read").label, Offer("read", namespace="disk").label
        ('read', 'disk.read')
        """
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


class TextPart(NamedTuple):
    """A part that is a text."""

    id: str
    text: str


class ToolUse(NamedTuple):
    """A part that uses a tool."""

    id: str
    offer: Offer
    input: Mapping[str, object]

    @property
    def text(self) -> str:
        """What the tool receives, as text: a custom tool has what its input holds as `input`.

        >>> patch = Offer("patch", "custom")
        >>> ToolUse("1", Offer("read"), {"path": "a"}).text, ToolUse("2", patch, {"input": "+a"}).text
        ('{"path":"a"}', '+a')
        """
        free = self.input.get("input") if self.offer.kind == "custom" else None
        return free if isinstance(free, str) else dump(self.input)


class ModelAnswer(NamedTuple):
    """A whole answer, and what the wire formats repeat of the request."""

    id: str
    created: int
    model: str
    parts: tuple[TextPart | ToolUse, ...]
    input_tokens: int
    usage_asked: bool = False

    @property
    def uses(self) -> list[ToolUse]:
        return [part for part in self.parts if isinstance(part, ToolUse)]

    @property
    def said(self) -> str:
        """All its texts, a paragraph each."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def output_tokens(self) -> int:
        return estimate_tokens(sum(len(part.text) for part in self.parts))


def estimate_tokens(characters: int) -> int:
    """How many tokens so many characters may be.

    >>> estimate_tokens(0), estimate_tokens(400)
    (1, 101)
    """
    return characters // 4 + 1


def dump(value: object) -> str:
    """JSON without spaces, in ASCII: half a surrogate pair survives it."""
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, separators=(",", ":"))


def objects(value: object) -> list[Json]:
    """The objects of a list; of anything else, none.

    >>> objects([{"name": "a"}, 1]), objects({"name": "a"})
    ([{'name': 'a'}], [])
    """
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: object) -> str:
    """A text; anything else is the empty one."""
    return value if isinstance(value, str) else ""


class ToolCall(NamedTuple):
    """A call that the model makes; the names are those that agents know the tool by."""

    names: tuple[str, ...]
    input: Mapping[str, object]
    anyway: bool = False  #: whether it is made by its first name even if no such tool is offered


class Status(NamedTuple):
    """A failure that the server answers with."""

    status: int
    text: str = "not now"


Part = str | tuple[str, Mapping[str, object]] | ToolCall
#: what a function answers
Said = Part | list[Part] | Status | dict[str, object] | bytes | None
Respond = Callable[[dict[str, object], str], Said]


class Script:
    """The turns and how far they have been played. Not for several threads at once."""

    def __init__(self, turns: Sequence[Sequence[ToolCall]], text: str) -> None:
        self.problems: list[str] = []
        self._turns = [tuple(turn) for turn in turns]
        self._text = text
        self._salt = os.urandom(5).hex()
        self._made = 0
        self._played = 0
        self._answers: dict[bytes, ModelAnswer] = {}

    def answer(self, digest: bytes, offers: Sequence[Offer], model: str, input_tokens: int) -> ModelAnswer:
        """The answer to a request that has this digest and offers these tools."""
        if offers and digest in self._answers:
            return self._answers[digest]
        if not offers:
            return self.say([self._text], offers, model, input_tokens)
        turn = self._turns[self._played] if self._played < len(self._turns) else ()
        self._played += 1
        self._answers[digest] = answer = self.say(turn or [self._text], offers, model, input_tokens)
        return answer

    def say(self, said: Sequence[Part], offers: Sequence[Offer], model: str, input_tokens: int) -> ModelAnswer:
        """An answer of these parts, with ids of its own."""
        self._made += 1
        name = f"{self._salt}{self._made:04}"
        parts: list[TextPart | ToolUse] = []
        for index, part in enumerate(said):
            if isinstance(part, str):
                parts.append(TextPart(f"{name}{index:02}", part))
            else:
                call = part if isinstance(part, ToolCall) else ToolCall((part[0],), part[1])
                parts.append(self._part(f"{name}{index:02}", call, offers))
        return ModelAnswer(name, int(time.time()), model, tuple(parts), input_tokens)

    def _part(self, name: str, call: ToolCall, offers: Sequence[Offer]) -> TextPart | ToolUse:
        by_name = {offer.name: offer for offer in reversed(offers)} | {offer.label: offer for offer in reversed(offers)}
        for wanted in call.names:
            if wanted in by_name:
                return ToolUse(name, by_name[wanted], call.input)
        if call.anyway:
            return ToolUse(name, Offer(call.names[0]), call.input)
        problem = f"turn {self._played}: no tool named {' or '.join(call.names)} is offered"
        self.problems.append(problem)
        return TextPart(name, problem)
