"""Auto-memory, as the notes describe it: a folder of files, an index, and the prompt about them.

1. The folder is `~/.claude/projects/<slug>/memory`: `MEMORY.md`, one memory per file, and `auto/` with what was
   extracted.
2. A memory has `name`, `description` and `type` at the top level of its frontmatter (`write_memory`); the form in which
   the agent of today writes it is read as well.
3. `load_memory_prompt` has the rules, then the text of the index within its limits, then the memories that bear on a
   query; without a query, the newest ones.
"""

from __future__ import annotations

from typing import Unpack

import foretold.memory.project
from foretold.compat.claude_prompt import (
    RELEVANT,
    ensure_memory_dir_exists as ensure_memory_dir_exists,
    extra_guidelines,
    find_relevant_memories as find_with_words,
    get_auto_mem_path,
    is_auto_memory_enabled,
    truncate_index as truncate_index,
)
from foretold.compat.engine import refuse_unknown
from foretold.compat.notes.places import Surrounding
from foretold.memory.note import TYPES, Memory
from foretold.memory.project import Memories
from foretold.memory.prompt.prompt import memory_prompt
from foretold.memory.store.inbox import Proposal
from foretold.text.frontmatter import trim

MEMORY_TYPES = TYPES
AUTO = "auto"  #: the folder that extracted memories go into
MAX_INDEX_LINES, MAX_INDEX_BYTES = 200, 25_000


def get_memory_dir(**options: Unpack[Surrounding]) -> str:
    """The memory folder of a project, whether it exists or not; with a slash at its end."""
    return get_auto_mem_path(**options)


def open_memory(**options: Unpack[Surrounding]) -> Memories:
    """The memories of a project, in a store that writes the form of the notes."""
    refuse_unknown(options, Surrounding)
    memories = foretold.memory.project.open(**options)
    memories.own.flat = True
    return memories


def write_memory(
    topic: str,
    *,
    type: str,  # noqa: A002 - the word of the format
    description: str,
    body: str,
    file: str = "",
    allow_credentials: bool = False,
    **options: Unpack[Surrounding],
) -> Memory | Proposal:
    """A new memory, with its line in the index; its file is `<type>_<topic>.md` unless one is given.

    What looks like a credential is refused: memories are sent to models.
    """
    return open_memory(**options).create(
        topic, type=type, description=description, body=body, file=file, allow_credentials=allow_credentials
    )


def find_relevant_memories(query: str = "", **options: Unpack[Surrounding]) -> list[Memory]:
    """Five memories at most: those with the most words of a query; without a query, the newest."""
    if query.strip():
        return find_with_words(get_memory_dir(**options), query)
    notes = open_memory(**options).own.memories()
    return sorted(notes, key=lambda note: (-note.changed, note.file))[:RELEVANT]


def load_memory_prompt(
    query: str = "",
    *,
    wording: str = "long",
    include_index: bool = True,
    include_topics: bool = True,
    **options: Unpack[Surrounding],
) -> str | None:
    """What the model is told about its memory: the rules, `MEMORY.md`, and the relevant memories; None if it is off.

    The folder is made first, and the prompt says that it exists.
    """
    if not is_auto_memory_enabled(**options):
        return None
    folder = get_memory_dir(**options)
    ensure_memory_dir_exists(folder)
    index = open_memory(**options).index() if include_index else ""
    return memory_prompt(
        folder,
        wording=wording,
        extra_guidelines=extra_guidelines(options.get("env")) or (),
        index=trim(truncate_index(trim(index), MAX_INDEX_LINES, MAX_INDEX_BYTES)),
        recalled=find_relevant_memories(query, **options) if include_topics else (),
        flat=True,
    )
