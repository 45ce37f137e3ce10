"""The loader functions of Claude Code, under the names by which they were described.

`get_memory_files` finds files; `get_claude_mds` renders them. What the agent of today really sends is
`foretold.load(…).text`: it describes the organisation's files differently and escapes more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Unpack

from foretold.compat.claude_prompt import (
    GREP_TOOL_NAME as GREP_TOOL_NAME,
    build_assistant_daily_log_prompt as build_assistant_daily_log_prompt,
    build_combined_memory_prompt as build_combined_memory_prompt,
    build_memory_lines as build_memory_lines,
    build_searching_past_context_section as build_searching_past_context_section,
    ensure_memory_dir_exists as ensure_memory_dir_exists,
    extra_guidelines as extra_guidelines,
    find_relevant_memories as find_relevant_memories,
    find_team_folder,
    get_auto_mem_path as get_auto_mem_path,
    get_project_dir as get_project_dir,
    get_team_mem_path as get_team_mem_path,
    is_auto_memory_enabled as is_auto_memory_enabled,
    load_memory_prompt as load_memory_prompt,
    load_memory_prompt_branch as load_memory_prompt_branch,
    log_for_diagnostics_no_pii as log_for_diagnostics_no_pii,
    log_memory_dir_counts as log_memory_dir_counts,
    truncate_index as truncate_index,
)
from foretold.compat.engine import Folder, Options, ask_claude, several
from foretold.dialects.claude_code.instructions import TEMPLATE
from foretold.dialects.claude_code.settings import read_surroundings
from foretold.dialects.registry import DialectChoice
from foretold.dialects.schema import FileSource
from foretold.dialects.surroundings import LoadRequest, join
from foretold.errors import ForetoldError
from foretold.instructions.engine import Loader
from foretold.instructions.load import CACHED_VIEWS, load_view, request_key, require_folder
from foretold.instructions.render.blocks import under_heading
from foretold.instructions.render.escape import escape_tag
from foretold.instructions.session import Session
from foretold.instructions.view import Origin, View
from foretold.memory.note import INDEX
from foretold.storage.tree import Disk, Tree, unchanged
from foretold.text.frontmatter import trim
from foretold.types import Entry

MemoryType = Literal["Managed", "User", "Project", "Local", "AutoMem", "TeamMem"]
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
FILES = {"Local": "CLAUDE.local.md", "AutoMem": INDEX, "TeamMem": INDEX}  #: of the layers whose file has another name
TEAM_INDEX = FileSource("team", "path", INDEX, "index")

__all__ = [
    "GREP_TOOL_NAME",
    "MEMORY_INSTRUCTION_PROMPT",
    "MemoryFileInfo",
    "MemoryType",
    "build_assistant_daily_log_prompt",
    "build_combined_memory_prompt",
    "build_memory_lines",
    "build_searching_past_context_section",
    "ensure_memory_dir_exists",
    "extra_guidelines",
    "find_relevant_memories",
    "get_auto_mem_path",
    "get_claude_mds",
    "get_memory_files",
    "get_memory_path",
    "get_project_dir",
    "get_team_mem_path",
    "invalidate",
    "is_auto_memory_enabled",
    "is_stale",
    "load_memory_prompt",
    "load_memory_prompt_branch",
    "log_for_diagnostics_no_pii",
    "log_memory_dir_counts",
    "process_memory_file",
    "truncate_index",
    "view",
]


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
    *,
    features: Collection[str] = (),
    team_dir: Folder | None = None,
    touched: Iterable[Folder] = (),
    **options: Unpack[Options],
) -> list[MemoryFileInfo]:
    """The instruction files of a session, in load order, imports as entries of their own.

    As in the agent, the answer for the same arguments is cached until `invalidate`: `is_stale` says whether the disk
    has changed. What is returned is the caller's own: to change it does not change the cache. NotAFolder if `cwd` is
    not there. `force_include_external` takes imports from outside the project without approval. With the feature
    `TEAMMEM`, the index of team memory follows. A file with `globs` waits for a file that matches them: it is among
    those of `touched` files, which follow at the end.
    """
    wanted = _Wanted(force_include_external, "TEAMMEM" in features, os.fspath(team_dir or ""), tuple(several(touched)))
    return [_copy(file) for file in _files(wanted, **options)[0]]


def _copy(file: MemoryFileInfo) -> MemoryFileInfo:
    return replace(file, globs=None if file.globs is None else list(file.globs))


def view(
    force_include_external: bool = False,  # noqa: FBT001, FBT002
    **options: Unpack[Options],
) -> View:
    """What `get_memory_files` found, and all that it did not take, with reasons."""
    return _files(_Wanted(force_include_external), **options)[1]


class _Wanted(NamedTuple):
    external: bool
    team: bool = False
    team_dir: str = ""
    touched: tuple[str, ...] = ()


def _files(wanted: _Wanted, **options: Unpack[Options]) -> tuple[list[MemoryFileInfo], View, Disk]:
    if not isinstance(wanted.external, bool):
        raise ForetoldError(f"{wanted.external!r} is not true or false; the folder is given as cwd=")
    tree = options.get("tree")
    choice, request = ask_claude(**options)
    require_folder(Disk() if tree is None else tree, request)
    request = request._replace(external=wanted.external)
    key = (wanted, request_key(choice, request._replace(date="")))
    kept = _kept.get(key) if tree is None else None
    if kept is None:
        log_for_diagnostics_no_pii("info", "memory_files_started")
        disk = Disk()
        kept = (*_find(disk if tree is None else tree, choice, request, wanted), disk)
        if tree is None:
            if len(_kept) >= CACHED_VIEWS:
                _kept.pop(next(iter(_kept)))
            _kept[key] = kept
    return kept


def _find(
    tree: Tree, choice: DialectChoice, request: LoadRequest, wanted: _Wanted
) -> tuple[list[MemoryFileInfo], View]:
    """The files, and the view of the start of the session."""
    found = load_view(tree, choice, request)
    types = dict(found.dialect.types)
    files = [_info(entry, types[entry.layer]) for entry in found.entries]
    if wanted.team:
        loader = Loader(tree, choice.dialect, found.surroundings)
        loader.take(TEAM_INDEX, wanted.team_dir or find_team_folder(found.surroundings))
        files += [_info(entry, "TeamMem") for entry in loader.entries]
    if wanted.touched:
        session = Session.of(choice, request, tree)
        for path in wanted.touched:
            session.read(join(request.cwd, path))
        files += [_info(entry, types[entry.layer]) for entry in session.attached]
    return files, found


def get_memory_path(type: str = "", *, kind: str = "", **options: Unpack[Options]) -> str:  # noqa: A002
    """The file of a layer: Managed, User, Project, Local, AutoMem or TeamMem. `kind` is another name for `type`.

    >>> get_memory_path("User", home="/h", env={})
    '/h/.claude/CLAUDE.md'
    """
    _, request = ask_claude(**options)
    around = read_surroundings(options.get("tree") or Disk(), request)
    folders = {"Managed": around.managed, "User": around.user, "Project": around.cwd, "Local": around.cwd}
    folders |= {"AutoMem": around.store, "TeamMem": find_team_folder(around)}
    layer = type or kind
    if layer not in folders:
        raise ForetoldError(f"{layer!r} is not a layer; it can be {', '.join(folders)}")
    return join(folders[layer], FILES.get(layer, "CLAUDE.md"))


def process_memory_file(
    path: Folder,
    type: str = "",  # noqa: A002 - the name of the original
    processed_paths: set[str] | None = None,
    include_external: bool = False,  # noqa: FBT001, FBT002 - the signature of the original
    *,
    kind: str = "",
    **options: Unpack[Options],
) -> list[MemoryFileInfo]:
    """A file and what it imports; nothing if it was processed. What is processed is added to `processed_paths`.

    `type` is its layer; `kind` is another name for that.
    """
    layer, processed = type or kind, set[str]() if processed_paths is None else processed_paths
    choice, request = ask_claude(**options)
    tree = options.get("tree") or Disk()
    around = read_surroundings(tree, request)
    layers = {name: layer for layer, name in choice.dialect.types}
    if layer not in layers:
        raise ForetoldError(f"{layer!r} is not a layer; it can be {', '.join(layers)}")
    loader = Loader(tree, choice.dialect, around._replace(approved=lambda _: True) if include_external else around)
    loader.files.update((each, each) for each in processed)
    whole = join(around.cwd, os.fspath(path))
    loader.take_file(whole, Origin(layers[layer], os.path.dirname(whole)))
    processed.update(loader.files)
    return [_info(entry, layer) for entry in loader.entries]


def _info(entry: Entry, kind: str) -> MemoryFileInfo:
    is_whole = entry.kind == "index" and entry.text == trim(entry.raw)  # not cut, only trimmed for the prompt
    differs = entry.differs_from_disk and not is_whole
    return MemoryFileInfo(
        entry.path,
        kind,
        entry.raw if is_whole else entry.text,
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
        if is_wanted and file.content and not (is_skipping and file.type in PROJECT_LEVEL):
            text = trim(file.content)  # of white space alone, the header is left
            kind = "User" if file.type == "TeamMem" and "TEAMMEM" not in features else file.type
            text = _mark_shared(text) if kind == "TeamMem" else text
            parts.append(under_heading(TEMPLATE, file.path, kind, DESCRIPTIONS.get(kind, GLOBAL), text))
    return TEMPLATE.join.join(parts) if len(parts) > 1 else ""


def _mark_shared(text: str) -> str:
    """Team memory is marked as such."""
    text = escape_tag(text, "team-memory-content")
    return f'<team-memory-content source="shared">\n{text}\n</team-memory-content>'
