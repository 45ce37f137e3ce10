"""The memory system of code-assist: `from foretold.compat.code_assist import get_memory_files`.

Every name is here, and where code-assist has it: instruction files in `config.claude_md`, constants in
`config.constants`, memory entries in `memory.memory_types` and `memory.memory_scan`, their index in `memory.memdir`. A
program that is written for code-assist changes the name of the package in its imports, and nothing else. Notes about a
conversation, what was done to files and what they were are in `session`.
"""

from foretold.compat.code_assist import paths as paths
from foretold.compat.code_assist.config.claude_md import (
    MAX_MEMORY_CHARACTER_COUNT as MAX_MEMORY_CHARACTER_COUNT,
    MEMORY_INSTRUCTION_PROMPT as MEMORY_INSTRUCTION_PROMPT,
    MemoryFileInfo as MemoryFileInfo,
    SystemPromptBlock as SystemPromptBlock,
    build_claude_md_context as build_claude_md_context,
    build_system_prompt_block as build_system_prompt_block,
    check_memory_files as check_memory_files,
    get_claude_mds as get_claude_mds,
    get_large_memory_files as get_large_memory_files,
    get_memory_files as get_memory_files,
    is_memory_file_path as is_memory_file_path,
    view as view,
)
from foretold.compat.code_assist.config.constants import get_memory_dir as get_memory_dir
from foretold.compat.code_assist.memory import (
    MAX_MEMORY_INDEX_LINES as MAX_MEMORY_INDEX_LINES,
    MAX_MEMORY_INDEX_SIZE as MAX_MEMORY_INDEX_SIZE,
    MemoryEntry as MemoryEntry,
    MemoryType as MemoryType,
    add_memory_to_index as add_memory_to_index,
    find_relevant_memories as find_relevant_memories,
    generate_memory_filename as generate_memory_filename,
    parse_memory_frontmatter as parse_memory_frontmatter,
    read_memory_index as read_memory_index,
    remove_memory_from_index as remove_memory_from_index,
    scan_memory_files as scan_memory_files,
    should_load_memory as should_load_memory,
    write_memory_index as write_memory_index,
)
from foretold.compat.code_assist.session import (
    FileAction as FileAction,
    FileHistoryEntry as FileHistoryEntry,
    FileHistoryTracker as FileHistoryTracker,
    FileState as FileState,
    FileStateCache as FileStateCache,
    SessionEntry as SessionEntry,
    SessionMemory as SessionMemory,
)
