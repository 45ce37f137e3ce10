"""Finding the place and the settings of hooks, when nothing is kept: the slow way, which knows what it looked at."""

from __future__ import annotations

import os

from foretold.dialects.registry import DEFAULT_AGENT, choose
from foretold.dialects.settings_files import read_toml
from foretold.memory.location import find_place, name_of
from foretold.serve.hooks.settings import settled
from foretold.storage.tree import Disk
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.dialects.registry import Choice
    from foretold.memory.location import Place
    from foretold.serve.hooks.context import Asking

Values = tuple[object, ...]


def placed(
    folder: str, asking: Asking, config: str
) -> tuple[tuple[Values, Values], tuple[str, ...], Disk, tuple[str, ...]]:
    """The fields of `Where` and of `Settings`; the variables and paths that they depend on; what is wrong."""
    disk = Disk()
    choice = choose(asking.agent, asking.env)
    place, keeper = _kept(folder, asking, disk)
    for path in (place.team, place.store):
        if path:
            disk.kind(path)
    note_programs(disk, choice, asking)
    findings: list[Finding] = []
    user, repository = (
        read_toml(disk, path, findings, effect="it is not used").get("hooks", {})
        for path in (config, f"{place.root.rstrip('/')}/.foretold.toml")
    )
    complaints = [f"{os.path.basename(each.path)}: {each.message}" for each in findings]
    settings = settled(user, repository, complaints)
    where = (
        place.project,
        place.root,
        place.store,
        place.under,
        place.team,
        place.policy,
        choice.dialect.name,
        place.is_read,
        f"{place.cache}/{name_of(place.store)}",
        keeper,
    )
    return (where, tuple(settings)), choice.dialect.environment, disk, tuple(complaints)


def _kept(folder: str, asking: Asking, disk: Disk) -> tuple[Place, str]:
    """Where memories are, and as whose: an agent that keeps none has those that `foretold memory` shows."""
    around = {"home": asking.home, "managed": asking.managed or None, "env": asking.env}
    place = find_place(folder, agent=asking.agent, tree=disk, **around)  # type: ignore[arg-type]
    if place.is_read or place.off or place.agent == DEFAULT_AGENT:
        return place, asking.agent
    shared = find_place(folder, agent=DEFAULT_AGENT, tree=disk, **around)  # type: ignore[arg-type]
    return shared._replace(is_read=False), DEFAULT_AGENT


def note_programs(disk: Disk, choice: Choice, asking: Asking) -> None:
    """Remember where the agent's program was looked for: another version behaves otherwise."""
    if "@" in asking.agent:
        return
    for program in choice.dialect.programs:
        for folder in asking.env.get("PATH", "").split(os.pathsep):
            if folder and disk.kind(os.path.join(folder, program)) == "file":
                return
