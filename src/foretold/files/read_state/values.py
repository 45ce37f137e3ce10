"""What is known of a file that was read, and the outcome of reading or changing one, with the agent's own message."""

from __future__ import annotations

from foretold.types import NamedTuple


class KnownFile(NamedTuple):
    """What the agent knows of a file."""

    content: str  #: with plain newlines
    mtime: int  #: milliseconds, as the file had it, or the time of the record it comes from
    time: float  #: when it became known, seconds since 1970
    offset: int | None = None  #: of a Read; None: edited, written, or seen by a shell
    limit: int | None = None
    whole: bool = True  #: whether `content` is the whole file
    shown: bool = True  #: whether the model knows the whole of it
    partial: bool = False  #: an instruction file that was injected with another text: not a read

    @property
    def noticed(self) -> bool:
        """Whether the model is told when another program changes it: not if it was only read."""
        return self.offset is None and self.limit is None


class Recent(NamedTuple):
    """A file that the agent knows."""

    path: str
    content: str
    mtime: int  #: milliseconds
    time: float  #: when it became known, seconds since 1970
    partial: bool = False


class Outcome(NamedTuple):
    """The outcome of an operation.

    `kind`: content, media (an image or a PDF: not a read), unchanged_stub, warning, created, updated, updated_all,
    error.
    `code` of an error or a warning: binary, device, exists, folder, linked, modified_since_read, multiple_matches,
    no_change, not_a_file, not_found, not_read, notebook, encoding, empty, shorter_than_offset, string_not_found,
    too_large, too_many_tokens, under_a_file, unreadable, unwritable.
    """

    kind: str
    text: str  #: as the model receives it
    path: str = ""  #: absolute
    code: str = ""
    matches: int = 0  #: where there are too many
    offset: int = 1  #: the first line that was asked for
    lines: int = 0  #: of the whole file
    content: str = ""  #: of a read, without numbers
    loss: str = ""  #: what writing as the agent does has destroyed

    @property
    def ok(self) -> bool:
        """Whether it was done.

        >>> Outcome("error", "…", code="not_read").ok
        False
        """
        return self.kind != "error"

    @property
    def label(self) -> str:
        """One word for a log.

        >>> Outcome("error", "…", code="multiple_matches", matches=3).label
        'error:multiple_matches(3)'
        >>> Outcome("warning", "…", code="shorter_than_offset", offset=9, lines=2).label
        'warning:shorter_than_offset(9),lines=2'
        """
        if self.code == "multiple_matches":
            return f"error:multiple_matches({self.matches})"
        if self.code == "shorter_than_offset":
            return f"warning:shorter_than_offset({self.offset}),lines={self.lines}"
        return f"{self.kind}:{self.code}" if self.code else self.kind


def refused(code: str, said: str, path: str, *, matches: int = 0) -> Outcome:
    """An error that was found before anything was done."""
    return Outcome("error", f"<tool_use_error>{said}</tool_use_error>", path, code, matches)


def failed(code: str, said: str, path: str) -> Outcome:
    """An error during the operation."""
    return Outcome("error", said, path, code)
