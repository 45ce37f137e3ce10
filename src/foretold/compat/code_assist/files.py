"""Instruction files of code-assist: its `config.claude_md`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Unpack

from foretold.compat.engine import Folder, Places, answer, question
from foretold.dialects.claude_code.instructions import TEMPLATE
from foretold.dialects.seeds.code_assist import V1
from foretold.instructions.render.blocks import start_text
from foretold.instructions.view import View
from foretold.types import Entry

MAX_MEMORY_CHARACTER_COUNT = 40_000
MEMORY_INSTRUCTION_PROMPT = TEMPLATE.header
ROOT_NAMES = ("CLAUDE.md", ".claude/CLAUDE.md")


class Options(Places, total=False):
    """What the functions take beyond the arguments of the original."""

    managed: Folder | None


@dataclass(slots=True)
class MemoryFileInfo:
    """One instruction file."""

    path: str
    content: str = ""
    source: str = "project"  #: managed, user, project, local
    is_root: bool = False  #: whether it is one of the two CLAUDE.md of the project root
    relative_path: str | None = None  #: seen from the project root
    size: int = 0  #: characters
    errors: list[str] = field(default_factory=list)  #: what is wrong with it


@dataclass(slots=True)
class SystemPromptBlock:
    """A block of the system prompt."""

    text: str
    cache_control: dict[str, str] | None = None

    def to_dict(self) -> dict[str, object]:
        """The block as the API takes it."""
        block: dict[str, object] = {"type": "text", "text": self.text}
        return {**block, "cache_control": self.cache_control} if self.cache_control else block


def get_memory_files(
    project_root: Folder | None = None,
    include_managed: bool = True,  # noqa: FBT001, FBT002 - the signature of the original
    include_user: bool = True,  # noqa: FBT001, FBT002
    additional_dirs: Iterable[Folder] | None = None,
    **options: Unpack[Options],
) -> list[MemoryFileInfo]:
    """The instruction files of a project: managed, user, project, rules, local, then those of other folders.

    >>> get_memory_files("/nowhere", include_managed=False, include_user=False)
    []
    """
    found = view(project_root, include_managed, include_user, additional_dirs, **options)
    root = found.surroundings.cwd if project_root is not None else ""
    errors: dict[str, list[str]] = {}
    for finding in found.findings:
        errors.setdefault(finding.path, []).append(finding.message)
    return [_info(entry, root, errors.get(entry.path, [])) for entry in found.entries]


def view(
    project_root: Folder | None = None,
    include_managed: bool = True,  # noqa: FBT001, FBT002
    include_user: bool = True,  # noqa: FBT001, FBT002
    additional_dirs: Iterable[Folder] | None = None,
    **options: Unpack[Options],
) -> View:
    """Everything that is known about a project's instruction files: entries, skips with their reasons, findings."""
    wanted = {"managed": include_managed, "user": include_user, "project": project_root is not None}
    settings = {"sources": [name if is_on else f"-{name}" for name, is_on in wanted.items()]}
    root, home, managed = "/" if project_root is None else project_root, options.get("home"), options.get("managed")
    asked = question(V1, root, home, managed=managed, settings=settings, add_dirs=additional_dirs or ())
    return answer(*asked, options.get("tree"))


def _info(entry: Entry, root: str, errors: list[str]) -> MemoryFileInfo:
    inside = bool(root) and entry.layer in ("project", "local") and entry.folder == root
    relative = entry.path[len(root.rstrip("/")) + 1 :] if inside else None
    return MemoryFileInfo(
        path=entry.path,
        content=entry.text,
        source=entry.layer,
        is_root=relative in ROOT_NAMES,
        relative_path=relative,
        size=len(entry.text),
        errors=errors,
    )


def build_claude_md_context(files: Iterable[MemoryFileInfo]) -> str:
    """The files as one text, each below `Contents of <path>`; empty for no files.

    >>> build_claude_md_context([MemoryFileInfo("/p/CLAUDE.md", "Use tabs.")])
    'Contents of /p/CLAUDE.md:\\n\\nUse tabs.'
    """
    entries = [Entry(os.fspath(file.path), file.source, file.content, file.content) for file in files if file.content]
    return start_text(entries, V1.template) or ""


def build_system_prompt_block(files: Iterable[MemoryFileInfo]) -> SystemPromptBlock | None:
    """The block of the system prompt that carries the files, to be cached; None for no files."""
    text = build_claude_md_context(files)
    return SystemPromptBlock(V1.envelope.before + text, {"type": "ephemeral"}) if text else None


def get_claude_mds(files: Iterable[MemoryFileInfo]) -> list[MemoryFileInfo]:
    """Those files that are called `CLAUDE.md`.

    >>> [file.path for file in get_claude_mds([MemoryFileInfo("/p/CLAUDE.md"), MemoryFileInfo("/p/MYCLAUDE.md")])]
    ['/p/CLAUDE.md']
    """
    return [file for file in files if _parts(file.path)[-1] == "CLAUDE.md"]


def get_large_memory_files(files: Iterable[MemoryFileInfo]) -> list[MemoryFileInfo]:
    """Those files that have more characters than are good for a model; nothing is cut.

    >>> get_large_memory_files([MemoryFileInfo("a", size=40_000)])
    []
    """
    return [file for file in files if file.size > MAX_MEMORY_CHARACTER_COUNT]


def is_memory_file_path(path: Folder) -> bool:
    """Whether a path is that of an instruction file, with slashes or backslashes.

    >>> is_memory_file_path("C:\\\\p\\\\.claude\\\\rules\\\\a.md"), is_memory_file_path("/p/.claude/rulesX/a.md")
    (True, False)
    """
    *folders, name = _parts(path)
    if name in ("CLAUDE.md", "CLAUDE.local.md"):
        return True
    is_below_rules = any(pair == (".claude", "rules") for pair in pairwise(folders))
    return is_below_rules and name.endswith(".md")


def _parts(path: Folder) -> list[str]:
    return os.fspath(path).replace("\\", "/").split("/")
