"""What a hook knows: who calls it, where, with which settings.

1. The folder is the one in which the conversation began, if the agent says so, else that of the payload: an agent that
   changed its folder keeps the instructions of its start.
2. Where memories are and what may be done is found once, and cached until something changes that it depends on.
3. `why` collects reasons for `--explain`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from foretold.paths import foretold_folders
from foretold.serve.hooks.agent_protocols import NO_OUTPUT, HookOutput, protocol_of
from foretold.serve.hooks.background import start, was_started
from foretold.serve.hooks.cache import load_answer, path_of, store_answer
from foretold.serve.hooks.json import text_of
from foretold.serve.hooks.log import fault_of, log
from foretold.serve.hooks.said_before import Notes
from foretold.serve.hooks.settings import HookSettings
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from foretold.serve.hooks.agent_protocols import AgentProtocol
    from foretold.serve.hooks.json import Payload
    from foretold.storage.tree import Disk

VARIABLES = ("FORETOLD_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HOME", "PATH")


class Caller(NamedTuple):
    """Who calls, as the command line says."""

    agent: str
    home: str
    managed: str
    env: Mapping[str, str]
    is_dry: bool = False
    begin: Callable[[Sequence[str], Mapping[str, str]], int] = start  #: how work is left to another process

    @property
    def around(self) -> dict[str, Any]:
        """Where the agent runs, for the functions of the library."""
        return {"home": self.home, "managed": self.managed or None, "env": self.env}


class MemoryPlace(NamedTuple):
    """The folders of a project's memories: what hooks need of `foretold.memory.location.Place`."""

    project: str
    root: str
    store: str
    under: str
    team: str
    policy: str
    dialect: str
    is_read: bool
    verdicts: str  #: the folder in which verdicts about memories are kept
    keeper: str  #: the agent whose memories these are
    is_accepted: bool  #: whether the user has accepted the team's memories

    @property
    def stores(self) -> list[tuple[str, str]]:
        """The folders of memories, with their scope, the nearest first."""
        pairs = ((self.store, "private"), (self.under, "private"), (self.team, "team"))
        return [(folder, scope) for folder, scope in pairs if folder]

    @property
    def readable(self) -> list[tuple[str, str]]:
        """Those that a model may be told about."""
        return [(folder, scope) for folder, scope in self.stores if scope != "team" or self.is_accepted]


class HookContext:
    """Everything that the handler of an event needs."""

    def __init__(self, event: str, payload: Payload, caller: Caller) -> None:
        self.event, self.payload, self.caller = event, payload, caller
        self.protocol: AgentProtocol = protocol_of(caller.agent)
        self.ours = foretold_folders(caller.home, caller.env)
        self.session = text_of(payload, "session_id")
        self.shell_folder = text_of(payload, "cwd") or os.getcwd()
        self.folder = self._start_folder()
        self.notes = Notes(self.ours.state, self.session, text_of(payload, "agent_id"), dry=caller.is_dry)
        self.why: list[str] = []
        self.problems: tuple[str, ...] = ()
        self._found: tuple[MemoryPlace, HookSettings] | None = None

    def _start_folder(self) -> str:
        variable = self.protocol.start_folder
        given = self.caller.env.get(variable, "") if variable else ""
        return os.path.realpath(given if given and os.path.isdir(given) else self.shell_folder)

    @property
    def key(self) -> tuple[str, ...]:
        """What cached answers depend on."""
        return self.caller.agent, self.folder, self.caller.home, self.caller.managed

    @property
    def place_id(self) -> str:
        """A name for this place, for jobs that serve all its conversations."""
        return path_of(self.ours.cache, "paths", self.key).rpartition("-")[2]

    @property
    def words(self) -> list[str]:
        """The command line of a process that works for this conversation."""
        caller = self.caller
        managed = ["--managed", caller.managed] if caller.managed else []
        session = ["--session", self.session] if self.session else []
        return ["--agent", caller.agent, "--home", caller.home, *managed, "-C", self.folder, *session]

    @property
    def place(self) -> MemoryPlace:
        return self._find()[0]

    @property
    def settings(self) -> HookSettings:
        return self._find()[1]

    def _find(self) -> tuple[MemoryPlace, HookSettings]:
        if self._found is None:
            value = self.cached("place")
            if value is None:
                from foretold.serve.hooks.discovery import find_place_and_settings

                found = find_place_and_settings(self.folder, self.caller, self.ours.config)
                value, variables, disk, self.problems = found
                self.store("place", value, disk, variables)
            place, settings = value
            self._found = MemoryPlace(*place), HookSettings(*settings)
        return self._found

    def say_nothing(self, why: str) -> HookOutput:
        self.why.append(why)
        return NO_OUTPUT

    def refresh(self, why: str) -> None:
        """Have another process update what hooks look up."""
        self.why.append(f"refresh: {why}; another process updates it")
        if not was_started(self.ours.state, "refresh", self.place_id):
            self.start_jobs("refresh")

    def start_jobs(self, jobs: str) -> None:
        """Leave jobs to another process. If it cannot be started, the hook still says what it has to say."""
        caller = self.caller
        if caller.is_dry:
            return
        try:
            caller.begin(["--work", jobs, *self.words], caller.env)
        except OSError as error:
            self.log(f"cannot start {jobs}: {fault_of(error)}")

    def store(self, name: str, value: object, disk: Disk, variables: tuple[str, ...] = ()) -> None:
        """Cache an answer about this place."""
        variables, stamps = (*VARIABLES, *variables), disk.stamps
        store_answer(self.ours.cache, name, self.key, value, env=self.caller.env, variables=variables, stamps=stamps)

    def cached(self, name: str, *, anyway: bool = False) -> Any:
        """A cached answer about this place; None if there is none."""
        return load_answer(self.ours.cache, name, self.key, self.caller.env, anyway=anyway)

    def log(self, text: str) -> None:
        """Add a line to the log, unless this is a dry run."""
        if not self.caller.is_dry:
            log(self.ours.state, self.event, self.session, text)
