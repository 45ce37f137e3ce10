"""Every known state of one file, over all sessions, and which of them was meant.

1. A version is what a file was before the agent worked on a prompt. It is called by its session and its number there,
   `4d1f2c3a@v3`.
2. A fork of a session has copies of its versions: they are one. A file that stays away is one version.
3. `when` is such a name, or `v3` if only one session has it; a prompt's id, or how that begins; or a time:
   `2026-11-16 03:28`, `2026-11-16`, `03:28` (of today), `10m`, `2h`, `3d` (ago). At a time the file was what the
   newest version says that is not younger.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from foretold.errors import NoCheckpoint, RestoreRefused
from foretold.files.history.history import wanted_of
from foretold.files.history.recorded import Recorded
from foretold.files.history.snapshots import Backup, backups_at, key_of
from foretold.files.restore.look import FileState, content, look_at
from foretold.files.restore.plans import WantedFile
from foretold.text.diff import MOST_BYTES, LineCount, count_lines, unified
from foretold.types import NamedTuple

SHORT = 8  #: characters of a session's id, and of a prompt's, that are shown
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Version(NamedTuple):
    """One state of a file."""

    session: str
    number: int
    time: float
    message: str  #: the prompt that it was there before
    prompt: str
    source: str | None  #: the backup; None: there was no file
    found: FileState  #: the backup as it is on disk
    wanted: WantedFile
    lines: LineCount | None = None  #: from the version before it; None if that is not known
    is_first: bool = False  #: whether nothing older is known in its session

    @property
    def name(self) -> str:
        return f"{self.session[:SHORT]}@v{self.number}"

    @property
    def is_lost(self) -> bool:
        """Whether the backup is gone."""
        return self.source is not None and self.found.kind != "file"


def list_versions(sessions: Sequence[Recorded], path: str) -> list[Version]:
    """Every state of a file that the sessions know, the newest first."""
    known: dict[tuple[str | None, int, str], Version] = {}
    for recorded in sorted(sessions, key=lambda each: each.snapshots[0].time):
        for snapshot in recorded.snapshots:
            backup = snapshot.files.get(key_of(path, recorded.cwd))
            if backup is None:
                continue
            identity = (backup.name, backup.version, backup.time)
            found = known.get(identity)
            if found is None or (found.is_lost and found.session != recorded.session):
                known[identity] = _version(recorded, path, backup, snapshot.message)
    versions: list[Version] = []
    before = None
    for version in sorted(known.values(), key=lambda each: (each.time, each.number)):
        if before is None or before.source is not None or version.source is not None:  # else there is still no file
            versions.append(version._replace(lines=_lines(before, version), is_first=before is None))
        before = version
    return versions[::-1]


def _version(recorded: Recorded, path: str, backup: Backup, message: str) -> Version:
    (wanted,) = wanted_of({path: backup}, recorded.cwd, recorded.backups, recorded.form)
    found = look_at(wanted.source) if wanted.source else FileState()
    prompt = recorded.prompts.get(message, "")
    return Version(recorded.session, backup.version, wanted.since, message, prompt, wanted.source, found, wanted)


def _lines(before: Version | None, after: Version) -> LineCount | None:
    if before is None:
        return None
    if before.found.digest == after.found.digest:
        return LineCount()
    old, new = _bytes(before), _bytes(after)
    return None if old is None or new is None else count_lines(old, new)


def _bytes(version: Version) -> bytes | None:
    return content(version.source, MOST_BYTES) if version.source else b""


# Which one


def find_version(sessions: Sequence[Recorded], path: str, when: str, now: float) -> Version:
    """The version that was meant; NoCheckpoint if there is none."""
    versions = list_versions(sessions, path)
    if not versions:
        raise NoCheckpoint(f"no known session changed {path}; see: foretold files list")
    named = [each for each in versions if when in (each.name, f"v{each.number}")]
    if len(named) > 1:
        raise NoCheckpoint(f"{when} could be: {', '.join(each.name for each in named)}")
    found = named[0] if named else _by_prompt(sessions, path, when)
    if found:
        return found
    time = time_of(when, now)
    if time is None:
        raise NoCheckpoint(
            f"{when!r} is not a version, prompt or time of {os.path.basename(path)}; try {versions[0].name}, "
            f"or see: foretold files history {path}"
        )
    older = [each for each in versions if each.time <= time]
    if not older:
        first = versions[-1]
        began = datetime.fromtimestamp(first.time).isoformat(" ", "seconds")
        raise NoCheckpoint(f"nothing is known of {path} before {began}; what it was then is {first.name}")
    return older[0]


def _by_prompt(sessions: Sequence[Recorded], path: str, when: str) -> Version | None:
    """What a file was at a prompt."""
    if not re.fullmatch(r"[0-9a-fA-F][0-9a-fA-F-]{3,}", when) or re.fullmatch(r"\d{4}-\d\d-\d\d", when):
        return None
    found: dict[str, Version] = {}
    for recorded in reversed(sessions):
        for snapshot in recorded.snapshots:
            if snapshot.message.startswith(when):
                backup = (backups_at(recorded.snapshots, snapshot.message) or {})[key_of(path, recorded.cwd)]
                found[snapshot.message] = _version(recorded, path, backup, snapshot.message)
    if len(found) > 1:
        raise NoCheckpoint(f"{when} begins {len(found)} prompts: {', '.join(found)}")
    return next(iter(found.values()), None)


def time_of(when: str, now: float) -> float | None:
    """A time that a person writes, in seconds since 1970; None if it is none. Without a zone it is the local one.

    >>> time_of("2h", 10_000.0), time_of("1970-01-01T00:00:30+00:00", 0.0), time_of("soon", 0.0)
    (2800.0, 30.0, None)
    """
    ago = re.fullmatch(r"(\d{1,6})\s?([smhdw])(?: ago)?", when)
    if ago:
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])}).total_seconds()
    if re.fullmatch(r"\d{1,2}:\d\d(:\d\d)?", when):
        when = f"{datetime.fromtimestamp(now).date().isoformat()}T{when.zfill(8 if when.count(':') == 2 else 5)}"
    try:
        return datetime.fromisoformat(when).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def diff_versions(version: Version, until: Version | None, path: str) -> str:
    """The lines that changed from a version to another one, or to now; empty if none did."""
    old = _text(version.source, version.name)
    new = _text(until.source, until.name) if until else _text(path, path, is_now=True)
    if old == new:
        return ""
    if old is None or new is None or "\0" in old + new:
        return f"{path}: not a text, or too large to compare; the two differ"
    names = f"{path} ({version.name})", f"{path} ({until.name if until else 'now'})"
    return unified(old, new, *names).removesuffix("\n")


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


LARGEST = 4 * 1024 * 1024  #: bytes of a file that is compared line by line
