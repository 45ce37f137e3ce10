"""foretold in openai-agents: instructions, a Session that lasts, and a filter for what comes with files and prompts.

1. `instructions` is for `Agent(instructions=…)`: what the agent is told first, the same in every turn.
2. `input_filter` is for `RunConfig(call_model_input_filter=…)`. Behind a prompt stand the memories that it is about,
   behind the results of tools the instructions that the files bring along which were touched. What was once put
   somewhere stands there in every later request, so that a provider's cache is hit; also in another process that goes
   on with the session, as long as neither files nor memories have changed.
3. When calls that had brought something are gone from the input, the history was shortened: everything is read anew
   and stands at the front, behind what a compaction left.
4. Items are never changed, parted or put in another order; the filter only adds messages.
5. An agent that runs as a tool of another has a history of its own, and is told things for itself; an agent that takes
   over by a handoff goes on with the history that is there.
6. `Session` keeps items in a file of ours (`itemlog`).

Give the same `Conversation` to `instructions` and `input_filter`, one for each conversation.
"""

from __future__ import annotations

import json
import threading

from foretold.adapters.conversation import Conversation, conversation_of
from foretold.adapters.item_log import Session
from foretold.adapters.plain import text_of
from foretold.extras import missing
from foretold.instructions.inject import field_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from typing import Any

    Item = Any

__all__ = ["Conversation", "Session", "input_filter", "instructions"]

CALLS = ("function_call", "local_shell_call", "shell_call", "custom_tool_call")
RESULTS = ("function_call_output", "local_shell_call_output", "shell_call_output", "custom_tool_call_output")
SUMMARIES = ("compaction", "compaction_summary")


def instructions(
    where: Conversation | str | os.PathLike[str] = ".", *, before: str = "", **options: Any
) -> Callable[[Any, Any], Any]:
    """What `Agent(instructions=…)` takes: a text of your own, `before`, then what the agent is told in a folder."""
    talk = conversation_of(where, **options)

    async def told(context: Any, agent: Any) -> str:  # noqa: ARG001
        import asyncio

        return "\n\n".join(text for text in (before, await asyncio.to_thread(talk.start)) if text)

    return told


def input_filter(where: Conversation | str | os.PathLike[str] = ".", **options: Any) -> Callable[[Any], Any]:
    """What `RunConfig(call_model_input_filter=…)` takes, for one conversation in a folder."""
    try:
        from agents.run import ModelInputData
    except ImportError as error:
        raise missing("foretold.adapters.openai_agents", "openai-agents") from error
    talk = conversation_of(where, **options)
    histories = talk.beside.setdefault("openai-agents", Histories(talk))

    async def filtered(data: Any) -> Any:
        import asyncio

        items = await asyncio.to_thread(histories.filled, data.agent.name, list(data.model_data.input))
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    return filtered


class Histories:
    """The histories of one conversation: that of the first agent, and one for each agent that runs as its tool."""

    def __init__(self, talk: Conversation) -> None:
        self._talk, self._lock = talk, threading.Lock()
        self._added: dict[str, Added] = {}  #: by the name of an agent, the first one's first

    def filled(self, agent: str, items: list[Item]) -> list[Item]:
        """The items that an agent is to read, with all that belongs to them."""
        with self._lock:
            return self._of(agent, items).to(items)

    def _of(self, agent: str, items: list[Item]) -> Added:
        """An agent that goes on with the history of the first, after a handoff, shares it; another has its own."""
        if not self._added:
            self._added[agent] = Added(self._talk)
        first, main = next(iter(self._added.items()))
        if agent == first or main.knows(items):
            return main
        if agent not in self._added or not self._added[agent].knows(items):
            self._added[agent] = Added(self._talk.subagent(agent))
        return self._added[agent]


class Added:
    """What was added to the input of one history, and where."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._prompts: dict[tuple[int, str], str] = {}  #: the memories behind each
        self._calls: dict[str, str] = {}  #: by id: the instructions behind its result
        self._front = ""

    def to(self, items: list[Item]) -> list[Item]:
        """The items with all that belongs to them.

        >>> import os, tempfile
        >>> folder = os.path.realpath(tempfile.mkdtemp())
        >>> for name, text in (("CLAUDE.md", "Handlers return JSON."), ("a.py", "pass")):
        ...     with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        ...         _ = file.write(text)
        >>> talk = Conversation(os.path.dirname(folder), home=folder, env={})
        >>> call = {"type": "function_call", "call_id": "1", "arguments": json.dumps({"path": folder + "/a.py"})}
        >>> made = Added(talk).to([call, {"type": "function_call_output", "call_id": "1", "output": "pass"}])
        >>> len(made), "Handlers return JSON." in made[2]["content"]
        (3, True)
        """
        try:
            return self._placed(items, self._look(items))
        except Exception as error:  # an input of a form that nobody knows: it goes out as it is
            self._talk.fault("the input of a model could not be read", error)
            return items

    def knows(self, items: list[Item]) -> bool:
        """Whether some of the items were seen before."""
        calls = (str(field_of(item, "call_id")) for item in items if field_of(item, "type") in CALLS)
        return any(call in self._calls for call in calls) or any(key in self._prompts for key in _prompts(items))

    def _look(self, items: list[Item]) -> dict[int, list[str]]:
        """What belongs behind which item. Prompts and results that are new are asked about."""
        calls = {str(field_of(item, "call_id")): item for item in items if field_of(item, "type") in CALLS}
        prompts = _prompts(items)
        if _is_lost(self._calls, calls) or _is_lost(self._prompts, prompts):
            self._front = self._talk.compacted()
            self._calls = dict.fromkeys(self._calls, "")
            self._prompts = {key: text for key, text in self._prompts.items() if key in prompts}
        behind: dict[int, list[str]] = {}
        for key, at in prompts.items():
            if key not in self._prompts:
                self._prompts[key] = self._talk.asked(key[1])
            behind.setdefault(at, []).append(self._prompts[key])
        for at in [at for at, item in enumerate(items) if field_of(item, "type") in RESULTS]:
            call = str(field_of(items[at], "call_id"))
            if call not in self._calls:
                self._calls[call] = self._talk.called(_input_of(calls.get(call)))
            behind.setdefault(_last_result(items, at), []).append(self._calls[call])
        return behind

    def _placed(self, items: list[Item], behind: dict[int, list[str]]) -> list[Item]:
        made: list[Item] = []
        front = 0
        while front < len(items) and field_of(items[front], "type") in SUMMARIES:
            front += 1
        for at in range(len(items) + 1):
            if at == front and self._front:
                made.append({"role": "user", "content": self._front})
            made += items[at : at + 1]
            made += [{"role": "user", "content": text} for text in behind.get(at, ()) if text]
        return made


def _prompts(items: list[Item]) -> dict[tuple[int, str], int]:
    """Where prompts stand: by their text, and how often it came before."""
    found: dict[tuple[int, str], int] = {}
    often: dict[str, int] = {}
    for at, item in enumerate(items):
        is_message = field_of(item, "role") == "user" and field_of(item, "type") in (None, "message")
        text = text_of(item) if is_message else ""
        if text:
            found[often.get(text, 0), text] = at
            often[text] = often.get(text, 0) + 1
    return found


def _is_lost(known: Mapping[Any, str], there: Mapping[Any, object]) -> bool:
    """Whether something is gone behind which a text stood."""
    return any(text and key not in there for key, text in known.items())


def _input_of(call: Item) -> Mapping[str, object]:
    """What a call gives to its tool; a command of a shell is `command`."""
    given: object = field_of(call, "arguments") or field_of(call, "action") or {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = {}
    if not isinstance(given, dict):
        return {}
    command = given.get("command", given.get("commands", given.get("cmd")))
    if isinstance(command, list):
        from shlex import join

        is_shell = len(command) > 2 and str(command[1]) in ("-c", "-lc")
        command = str(command[2]) if is_shell else join(str(word) for word in command)
    return {**given, "command": command}


def _last_result(items: list[Item], at: int) -> int:
    """The last of the results and calls that stand together: nothing is put between them."""
    while at + 1 < len(items) and field_of(items[at + 1], "type") in RESULTS:
        at += 1
    return at
