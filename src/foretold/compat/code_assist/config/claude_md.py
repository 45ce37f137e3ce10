"""Instruction files of code-assist: its `config.claude_md`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, Unpack

from foretold.compat.code_assist.config.constants import (
    MAX_MEMORY_CHARACTER_COUNT as MAX_MEMORY_CHARACTER_COUNT,
    MEMORY_INSTRUCTION_PROMPT as MEMORY_INSTRUCTION_PROMPT,
)
from foretold.compat.engine import Folder, Places, answer, question, refuse_unknown
from foretold.dialects.seeds.code_assist import PROGRAM, PROGRAM_HEADER, V1
from foretold.instructions.render.blocks import start_text
from foretold.instructions.view import View
from foretold.instructions.warnings import CODES, find_warnings
from foretold.types import Entry, Finding

Layout = Literal["document", "program"]
#: what is before the files, and how they are written
LAYOUTS = {"document": (V1.envelope.before, V1.template), "program": (PROGRAM_HEADER, PROGRAM)}
ROOT_NAMES = ("CLAUDE.md", ".claude/CLAUDE.md")


class Options(Places, total=False):
    """What the functions take beyond the arguments of the original."""

    managed: Folder | None


@dataclass
class MemoryFileInfo:
    """One instruction file: every field has its documented default.

    >>> MemoryFileInfo()
    MemoryFileInfo(path='', content='', source='', is_root=False, relative_path=None, size=0, errors=[])
    """

    path: str = ""  #: absolute
    content: str = ""
    source: str = ""  #: managed, user, project, local
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
    project_root: Folder | None = ".",
    include_managed: bool = True,  # noqa: FBT001, FBT002 - the signature of the original
    include_user: bool = True,  # noqa: FBT001, FBT002
    additional_dirs: Iterable[Folder] | None = None,
    **options: Unpack[Options],
) -> list[MemoryFileInfo]:
    """The instruction files of a project: managed, user, project, rules, local, then those of other folders.

    Without a root it is the current folder; None is no project at all.

    >>> get_memory_files("/", include_managed=False, include_user=False)
    []
    """
    found = view(project_root, include_managed, include_user, additional_dirs, **options)
    root = found.surroundings.cwd if project_root is not None else ""
    errors: dict[str, list[str]] = {}
    for finding in found.findings:
        if finding.code in CODES.values():  # a warning, and not an error of loading
            continue
        errors.setdefault(finding.path, []).append(finding.message)
    return [_info(entry, root, errors.get(entry.path, [])) for entry in found.entries]


def view(
    project_root: Folder | None = ".",
    include_managed: bool = True,  # noqa: FBT001, FBT002
    include_user: bool = True,  # noqa: FBT001, FBT002
    additional_dirs: Iterable[Folder] | None = None,
    **options: Unpack[Options],
) -> View:
    """Everything that is known about a project's instruction files: entries, skips with their reasons, findings."""
    refuse_unknown(options, Options, "project_root", "include_managed", "include_user", "additional_dirs")
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


def build_claude_md_context(memory_files: Iterable[MemoryFileInfo], *, layout: Layout = "document") -> str:
    """The files as one text, each directly under `Contents of <path>`, an empty line between them.

    That is the form of code-assist's documents. Its program writes an empty line after the header as well, and leaves
    the line ends of a file where they are: `layout="program"`. # ca-d05

    >>> files = [MemoryFileInfo("/p/CLAUDE.md", "Use tabs.\\n"), MemoryFileInfo("/p/CLAUDE.local.md", "Be brief.")]
    >>> build_claude_md_context(files)
    'Contents of /p/CLAUDE.md:\\nUse tabs.\\n\\nContents of /p/CLAUDE.local.md:\\nBe brief.'
    """
    if layout not in LAYOUTS:
        raise ValueError(f"the layout is {layout!r}; it can be {', '.join(LAYOUTS)}")
    return start_text([_entry(file) for file in memory_files if file.content], LAYOUTS[layout][1]) or ""


def build_system_prompt_block(
    memory_files: Iterable[MemoryFileInfo], *, layout: Layout = "document"
) -> SystemPromptBlock | None:
    """The block of the system prompt that carries the files after the instruction sentence, to be cached.

    None for no files. The program has the line `# claudeMd` instead of the sentence: `layout="program"`.

    >>> build_system_prompt_block([MemoryFileInfo("/p/CLAUDE.md", "Use tabs.")], layout="program").text
    '# claudeMd\\nContents of /p/CLAUDE.md:\\n\\nUse tabs.'
    """
    text = build_claude_md_context(memory_files, layout=layout)
    return SystemPromptBlock(LAYOUTS[layout][0] + text, {"type": "ephemeral"}) if text else None


def _entry(file: MemoryFileInfo) -> Entry:
    return Entry(os.fspath(file.path), file.source, file.content, file.content)


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


def check_memory_files(files: Iterable[MemoryFileInfo]) -> list[Finding]:
    """What the documents warn about: files that are too long, credentials in them, a local file that git would share.

    `view(…).findings` has the same.

    >>> check_memory_files([MemoryFileInfo("/p/CLAUDE.md", "Use tabs.", "project")])
    []
    """
    return find_warnings(map(_entry, files), V1.warns)


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
