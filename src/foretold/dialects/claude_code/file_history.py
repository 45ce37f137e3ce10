"""How versions of Claude Code record what files were before they changed them.

`CHANGES` holds what differs; the cases `fh-*` prove the older form, and both were compared with the agent's own rewind.
`docs/formats/file-history.md` has what is the same in both.
"""

from __future__ import annotations

from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.types import NamedTuple


class HistoryForm(NamedTuple):
    """How a version writes, and reads, the history of files."""

    is_delta: bool = False  #: whether a newly tracked file has a separate record, instead of all files again
    has_parent: bool = False  #: whether the real folder of a file is written down, so that a moved link is noticed
    mode_bits: int = 0o777  #: of a file's mode, those that a backup and a rewind keep
    kept: int = 100  #: prompts that a rewind can go back to: fh-cap


CHANGES = (
    DatedChange(
        "2.1.325",
        "2.1.197",
        "The history of files records one file at a time, the folder it is in, and all bits of its mode.",
        {"is_delta": True, "has_parent": True, "mode_bits": 0o7777},
        topic="files",
    ),
)
HISTORY = ReleaseHistory(HistoryForm(), CHANGES)


def form_of(version: str) -> HistoryForm:
    """The form of a release; of what is not a version, the newest."""
    return HISTORY.at(version)
