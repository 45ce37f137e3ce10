"""What a conversation still has of its instructions after it was compacted or cleared.

1. Files of the start: read again in full, so that changes since then are seen (`changed`), or kept as they were.
2. What came with a touched file: Claude Code counts it among the files it has read, and attaches the newest of those
   again (`restored_files`). Such a file `survived`, as a file: whole, with its frontmatter and comments.
   A nested file of another agent (AGENTS.md) is not counted.
3. All others are lost, each named, until a file that they apply to is touched again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import groupby

from foretold.dialects.claude_code.compaction import compaction_rules
from foretold.dialects.compaction import CompactionEffect
from foretold.instructions.compaction.restored_files import Restored, Seen, loaded_again as start_files, restore_files
from foretold.instructions.view import View
from foretold.storage.tree import Fault, Tree
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, Entry, NamedTuple, Skip

if TYPE_CHECKING:
    from foretold.instructions.compaction.restored_files import Read

MAX_FILE = 64 * 1024 * 1024
LOST = "lost"  #: the reason of what did not survive


class Survival(NamedTuple):
    """The report of a compaction, or of a new beginning."""

    view: View  #: the start, as the conversation now has it
    survived: tuple[Entry, ...] = ()  #: entries that a touched file had brought, and that come back as files
    lost: tuple[Skip, ...] = ()  #: those that do not
    changed: tuple[str, ...] = ()  #: files of the start whose text is not what it was; also new ones, and those gone
    files: Restored | None = None  #: all files that come back, and why others do not; of agents that do this
    assumed: str = ""  #: why this is not certain; empty = recorded


def with_reason(view: View, reason: str) -> View:
    """A view whose entries say why they were loaded now; imports stay imports."""
    view = copy(view)
    view.entries, view.withheld = (
        tuple(entry._replace(reason=reason) if entry.reason == "session_start" else entry for entry in group)
        for group in (view.entries, view.withheld)
    )
    return view


def changed_paths(before: View, now: View) -> tuple[str, ...]:
    """The files of the start whose text differs, in their present order, then those that are gone."""
    old, new = ({entry.path: trim(entry.text) for entry in view.entries} for view in (before, now))
    return (*(path for path in new if old.get(path) != new[path]), *(path for path in old if path not in new))


def find_restored(
    tree: Tree,
    view: View,
    attached: Sequence[Entry],
    loaded: Mapping[str, int],
    read: Iterable[Read],
    count: Callable[[str], int] | None,
) -> Restored:
    """Which files come back: of those that were read, and of instruction files that came with them."""
    form, surroundings = compaction_rules(view.dialect.version), view.surroundings
    known = [Seen(*each[:3]) for each in read]
    paths = {file.path for file in known}
    is_loading = form.nested_stamp == "loaded"
    new = (entry for entry in attached if entry.path not in paths and not entry.fallback)
    for _, entries in groupby(new, lambda entry: entry.folder):  # the agent loads those of one folder in one step
        group = list(entries)
        stamps = [loaded.get(entry.path, 0) if is_loading else _changed(entry.path) for entry in group]
        known[:0] = [Seen(entry.path, entry.raw, stamp) for entry, stamp in zip(group, stamps, strict=True)]
    barred = start_files(surroundings.cwd, surroundings.user, surroundings.managed, surroundings.memory)
    return restore_files(
        known, form, cwd=surroundings.cwd, never=barred, count=count, text=lambda path: _text(tree, path)
    )


def _text(tree: Tree, path: str) -> str | None:
    """A file as it is now."""
    data = tree.read(path, MAX_FILE)
    return None if isinstance(data, Fault) else data.decode("utf-8", "replace").removeprefix("\ufeff")


def lost_of(attached: Iterable[Entry], survived: Iterable[Entry], event: str, view: View) -> tuple[Skip, ...]:
    """What was attached and is gone; not what the start has now."""
    there = {entry.path for entry in (*survived, *view.entries)}
    detail = "it came with a touched file, and comes again when such a file is touched"
    return tuple(
        Skip(entry.path, LOST, f"at {event}: {detail}", entry.layer, entry.parent, globs=entry.globs)
        for entry in attached
        if entry.path not in there
    )


def assumption_of(plan: CompactionEffect, view: View) -> str:
    """Why a report is not certain."""
    if not plan.recorded:
        return plan.why
    return view.choice.note


def _changed(path: str) -> int:
    """When a file was changed, in milliseconds."""
    try:
        return os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0
