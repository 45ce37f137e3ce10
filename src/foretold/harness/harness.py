"""`foretold.Harness`: an agent on all parts of foretold, one object per conversation.

    with foretold.Harness(".", model=AnthropicModel("claude-opus-5-5")) as agent:
        print(agent.prompt("What does this project do?").text)

1. The parts: instructions (`foretold.Session`), memory, the transcript, what the model knows of files, their history,
   what surrounds a turn. Each is made when it is first needed; none needs the permissions to start, nor they it.
2. A turn is `turn.Taking`; compaction, resuming, rewinding and subagents have modules of their own.
3. What was not loaded, not attached, torn, refused or broken is in `findings`. Nothing of it raises.
4. A conversation is written down as Claude Code writes its own; `claude --resume` goes on with it.
"""

from __future__ import annotations

import os
import time

from foretold.dialects.claude_code.context import turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.errors import SessionFailed, StoreFailed
from foretold.harness.attachments import Attaching, skipped
from foretold.harness.events import Compacted, Ended, Turn
from foretold.harness.messages import Dialogue, messages_of_records
from foretold.harness.options import (
    checked_prompt,
    checked_session,
    given_of,
    hands_of,
    history_of,
    instructions_of,
    memory_of,
    state_of,
)
from foretold.harness.system_prompt import Surroundings
from foretold.harness.transcript import Recording
from foretold.harness.turn import Taking
from foretold.models.protocol import ModelRequest, Reply, Usage
from foretold.sessions.transcript.writer import new_session, transcript_path
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from foretold.files.history.history import FileHistory
    from foretold.files.read_state.state import ReadState
    from foretold.harness.events import Event
    from foretold.harness.options import Extracts, Given, Notes, Options
    from foretold.harness.permissions.check import Permission
    from foretold.harness.rewind import Prompt, Rewound
    from foretold.harness.tools.base import Ask, Hands, Result, Tool
    from foretold.instructions.session import Session
    from foretold.memory.project import Memories
    from foretold.models.protocol import Model


class Harness:
    """A conversation of an agent in a folder.

    >>> import tempfile
    >>> from foretold.models.scripted import Scripted
    >>> folder = tempfile.mkdtemp()
    >>> with Harness(folder, model=Scripted(["Hello."]), home=folder, env={}) as agent:
    ...     agent.prompt("Hi.").text
    'Hello.'
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] = ".",
        *,
        model: Model | str,
        agent: str = DEFAULT_AGENT,
        home: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        managed: str | os.PathLike[str] | None = None,
        session: str = "",
        system: str = "",
        tools: Sequence[Tool] | None = None,
        permission: Permission | str | None = None,
        memory: bool | Memories = True,
        extractor: Extracts | None = None,
        notes: Notes | None = None,
        recall: bool = True,
        window: int = 200_000,
        max_tokens: int = 8192,
        max_turns: int = 0,
        ask: Ask | None = None,
        now: str | Callable[[], str] = "",
        clock: Callable[[], float] = time.time,
        sync: bool = True,
    ) -> None:
        """`docs/harness.md` says what each option means; whatever is left out is taken from the process."""
        given = given_of(
            cwd,
            {
                "model": model,
                "agent": agent,
                "home": home,
                "env": env,
                "managed": managed,
                "system": system,
                "tools": tools,
                "permission": permission,
                "memory": memory,
                "extractor": extractor,
                "notes": notes,
                "recall": recall,
                "window": window,
                "max_tokens": max_tokens,
                "max_turns": max_turns,
                "ask": ask,
                "now": now,
                "clock": clock,
                "sync": sync,
            },
        )
        path = transcript_path(given.cwd, checked_session(session) or new_session(), given.homes)
        if os.path.lexists(path):
            raise SessionFailed(f"the session {session} is there already; go on with it by Harness.resume({session!r})")
        self._open(given, path)

    @classmethod
    def of(
        cls, given: Given, path: str, instructions: Session | None = None, state: ReadState | None = None
    ) -> Harness:
        """A harness whose options were put together elsewhere, with parts that exist already."""
        harness = cls.__new__(cls)
        harness._open(given, path, instructions, state)
        return harness

    def _open(
        self, given: Given, path: str, instructions: Session | None = None, state: ReadState | None = None
    ) -> None:
        self.given, self.path = given, path
        self.session = os.path.splitext(os.path.basename(path))[0]
        self.model, self.extractor, self.notes, self.clock = given.model, given.extractor, given.notes, given.clock
        self.window, self.max_turns = given.window, given.max_turns
        self.findings: list[Finding] = []
        self._told = 0  #: how many of them a turn has told
        self.instructions = instructions or instructions_of(given)
        view = self.instructions.view
        self.agent, self.version = view.dialect.name, view.dialect.version
        turn_context_of(self.agent)  # UnknownAgent, if what surrounds a turn was not recorded
        self.memory = memory_of(given, self.agent, self.find)
        self.state = state or state_of(given)
        self.surroundings = Surroundings(
            self.instructions,
            self.agent,
            given.model.name,
            env=given.environ,
            system=given.system,
            memory=lambda: self.memory.prompt() if self.memory else "",
            today=given.today,
        )
        self.attaching = Attaching(
            self.instructions, self.state, self.surroundings, self.memory if given.recall else None, self.find
        )
        self.recording = self._record(path)
        self.history: FileHistory | None = history_of(self)
        self.dialogue, self.used = Dialogue(), Usage()
        self.last: tuple[ModelRequest, Reply] | None = None  #: what the model was asked and said last
        self._hands: Hands | None = None
        self._turn: Generator[Event, None, None] | None = None
        self._editing = ""
        for finding in (*view.findings, *skipped(view)):
            self.find(finding)

    def _record(self, path: str, **more: str) -> Recording:
        given = self.given
        return Recording(
            path,
            cwd=given.cwd,
            agent=self.agent,
            model=given.model.name,
            branch=lambda: self.surroundings.branch,
            sync=given.sync,
            clock=given.clock,
            **more,
        )

    def prompt(self, text: str) -> Turn:
        """Say something, and let the model work until it is done."""
        for event in self.run(text):
            if isinstance(event, Ended):
                return event.turn
        raise AssertionError("a turn has an end")

    def run(self, text: str) -> Iterator[Event]:
        """The same, step by step; the last event is `Ended`. A turn that is not run to its end is interrupted."""
        checked_prompt(text)
        self._stop()
        self._turn = Taking(self).events(text)
        return self._turn

    def _stop(self) -> None:
        """Interrupt a turn that was not run to its end."""
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def request(self) -> ModelRequest:
        """What the model is asked next."""
        return self.dialogue.request(self.surroundings.system(), self.tool_definitions, self.given.max_tokens)

    def compact(self, instructions: str = "") -> Compacted:
        """Replace what was said by a summary, minding the `instructions`; or say why not."""
        from foretold.harness.compaction import compact

        done = compact(self, "manual", instructions)
        if done.is_done:
            self.used = Usage()
        return done

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model may use."""
        if self.given.tools is not None:
            return self.given.tools
        from foretold.harness.tools.registry import DEFAULT_TOOLS

        return DEFAULT_TOOLS

    @property
    def tool_definitions(self) -> tuple[dict[str, object], ...]:
        """What the model is told of them."""
        if not self.tools:
            return ()
        from foretold.harness.tools.registry import definitions

        return definitions(self.tools)

    @property
    def hands(self) -> Hands:
        """What the tools work with. Made, with the permissions, when the first tool is used."""
        if self._hands is None:
            self._hands = hands_of(self)
            for finding in self._hands.permission.findings:
                self.find(finding)
        return self._hands

    def use(self, call: Mapping[str, object]) -> Result:
        """Run a tool, as a `tool_use` block asks."""
        from foretold.harness.tools.registry import run_tool

        self._editing = self.recording.written.get(str(call.get("id")), "")
        memory = None
        if self.memory is not None:
            from foretold.harness.memory import Remembering

            memory = Remembering(self.memory.place, self.state, self.session, self.agent, self.clock)
            if (refused := memory.refused(call)) is not None:
                return refused
        result = run_tool(self.hands, self.tools, call)
        if result.fault:
            self.find(Finding(self.path, None, "tool-failed", result.fault))
        return memory.after(call, result) if memory else result

    def before_edit(self, path: str, *, is_ours: bool = True) -> None:
        """A file is about to be changed: keep what it is. OSError if that cannot be done, so that it is left alone.

        `is_ours`: by a call of this conversation, not of a subagent.
        """
        if self.history is None:
            return
        if not self.history.snapshots:
            self.recording.ready([self.history.prompt(new_session())])
        try:
            self.recording.ready([self.history.before_edit(path, self._editing if is_ours else "")])
        except StoreFailed as error:
            raise OSError(f"{path} was not changed, because no backup of it could be made: {error}") from error

    @classmethod
    def resume(
        cls, session: str, cwd: str | os.PathLike[str] | None = None, *, branch: str = "", **options: Unpack[Options]
    ) -> Harness:
        """Go on with a stored conversation, given its id or its file; on another `branch`, given a record of it."""
        from foretold.harness.resume import resume

        return resume(cls, session, None if cwd is None else os.fspath(cwd), options, branch)

    def subagent(
        self, prompt: str, *, name: str = "", instructions: bool | None = None, tools: Sequence[Tool] | None = None
    ) -> Turn:
        """Let a fresh conversation work on a prompt, told the instructions or not; what came of it."""
        from foretold.harness.subagents import subagent

        return subagent(self, prompt, name, instructions=instructions, tools=tools)

    def fork(self) -> Harness:
        """A conversation of its own that goes on from here; its requests begin with the same bytes."""
        from foretold.harness.subagents import fork

        return fork(self)

    def rewind(
        self, message_id: str, *, dry_run: bool = True, files: bool = True, conversation: bool = True
    ) -> Rewound:
        """Go back to before a prompt, given the id of its turn; unless told otherwise, only say what that would do."""
        from foretold.harness.rewind import rewind

        return rewind(self, message_id, dry_run=dry_run, files=files, conversation=conversation)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """What the user said, with the ids that `rewind` takes; of what was compacted, nothing."""
        from foretold.harness.rewind import prompts

        return prompts(self)

    def read_again(self, records: Iterable[Mapping[str, object]] | None = None) -> str:
        """Take the messages from the transcript, or from records of it; the record that the next one follows."""
        said = self.recording.records() if records is None else records
        context = self.surroundings.context()
        messages, leaf = messages_of_records(said, version=self.version, model=self.model.name, context=context)
        self.dialogue.begin(messages)
        return leaf

    def find(self, finding: Finding) -> None:
        """Something was found that the user should know; each once."""
        if finding not in self.findings:
            self.findings.append(finding)

    def new_findings(self) -> tuple[Finding, ...]:
        """What was found since this was asked last."""
        for finding in (*self.recording.findings, *self.surroundings.findings):
            self.find(finding)
        new = tuple(self.findings[self._told :])
        self._told = len(self.findings)
        return new

    def close(self) -> None:
        """End the conversation. It can be gone on with by `Harness.resume`."""
        self._stop()
        self.recording.close()
        for finding in self.recording.findings:
            self.find(finding)

    def __enter__(self) -> Harness:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
