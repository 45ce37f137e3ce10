"""What a harness is given: its options, and what follows from them before anything is read.

The parts of a conversation, each made from what a harness is given: instructions, memory, files, hands.
"""

from __future__ import annotations

import os
import re
import time

from foretold.dialects.claude_code.file_history import form_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.errors import ForetoldError, NotAFolder, SessionFailed
from foretold.files.history.history import FileHistory
from foretold.files.read_state.state import ReadState
from foretold.instructions.session import Session
from foretold.sessions.formats.claude.reader import config_folder
from foretold.sessions.model import Homes
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from foretold.harness.harness import Harness
    from foretold.harness.tools.base import Hands
    from foretold.memory.project import Memories


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Protocol, TypedDict

    from foretold.harness.permissions.check import Permission
    from foretold.harness.tools.base import Ask, Tool
    from foretold.memory.extraction.session_notes import NotesUpdate
    from foretold.memory.extraction.transcript import TranscriptPiece
    from foretold.memory.project import Memories
    from foretold.models.protocol import Model, ModelRequest

    class Extracts(Protocol):
        """Whatever makes memories of what was said: `foretold.memory.extraction.extractor.Extractor`."""

        def due(self, said: Sequence[TranscriptPiece]) -> bool:
            """Whether it is time."""

        def run(
            self,
            model: Model,
            request: ModelRequest,
            said: Sequence[TranscriptPiece],
            *,
            session: str,
            instructions: Iterable[str] = (),
        ) -> object:
            """Make them; what was done."""

    class Notes(Protocol):
        """Whatever knows what a conversation is about. `SessionNotes` also writes it down."""

        def text(self) -> str:
            """The notes; empty if there are none."""

    class WritesNotes(Notes, Protocol):
        """Notes that are brought up to date at the end of a turn."""

        def due(self, said: Sequence[TranscriptPiece], *, is_end: bool) -> bool:
            """Whether it is time."""

        def update(self, model: Model, request: ModelRequest, said: Sequence[TranscriptPiece]) -> NotesUpdate:
            """Write them."""

    class Options(TypedDict, total=False):
        """What `Harness` takes beside its folder and its session."""

        model: Model | str
        agent: str
        home: str | os.PathLike[str] | None
        env: Mapping[str, str] | None
        managed: str | os.PathLike[str] | None
        system: str
        tools: Sequence[Tool] | None
        permission: Permission | str | None
        memory: bool | Memories
        extractor: Extracts | None
        notes: Notes | None
        recall: bool
        window: int
        max_tokens: int
        max_turns: int
        ask: Ask | None
        now: str | Callable[[], str]
        clock: Callable[[], float]
        sync: bool


SWITCH = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}  #: keeps the index of memories out of the instructions


class Given(NamedTuple):
    """The options of a harness. `Harness` says what they mean."""

    cwd: str
    model: Model
    agent: str = DEFAULT_AGENT
    home: str | None = None
    env: Mapping[str, str] | None = None
    managed: str | None = None
    system: str = ""
    tools: tuple[Tool, ...] | None = None  #: None = all of ours
    permission: Permission | str | None = None  #: a text is a mode
    memory: bool | Memories = True
    extractor: Extracts | None = None
    notes: Notes | None = None
    recall: bool = True
    window: int = 200_000
    max_tokens: int = 8192
    max_turns: int = 0
    ask: Ask | None = None
    now: str | Callable[[], str] = ""
    clock: Callable[[], float] = time.time
    sync: bool = True

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment: the process's own, unless one was given."""
        return os.environ if self.env is None else self.env

    @property
    def homes(self) -> Homes:
        """Where sessions are kept."""
        return Homes(self.home_folder, self.environ)

    @property
    def home_folder(self) -> str:
        return os.path.abspath(self.home or self.environ.get("HOME") or os.path.expanduser("~"))

    @property
    def told_env(self) -> Mapping[str, str]:
        """The environment that decides which instructions are loaded."""
        return self.environ if self.memory else {**self.environ, **SWITCH}

    def today(self) -> str:
        """The date, as the model is told it."""
        if callable(self.now):
            return self.now()
        return self.now or time.strftime("%Y-%m-%d", time.localtime(self.clock()))


def given_of(cwd: str | os.PathLike[str], options: Options) -> Given:
    """The options that a caller gave. ValueError or TypeError for one that can only be a mistake."""
    _check(options)
    home, managed, tools = options.get("home"), options.get("managed"), options.get("tools")
    plain = {name: value for name, value in options.items() if name not in ("model", "home", "managed", "tools")}
    return Given(
        _folder(cwd),
        checked_model(options["model"]),
        home=None if home is None else os.fspath(home),
        managed=None if managed is None else os.fspath(managed),
        tools=None if tools is None else tuple(tools),
        **plain,  # type: ignore[arg-type]
    )


def _folder(cwd: str | os.PathLike[str]) -> str:
    try:
        return os.path.abspath(cwd)
    except FileNotFoundError:
        raise NotAFolder("the folder that this process is in is gone; give another as cwd") from None


def _check(options: Options) -> None:
    """Refuse what would only fail later, in the middle of a turn."""
    for name, least in (("window", 1), ("max_tokens", 1), ("max_turns", 0)):
        value = options.get(name, least)
        if not isinstance(value, int) or value < least:
            raise ValueError(f"{name} is a number of at least {least}, not {value!r}")
    if isinstance(mode := options.get("permission"), str):
        from foretold.harness.permissions.rules import MODES

        if mode not in MODES:
            raise ValueError(f"there is no mode {mode!r}; there are {', '.join(MODES)}")
    names = []
    for tool in options.get("tools") or ():
        if not isinstance(getattr(tool, "name", None), str) or not callable(getattr(tool, "run", None)):
            raise TypeError(f"{tool!r} is no tool; foretold.harness.tools.registry has Tool, and DEFAULT_TOOLS")
        names.append(tool.name)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two tools have the name {twice[0]}; leave one of them out")


def checked_model(model: Model | str) -> Model:
    """A model, also by its name: `vendor:model`.

    >>> checked_model(5)
    Traceback (most recent call last):
        ...
    TypeError: 5 is no model: it needs a name and reply(request); a text is vendor:model
    """
    if isinstance(model, str):
        from foretold.models import from_name

        return from_name(model)
    if not isinstance(getattr(model, "name", None), str) or not callable(getattr(model, "reply", None)):
        raise TypeError(f"{model!r} is no model: it needs a name and reply(request); a text is vendor:model")
    return model


def checked_prompt(text: str) -> None:
    """Refuse what says nothing: no model takes it, and the agent would not keep it.

    >>> checked_prompt("  ")
    Traceback (most recent call last):
        ...
    ValueError: the prompt is empty; say something, or do not ask
    """
    if not isinstance(text, str):
        raise TypeError(f"a prompt is a text, not {type(text).__name__}")
    if not text.strip():
        raise ValueError("the prompt is empty; say something, or do not ask")


def checked_session(session: str) -> str:
    """An id that a new session can have: a UUID, as the agent demands, or none.

    >>> checked_session("../../notes")
    Traceback (most recent call last):
        ...
    foretold.errors.SessionFailed: '../../notes' is no UUID, as the id of a new session must be; leave it out to get one
    """
    if session and not re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", session):
        raise SessionFailed(f"{session!r} is no UUID, as the id of a new session must be; leave it out to get one")
    return session


#: the version of the rules for reading and editing, unless one is asked for: it never changes a file unread
CAREFUL = "2.1.197"


def instructions_of(given: Given) -> Session:
    """What the conversation is told."""
    return Session(
        given.cwd,
        agent=given.agent,
        home=given.home_folder,
        managed=given.managed,
        env=given.told_env,
        model=given.model.name,
        now=given.today(),
    )


def state_of(given: Given) -> ReadState:
    """What the model knows of files: nothing yet."""
    version = asked_version(given.agent)
    return ReadState(given.cwd, version=version, model=given.model.name, home=given.home_folder, clock=given.clock)


def asked_version(agent: str) -> str:
    """The version in an agent's name, else the careful one.

    >>> asked_version("claude-code"), asked_version("claude-code@2.1.325")
    ('2.1.197', '2.1.325')
    """
    return agent.partition("@")[2] or CAREFUL


def memory_of(given: Given, agent: str, find: Callable[[Finding], None]) -> Memories | None:
    """The memories of the project; None, and a finding with the reason, if they are off."""
    if not isinstance(given.memory, bool):
        return given.memory
    if not given.memory:
        return None
    from foretold.memory.project import open as open_memories

    try:
        found = open_memories(given.cwd, agent=agent, home=given.home_folder, managed=given.managed, env=given.environ)
    except ForetoldError as error:
        find(Finding(given.cwd, None, "memory-off", f"there is no memory here: {error}"))
        return None
    for finding in found.place.findings:
        find(finding)
    if found.place.off:
        find(Finding(found.place.store, None, "memory-off", f"memory is switched off: {found.place.off}"))
        return None
    return found


def history_of(harness: Harness, records: Iterable[Mapping[str, object]] = ()) -> FileHistory:
    """What files were before the conversation changed them."""
    given = harness.given
    folder = os.path.join(config_folder(given.homes), "file-history")
    form = form_of(harness.version)
    return FileHistory(folder, harness.session, given.cwd, form=form, records=records, clock=given.clock)


def hands_of(harness: Harness) -> Hands:
    """What tools work with, with the permissions that were given, else those of the settings, in the mode given."""
    from foretold.harness.permissions.check import Permission
    from foretold.harness.tools.base import Hands

    given = harness.given
    memory = harness.memory.place.store if harness.memory else ""
    permission = given.permission
    if permission is None or isinstance(permission, str):
        permission = Permission.load(
            given.cwd,
            home=given.home_folder,
            env=given.environ,
            managed=given.managed or "",
            mode=permission or "",
            memory=memory,
        )
    return Hands(
        given.cwd,
        state=harness.state,
        permission=permission,
        env=given.environ,
        home=given.home_folder,
        before_edit=harness.before_edit,
        ask=given.ask,
    )
