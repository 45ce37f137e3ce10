"""The values in which a transcript says what its model was told."""

from __future__ import annotations

from foretold.types import NamedTuple


class Telling(NamedTuple):
    """A text of an instruction file that the model was given."""

    path: str  #: empty where the text of all files is recorded together
    text: str
    time: float | None
    event: str  #: start, or read: it came with a file that was read
    raw: str | None = None  #: the file as it was, where that is recorded


class Load(NamedTuple):
    """A moment at which the files of the start were loaded."""

    time: float | None
    event: str  #: start, resume, compact


class Compaction(NamedTuple):
    """A moment at which the conversation was replaced by its summary."""

    number: int  #: from 1
    time: float | None
    trigger: str  #: manual, auto
