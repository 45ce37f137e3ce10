"""When Claude Code deletes a session, and which it will delete next.

1. A few seconds into a session the agent deletes transcripts, those of subagents too, that were last written more than
   `cleanupPeriodDays` ago (30 by default). Memories are never deleted. # clean-default
2. A value that is not a whole number of at least 1 (0, 0.5, -1, "7") is rejected, and nothing is deleted. # clean-zero
3. The strongest scope wins: managed, local, project, user. It applies to the sessions of all projects: a session in a
   folder whose settings say 7 deletes sessions that are 8 days old everywhere. So a list of all sessions goes by the
   user's settings; with a folder, by what a session there would delete.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from foretold.dialects.settings_files import read_json
from foretold.sessions.formats.claude.reader import config_folder, find_sessions, has_own_folder
from foretold.sessions.model import Homes, StoredSession
from foretold.storage.tree import Disk
from foretold.types import Finding, NamedTuple

DEFAULT_DAYS = 30.0
DAY = 86_400.0
MANAGED = "/etc/claude-code"
KEY = "cleanupPeriodDays"


class Retention(NamedTuple):
    """How long the agent keeps its sessions."""

    days: float | None  #: None = for ever
    source: str  #: the settings file that says so; empty = none does
    reason: str  #: default, setting, rejected


class ExpiringSession(NamedTuple):
    """A session that the agent is about to delete."""

    stored: StoredSession
    days: float  #: until then; 0 or less = at its next start


def retention_days(value: object) -> float | None:
    """The days that a value of the setting keeps a session; None = for ever."""
    if value is None:
        return DEFAULT_DAYS
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1 or value != int(value):
        return None
    return float(value)


def cleanup(ages_days: Iterable[float], cleanup_period_days: object = None) -> list[float]:
    """The ages, of transcripts, that survive the agent's clean-up."""
    days = retention_days(cleanup_period_days)
    return [age for age in ages_days if days is None or age <= days]


def read_retention(homes: Homes, cwd: str = "", *, managed: str = MANAGED) -> Retention:
    """How long sessions are kept, by the settings of a user, and of a folder if one is given."""
    findings: list[Finding] = []
    tree = Disk()
    for path in _settings(homes, cwd, managed):
        value = read_json(tree, path, findings).get(KEY)
        if value is not None:
            days = retention_days(value)
            return Retention(days, path, "rejected" if days is None else "setting")
    return Retention(DEFAULT_DAYS, "", "default")


def _settings(homes: Homes, cwd: str, managed: str) -> Iterator[str]:
    """The settings files, the strongest first."""
    folder = os.path.join(managed, "managed-settings.d")
    names = sorted(os.listdir(folder), reverse=True) if os.path.isdir(folder) else []
    yield from (os.path.join(folder, name) for name in names if name.endswith(".json"))
    yield os.path.join(managed, "managed-settings.json")
    if cwd:
        yield os.path.join(cwd, ".claude", "settings.local.json")
        yield os.path.join(cwd, ".claude", "settings.json")
    yield os.path.join(config_folder(homes), "settings.json")


def find_expiring_sessions(
    homes: Homes,
    now: float,
    *,
    within: float = 0.0,
    rule: Retention | None = None,
    sessions: Iterable[StoredSession] = (),
) -> list[ExpiringSession]:
    """The sessions that will be deleted within some days from `now`, the next first. Ages are those of the files."""
    days = (rule or read_retention(homes)).days
    if days is None:
        return []
    gone = []
    for stored in sessions or find_sessions(homes):
        if has_own_folder(stored.path):
            continue  # the agent cleans up `projects`, and knows no other folder
        try:
            changed = os.stat(stored.path).st_mtime  # the agent goes by that, not by the last record
        except OSError:
            changed = stored.changed
        left = days - (now - changed) / DAY
        if left <= within:
            gone.append(ExpiringSession(stored, left))
    return sorted(gone, key=lambda one: (one.days, one.stored.path))
