"""Finds the place and the settings of hooks when nothing is cached: slow, and it records what it looked at."""

from __future__ import annotations

import os

from foretold.dialects.registry import DEFAULT_AGENT, choose, programs_of
from foretold.dialects.settings_files import read_toml
from foretold.memory.location import folder_name, locate_memories, own_configs
from foretold.serve.hooks.settings import keep_guard, merge_settings
from foretold.storage.tree import Disk
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.dialects.registry import DialectChoice
    from foretold.memory.location import MemoryLocation
    from foretold.serve.hooks.context import Caller

Values = tuple[object, ...]


def find_place_and_settings(
    folder: str, caller: Caller, config: str
) -> tuple[tuple[Values, Values], tuple[str, ...], Disk, tuple[str, ...]]:
    """The fields of `MemoryPlace` and of `HookSettings`; the variables and paths that they depend on; what is wrong."""
    disk = Disk()
    choice = choose(caller.agent, caller.env)
    place, keeper = _find_memories(folder, caller, disk)
    for path in (place.team, place.store):
        if path:
            disk.kind(path)
    note_programs(disk, choice, caller)
    findings: list[Finding] = []
    paths = own_configs(config, place.root, caller.home)
    *own, repository = (
        read_toml(disk, path, findings, effect="it is not used").get("hooks", {})
        for path in (*paths, f"{place.root.rstrip('/')}/.foretold.toml")
    )
    problems = [f"{os.path.basename(each.path)}: {each.message}" for each in findings]
    settings = merge_settings(own[0] if own else {}, repository, problems)
    if len(own) > 1 and disk.kind(paths[1]) == "file":  # a variable names another file than the usual one
        settings = keep_guard(settings, merge_settings(own[1], {}, []))
    verdicts = f"{place.cache}/{folder_name(place.store)}"
    folders = (place.project, place.root, place.store, place.under, place.team)
    where = (*folders, place.policy, choice.dialect.name, place.is_read, verdicts, keeper, place.is_accepted)
    return (where, tuple(settings)), choice.dialect.environment, disk, tuple(problems)


def _find_memories(folder: str, caller: Caller, disk: Disk) -> tuple[MemoryLocation, str]:
    """Where memories are, and whose they are: an agent that has none uses those that `foretold memory` shows."""
    place = locate_memories(folder, agent=caller.agent, tree=disk, **caller.around)
    if place.is_read or place.off or place.agent == DEFAULT_AGENT:
        return place, caller.agent
    shared = locate_memories(folder, agent=DEFAULT_AGENT, tree=disk, **caller.around)
    return shared._replace(is_read=False), DEFAULT_AGENT


def note_programs(disk: Disk, choice: DialectChoice, caller: Caller) -> None:
    """Record where the agent's program was looked for: another version behaves differently."""
    if "@" in caller.agent:
        return
    for program in programs_of(choice.dialect.agent):
        for folder in caller.env.get("PATH", "").split(os.pathsep):
            if folder and disk.kind(os.path.join(folder, program)) == "file":
                return
