"""The memory system of code-assist: `from foretold.compat.code_assist import get_memory_files`.

Instruction files are in `files`, memory entries in `memory`, their index in `index`, where those lie in `paths`, notes
about a conversation in `session`, what was done to files in `history`, what they were in `state`.
"""

from foretold.compat.code_assist import paths
from foretold.compat.code_assist.files import (
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
from foretold.compat.code_assist.history import FileAction, FileHistoryEntry, FileHistoryTracker
from foretold.compat.code_assist.index import (
    MAX_MEMORY_INDEX_LINES,
    MAX_MEMORY_INDEX_SIZE,
    add_memory_to_index,
    find_relevant_memories,
    generate_memory_filename,
    read_memory_index,
    remove_memory_from_index,
    should_load_memory,
    write_memory_index,
)
from foretold.compat.code_assist.memory import MemoryEntry, MemoryType, parse_memory_frontmatter, scan_memory_files
from foretold.compat.code_assist.paths import get_documented_dir as get_memory_dir
from foretold.compat.code_assist.session import SessionEntry, SessionMemory
from foretold.compat.code_assist.state import FileState, FileStateCache

__all__ = [
    "MAX_MEMORY_CHARACTER_COUNT",
    "MAX_MEMORY_INDEX_LINES",
    "MAX_MEMORY_INDEX_SIZE",
    "MEMORY_INSTRUCTION_PROMPT",
    "FileAction",
    "FileHistoryEntry",
    "FileHistoryTracker",
    "FileState",
    "FileStateCache",
    "MemoryEntry",
    "MemoryFileInfo",
    "MemoryType",
    "SessionEntry",
    "SessionMemory",
    "SystemPromptBlock",
    "add_memory_to_index",
    "build_claude_md_context",
    "build_system_prompt_block",
    "find_relevant_memories",
    "generate_memory_filename",
    "get_claude_mds",
    "get_large_memory_files",
    "get_memory_dir",
    "get_memory_files",
    "is_memory_file_path",
    "parse_memory_frontmatter",
    "paths",
    "read_memory_index",
    "remove_memory_from_index",
    "scan_memory_files",
    "should_load_memory",
    "view",
    "write_memory_index",
]
