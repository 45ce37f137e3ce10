"""What a harness is given: its options, and what follows from them before anything is read."""

from __future__ import annotations

import os
import time

from headnote.dialects.registry import DEFAULT_AGENT
from headnote.sessions.model import Homes
from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Protocol, TypedDict

    from headnote.extract.notes import Noted
    from headnote.extract.said import Said
    from headnote.harness.hands import Ask, Tool
    from headnote.harness.permission import Permission
    from headnote.memory.memories import Memories
    from headnote.models.talk import Model, Request

    class Extracts(Protocol):
        """Whatever makes memories of what was said: `headnote.extract.extractor.Extractor`."""

        def due(self, said: Sequence[Said]) -> bool:
            """Whether it is time."""

        def run(
            self,
            model: Model,
            request: Request,
            said: Sequence[Said],
            *,
            session: str,
            instructions: Iterable[str] = (),
        ) -> object:
            """Make them; what was done."""

    class Notes(Protocol):
        """Whatever knows what a conversation is about. `headnote.extract.notes.SessionNotes` also writes it down."""

        def text(self) -> str:
            """The notes; empty if there are none."""

    class WritesNotes(Notes, Protocol):
        """Notes that are brought up to date at the end of a turn."""

        def due(self, said: Sequence[Said], *, is_end: bool) -> bool:
            """Whether it is time."""

        def update(self, model: Model, request: Request, said: Sequence[Said]) -> Noted:
            """Write them."""

    class Options(TypedDict, total=False):
        """What `Harness` takes beside its folder and its session."""

        model: Model
        agent: str
        home: str | os.PathLike[str] | None
        env: Mapping[str, str] | None
        managed: str | os.PathLike[str] | None
        system: str
        tools: Sequence[Tool] | None
        permission: Permission | None
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
    permission: Permission | None = None
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
    """The options that a caller gave."""
    home, managed, tools = options.get("home"), options.get("managed"), options.get("tools")
    plain = {name: value for name, value in options.items() if name not in ("home", "managed", "tools")}
    return Given(
        os.path.abspath(cwd),
        home=None if home is None else os.fspath(home),
        managed=None if managed is None else os.fspath(managed),
        tools=None if tools is None else tuple(tools),
        **plain,  # type: ignore[arg-type]
    )
