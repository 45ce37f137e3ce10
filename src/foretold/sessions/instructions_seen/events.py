"""What a transcript records about instruction files: the texts, the loads, the compactions."""

from __future__ import annotations

from foretold.types import NamedTuple


class InstructionText(NamedTuple):
    """The text of an instruction file that the model received."""

    path: str  #: empty where the text of all files is recorded as one
    text: str
    time: float | None
    event: str  #: start, or read: it was loaded with a file that was read
    raw: str | None = None  #: the whole file, where that is recorded


class LoadEvent(NamedTuple):
    """A moment at which the files of the start were loaded."""

    time: float | None
    event: str  #: start, resume, compact


class CompactionEvent(NamedTuple):
    """A moment at which the conversation was replaced by its summary."""

    number: int  #: from 1
    time: float | None
    trigger: str  #: manual, auto


Event = InstructionText | LoadEvent | CompactionEvent
