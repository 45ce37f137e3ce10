"""The loader functions of Claude Code, under the names by which they were described.

`get_memory_files` finds files; `get_claude_mds` renders them. What the agent of today really sends is
`foretold.load(…).text`: it describes the organisation's files differently and escapes more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Unpack

from foretold.compat.claude_prompt import (
    build_searching_past_context_section as build_searching_past_context_section,
    ensure_memory_dir_exists as ensure_memory_dir_exists,
    extra_guidelines as extra_guidelines,
    find_relevant_memories as find_relevant_memories,
    get_auto_mem_path as get_auto_mem_path,
    get_team_mem_path as get_team_mem_path,
    is_auto_memory_enabled as is_auto_memory_enabled,
    load_memory_prompt as load_memory_prompt,
    load_memory_prompt_branch as load_memory_prompt_branch,
    log_memory_dir_counts as log_memory_dir_counts,
    truncate_index as truncate_index,
)
from foretold.compat.engine import Options, ask_claude
from foretold.dialects.claude_code.instructions import TEMPLATE
from foretold.errors import ForetoldError
from foretold.instructions.load import CACHED_VIEWS, load_view, request_key
from foretold.instructions.render.blocks import under_heading
from foretold.instructions.render.escape import escape_tag
from foretold.instructions.view import View
from foretold.storage.tree import Disk, unchanged
from foretold.text.frontmatter import trim
from foretold.types import Entry

MEMORY_INSTRUCTION_PROMPT = TEMPLATE.header
GLOBAL = " (user's private global instructions for all projects)"
DESCRIPTIONS = {
    "Project": " (project instructions, checked into the codebase)",
    "Local": " (user's private project instructions, not checked in)",
    "TeamMem": " (shared team memory, synced across the organization)",
    "AutoMem": " (user's auto-memory, persists across conversations)",
}
PROJECT_LEVEL = ("Project", "Local")
SKIP_PROJECT_LEVEL = "tengu_paper_halyard"


@dataclass(slots=True)
class MemoryFileInfo:
    """One file, or one file that another imports."""

    path: str
    type: str  #: Managed, User, Project, Local, AutoMem, TeamMem
    content: str  #: as the model sees it
    parent: str | None = None  #: the file that imports it
    globs: list[str] | None = None  #: the paths that it waits for
    content_differs_from_disk: bool = False
    raw_content: str | None = None  #: as it is on disk, where that differs


_kept: dict[object, tuple[list[MemoryFileInfo], View, Disk]] = {}


def get_memory_files(
    force_include_external: bool = False,  # noqa: FBT001, FBT002 - the signature of the original
    **options: Unpack[Options],
) -> list[MemoryFileInfo]:
    """The instruction files of a session, in load order, imports as entries of their own.

    As in the agent, the answer for the same arguments is cached until `invalidate`: `is_stale` says whether the disk
    has changed. `force_include_external` takes imports from outside the project without approval.
    """
    return _files(external=force_include_external, **options)[0]


def view(
    force_include_external: bool = False,  # noqa: FBT001, FBT002
    **options: Unpack[Options],
) -> View:
    """What `get_memory_files` found, and all that it did not take, with reasons."""
    return _files(external=force_include_external, **options)[1]


def _files(*, external: bool, **options: Unpack[Options]) -> tuple[list[MemoryFileInfo], View, Disk]:
    if not isinstance(external, bool):
        raise ForetoldError(f"{external!r} is not true or false; the folder is given as cwd=")
    tree = options.get("tree")
    choice, request = ask_claude(**options)
    request = request._replace(external=external)
    key = request_key(choice, request._replace(date=""))
    kept = _kept.get(key) if tree is None else None
    if kept is None:
        disk = Disk()
        found = load_view(disk if tree is None else tree, choice, request)
        types = dict(found.dialect.types)
        kept = ([_info(entry, types) for entry in found.entries], found, disk)
        if tree is None:
            if len(_kept) >= CACHED_VIEWS:
                _kept.pop(next(iter(_kept)))
            _kept[key] = kept
    return kept


def _info(entry: Entry, types: Mapping[str, str]) -> MemoryFileInfo:
    differs = entry.differs_from_disk
    return MemoryFileInfo(
        entry.path,
        types[entry.layer],
        entry.text,
        entry.parent,
        list(entry.globs) or None,
        differs,
        entry.raw if differs else None,
    )


def invalidate() -> int:
    """Drop the cached answers, as `/clear` and `/compact` do; returns their number.

    >>> invalidate() >= 0
    True
    """
    count = len(_kept)
    _kept.clear()
    return count


def is_stale() -> bool:
    """Whether a file has changed since a cached answer: one `stat` for every path that was examined."""
    return not all(unchanged(disk.stamps) for _, _, disk in _kept.values())


def get_claude_mds(
    memory_files: Iterable[MemoryFileInfo],
    filter: Callable[[str], bool] | None = None,  # noqa: A002 - the name of the original
    *,
    features: Collection[str] = (),
    flags: Mapping[str, object] | Collection[str] = (),
) -> str:
    """The text of the user's context: the instruction sentence, then each file below its description.

    `filter` says of a type whether it is wanted. With the feature `TEAMMEM`, team memory is described and wrapped as
    such; the flag `tengu_paper_halyard` leaves out the project's files.

    >>> get_claude_mds([MemoryFileInfo("/p/CLAUDE.md", "Project", " tabs ")]).partition("\\n\\n")[2]
    'Contents of /p/CLAUDE.md (project instructions, checked into the codebase):\\n\\ntabs'
    """
    is_skipping = bool(flags.get(SKIP_PROJECT_LEVEL)) if isinstance(flags, Mapping) else SKIP_PROJECT_LEVEL in flags
    parts = [TEMPLATE.header]
    for file in memory_files:
        is_wanted = filter is None or filter(file.type)
        text = trim(file.content) if is_wanted and not (is_skipping and file.type in PROJECT_LEVEL) else ""
        if text:
            kind = "User" if file.type == "TeamMem" and "TEAMMEM" not in features else file.type
            text = _mark_shared(text) if kind == "TeamMem" else text
            parts.append(under_heading(TEMPLATE, file.path, kind, DESCRIPTIONS.get(kind, GLOBAL), text))
    return TEMPLATE.join.join(parts) if len(parts) > 1 else ""


def _mark_shared(text: str) -> str:
    """Team memory is marked as such."""
    text = escape_tag(text, "team-memory-content")
    return f'<team-memory-content source="shared">\n{text}\n</team-memory-content>'
