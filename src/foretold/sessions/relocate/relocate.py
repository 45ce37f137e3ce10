"""Taking sessions along when a project has moved: for every agent what it really needs, and nothing more.

1. The plan comes first, and changes nothing. Files are moved as they are, byte for byte, with mode and time: agents do
   not ask that the paths inside of them be other ones (measured, see docs/sessions.md).
2. Claude Code finds sessions by the folder they lie in: a transcript and what lies beside it move to the folder of the
   new path. Gemini CLI likewise; where it does not know the new path yet, to the folder that older versions named by
   the digest of the path, from which it takes them over by itself.
3. Codex takes over the new folder when a session is resumed there, and opencode when it is imported there; their
   databases are not ours to write. The plan has the commands.
4. Before anything moves, each session is archived and read back. A file gets its new name before it loses the old one,
   and never in the place of another; so it can be stopped, and done again, at any moment.
5. Transcripts go on naming the old folder. What became of it is noted (`moves.py`), so that others can ask `moved_to`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from contextlib import suppress
from time import time

from foretold.dialects.claude_code.settings import slug
from foretold.errors import NotAFolder, RestoreRefused, SessionFailed
from foretold.sessions.archive.archive import Archive
from foretold.sessions.archive.in_use import Processes
from foretold.sessions.archive.restore import verify
from foretold.sessions.archive.session_files import files_below, is_shared
from foretold.sessions.catalog import is_of, sessions_of
from foretold.sessions.formats.gemini.reader import gemini_home
from foretold.sessions.relocate.moves import Moved, beside_archive, moved_to, note_move
from foretold.storage.kernel import KERNEL, Kernel
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from foretold.sessions.archive.store_session import Progress
    from foretold.sessions.model import Homes, StoredSession


__all__ = ["PLANS", "Move", "moved_to", "plan_relocation", "relocate"]


class Move(NamedTuple):
    """What becomes of one session."""

    stored: StoredSession
    what: str  #: move, there (a file of its name is there already), typed (by a command), busy
    files: tuple[tuple[str, str], ...] = ()  #: from where to where
    command: str = ""  #: what to type, where the agent itself has to do it
    why: str = ""
    old: str = ""  #: the folder of the project, and the one it is now
    new: str = ""


class Ways(NamedTuple):
    """From where to where, whole paths."""

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
    processes: Processes | None = None,
) -> list[Move]:
    """What it takes to bring the sessions of one folder to another. Changes nothing."""
    ways = Ways(os.path.realpath(old), os.path.realpath(new), homes)
    if ways.old == ways.new:
        raise NotAFolder(f"{old} and {new} are the same folder")
    processes = processes or Processes()
    plan = []
    for stored in sessions_of(homes, agents=agents, kinds=("main", "fork", "archived")):
        if stored.agent in PLANS and (not only or stored.id in only):
            move = PLANS[stored.agent](stored, ways)
            if move is not None:
                plan.append(_judged(move._replace(old=ways.old, new=ways.new), now, processes))
    return plan


def _judged(move: Move, now: float, processes: Processes) -> Move:
    """A move, unless something is in its way."""
    if move.what != "move":
        return move
    sources = [source for source, _ in move.files]
    use = processes.use(move.stored.id, sources) or processes.runs_in((move.old, move.new))
    if use:
        return move._replace(what="busy", why=f"{use}: end it, and run this again")
    waits = processes.waits(max(map(_written, sources), default=0.0), now)
    if waits:
        return move._replace(what="busy", why=f"it was written to a moment ago: run this again in {_span(waits)}")
    taken = [target for source, target in move.files if os.path.lexists(target) and not _is_same(source, target)]
    if taken:
        return move._replace(what="there", why=f"another file is at {taken[0]}")
    return move


def _span(seconds: float) -> str:
    """A time to wait, not too short.

    >>> _span(41.2), _span(200)
    ('42 seconds', '4 minutes')
    """
    return f"{int(seconds) + 1} seconds" if seconds < 100 else f"{int(seconds / 60) + 1} minutes"


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _claude(stored: StoredSession, ways: Ways) -> Move | None:
    """Into the folder whose name is made of the new path; what lies beside the transcript comes along."""
    folder = os.path.dirname(stored.path)
    rest = _rest(stored, ways, os.path.basename(folder))
    if rest is None:
        return None
    there = os.path.join(os.path.dirname(folder), slug(os.path.join(ways.new, rest) if rest else ways.new))
    sources = [stored.path, *files_below(os.path.splitext(stored.path)[0])]
    return Move(stored, "move", tuple((path, there + path[len(folder) :]) for path in sources))


def _rest(stored: StoredSession, ways: Ways, name: str) -> str | None:
    """The folder of a session below the one that moved; None if it was not held there.

    What was moved before says the path it began in: then that is where it goes back to.
    """
    if name == slug(ways.old):
        is_alike = bool(stored.cwd) and stored.cwd.rstrip("/") != ways.old and slug(stored.cwd.rstrip("/")) == name
        return None if is_alike else ""  # the folder of another path whose name reads alike: `/a/b-c` and `/a/b/c`
    for base, named in ((ways.old, ways.old), (ways.new, ways.old)):
        if is_of(stored, base):
            rest = stored.cwd.rstrip("/")[len(base.rstrip("/")) + 1 :]
            if name == slug(os.path.join(named, rest) if rest else named):
                return rest
    parts = stored.cwd.strip("/").split("/")
    endings = ("/".join(parts[at:]) for at in range(1, len(parts)))  # moved more than once: its path began elsewhere
    return next((rest for rest in endings if name == slug(os.path.join(ways.old, rest))), None)


def _gemini(stored: StoredSession, ways: Ways) -> Move | None:
    """Into the folder of the new project, or of the digest of its path."""
    project = os.path.dirname(os.path.dirname(stored.path))
    is_digest = os.path.basename(project) == _digest(ways.old)
    if not is_digest and not is_of(stored, ways.old):
        return None
    rest = "" if is_digest else stored.cwd.rstrip("/")[len(ways.old.rstrip("/")) + 1 :]
    new = os.path.join(ways.new, rest) if rest else ways.new
    root = gemini_home(ways.homes)
    there = os.path.join(root, "tmp", _registered(root, new) or _digest(new))
    places = (stored.path, f"{project}/chats/{stored.id}", f"{project}/tool-outputs/session-{stored.id}")
    sources = [path for place in (*places, f"{project}/{stored.id}") for path in files_below(place)]
    return Move(stored, "move", tuple((path, there + path[len(project) :]) for path in sources))


def _registered(root: str, folder: str) -> str:
    """The name under which Gemini CLI keeps a project; empty if it does not know it."""
    try:
        with open(os.path.join(root, "projects.json"), encoding="utf-8") as file:
            name = json.load(file)["projects"][folder]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return name if isinstance(name, str) and name and "/" not in name else ""


def _digest(folder: str) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()


def _typed(form: str) -> Callable[[StoredSession, Ways], Move | None]:
    """A command that makes the agent itself take a session along."""

    def plan(stored: StoredSession, ways: Ways) -> Move | None:
        if not is_of(stored, ways.old):
            return None
        rest = stored.cwd.rstrip("/")[len(ways.old.rstrip("/")) + 1 :]
        new = shlex.quote(os.path.join(ways.new, rest) if rest else ways.new)
        command = form.replace("{new}", new).replace("{id}", shlex.quote(stored.id))
        return Move(stored, "typed", command=command)

    return plan


PLANS: dict[str, Callable[[StoredSession, Ways], Move | None]] = {
    "claude-code": _claude,
    "codex": _typed("cd {new} && codex resume {id}"),
    "gemini-cli": _gemini,
    "opencode": _typed("cd {new} && opencode export {id} > {id}.json && opencode import {id}.json"),
}


def relocate(archive: Archive, move: Move, *, kernel: Kernel = KERNEL, progress: Progress | None = None) -> None:
    """Do one move that was planned: into the archive, then to its new place."""
    if move.what != "move" or is_shared(move.stored):
        raise RestoreRefused(f"{move.stored.id} stays where it is: {move.why or move.what}")
    archive.archive(move.stored, is_thorough=True, progress=progress)
    problems = verify(archive.find(move.stored.id))
    if problems:
        raise SessionFailed(f"{problems[0].message}; nothing was moved")
    try:
        for source, target in move.files:
            _put(source, target, kernel)
        note_move(beside_archive(archive.folder), Moved(move.old, move.new, time(), move.stored.agent))
        for source, _ in move.files:
            kernel.unlink(source)
    except OSError as error:
        said = (
            f"cannot move {move.stored.path}: {error.strerror}. Nothing is lost: every file has its old or its new name"
        )
        raise SessionFailed(f"{said}. Mend that, and relocate again") from error
    for folder in _folders(move):
        with suppress(OSError):  # not empty: it is somebody's
            kernel.rmdir(folder)


def _folders(move: Move) -> list[str]:
    """The folders that a move may leave empty, the deepest first, up to the one of the transcript."""
    top = os.path.dirname(move.stored.path)
    found = {top}
    for source, _ in move.files:
        folder = os.path.dirname(source)
        while folder.startswith(top + "/"):
            found.add(folder)
            folder = os.path.dirname(folder)
    return sorted(found, key=len, reverse=True)


def _put(source: str, target: str, kernel: Kernel) -> None:
    """Give a file another name beside the one it has; one that has it already is left."""
    os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
    try:
        kernel.link(source, target)
    except FileExistsError:
        if not _is_same(source, target):
            raise RestoreRefused(f"{target} was written meanwhile; nothing was deleted") from None


def _is_same(one: str, other: str) -> bool:
    """Whether two names have the same content."""
    try:
        if os.path.samefile(one, other):
            return True
        if os.path.islink(other) or os.path.getsize(one) != os.path.getsize(other):
            return False
        with open(one, "rb") as here, open(other, "rb") as there:
            while data := here.read(1024 * 1024):
                if data != there.read(1024 * 1024):
                    return False
    except OSError:
        return False
    return True
