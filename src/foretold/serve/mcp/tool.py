"""What a tool is: a name, two schemas, hints, and a function from a project and arguments to an answer.

1. An answer says the same thing twice: as data that fits the tool's schema, and as text that a model reads. Clients
   show their model one of the two.
2. What cannot be done is an error of ours; its message says what to do next (`NEXT_STEPS`).
3. Only tools that write may change anything; what they change can be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from foretold.serve.mcp.paging import clip
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.serve.mcp.context import CallContext

    Given = Mapping[str, object]


class CallAnswer(NamedTuple):
    """What a tool returns."""

    text: str
    data: dict[str, object]


class McpTool(NamedTuple):
    """One tool."""

    name: str
    title: str
    about: str  #: for the model
    takes: dict[str, object]  #: the schema of its arguments
    gives: dict[str, object]  #: the schema of its data
    run: Callable[[CallContext, Given], CallAnswer]
    writes: bool = False
    destroys: bool = False  #: whether what it writes may replace something
    repeats: bool = True  #: whether doing it twice has the same effect as once


#: what is wrong -> the tool that helps
NEXT_STEPS = {
    "NoSuchMemory": "read_memories lists what there is.",
    "MemoryExists": "Read it with read_memories, and change it with update_memory.",
    "MemoryChanged": "Read it again with read_memories, and give the digest you see there.",
    "NoCheckpoint": "file_versions lists the versions that are kept.",
    "UnknownAgent": "Give one of the names above, or leave the agent out.",
    "NotAFolder": "The server looks at the folder it was started in, or at the one given with -C.",
    "BadArgument": "",
}


def describe_error(error: Exception) -> str:
    """An error for a model: what is wrong, and what to do.

    >>> from foretold.errors import MemoryExists
    >>> describe_error(MemoryExists("a memory is called that"))
    'a memory is called that. Read it with read_memories, and change it with update_memory.'
    """
    step = NEXT_STEPS.get(type(error).__name__, "")
    text = clip(str(error).rstrip(". "), 1_200)
    return f"{text}. {step}".rstrip()
