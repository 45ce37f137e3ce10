"""Constants of code-assist, and where its documents say that memory entries are stored: its `config.constants`."""

from __future__ import annotations

from pathlib import Path

from foretold.compat.code_assist.paths import Folder, get_documented_dir
from foretold.dialects.claude_code.instructions import TEMPLATE

MAX_MEMORY_CHARACTER_COUNT = 40_000
MAX_MEMORY_INDEX_LINES = 200
MAX_MEMORY_INDEX_SIZE = 25_000  #: bytes
MEMORY_INSTRUCTION_PROMPT = TEMPLATE.header


def get_memory_dir(project_root: Folder, *, home: Folder | None = None) -> Path:
    """The folder that the documents name. Its program uses another one: `memory.paths.get_memory_dir`.

    >>> get_memory_dir("/home/user/project", home="/h").as_posix()
    '/h/.claude/projects/-home-user-project'
    """
    return get_documented_dir(project_root, home=home)
