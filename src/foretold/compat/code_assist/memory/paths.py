"""The folder that code-assist's own functions read memory entries from: its `memory.paths`."""

from foretold.compat.code_assist.paths import get_memory_dir as get_memory_dir
