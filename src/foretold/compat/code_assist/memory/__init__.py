"""Memory entries of code-assist and their index, each module where code-assist has it."""

from foretold.compat.code_assist.config.constants import (
    MAX_MEMORY_INDEX_LINES as MAX_MEMORY_INDEX_LINES,
    MAX_MEMORY_INDEX_SIZE as MAX_MEMORY_INDEX_SIZE,
)
from foretold.compat.code_assist.memory import paths as paths
from foretold.compat.code_assist.memory.find_relevant import (
    find_relevant_memories as find_relevant_memories,
    score as score,
    should_load_memory as should_load_memory,
)
from foretold.compat.code_assist.memory.memdir import (
    add_memory_to_index as add_memory_to_index,
    generate_memory_filename as generate_memory_filename,
    read_memory_index as read_memory_index,
    remove_memory_from_index as remove_memory_from_index,
    write_memory_index as write_memory_index,
)
from foretold.compat.code_assist.memory.memory_scan import (
    parse_memory_frontmatter as parse_memory_frontmatter,
    scan_memory_files as scan_memory_files,
)
from foretold.compat.code_assist.memory.memory_types import (
    MemoryEntry as MemoryEntry,
    MemoryType as MemoryType,
    type_of as type_of,
)
