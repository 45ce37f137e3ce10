"""What `foretold doctor` checks, and what it can repair. A check is a function that yields findings, in `CHECKS`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from foretold.errors import ForetoldError, SettingsRefused
from foretold.memory.doctor import find_problems
from foretold.memory.note import INDEX
from foretold.memory.project import Memories, open as open_memories
from foretold.memory.recall.index import WORD_TABLE
from foretold.paths import relative_folders
from foretold.serve.install.apply import apply_plan
from foretold.serve.install.backup import Backups, state_folder
from foretold.serve.install.leftovers import find_leftovers, remove_leftovers
from foretold.serve.install.plan import InstallPlan, plan_repair
from foretold.serve.install.targets import InstallPlace, find_installations, findings_of
from foretold.types import Finding, NamedTuple


class Patient(NamedTuple):
    """A machine and a project."""

    place: InstallPlace
    agent: str  #: whose memories
    home: str | None
    managed: str | None

    @property
    def backups(self) -> Backups:
        return Backups(state_folder(self.place.home, self.place.env))

    def memories(self) -> Memories:
        return open_memories(self.place.cwd, agent=self.agent, home=self.home, managed=self.managed)


def check_installations(patient: Patient) -> Sequence[Finding]:
    """Hooks and servers of every agent: can be started, isolated, with the package they need."""
    return findings_of(find_installations(patient.place))


def check_leftovers(patient: Patient) -> Iterator[Finding]:
    """Copies of settings that a killed install left."""
    for path in find_leftovers(patient.place):
        message = "it is a copy of settings that an install left when it was killed"
        hint = "" if patient.backups.holds(path) else "look at it, and delete it: we have no copy of what it contains"
        yield Finding(path, None, "install-leftover", message, hint)


def check_variables(patient: Patient) -> Iterator[Finding]:
    """Variables that make programs look for others in the folder they are started in."""
    for name, what in (("PATH", "programs"), ("PYTHONPATH", "Python modules")):
        if relative_folders(name, patient.place.env):
            message = f"{name} has a relative or empty entry: {what} are taken from any folder you are in"
            yield Finding(name, None, "relative-search-path", message)


def check_memories(patient: Patient) -> Iterator[Finding]:
    """The memories of this project; those of others are left to `foretold memory doctor`."""
    from foretold.cli.memory.doctor import ELSEWHERE

    try:
        memories = patient.memories()
        found = find_problems(memories)
    except ForetoldError as error:
        yield Finding(patient.place.cwd, None, "unreadable", f"its memories cannot be checked: {error}")
        return
    for finding in found:
        if finding.code not in ELSEWHERE:
            yield finding._replace(path=os.path.join(memories.place.store, finding.path))


CHECKS = (check_installations, check_leftovers, check_variables, check_memories)


class Repairs(NamedTuple):
    """What can be repaired."""

    plans: tuple[InstallPlan, ...]
    leftovers: tuple[str, ...]
    indexes: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return (*(edit.path for plan in self.plans for edit in plan.edits), *self.leftovers, *self.indexes)


def find_repairs(patient: Patient) -> Repairs:
    """What `--fix` would do. It only looks."""
    loose = [each for each in find_installations(patient.place) if each.part and not each.is_valid]
    plans = []
    for agent, scope in dict.fromkeys((each.agent, each.scope) for each in loose):
        try:
            plan = plan_repair(agent, patient.place, patient.backups, scope=scope)
        except SettingsRefused:
            continue  # the finding stays, and says why
        plans += [plan] if plan.edits else []
    leftovers = tuple(path for path in find_leftovers(patient.place) if patient.backups.holds(path))
    return Repairs(tuple(plans), leftovers, tuple(_stale_indexes(patient)))


#: findings that updating the index from the files repairs
_STALE = ("index-dangling", "index-unlisted")


def _stale_indexes(patient: Patient) -> Iterator[str]:
    if any(finding.code in _STALE for finding in check_memories(patient)):
        memories = patient.memories()
        yield from (os.path.join(store.path, INDEX) for store in memories.stores if os.path.isdir(store.path))


def repair(patient: Patient, repairs: Repairs) -> None:
    """Do it. ForetoldError: what was done before stays done, each file of it whole."""
    for plan in repairs.plans:
        apply_plan(plan, patient.backups)
    if repairs.leftovers:
        remove_leftovers(patient.place, patient.backups)
    for store in patient.memories().stores if repairs.indexes else ():
        if os.path.isdir(store.path):
            store.reindex()


def offer_vectors(patient: Patient) -> str:
    """One line for people who have memories and no table of word vectors; not a finding, for nothing is wrong."""
    try:
        memories = patient.memories()
        has_any = any(os.path.isdir(store.path) and os.listdir(store.path) for store in memories.stores)
    except (ForetoldError, OSError):
        return ""
    if not has_any or os.path.exists(f"{memories.place.cache}/{WORD_TABLE}"):
        return ""
    return "Memories are recalled by their words alone; for other words: foretold memory vectors build"
