"""What the model does: turns of tool calls, then a text.

1. A request that offers tools is of the main conversation and gets the next turn; when no turn is left, the text. A
   turn without calls is the text too: it ends what the agent does for one prompt.
2. A request that offers none (for a title, a summary, a look at the quota) gets the text, and the turns stay.
3. Of a call's names the first that the request offers is used, with or without its namespace. If it offers none of
   them, the answer says so in the place of the call, and so do the problems.
4. A request of the main conversation with the body of an earlier one is a retry: it gets the same answer, ids and all.
5. Instead of turns there may be a function from a request's body and the name of its format to what is said: a text, a
   call as the tool's name and its input, several of these in order, a status to fail with, or the whole body of the
   answer, as an object or as bytes. It is asked for every request, retries and those without tools as well; for None
   the turns go on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from foretold.proof.probe.answers import Answer, Offer, Text, Use


class ToolCall(NamedTuple):
    """A call that the model makes; the names are those that agents know the tool by."""

    names: tuple[str, ...]
    input: Mapping[str, object]


class Status(NamedTuple):
    """What a server answers that does not."""

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
        self._answers: dict[bytes, Answer] = {}

    def answer(self, digest: bytes, offers: Sequence[Offer], model: str, input_tokens: int) -> Answer:
        """The answer to a request that has this digest and offers these tools."""
        if offers and digest in self._answers:
            return self._answers[digest]
        turn: Sequence[ToolCall] = ()
        if offers:
            turn = self._turns[self._played] if self._played < len(self._turns) else ()
            self._played += 1
        answer = self.say(turn or [self._text], offers, model, input_tokens)
        if offers:
            self._answers[digest] = answer
        return answer

    def say(self, said: Sequence[Part], offers: Sequence[Offer], model: str, input_tokens: int) -> Answer:
        """An answer of these parts, with ids of its own."""
        self._made += 1
        name = f"{self._salt}{self._made:04}"
        parts: list[Text | Use] = []
        for index, part in enumerate(said):
            if isinstance(part, str):
                parts.append(Text(f"{name}{index:02}", part))
            else:
                call = part if isinstance(part, ToolCall) else ToolCall((part[0],), part[1])
                parts.append(self._part(f"{name}{index:02}", call, offers))
        return Answer(name, int(time.time()), model, tuple(parts), input_tokens)

    def _part(self, name: str, call: ToolCall, offers: Sequence[Offer]) -> Text | Use:
        by_name = {offer.name: offer for offer in reversed(offers)} | {offer.label: offer for offer in reversed(offers)}
        for wanted in call.names:
            if wanted in by_name:
                return Use(name, by_name[wanted], call.input)
        problem = f"turn {self._played}: no tool named {' or '.join(call.names)} is offered"
        self.problems.append(problem)
        return Text(name, problem)
