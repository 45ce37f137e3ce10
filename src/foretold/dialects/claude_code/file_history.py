"""How versions of Claude Code record what files were before they changed them.

`FORMS` holds what differs, by the first version that was seen to do so; the cases `fh-*` prove the older one, and both
were compared with the agent's own rewind. `docs/formats/file-history.md` has what is the same in both.
"""

from __future__ import annotations

from foretold.dialects.registry import pick_version
from foretold.types import NamedTuple


class HistoryForm(NamedTuple):
    """How a version writes, and reads, the history of files."""

    is_delta: bool = False  #: whether a newly tracked file has a separate record, instead of all files again
    has_parent: bool = False  #: whether the real folder of a file is written down, so that a moved link is noticed
    mode_bits: int = 0o777  #: of a file's mode, those that a backup and a rewind keep
    kept: int = 100  #: prompts that a rewind can go back to: fh-cap


FORMS = {"2.1.197": HistoryForm(), "2.1.325": HistoryForm(is_delta=True, has_parent=True, mode_bits=0o7777)}
DEFAULT_FORM = FORMS["2.1.325"]


def form_of(version: str) -> HistoryForm:
    """The form of a version: that of the newest one that was looked at and is not newer."""
    return pick_version(FORMS, version, FORMS["2.1.197"]) if version else DEFAULT_FORM
