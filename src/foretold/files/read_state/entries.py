"""What is known of a file that was read, and what a compaction needs to choose files by."""

from __future__ import annotations

from foretold.types import NamedTuple


class Entry(NamedTuple):
    """What the agent knows of a file."""

    content: str  #: with plain newlines
    mtime: int  #: milliseconds, as the file had it, or the time of the record it comes from
    time: float  #: when it became known, seconds since 1970
    offset: int | None = None  #: of a Read; None: edited, written, or seen by a shell
    limit: int | None = None
    whole: bool = True  #: whether `content` is the whole file
    shown: bool = True  #: whether the model knows the whole of it
    partial: bool = False  #: an instruction file that was injected with another text: no read

    @property
    def noticed(self) -> bool:
        """Whether the model is told when somebody else changes it: not of what was merely read."""
        return self.offset is None and self.limit is None


class Recent(NamedTuple):
    """A file that the agent has at hand."""

    path: str
    content: str
    mtime: int  #: milliseconds
    time: float  #: when it became known, seconds since 1970
    partial: bool = False
