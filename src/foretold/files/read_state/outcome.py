"""What came of a read or a change of a file: a value, with the words that the agent gives its model."""

from __future__ import annotations

from foretold.types import NamedTuple


class Outcome(NamedTuple):
    """What came of it.

    `kind`: content, media (an image or a PDF: no read), unchanged_stub, warning, created, updated, updated_all,
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
    loss: str = ""  #: what the agent's way of writing has destroyed

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
    """An error that was seen before anything was done."""
    return Outcome("error", f"<tool_use_error>{said}</tool_use_error>", path, code, matches)


def failed(code: str, said: str, path: str) -> Outcome:
    """An error on the way."""
    return Outcome("error", said, path, code)
