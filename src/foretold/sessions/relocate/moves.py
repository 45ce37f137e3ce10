"""Where projects were moved: `relocate` notes it, since transcripts keep naming the old folder.

1. One line of JSON for each move, in `<state>/moves.jsonl`: `{"old": …, "new": …, "time": …, "agent": …}`. Lines are
   only ever added; the same move twice in a row is noted once. A line that cannot be read is passed over.
2. Moves are followed in their order: a folder that moved to `b`, and from there to `c`, is in `c`; one that moved back
   is where it was. A folder below one that moved has moved too.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache

from foretold.paths import foretold_folders
from foretold.sessions.model import Homes
from foretold.storage.append_log import parse_object
from foretold.storage.tree import open_regular
from foretold.types import NamedTuple

_MOST = 4 * 1024 * 1024  #: bytes that are read


class FolderMove(NamedTuple):
    """A folder that was moved, from where to where."""

    old: str
    new: str

    def path(self, path: str) -> str:
        """Where a file is now."""
        is_in = bool(self.old) and (path == self.old or path.startswith(self.old + "/"))
        return self.new + path[len(self.old) :] if is_in else path


class NotedMove(NamedTuple):
    """A move of a project, whole paths."""

    old: str
    new: str
    time: float
    agent: str


def moves_file(homes: Homes) -> str:
    """Where moves are noted: in our own state folder, next to the archive."""
    return foretold_folders(homes.home, homes.env).state + "/moves.jsonl"


def moves_file_next_to(folder: str) -> str:
    """The same, for the folder of an archive."""
    return os.path.join(os.path.dirname(folder), "moves.jsonl")


def note_move(path: str, moved: NotedMove) -> None:
    """Add a move; not again if it is the last one."""
    known = _moves(path)
    if known and known[-1][:2] == moved[:2] and known[-1].agent == moved.agent:
        return
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    line = json.dumps(moved._asdict()).encode() + b"\n"
    descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":  # a line that was torn
            line = b"\n" + line
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def moved_to(homes: Homes, old: str) -> str:
    """Where a folder is now; empty if it did not move, or moved back. Never raises."""
    return follow_moves(_moves(moves_file(homes)), old)


def follow_moves(moves: tuple[NotedMove, ...], old: str) -> str:
    """Where a folder is after these moves; empty if it is where it was."""
    began = at = old.rstrip("/") or "/"
    for move in moves:
        at = FolderMove(move.old, move.new).path(at)
    return "" if at == began else at


def _moves(path: str) -> tuple[NotedMove, ...]:
    try:
        facts = os.stat(path)
    except (OSError, ValueError):
        return ()
    return _read(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=4)
def _read(path: str, _written: int, _size: int) -> tuple[NotedMove, ...]:
    """The moves of a file in this state; many sessions need the same."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            lines = file.read(_MOST).split(b"\n")
    except OSError:
        return ()
    return tuple(filter(None, map(_move, lines)))


def _move(line: bytes) -> NotedMove | None:
    value = parse_object(line) or {}
    old, new, time, agent = (value.get(key) for key in NotedMove._fields)
    if not isinstance(old, str) or not isinstance(new, str) or not old.startswith("/") or not new.startswith("/"):
        return None
    return NotedMove(old, new, time if isinstance(time, int | float) else 0.0, agent if isinstance(agent, str) else "")


def infer_move(old: str, new: str) -> FolderMove:
    """Which folder was moved, if a session that was held in one belongs to another: the folder itself, or one above it
    that is gone too. Nothing if the old one exists, or is not known.
    """
    old, new = old.rstrip("/"), new.rstrip("/")
    if not old or old == new or os.path.isdir(old):
        return FolderMove("", "")
    while os.path.basename(old) == os.path.basename(new):
        above, there = os.path.dirname(old), os.path.dirname(new)
        if above in ("", "/") or there in ("", "/") or above == there or os.path.isdir(above):
            break
        old, new = above, there
    return FolderMove(old, new)
