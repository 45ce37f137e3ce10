"""Moving sessions when their project has moved: for every agent what it really needs, and nothing more.

1. The plan comes first, and changes nothing. Files are moved as they are, byte for byte, with mode and time: agents do
   not require that the paths inside of them change (measured, see docs/sessions.md).
2. Claude Code finds sessions by the folder they are in: a transcript and the files next to it move to the folder of the
   new path. Gemini CLI likewise; where it does not know the new path yet, to the folder that older versions named by
   the digest of the path, from which it imports them.
3. Codex adopts the new folder when a session is resumed there, and opencode when it is imported there; we do not write
   to their databases. The plan has the commands.
4. Before anything moves, each session is archived and verified. A file gets its new name before it loses the old one,
   and never replaces another; so it can be stopped, and repeated, at any moment.
5. Transcripts keep naming the old folder. The move is noted (moves.py), for `moved_to`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from time import time

from foretold.dialects.claude_code.settings import slug
from foretold.errors import NotAFolder, RestoreRefused, SessionFailed
from foretold.sessions.archive.archive import Archive
from foretold.sessions.archive.in_use import RunningProcesses
from foretold.sessions.archive.restore import verify_archive
from foretold.sessions.archive.session_files import files_below, is_shared, status_of
from foretold.sessions.catalog import is_held_in, iter_sessions
from foretold.sessions.formats.gemini.reader import gemini_home
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.relocate.moves import NotedMove, moved_to, moves_file_next_to, note_move
from foretold.storage.kernel import KERNEL, Kernel
from foretold.storage.tree import folders_above, open_regular, read_regular
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.archive.store_session import Progress

__all__ = ["PLANS", "SessionMove", "moved_to", "plan_relocation", "relocate"]


class SessionMove(NamedTuple):
    """What becomes of one session."""

    stored: StoredSession
    what: str  #: move, there (another file has its name), typed (the user runs a command), busy
    files: tuple[tuple[str, str], ...] = ()  #: from where to where
    command: str = ""  #: what to run, where the agent itself has to do it
    why: str = ""
    old: str = ""  #: the folder of the project, and the one it is now
    new: str = ""


class MovePaths(NamedTuple):
    """From where to where, absolute paths."""

    old: str
    new: str
    homes: Homes


def plan_relocation(
    homes: Homes,
    old: str,
    new: str,
    now: float,
    *,
    agents: Iterable[str] | None = None,
    only: Collection[str] = (),
    processes: RunningProcesses | None = None,
) -> list[SessionMove]:
    """What it takes to bring the sessions of one folder to another. Changes nothing."""
    paths = MovePaths(os.path.realpath(old), os.path.realpath(new), homes)
    if paths.old == paths.new:
        raise NotAFolder(f"{old} and {new} are the same folder")
    processes = processes or RunningProcesses()
    plan = []
    for stored in iter_sessions(homes, agents=agents, kinds=("main", "fork", "archived")):
        if stored.agent in PLANS and (not only or stored.id in only):
            move = PLANS[stored.agent](stored, paths)
            if move is not None:
                plan.append(_check(move._replace(old=paths.old, new=paths.new), now, processes))
    return plan


def _check(move: SessionMove, now: float, processes: RunningProcesses) -> SessionMove:
    """A move, unless something prevents it."""
    if move.what != "move":
        return move
    sources = [source for source, _ in move.files]
    use = processes.find_use(move.stored.id, sources) or processes.find_agent_in((move.old, move.new))
    if use:
        return move._replace(what="busy", why=f"{use}: end it, and run this again")
    waits = processes.seconds_to_wait(
        max((status.st_mtime for path in sources if (status := status_of(path))), default=0.0), now
    )
    if waits:
        return move._replace(what="busy", why=f"it was written to a moment ago: run this again in {_span(waits)}")
    taken = [target for source, target in move.files if os.path.lexists(target) and not _is_same(source, target)]
    if taken:
        return move._replace(what="there", why=f"another file is at {taken[0]}")
    return move


def _span(seconds: float) -> str:
    """A time to wait, not too short."""
    return f"{int(seconds) + 1} seconds" if seconds < 100 else f"{int(seconds / 60) + 1} minutes"


def _claude(stored: StoredSession, paths: MovePaths) -> SessionMove | None:
    """Into the folder that is named after the new path, with the files next to the transcript."""
    folder = os.path.dirname(stored.path)
    rest = _rest(stored, paths, os.path.basename(folder))
    if rest is None:
        return None
    there = os.path.join(os.path.dirname(folder), slug(_below(paths.new, rest)))
    sources = [stored.path, *files_below(os.path.splitext(stored.path)[0])]
    return SessionMove(stored, "move", tuple((path, there + path[len(folder) :]) for path in sources))


def _rest(stored: StoredSession, paths: MovePaths, name: str) -> str | None:
    """The folder of a session below the one that moved; None if it was not held there.

    A session that was moved before names the path it began in: then it moves back there.
    """
    if name == slug(paths.old):
        is_alike = bool(stored.cwd) and stored.cwd.rstrip("/") != paths.old and slug(stored.cwd.rstrip("/")) == name
        return None if is_alike else ""  # another path with the same name: `/a/b-c` and `/a/b/c`
    for base in (paths.old, paths.new):
        if is_held_in(stored, base) and name == slug(_below(paths.old, _path_below(base, stored))):
            return _path_below(base, stored)
    parts = stored.cwd.strip("/").split("/")
    endings = ("/".join(parts[at:]) for at in range(1, len(parts)))  # moved more than once: its path began elsewhere
    return next((rest for rest in endings if name == slug(os.path.join(paths.old, rest))), None)


def _below(folder: str, rest: str) -> str:
    return os.path.join(folder, rest) if rest else folder


def _path_below(base: str, stored: StoredSession) -> str:
    """The folder of a session, as a path in another that it is in."""
    return stored.cwd.rstrip("/")[len(base.rstrip("/")) + 1 :]


def _gemini(stored: StoredSession, paths: MovePaths) -> SessionMove | None:
    """Into the folder of the new project, or of the digest of its path."""
    project = os.path.dirname(os.path.dirname(stored.path))
    is_digest = os.path.basename(project) == _digest(paths.old)
    if not is_digest and not is_held_in(stored, paths.old):
        return None
    rest = "" if is_digest else _path_below(paths.old, stored)
    new = _below(paths.new, rest)
    root = gemini_home(paths.homes)
    there = os.path.join(root, "tmp", _registered(root, new) or _digest(new))
    places = (stored.path, f"{project}/chats/{stored.id}", f"{project}/tool-outputs/session-{stored.id}")
    sources = [path for place in (*places, f"{project}/{stored.id}") for path in files_below(place)]
    return SessionMove(stored, "move", tuple((path, there + path[len(project) :]) for path in sources))


def _registered(root: str, folder: str) -> str:
    """The name under which Gemini CLI keeps a project; empty if it does not know it."""
    try:
        name = json.loads(read_regular(os.path.join(root, "projects.json"), 1 << 20))["projects"][folder]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return name if isinstance(name, str) and name and "/" not in name else ""


def _digest(folder: str) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()


def _typed(stored: StoredSession, paths: MovePaths) -> SessionMove | None:
    """The command by which the agent itself moves a session."""
    if not is_held_in(stored, paths.old):
        return None
    new = shlex.quote(_below(paths.new, _path_below(paths.old, stored)))
    return SessionMove(stored, "typed", command=COMMANDS[stored.agent].format(new=new, id=shlex.quote(stored.id)))


COMMANDS = {
    "codex": "cd {new} && codex resume {id}",
    "opencode": "cd {new} && opencode export {id} > {id}.json && opencode import {id}.json",
}
PLANS: dict[str, Callable[[StoredSession, MovePaths], SessionMove | None]] = {
    "claude-code": _claude,
    "codex": _typed,
    "gemini-cli": _gemini,
    "opencode": _typed,
}


def relocate(archive: Archive, move: SessionMove, *, kernel: Kernel = KERNEL, progress: Progress | None = None) -> None:
    """Do one move that was planned: into the archive, then to its new place."""
    if move.what != "move" or is_shared(move.stored):
        raise RestoreRefused(f"{move.stored.id} is not moved: {move.why or move.what}")
    archive.archive(move.stored, is_thorough=True, progress=progress)
    problems = verify_archive(archive.find(move.stored.id))
    if problems:
        raise SessionFailed(f"{problems[0].message}; nothing was moved")
    try:
        for source, target in move.files:
            _add_name(source, target, kernel)
        note_move(moves_file_next_to(archive.folder), NotedMove(move.old, move.new, time(), move.stored.agent))
        for source, _ in move.files:
            kernel.unlink(source)
    except OSError as error:
        said = (
            f"cannot move {move.stored.path}: {error.strerror}. Nothing is lost: every file has its old or its new name"
        )
        raise SessionFailed(f"{said}. Fix that, and relocate again") from error
    for folder in _empty_folders(move):
        with suppress(OSError):  # not empty: it is still used
            kernel.rmdir(folder)


def _empty_folders(move: SessionMove) -> list[str]:
    """The folders that a move may leave empty, the deepest first, up to the one of the transcript."""
    top = os.path.dirname(move.stored.path)
    above = {folder for source, _ in move.files for folder in folders_above(source) if folder.startswith(top + "/")}
    return sorted({top, *above}, key=len, reverse=True)


def _add_name(source: str, target: str, kernel: Kernel) -> None:
    """Give a file a second name; if it has that already, nothing is done."""
    os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
    try:
        kernel.link(source, target)
    except FileExistsError:
        if not _is_same(source, target):
            raise RestoreRefused(f"{target} was written in the meantime; nothing was deleted") from None


def _is_same(one: str, other: str) -> bool:
    """Whether two names have the same content."""
    try:
        if os.path.samefile(one, other):
            return True
        if os.path.islink(other) or os.path.getsize(one) != os.path.getsize(other):
            return False
        with open(one, "rb", opener=open_regular) as here, open(other, "rb", opener=open_regular) as there:
            return hashlib.file_digest(here, "sha256").digest() == hashlib.file_digest(there, "sha256").digest()
    except OSError:
        return False
