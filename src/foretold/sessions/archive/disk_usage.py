"""How much disk space sessions take, and what takes it.

1. Every file of every agent is counted once, with its kind, its session and its project; a file that belongs to no
   existing session is counted as left over (no session).
2. Sizes are those of the files' content, not of the blocks of a disk. Symbolic links are not followed.
3. A fork of Claude Code repeats the session it was forked from: records that have the uuid of a record in an older
   session of the same project are counted as repeated. This reads the files; it is done only when asked for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from foretold.paths import foretold_folders
from foretold.sessions.archive.archive import archive_folder
from foretold.sessions.archive.session_files import agent_files, files_below, list_session_files, status_of
from foretold.sessions.catalog import KINDS, iter_sessions
from foretold.sessions.formats.claude.reader import config_folder
from foretold.sessions.formats.codex.reader import codex_home
from foretold.sessions.formats.fields import list_names
from foretold.sessions.formats.gemini.reader import gemini_home
from foretold.sessions.formats.jsonl import lines_of
from foretold.sessions.formats.opencode.reader import data_folder
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.archive.store_session import Progress
    from foretold.sessions.model import Homes, StoredSession

ROOTS: dict[str, Callable[[Homes], str]] = {
    "claude-code": config_folder,
    "codex": codex_home,
    "gemini-cli": gemini_home,
    "opencode": data_folder,
}


class DiskUse(NamedTuple):
    """Files of one kind, of one session or of none."""

    agent: str  #: or `foretold`, for what is ours
    project: str
    session: str
    kind: str
    size: int
    files: int = 1


def measure_usage(
    homes: Homes, *, agents: Iterable[str] | None = None, progress: Progress | None = None
) -> list[DiskUse]:
    """What takes space, by agent, project, session and kind."""
    found: dict[tuple[str, str, str, str], list[int]] = {}
    seen: set[str] = set()
    wanted = tuple(agents or ROOTS)

    def count(agent: str, project: str, session: str, kind: str, path: str) -> None:
        if path not in seen:
            seen.add(path)
            sums = found.setdefault((agent, project, session, kind), [0, 0])
            status = status_of(path)
            sums[0] += status.st_size if status else 0
            sums[1] += 1

    for number, stored in enumerate(iter_sessions(homes, agents=wanted, kinds=KINDS), 1):
        for each in list_session_files(stored):
            count(stored.agent, stored.cwd, stored.id, each.kind, each.path)
        if progress:
            progress(number, number)
    for agent in wanted:
        root = ROOTS[agent](homes)
        for kind, place in ((kind, place) for kind, *places in agent_files(agent).leftovers for place in places):
            named = (f"{root}/{name}" for name in list_names(root) if name.endswith(place[1:]))
            for path in named if place.startswith("*") else files_below(f"{root}/{place}"):
                count(agent, "", "", kind, path)
    if agents is None:
        ours = {"archive": archive_folder(homes), "index": foretold_folders(homes.home, homes.env).cache}
        for kind, folder in ours.items():
            for path in files_below(folder):
                count("foretold", "", "", kind, path)
    return [DiskUse(*key, size, files) for key, (size, files) in found.items()]


def sum_usage(uses: Iterable[DiskUse], *fields: str) -> list[tuple[tuple[str, ...], int, int]]:
    """Bytes and files by some fields, the largest first.

    >>> uses = DiskUse("codex", "/a", "1", "transcripts", 5), DiskUse("codex", "/b", "2", "transcripts", 7)
    >>> sum_usage(uses, "agent")
    [(('codex',), 12, 2)]
    """
    sums: dict[tuple[str, ...], list[int]] = {}
    for use in uses:
        each = sums.setdefault(tuple(str(getattr(use, field)) for field in fields), [0, 0])
        each[0] += use.size
        each[1] += use.files
    return sorted(((key, size, files) for key, (size, files) in sums.items()), key=lambda row: (-row[1], row[0]))


_UUID = re.compile(rb'(?<!\\)"uuid":\s?"([0-9a-f-]{36})"')


def find_repeated(sessions: Iterable[StoredSession], progress: Progress | None = None) -> dict[str, int]:
    """Bytes of each session that an older one of the same folder has too, by its path."""
    groups: dict[str, list[StoredSession]] = {}
    for stored in sessions:
        if agent_files(stored.agent).has_copied_forks:
            groups.setdefault(os.path.dirname(stored.path), []).append(stored)
    done, total = 0, sum(stored.size for group in groups.values() for stored in group)
    found: dict[str, int] = {}
    for group in groups.values():
        known: set[bytes] = set()
        for stored in sorted(group, key=lambda one: (one.started or one.changed, one.changed, one.path)):
            found[stored.path] = _repeated_in(stored.path, known)
            done += stored.size
            if progress:
                progress(done, total)
    return {path: size for path, size in found.items() if size}


def _repeated_in(path: str, known: set[bytes]) -> int:
    """Bytes of lines whose uuid is known; the new ones become known."""
    size, fresh = 0, set()
    try:
        for line in lines_of(path):
            match = _UUID.search(line.data)
            key = bytes.fromhex(match[1].replace(b"-", b"").decode()) if match and match[1].count(b"-") == 4 else b""
            if key in known:
                size += line.end - line.start
            elif key:
                fresh.add(key)
    except (OSError, ValueError):
        pass
    known |= fresh
    return size
