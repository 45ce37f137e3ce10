"""What a memory entry of code-assist is: its `memory.memory_types`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MemoryType(StrEnum):
    """What a memory is about."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


@dataclass
class MemoryEntry:
    """One memory: every field has its documented default.

    >>> MemoryEntry()
    MemoryEntry(name='', description='', type=<MemoryType.USER: 'user'>, content='', file_path='')
    """

    name: str = ""
    description: str = ""
    type: MemoryType = MemoryType.USER
    content: str = ""  #: the text after the frontmatter
    file_path: str = ""  #: absolute

    def __post_init__(self) -> None:
        self.type = type_of(self.type)


def type_of(word: str) -> MemoryType:
    """The type of this name, in upper or lower case; `user` for any other.

    >>> type_of("FEEDBACK"), type_of("whatever")
    (<MemoryType.FEEDBACK: 'feedback'>, <MemoryType.USER: 'user'>)
    """
    known = {kind.value: kind for kind in MemoryType}
    return known.get(word.strip().lower(), MemoryType.USER)
