"""The family *memory*: the auto-memory of this project, in the home of the person who checks it.

1. What is wrong with its files and its index is what `foretold memory doctor` says; the history is left to that.
2. A memory that names a path which is no longer there is stale: what `foretold memory verify` calls moved or missing.
   Names of code, flags and commits are left to that command: they need a search of the whole repository.
3. Nothing is written: no cache is kept, and a store that moved is not followed. The team's memories are those of the
   repository, and are not looked at.
4. Without a home nothing is looked at, so CI reports the same for everyone.

The message of `memory-stale` begins with the path as it is written, then `: `; if git knows a new place, the hint is
`write NEW`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.settings import CheckSettings
from foretold.errors import ForetoldError
from foretold.memory.doctor import find_problems as find_store_problems
from foretold.memory.drift.verify import verify
from foretold.memory.location import locate_memories
from foretold.memory.project import Memories

#: what the doctor says about the machine, or about a choice of the user
LEFT_OUT = ("memory-off", "memory-orphan", "team-not-accepted")
SECONDS = 5.0  #: for a pass over the history of the repository


def find_problems(project: Project, settings: CheckSettings) -> Iterator[CheckFinding]:  # noqa: ARG001
    """Findings about the memories of the first agent here that keeps one file for each."""
    if project.options.home == "":
        return
    memories = _open(project)
    if memories is None or not os.path.isdir(memories.place.store):
        return
    store = memories.place.store
    for finding in find_store_problems(memories, history=False):
        if finding.code not in LEFT_OUT:
            path = finding.path if finding.path.startswith("/") else f"{store}/{finding.path}"
            yield CheckFinding(path, finding.line, finding.code, finding.message, finding.hint)
    yield from _find_stale(memories)


def _open(project: Project) -> Memories | None:
    """The memories of this project, read alone; None if no agent here keeps any, or they cannot be found."""
    options = project.options
    for choice in project.choices:
        if choice.dialect.memory_index is not None:
            try:
                place = locate_memories(
                    project.top, agent=choice.dialect.name, home=options.home, managed=options.managed, env=options.env
                )
            except ForetoldError:
                return None
            return Memories(place, reads_team=False)
    return None


def _find_stale(memories: Memories) -> Iterator[CheckFinding]:
    """Paths in memories that are not there any more."""
    notes = memories.own.memories()
    for verdict in verify(notes, memories.place.root, kinds=("path",), seconds=SECONDS):
        for checked in verdict.claims:
            if checked.state in ("moved", "missing"):
                said = f"{checked.claim.text}: {checked.evidence}"
                path = f"{memories.place.store}/{verdict.file}"
                hint = f"write {checked.where}" if checked.state == "moved" and checked.where else ""
                yield CheckFinding(path, checked.claim.line, "memory-stale", said, hint)
