"""foretold in openai-agents: instructions, a session that lasts, and a filter for what comes with files and prompts.

1. `instructions` is for `Agent(instructions=…)`: the start, the same in every turn.
2. `input_filter` is for `RunConfig(call_model_input_filter=…)`. After a prompt come the memories that it is about,
   after the results of tools the instructions of the files that were touched. What was added once is added in the same
   place in every later request, so that a provider's cache is hit; also in another process that continues the session,
   as long as neither files nor memories have changed.
3. When calls that had brought something are missing in the input, the history was shortened: everything is read again,
   and comes first, after what a compaction left.
4. Items are never changed, separated or reordered; the filter only adds messages.
5. An agent that runs as a tool of another has its own history; an agent that takes over by a handoff continues the
   history.

Give the same `Conversation` to `instructions` and `input_filter`, one for each conversation.

`ItemSession` keeps the items of a conversation in a file of ours, which only grows:

1. A line is a step: items added together, the removal of the last item, a clearing, the undoing of one. The content of
   a session is the result of its steps, in the order of the file.
2. So several processes may write at once: two that pop an item get two different ones, and items that were added
   together stay together. A step that was acknowledged survives `kill -9` and a power cut.
3. Items come back exactly as they were given.
4. Nothing is lost: `restore_session` undoes the last clearing, and what was popped stays in the file.
"""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping

from foretold.adapters import jsonl_store
from foretold.adapters.conversation import Conversation, conversation_of
from foretold.adapters.plain import text_of
from foretold.errors import NoSuchSession
from foretold.extras import missing
from foretold.instructions.inject import field_of
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    import os
    from typing import Any

    Item = Any

__all__ = ["Conversation", "ItemSession", "input_filter", "instructions"]

CALLS = ("function_call", "local_shell_call", "shell_call", "custom_tool_call")
RESULTS = ("function_call_output", "local_shell_call_output", "shell_call_output", "custom_tool_call_output")
SUMMARIES = ("compaction", "compaction_summary")


def instructions(
    where: Conversation | str | os.PathLike[str] = ".", *, before: str = "", **options: Any
) -> Callable[[Any, Any], Any]:
    """What `Agent(instructions=…)` takes: your own text, `before`, then the start of an agent in a folder."""
    talk = conversation_of(where, **options)

    async def start_text(context: Any, agent: Any) -> str:  # noqa: ARG001
        return "\n\n".join(text for text in (before, await asyncio.to_thread(talk.start)) if text)

    return start_text


def input_filter(where: Conversation | str | os.PathLike[str] = ".", **options: Any) -> Callable[[Any], Any]:
    """What `RunConfig(call_model_input_filter=…)` takes, for one conversation in a folder."""
    try:
        from agents.run import ModelInputData
    except ImportError as error:
        raise missing("foretold.adapters.openai_agents", "openai-agents") from error
    talk = conversation_of(where, **options)
    histories = talk.notes.setdefault("openai-agents", Histories(talk))

    async def filter_input(data: Any) -> Any:
        items = await asyncio.to_thread(histories.extend, data.agent.name, list(data.model_data.input))
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    return filter_input


class Histories:
    """The histories of one conversation: that of the first agent, and one for each agent that runs as its tool."""

    def __init__(self, talk: Conversation) -> None:
        self._talk, self._lock = talk, threading.Lock()
        self._added: dict[str, Additions] = {}  #: by the name of an agent, the first one's first

    def extend(self, agent: str, items: list[Item]) -> list[Item]:
        """The items for an agent, with all that belongs to them."""
        with self._lock:
            return self._additions(agent, items).insert_into(items)

    def _additions(self, agent: str, items: list[Item]) -> Additions:
        """An agent that continues the history of the first, after a handoff, shares it; another has its own."""
        if not self._added:
            self._added[agent] = Additions(self._talk)
        first, main = next(iter(self._added.items()))
        if agent == first or main.knows(items):
            return main
        if agent not in self._added or not self._added[agent].knows(items):
            self._added[agent] = Additions(self._talk.subagent(agent))
        return self._added[agent]


class Additions:
    """What was added to the input of one history, and where."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._prompts: dict[tuple[int, str], str] = {}  #: the memories after each
        self._calls: dict[str, str] = {}  #: by id: the instructions after its result
        self._front = ""

    def insert_into(self, items: list[Item]) -> list[Item]:
        """The items with all that belongs to them."""
        try:
            return self._extend(items)
        except Exception as error:  # an input of an unknown form goes out as it is
            self._talk.report("the input of a model could not be read", error)
            return items

    def knows(self, items: list[Item]) -> bool:
        """Whether some of the items were seen before."""
        calls = (str(field_of(item, "call_id")) for item in items if field_of(item, "type") in CALLS)
        return any(call in self._calls for call in calls) or any(key in self._prompts for key in _prompts(items))

    def _extend(self, items: list[Item]) -> list[Item]:
        """Only new prompts and results are looked up; nothing is put between results."""
        calls = {str(field_of(item, "call_id")): item for item in items if field_of(item, "type") in CALLS}
        prompts = _prompts(items)
        if _is_lost(self._calls, calls) or _is_lost(self._prompts, prompts):
            self._front = self._talk.compact()
            self._calls = dict.fromkeys(self._calls, "")
            self._prompts = {key: text for key, text in self._prompts.items() if key in prompts}
        keys = {at: key for key, at in prompts.items()}
        front = next((at for at, item in enumerate(items) if field_of(item, "type") not in SUMMARIES), len(items))
        made: list[Item] = []
        texts = [self._front]  #: that come before the next item
        for at, item in enumerate(items):
            kind = field_of(item, "type")
            is_between = kind in RESULTS and at > 0 and field_of(items[at - 1], "type") in RESULTS
            if at >= front and not is_between:
                made += [{"role": "user", "content": text} for text in texts if text]
                texts = []
            made.append(item)
            if at in keys:
                key = keys[at]
                if key not in self._prompts:
                    self._prompts[key] = self._talk.recall(key[1])
                texts.append(self._prompts[key])
            elif kind in RESULTS:
                call = str(field_of(item, "call_id"))
                if call not in self._calls:
                    self._calls[call] = self._talk.use_tool(_input_of(calls.get(call)))
                texts.append(self._calls[call])
        return made + [{"role": "user", "content": text} for text in texts if text]


def _prompts(items: list[Item]) -> dict[tuple[int, str], int]:
    """The place of each prompt, by its text and how often it came before."""
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
    """Whether something is missing that a text followed."""
    return any(text and key not in there for key, text in known.items())


def _input_of(call: Item) -> Mapping[str, object]:
    """The input of a call; a shell command is under `command`."""
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


class ItemSession:
    """What `Runner.run(…, session=…)` takes; `folder` is ours unless another one is given.

    >>> import asyncio, tempfile
    >>> session = ItemSession("a talk", folder=tempfile.mkdtemp())
    >>> asyncio.run(session.add_items([{"role": "user", "content": "hi"}]))
    >>> asyncio.run(session.clear_session()), asyncio.run(session.get_items())
    (None, [])
    >>> asyncio.run(session.restore_session()), asyncio.run(session.get_items())
    (None, [{'role': 'user', 'content': 'hi'}])
    """

    def __init__(
        self,
        session_id: str,
        *,
        folder: str | os.PathLike[str] | None = None,
        home: str | None = None,
        env: Mapping[str, str] | None = None,
        session_settings: Any = None,
        findings: list[Finding] | None = None,
    ) -> None:
        self.session_id, self.session_settings = session_id, session_settings
        self.findings: list[Finding] = [] if findings is None else findings
        own = jsonl_store.folder_for("openai-agents", home, env, folder)
        self.path = f"{own}/{jsonl_store.unique_name(session_id)}{jsonl_store.ENDING}"

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """All items, or the last ones, in their order."""
        most = limit if limit is not None else getattr(self.session_settings, "limit", None)
        items = (await asyncio.to_thread(self._replay)).items
        return items if most is None else items[-most:] if most > 0 else []

    async def add_items(self, items: list[Item]) -> None:
        """Keep items, all or none of them."""
        if items:
            await asyncio.to_thread(self._step, {"add": list(items)})

    async def pop_item(self) -> Item | None:
        """Remove the last item and return it; None if there is none."""
        name = uuid.uuid4().hex
        if not (await asyncio.to_thread(self._replay)).items:
            return None
        await asyncio.to_thread(self._step, {"pop": name})
        return (await asyncio.to_thread(self._replay)).popped.get(name)

    async def clear_session(self) -> None:
        """Remove all items; `restore_session` brings them back."""
        await asyncio.to_thread(self._step, {"clear": uuid.uuid4().hex})

    async def restore_session(self) -> None:
        """Bring back what the last clearing removed, before what was added since."""
        if not (await asyncio.to_thread(self._replay)).cleared:
            raise NoSuchSession(f"the session {self.session_id!r} was not cleared")
        await asyncio.to_thread(self._step, {"restore": uuid.uuid4().hex})

    def _replay(self) -> Replay:
        found = jsonl_store.values_of(self.path, self.findings)
        return Replay(found[0] if found is not None else [])

    def _step(self, step: Mapping[str, object]) -> None:
        jsonl_store.append(self.path, [step], self.findings)


class Replay:
    """The result of steps."""

    def __init__(self, steps: Iterable[Mapping[str, Any]]) -> None:
        self.items: list[Item] = []
        self.popped: dict[str, Item] = {}  #: by the id of the step that removed it
        self.cleared: list[list[Item]] = []
        for step in steps:
            if "add" in step:
                self.items += step["add"]
            elif "pop" in step and self.items:
                self.popped[step["pop"]] = self.items.pop()
            elif "clear" in step and self.items:
                self.cleared.append(self.items)
                self.items = []
            elif "restore" in step and self.cleared:
                self.items = self.cleared.pop() + self.items
