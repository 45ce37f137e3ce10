"""How much room sessions take, and what takes it.

1. Every file of every agent's own rooms is counted once, with its kind, its session and its project; what belongs to no
   session that is there is counted as left over (no session).
2. Sizes are those of the files' content, not of the blocks of a disk. Links are not followed.
3. A fork repeats what it was forked from: records of Claude Code that have the uuid of a record in an older session of
   the same project are counted as repeated. That reads the files; it is done only when it is asked for.
"""

from __future__ import annotations

import os
import re

from foretold.paths import our_folders
from foretold.sessions.archive.archive import archive_folder
from foretold.sessions.archive.session_files import belongings_of, files_below, is_shared
from foretold.sessions.catalog import sessions_of
from foretold.sessions.formats.claude.reader import config_folder
from foretold.sessions.formats.codex.reader import codex_home
from foretold.sessions.formats.gemini.reader import gemini_home
from foretold.sessions.formats.jsonl import lines_of
from foretold.sessions.formats.opencode.reader import data_folder
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from foretold.sessions.archive.store_session import Progress
    from foretold.sessions.model import Homes, StoredSession

ALL_KINDS = ("main", "fork", "archived")
ROOTS: dict[str, Callable[[Homes], str]] = {
    "claude-code": config_folder,
    "codex": codex_home,
    "gemini-cli": gemini_home,
    "opencode": data_folder,
}
#: agent -> kind and place, in its own folder, of what may be left over; a `*` at the end stands for anything
ROOMS: dict[str, tuple[tuple[str, str], ...]] = {
    "claude-code": (
        ("file history", "file-history"),
        ("todos", "todos"),
        ("todos", "tasks"),
        ("debug logs", "debug"),
        ("shell snapshots", "shell-snapshots"),
        ("other", "session-env"),
        ("other", "paste-cache"),
        ("other", "backups"),
        ("other", "history.jsonl"),
        ("memories and rest", "projects"),
    ),
    "codex": (
        ("shell snapshots", "shell_snapshots"),
        ("debug logs", "log"),
        ("databases", "*.sqlite"),
        ("databases", "*.sqlite-wal"),
        ("other", "history.jsonl"),
        ("transcripts", "sessions"),
        ("transcripts", "archived_sessions"),
    ),
    "gemini-cli": (("other", "tmp"), ("file history", "history")),
    "opencode": (
        ("debug logs", "log"),
        ("file history", "snapshot"),
        ("tool results", "tool-output"),
        ("databases", "*.db"),
        ("databases", "*.db-wal"),
        ("transcripts", "storage"),
    ),
}


class Use(NamedTuple):
    """Files of one kind, of one session or of none."""

    agent: str  #: or `foretold`, for what is ours
    project: str
    session: str
    kind: str
    size: int
    files: int = 1


def usage(homes: Homes, *, agents: Iterable[str] | None = None, progress: Progress | None = None) -> list[Use]:
    """What takes room, by agent, project, session and kind."""
    found: dict[tuple[str, str, str, str], list[int]] = {}
    seen: set[str] = set()
    wanted = tuple(agents or ROOTS)

    def count(agent: str, project: str, session: str, kind: str, path: str) -> None:
        if path not in seen:
            seen.add(path)
            sums = found.setdefault((agent, project, session, kind), [0, 0])
            sums[0] += _size(path)
            sums[1] += 1

    for number, stored in enumerate(sessions_of(homes, agents=wanted, kinds=ALL_KINDS), 1):
        for each in belongings_of(stored):
            count(stored.agent, stored.cwd, stored.id, each.kind, each.path)
        if progress:
            progress(number, number)
    for agent in wanted:
        for kind, place in ROOMS.get(agent, ()):
            for path in _places(ROOTS[agent](homes), place):
                count(agent, "", "", kind, path)
    if agents is None:
        for kind, folder in (("archive", archive_folder(homes)), ("index", cache_folder(homes))):
            for path in files_below(folder):
                count("foretold", "", "", kind, path)
    return [Use(*key, size, files) for key, (size, files) in found.items()]


def cache_folder(homes: Homes) -> str:
    """Where our own indexes are.

    >>> from foretold.sessions.model import Homes
    >>> cache_folder(Homes("/home/me", {}))
    '/home/me/.cache/foretold'
    """
    return our_folders(homes.home, homes.env).cache


def totals(uses: Iterable[Use], *fields: str) -> list[tuple[tuple[str, ...], int, int]]:
    """Bytes and files by some fields, the largest first.

    >>> totals([Use("codex", "/a", "1", "transcripts", 5), Use("codex", "/b", "2", "transcripts", 7)], "agent")
    [(('codex',), 12, 2)]
    """
    sums: dict[tuple[str, ...], list[int]] = {}
    for use in uses:
        each = sums.setdefault(tuple(str(getattr(use, field)) for field in fields), [0, 0])
        each[0] += use.size
        each[1] += use.files
    return sorted(((key, size, files) for key, (size, files) in sums.items()), key=lambda row: (-row[1], row[0]))


def _places(root: str, place: str) -> Iterator[str]:
    if not place.startswith("*"):
        yield from files_below(os.path.join(root, place))
        return
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    yield from (os.path.join(root, name) for name in names if name.endswith(place[1:]))


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


_UUID = re.compile(rb'(?<!\\)"uuid":\s?"([0-9a-f-]{36})"')


def repeated(sessions: Iterable[StoredSession], progress: Progress | None = None) -> dict[str, int]:
    """Bytes of each session that an older one of the same folder has too, by its path."""
    groups: dict[str, list[StoredSession]] = {}
    for stored in sessions:
        if stored.agent == "claude-code" and not is_shared(stored):
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
