"""`foretold.Harness`: an agent that uses all parts of foretold, one object per conversation.

    with foretold.Harness(".", model=AnthropicModel("claude-opus-5-5")) as agent:
        print(agent.prompt("What does this project do?").text)

1. The parts: instructions (`foretold.Session`), memory, the transcript, what the model knows of files, their history,
   what surrounds a turn. Each is made when it is first needed; none needs the permissions to start, nor they it.
2. A turn is `turn.TurnRunner`; compaction and resuming, with rewinding, have modules of their own.
3. What was not loaded, not attached, torn, refused or broken is in `findings`. Nothing of it raises.
4. A conversation is stored in Claude Code's format; `claude --resume` resumes it.
5. A subagent begins with nothing (`subagents`); the model may start one itself, ask for skills and for tools that are
   only named, if the options say so (`listings`).
6. A fork begins with all of it: the same messages, the same objects, and a clone of what is known of files and was
   attached. It is a separate session, in a separate file (`sessions.fork`).
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

from foretold.dialects.claude_code.context import turn_context_of
from foretold.dialects.registry import choose
from foretold.errors import SessionFailed, StoreFailed
from foretold.harness.attachments import AttachmentCollector, skip_findings
from foretold.harness.events import CompactEvent, Turn, TurnEndEvent
from foretold.harness.listings import ListingCollector
from foretold.harness.messages import Dialogue, messages_of_records
from foretold.harness.options import (
    check_prompt,
    check_session,
    make_read_state,
    make_tool_context,
    open_attribution,
    open_history,
    open_instructions,
    open_memory,
    resolve_options,
)
from foretold.harness.system_prompt import SystemPrompt
from foretold.harness.transcript import TranscriptRecorder
from foretold.harness.turn import TurnRunner
from foretold.models.protocol import ModelRequest, Reply, Usage
from foretold.sessions.formats.claude.reader import session_id
from foretold.sessions.transcript.writer import new_session, transcript_path
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from typing import Unpack

    from foretold.dialects.claude_code.agents import AgentType
    from foretold.files.history.history import FileHistory
    from foretold.files.read_state.state import ReadState
    from foretold.harness.events import Event
    from foretold.harness.options import Options, ResolvedOptions
    from foretold.harness.resume import Prompt, Rewound
    from foretold.harness.subagents import SubagentRun
    from foretold.harness.tools.base import Result, Tool, ToolContext
    from foretold.instructions.session import Session
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
        session: str = "",
        **options: Unpack[Options],
    ) -> None:
        """`docs/harness.md` explains the options; the defaults are those of this process."""
        resolved = resolve_options(cwd, model, options)
        path = transcript_path(resolved.cwd, check_session(session) or new_session(), resolved.homes)
        if os.path.lexists(path):
            raise SessionFailed(f"the session {session} exists already; resume it with Harness.resume({session!r})")
        self._open(resolved, path)

    @classmethod
    def of(
        cls, options: ResolvedOptions, path: str, instructions: Session | None = None, state: ReadState | None = None
    ) -> Harness:
        """A harness with options that are resolved already, and maybe with parts that exist."""
        harness = cls.__new__(cls)
        harness._open(options, path, instructions, state)
        return harness

    def _open(
        self, options: ResolvedOptions, path: str, instructions: Session | None = None, state: ReadState | None = None
    ) -> None:
        self.options, self.path, self.root_path = options, path, path
        self.depth, self.agent_id = 0, ""  #: of a subagent: how far below the session, and its name
        self.session = session_id(path)
        self.model, self.clock = options.model, options.clock
        self.extractor, self.notes = options.extractor, options.notes
        self.window, self.max_turns = options.window, options.max_turns
        self.findings: list[Finding] = []
        self._reported = 0  #: how many of them a turn has reported
        self.instructions = instructions or open_instructions(options)
        view = self.instructions.view
        own = choose(options.agent, options.environ).dialect if options.dialect else view.dialect
        self.agent, self.version = own.name, own.version
        self.around = turn_context_of(self.agent)  # UnknownAgent, if its context was not recorded
        self.memory = open_memory(options, self.agent, self.add_finding)
        self.attribution = open_attribution(options, self.agent)
        self.state = state or make_read_state(options)
        self.listings = ListingCollector(self)
        self.system_prompt = SystemPrompt(self)
        self.attachments = AttachmentCollector(self)
        self.recorder = TranscriptRecorder(self, path)
        self.history: FileHistory | None = open_history(self)
        self.dialogue, self.used = Dialogue(), Usage()
        self.last: tuple[ModelRequest, Reply] | None = None  #: the last request and the answer to it
        self._tool_context: ToolContext | None = None
        self._turn: Generator[Event, None, None] | None = None
        self._editing, self._call = "", ""  #: the record of the call that runs, and its id
        self._own_tools: dict[str, Tool] = {}
        for finding in (*view.findings, *skip_findings(view)):
            self.add_finding(finding)

    def prompt(self, text: str) -> Turn:
        """Send a prompt, and let the model work until it is done."""
        for event in self.run(text):
            if isinstance(event, TurnEndEvent):
                return event.turn
        raise AssertionError("a turn has no end")

    def run(self, text: str) -> Iterator[Event]:
        """The same, step by step; the last event is `Ended`. A turn that is not run to its end is interrupted."""
        check_prompt(text)
        self._stop()
        self._turn = TurnRunner(self).events(text)
        return self._turn

    def _stop(self) -> None:
        """Interrupt a turn that was not run to its end."""
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def request(self) -> ModelRequest:
        """The next request to the model."""
        system, given = self.system_prompt.system(), self.options
        return self.dialogue.request(system, self.tool_definitions, given.max_tokens, keep=given.clear_results)

    def compact(self, instructions: str = "") -> CompactEvent:
        """Replace the conversation with a summary that follows the `instructions`; or say why not."""
        from foretold.harness.compaction import compact

        done = compact(self, "manual", instructions)
        if done.is_done:
            self.used = Usage()
        return done

    @property
    def base_tools(self) -> tuple[Tool, ...]:
        """The tools that were given, or ours."""
        if self.options.tools is not None:
            return self.options.tools
        from foretold.harness.tools.registry import DEFAULT_TOOLS

        return DEFAULT_TOOLS

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model may use: those, what agents, skills and deferred tools bring, and what is loaded."""
        from foretold.harness.subagents import conversation_tools

        if not self._own_tools:
            self._own_tools = conversation_tools(self)
        named = {tool.name for tool in self.base_tools}
        own = (tool for name, tool in self._own_tools.items() if name not in named)
        deferred = self.listings.deferred if self.listings.loaded else {}
        return (*self.base_tools, *own, *(deferred[name] for name in self.listings.loaded if name in deferred))

    @property
    def tool_definitions(self) -> tuple[dict[str, object], ...]:
        """Their definitions, as the model gets them."""
        if not self.tools:
            return ()
        from foretold.harness.tools.bash import BASH, with_attribution
        from foretold.harness.tools.registry import tool_definitions

        bash = with_attribution(BASH, self.attribution, self.around)
        return tool_definitions(bash if tool is BASH else tool for tool in self.tools)

    @property
    def tool_context(self) -> ToolContext:
        """What the tools work with. Made, with the permissions, when the first tool is used."""
        if self._tool_context is None:
            self._tool_context = make_tool_context(self)
            for finding in self._tool_context.permission.findings:
                self.add_finding(finding)
        return self._tool_context

    def use(self, call: Mapping[str, object]) -> Result:
        """Run a tool, as a `tool_use` block asks."""
        from foretold.harness.memory import guard_memory
        from foretold.harness.tools.base import failure
        from foretold.harness.tools.registry import run_tool

        self._call, name = str(call.get("id")), str(call.get("name"))
        self._editing = self.recorder.written.get(self._call, "")
        if name in self.listings.deferred and name not in self.listings.loaded:
            from foretold.harness.tools.tool_search import NOT_LOADED

            return failure(NOT_LOADED.format(name=name), is_tagged=True)
        result = guard_memory(self, call, lambda: run_tool(self.tool_context, self.tools, call))
        if result.fault:
            self.add_finding(Finding(self.path, None, "tool-failed", result.fault))
        return result

    def before_edit(self, path: str, *, is_ours: bool = True) -> None:
        """Back up a file that is about to be changed. OSError if that fails, so that it is not changed.

        `is_ours`: by a call of this conversation, not of a subagent.
        """
        if self.history is None:
            return
        if not self.history.snapshots:
            self.recorder.append([self.history.prompt(new_session())])
        try:
            self.recorder.append([self.history.before_edit(path, self._editing if is_ours else "")])
        except StoreFailed as error:
            raise OSError(f"{path} was not changed: it could not be backed up: {error}") from error

    @classmethod
    def resume(
        cls,
        session: str,
        cwd: str | os.PathLike[str] | None = None,
        *,
        model: Model | str,
        branch: str = "",
        **options: Unpack[Options],
    ) -> Harness:
        """Resume a stored conversation, given its id or its file; on another `branch`, given one of its records."""
        from foretold.harness.resume import resume

        folder = None if cwd is None else os.fspath(cwd)
        return resume(cls, session, folder, model=model, options=options, branch=branch)

    def subagent(
        self, prompt: str, *, name: str = "", instructions: bool | None = None, tools: Sequence[Tool] | None = None
    ) -> Turn:
        """Run a prompt in a new conversation, with the instructions or without; its turn."""
        from foretold.harness.subagents import kind_of, run_subagent

        return run_subagent(self, prompt, kind_of(self, name, instructions=instructions), tools=tools).turn

    def start_agent(self, prompt: str, kind: AgentType, description: str) -> SubagentRun:
        """Run a prompt in a new conversation, as the call of the `Agent` tool that runs now asks."""
        from foretold.harness.subagents import run_subagent

        return run_subagent(self, prompt, kind, description=description, call=self._call)

    def fork(self) -> Harness:
        """A separate conversation that continues from here; its requests begin with the same bytes."""
        from foretold.sessions.transcript.fork import fork

        is_begun = bool(self.dialogue.messages)
        path = os.path.join(os.path.dirname(self.path), f"{new_session()}.jsonl")
        path = fork(self.path, version=self.version).path if is_begun else path
        given = self.options._replace(memory=self.memory or False)
        other = self.of(given, path, self.instructions.clone(), self.state.clone())
        other.system_prompt.copy_from(self.system_prompt)
        other.listings.copy_from(self.listings)
        other.dialogue, other.used, other.last = self.dialogue.copy(), self.used, self.last
        if is_begun:
            other.recorder.reserve_ids(other.recorder.records())
        return other

    def rewind(
        self, message_id: str, *, dry_run: bool = True, files: bool = True, conversation: bool = True
    ) -> Rewound:
        """Go back to before a prompt, given the id of its turn. A dry run, unless told: `dry_run=False` does it.

        The result's `text` says what was done; of a dry run, what would be, and that nothing was changed.
        """
        from foretold.harness.resume import rewind

        return rewind(self, message_id, dry_run=dry_run, files=files, conversation=conversation)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The prompts since the last compaction, with the ids that `rewind` takes."""
        from foretold.harness.resume import prompts

        return prompts(self)

    def reload_messages(self, records: Iterable[Mapping[str, object]] | None = None) -> str:
        """Load the messages from the transcript, or from records of it; the id of the last record."""
        said = self.recorder.records() if records is None else records
        context = self.system_prompt.context()
        messages, leaf = messages_of_records(said, version=self.version, model=self.model.name, context=context)
        self.dialogue.begin(messages)
        return leaf

    def add_finding(self, finding: Finding) -> None:
        """Add something that the user should know; each once."""
        if finding not in self.findings:
            self.findings.append(finding)

    def new_findings(self) -> tuple[Finding, ...]:
        """What was found since this was called last."""
        for finding in (*self.recorder.findings, *self.system_prompt.findings):
            self.add_finding(finding)
        new = tuple(self.findings[self._reported :])
        self._reported = len(self.findings)
        return new

    def close(self) -> None:
        """End the conversation. `Harness.resume` resumes it."""
        self._stop()
        self.recorder.close()
        for finding in self.recorder.findings:
            self.add_finding(finding)

    def __enter__(self) -> Harness:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
