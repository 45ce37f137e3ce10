"""The memory system of code-assist: `from headnote.compat.code_assist import get_memory_files`.

Instruction files are in `files`, memory entries in `memory`, and where those lie in `paths`.
"""

from headnote.compat.code_assist import paths
from headnote.compat.code_assist.files import (
    MAX_MEMORY_CHARACTER_COUNT,
    MEMORY_INSTRUCTION_PROMPT,
    MemoryFileInfo,
    SystemPromptBlock,
    build_claude_md_context,
    build_system_prompt_block,
    get_claude_mds,
    get_large_memory_files,
    get_memory_files,
    is_memory_file_path,
    view,
)
from headnote.compat.code_assist.memory import MemoryEntry, MemoryType, parse_memory_frontmatter, scan_memory_files
from headnote.compat.code_assist.paths import get_documented_dir as get_memory_dir

__all__ = [
    "MAX_MEMORY_CHARACTER_COUNT",
    "MEMORY_INSTRUCTION_PROMPT",
    "MemoryEntry",
    "MemoryFileInfo",
    "MemoryType",
    "SystemPromptBlock",
    "build_claude_md_context",
    "build_system_prompt_block",
    "get_claude_mds",
    "get_large_memory_files",
    "get_memory_dir",
    "get_memory_files",
    "is_memory_file_path",
    "parse_memory_frontmatter",
    "paths",
    "scan_memory_files",
    "view",
]
