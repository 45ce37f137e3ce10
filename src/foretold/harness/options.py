"""The options of a harness, and the parts of a conversation that are made from them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from foretold.dialects.claude_code.file_history import form_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.errors import ForetoldError, NotAFolder, SessionFailed, unknown_keyword
from foretold.files.history.history import FileHistory
from foretold.files.read_state.state import ReadState
from foretold.instructions.session import Session
from foretold.sessions.formats.claude.reader import config_folder
from foretold.sessions.model import Homes
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from typing import Any, Protocol, TypedDict

    from foretold.context.attribution import Attribution
    from foretold.context.listings import Skill
    from foretold.dialects.claude_code.agents import AgentType
    from foretold.harness.harness import Harness
    from foretold.harness.permissions.check import Permission
    from foretold.harness.tools.base import Ask, Tool, ToolContext
    from foretold.memory.extraction.session_notes import NotesUpdate
    from foretold.memory.extraction.transcript import TranscriptPiece
    from foretold.memory.project import Memories
    from foretold.models.protocol import Model, ModelRequest

    class MemoryExtractor(Protocol):
        """Makes memories of a conversation, when it is time: `foretold.Extractor`."""

        def due(self, said: Sequence[TranscriptPiece]) -> bool: ...
        def run(
            self,
            model: Model,
            request: ModelRequest,
            said: Sequence[TranscriptPiece],
            *,
            session: str,
            instructions: Iterable[str] = (),
        ) -> object: ...

    class NotesReader(Protocol):
        """Knows what a conversation is about; the text is empty if there are no notes."""

        def text(self) -> str: ...

    class NotesWriter(NotesReader, Protocol):
        """Notes that are updated at the end of a turn, when it is time: `SessionNotes`."""

        def due(self, said: Sequence[TranscriptPiece], *, is_end: bool) -> bool: ...
        def update(self, model: Model, request: ModelRequest, said: Sequence[TranscriptPiece]) -> NotesUpdate: ...

    class Options(TypedDict, total=False):
        """The keyword arguments of `Harness`, other than `model` and `session`. docs/harness.md explains them."""

        agent: str
        dialect: str
        home: str | os.PathLike[str] | None
        env: Mapping[str, str] | None
        managed: str | os.PathLike[str] | None
        system: str
        tools: Sequence[Tool] | None
        permission: Permission | str | None
        memory: bool | Memories
        extractor: MemoryExtractor | None
        notes: NotesReader | None
        recall: bool
        window: int
        max_tokens: int
        max_turns: int
        ask: Ask | None
        now: str | Callable[[], str]
        clock: Callable[[], float]
        sync: bool
        attribution: bool | Attribution
        clear_results: int
        summarize_results: bool
        agents: bool | Sequence[AgentType]
        agent_list: str
        agent_depth: int
        agent_turns: int
        agent_reads: bool
        models: Mapping[str, Model]
        skills: bool | Sequence[Skill]
        skill_search: bool
        deferred: Sequence[Tool] | Callable[[], Iterable[Tool]]
        servers: Mapping[str, str] | Callable[[], Mapping[str, str]]


#: numbers, and the least that they can be
LEAST = {"window": 1, "max_tokens": 1, "max_turns": 0, "clear_results": 0, "agent_depth": 0, "agent_turns": 1}
AGENT_LISTS = ("attachment", "description")  #: where kinds of agents are listed
MEMORY_OFF = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}  #: keeps the index of memories out of the instructions
#: the version of the rules for reading and editing, unless one is asked for: it never changes a file unread
CAREFUL_VERSION = "2.1.197"


class ResolvedOptions(NamedTuple):
    """`Options` with their defaults."""

    cwd: str
    model: Model
    agent: str = DEFAULT_AGENT
    dialect: str = ""  #: whose instructions are loaded, if not the agent's
    home: str | None = None
    env: Mapping[str, str] | None = None
    managed: str | None = None
    system: str = ""
    tools: tuple[Tool, ...] | None = None  #: None: all of ours
    permission: Permission | str | None = None  #: a text is a mode
    memory: bool | Memories = True
    extractor: MemoryExtractor | None = None
    notes: NotesReader | None = None
    recall: bool = True
    window: int = 200_000
    max_tokens: int = 8192
    max_turns: int = 0
    ask: Ask | None = None
    now: str | Callable[[], str] = ""
    clock: Callable[[], float] = time.time
    sync: bool = True
    attribution: bool | Attribution = True  #: True: as the settings have it
    clear_results: int = 0  #: how many results of tools stay at least; 0: all
    summarize_results: bool = False
    agents: bool | Sequence[AgentType] = False  #: True: those of the agent and of files
    agent_list: str = "attachment"  #: where they are listed; or description
    agent_depth: int = 2
    agent_turns: int = 50
    agent_reads: bool = False
    models: Mapping[str, Model] = MappingProxyType({})
    skills: bool | Sequence[Skill] = False  #: True: those of files
    skill_search: bool = False
    deferred: Sequence[Tool] | Callable[[], Iterable[Tool]] = ()
    servers: Mapping[str, str] | Callable[[], Mapping[str, str]] = MappingProxyType({})

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment: the process's own, unless one was given."""
        return os.environ if self.env is None else self.env

    @property
    def homes(self) -> Homes:
        """Where sessions are stored."""
        return Homes(self.home_folder, self.environ)

    @property
    def home_folder(self) -> str:
        return os.path.abspath(self.home or self.environ.get("HOME") or os.path.expanduser("~"))

    @property
    def instructions_env(self) -> Mapping[str, str]:
        """The environment that decides which instructions are loaded."""
        return self.environ if self.memory else {**self.environ, **MEMORY_OFF}

    def today(self) -> str:
        """The date that the model is given."""
        if callable(self.now):
            return self.now()
        return self.now or time.strftime("%Y-%m-%d", time.localtime(self.clock()))


def resolve_options(cwd: str | os.PathLike[str], model: Model | str, options: Options) -> ResolvedOptions:
    """The options with their defaults. ValueError or TypeError for one that can only be a mistake."""
    _check_options(options)
    values: dict[str, Any] = dict(options)
    for name, convert in (("home", os.fspath), ("managed", os.fspath), ("tools", tuple)):
        values[name] = None if values.get(name) is None else convert(values[name])
    if unknown := [name for name in values if name not in ResolvedOptions._fields]:
        raise unknown_keyword(unknown[0], ResolvedOptions._fields)
    try:
        folder = os.path.abspath(cwd)
    except FileNotFoundError:
        raise NotAFolder("the working directory of this process no longer exists; give another as cwd") from None
    return ResolvedOptions(folder, resolve_model(model), **values)


def _check_options(options: Options) -> None:
    """Refuse what would only fail later, in the middle of a turn."""
    for name, least in LEAST.items():
        value = options.get(name, least)
        if not isinstance(value, int) or value < least:
            raise ValueError(f"{name} is a number of at least {least}, not {value!r}")
    if isinstance(mode := options.get("permission"), str):
        from foretold.harness.permissions.rules import check_mode

        check_mode(mode)
    if (where := options.get("agent_list", "attachment")) not in AGENT_LISTS:
        raise ValueError(f"agent_list is one of {', '.join(AGENT_LISTS)}, not {where!r}")
    names = []
    deferred = options.get("deferred") or ()
    for tool in (*(options.get("tools") or ()), *(() if callable(deferred) else deferred)):
        if not isinstance(getattr(tool, "name", None), str) or not callable(getattr(tool, "run", None)):
            raise TypeError(f"{tool!r} is not a tool; foretold.harness.tools has Tool and DEFAULT_TOOLS")
        names.append(tool.name)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two tools are called {twice[0]}; remove one of them")


def resolve_model(model: Model | str) -> Model:
    """A model, also by its name: `vendor:model`.

    >>> resolve_model(5)
    Traceback (most recent call last):
        ...
    TypeError: 5 is not a model: it needs a name and reply(request), or to be a text like vendor:model
    """
    if isinstance(model, str):
        from foretold.models import from_name

        return from_name(model)
    if not isinstance(getattr(model, "name", None), str) or not callable(getattr(model, "reply", None)):
        said = f"{model!r} is not a model: it needs a name and reply(request), or to be a text like vendor:model"
        raise TypeError(said)
    return model


def check_prompt(text: str) -> None:
    """Refuse an empty prompt: no model takes it, and the agent would not store it."""
    if not isinstance(text, str):
        raise TypeError(f"a prompt is a text, not {type(text).__name__}")
    if not text.strip():
        raise ValueError("the prompt is empty")


def check_session(session: str) -> str:
    """An id that a new session can have: a UUID, as the agent demands, or none."""
    if session and not re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", session):
        raise SessionFailed(f"{session!r} is not a UUID; leave the id of a new session out to get one")
    return session


def open_instructions(options: ResolvedOptions) -> Session:
    """The instructions of the conversation."""
    return Session(
        options.cwd,
        agent=options.dialect or options.agent,
        home=options.home_folder,
        managed=options.managed,
        env=options.instructions_env,
        model=options.model.name,
        now=options.today(),
    )


def make_read_state(options: ResolvedOptions) -> ReadState:
    """What the model knows of files: nothing yet."""
    return ReadState(
        options.cwd,
        version=options.agent.partition("@")[2] or CAREFUL_VERSION,
        model=options.model.name,
        home=options.home_folder,
        clock=options.clock,
    )


def open_memory(options: ResolvedOptions, agent: str, add_finding: Callable[[Finding], None]) -> Memories | None:
    """The memories of the project; None, and a finding with the reason, if they are off."""
    if not isinstance(options.memory, bool):
        return options.memory
    if not options.memory:
        return None
    from foretold.memory.doctor import unaccepted_finding
    from foretold.memory.project import open as open_memories

    home, env = options.home_folder, options.environ
    try:
        found = open_memories(options.cwd, agent=agent, home=home, managed=options.managed, env=env)
    except ForetoldError as error:
        add_finding(Finding(options.cwd, None, "memory-off", f"there is no memory here: {error}"))
        return None
    for finding in found.place.findings:
        add_finding(finding)
    if found.place.off:
        add_finding(Finding(found.place.store, None, "memory-off", f"memory is switched off: {found.place.off}"))
        return None
    if found.count_unaccepted():
        add_finding(unaccepted_finding(found))
    return found.for_models()


def open_attribution(options: ResolvedOptions, agent: str) -> Attribution:
    """What belongs at the end of commits. It may come from the repository, so it cannot hold tags of the agent."""
    from foretold.context.attribution import Attribution, read_attribution
    from foretold.instructions.render.escape import escape_reserved

    given = options.attribution
    if isinstance(given, bool):
        home, env, model = options.home_folder, options.environ, options.model.name
        found = read_attribution(options.cwd, agent=agent, home=home, managed=options.managed, env=env, model=model)
        given = found if given else Attribution(None, None, found.git_status_block)
    commit, pr = (escape_reserved(text) if text else None for text in (given.commit, given.pr))
    return Attribution(commit, pr, given.git_status_block)


def open_history(harness: Harness, records: Iterable[Mapping[str, object]] = ()) -> FileHistory:
    """What files were before the conversation changed them."""
    options = harness.options
    return FileHistory(
        os.path.join(config_folder(options.homes), "file-history"),
        harness.session,
        options.cwd,
        form=form_of(harness.version),
        records=records,
        clock=options.clock,
    )


def make_tool_context(harness: Harness) -> ToolContext:
    """What tools work with, with the permissions that were given, else those of the settings, in the mode given."""
    from foretold.harness.permissions.check import Permission
    from foretold.harness.tools.base import ToolContext

    options, permission = harness.options, harness.options.permission
    if permission is None or isinstance(permission, str):
        permission = Permission.load(
            options.cwd,
            home=options.home_folder,
            env=options.environ,
            managed=options.managed or "",
            mode=permission or "",
            memory=harness.memory.place.store if harness.memory else "",
        )
    return ToolContext(
        options.cwd,
        state=harness.state,
        permission=permission,
        env=options.environ,
        home=options.home_folder,
        before_edit=harness.before_edit,
        ask=options.ask,
    )
