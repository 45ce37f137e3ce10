"""What changed between two states of a file, as a unified diff."""

from __future__ import annotations

import os

from foretold.errors import RestoreRefused
from foretold.files.restore.look import content
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.files.history.versions import Version

LARGEST = 4 * 1024 * 1024  #: bytes of a file that is compared line by line


def unified(version: Version, until: Version | None, path: str) -> str:
    """The lines that changed from a version up to another one, or up to now; nothing if none did."""
    old = _text(version.source, version.name)
    new = _text(until.source, until.name) if until else _text(path, path, is_now=True)
    if old == new:
        return ""
    if None in (old, new) or "\0" in f"{old}{new}":
        return f"{path}: it is no text, or too large to be compared; the two differ"
    from difflib import unified_diff

    assert old is not None
    assert new is not None
    before, after = f"{path} ({version.name})", f"{path} ({until.name if until else 'now'})"
    return "\n".join(unified_diff(_lines(old), _lines(new), before, after, lineterm=""))


def _lines(text: str) -> list[str]:
    """The lines of a text; a last one that nothing ends says so, as `diff` does."""
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


def _text(path: str | None, name: str, *, is_now: bool = False) -> str | None:
    """A file's text, the empty one if there is no file; None if it is too large."""
    if path is None:
        return ""
    if not os.path.lexists(path):
        if is_now:
            return ""
        raise RestoreRefused(f"the backup of {name} is gone; the agent deletes backups after 30 days")
    data = content(path, LARGEST)
    return None if data is None else data.decode("utf-8", "replace")
