"""Constants of code-assist, and where its documents say that memory entries are stored: its `config.constants`."""

from foretold.compat.code_assist.paths import get_documented_dir
from foretold.dialects.claude_code.instructions import TEMPLATE

MAX_MEMORY_CHARACTER_COUNT = 40_000
MAX_MEMORY_INDEX_LINES = 200
MAX_MEMORY_INDEX_SIZE = 25_000  #: bytes
MEMORY_INSTRUCTION_PROMPT = TEMPLATE.header

get_memory_dir = get_documented_dir
