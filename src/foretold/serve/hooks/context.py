"""The scene of a hook: who speaks, where, and what is known about this place.

1. The folder is the one in which the conversation began, if the agent says so, else that of the payload: an agent that
   changed its folder is still told what it was told at its start.
2. Where memories are and what may be done is found once, and kept until something changes that it depends on.
3. `why` collects reasons for `--explain`.
"""

from __future__ import annotations

import os

from foretold.paths import our_folders
from foretold.serve.hooks.agent_protocols import speech_of
from foretold.serve.hooks.background import start, was_started
from foretold.serve.hooks.cache import keep, path_of, recalled
from foretold.serve.hooks.json import text_of
from foretold.serve.hooks.log import fault, log
from foretold.serve.hooks.said_before import Notes
from foretold.serve.hooks.settings import Settings
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from foretold.serve.hooks.agent_protocols import Speech
    from foretold.serve.hooks.json import Payload
    from foretold.storage.tree import Disk

OURS = ("FORETOLD_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HOME", "PATH")


class Asking(NamedTuple):
    """What a command line says about who asks."""

    agent: str
    home: str
    managed: str
    env: Mapping[str, str]
    is_dry: bool = False
    begin: Callable[[Sequence[str], Mapping[str, str]], int] = start  #: how work is left to another process


class Where(NamedTuple):
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

    @property
    def stores(self) -> list[tuple[str, str]]:
        """The folders that are read, with their scope, the nearest first."""
        pairs = ((self.store, "private"), (self.under, "private"), (self.team, "team"))
        return [(folder, scope) for folder, scope in pairs if folder]


class Scene:
    """All that a hook knows."""

    def __init__(self, event: str, payload: Payload, asking: Asking) -> None:
        self.event, self.payload, self.asking = event, payload, asking
        self.speech: Speech = speech_of(asking.agent)
        self.ours = our_folders(asking.home, asking.env)
        self.session = text_of(payload, "session_id")
        self.shell_folder = text_of(payload, "cwd") or os.getcwd()
        self.folder = self._began_in()
        self.notes = Notes(self.ours.state, self.session, text_of(payload, "agent_id"), dry=asking.is_dry)
        self.why: list[str] = []
        self.complaints: tuple[str, ...] = ()
        self._place: tuple[Where, Settings] | None = None

    def _began_in(self) -> str:
        variable = self.speech.started_in
        given = self.asking.env.get(variable, "") if variable else ""
        return os.path.realpath(given if given and os.path.isdir(given) else self.shell_folder)

    @property
    def key(self) -> tuple[str, ...]:
        """What answers are kept for."""
        return self.asking.agent, self.folder, self.asking.home, self.asking.managed

    @property
    def words(self) -> list[str]:
        """The command line of a process that works for this conversation."""
        asking = self.asking
        managed = ["--managed", asking.managed] if asking.managed else []
        session = ["--session", self.session] if self.session else []
        return ["--agent", asking.agent, "--home", asking.home, *managed, "-C", self.folder, *session]

    @property
    def where(self) -> Where:
        return self._known()[0]

    @property
    def settings(self) -> Settings:
        return self._known()[1]

    def _known(self) -> tuple[Where, Settings]:
        if self._place is None:
            value = recalled(self.ours.cache, "place", self.key, self.asking.env)
            if value is None:
                value = self.look()
            where, settings = value
            self._place = Where(*where), Settings(*settings)
        return self._place

    def look(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Find the place anew, and keep it."""
        from foretold.serve.hooks.placing import placed

        place, looks_at, disk, complaints = placed(self.folder, self.asking, self.ours.config)
        self.complaints = complaints
        keep(
            self.ours.cache,
            "place",
            self.key,
            place,
            env=self.asking.env,
            looks_at=(*OURS, *looks_at),
            stamps=disk.stamps,
        )
        return place

    def refresh(self, why: str) -> None:
        """Have another process bring up to date what hooks look up."""
        self.why.append(f"refresh: {why}; another process brings it up to date")
        whose = path_of(self.ours.cache, "book", self.key).rpartition("-")[2]
        if not was_started(self.ours.state, "refresh", whose):
            self.leave("refresh")

    def leave(self, jobs: str) -> None:
        """Leave jobs to another process. If it cannot be started, what is to be said is said all the same."""
        if self.asking.is_dry:
            return
        try:
            self.asking.begin(["--work", jobs, *self.words], self.asking.env)
        except OSError as error:
            log(self.ours.state, self.event, self.session, f"cannot start {jobs}: {fault(error)}")

    def keep(self, name: str, value: object, disk: Disk, looks_at: tuple[str, ...] = ()) -> None:
        """Keep an answer about this place."""
        stamps = disk.stamps
        keep(
            self.ours.cache,
            name,
            self.key,
            value,
            env=self.asking.env,
            looks_at=(*OURS, *looks_at),
            stamps=stamps,
        )

    def recalled(self, name: str, *, anyway: bool = False) -> Any:
        """An answer about this place that is kept; None if there is none."""
        return recalled(self.ours.cache, name, self.key, self.asking.env, anyway=anyway)
