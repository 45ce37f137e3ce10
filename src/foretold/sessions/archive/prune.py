"""Which sessions could be deleted, and deleting them: they are archived first.

1. A session is proposed if all the given criteria hold: older than, larger than, empty, its folder does not exist any
   more (one that was moved with its project has a folder: relocate/project_folder.py). A session that cannot be
   read, or not all of it, is not empty.
2. One that is in use is never deleted (in_use.py); nor one that shares its file with others (a database), nor one that
   a fork which stays begins with.
3. The session is archived, everything it has is read back from the archive and compared with what is on disk, and only
   then deleted. If a file changed meanwhile, nothing of the session is deleted.
4. Only files that were archived are deleted, and folders that are empty then. Pruning again, after a failure, continues
   where it stopped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from foretold.errors import SessionFailed
from foretold.sessions.archive.archive import Archive
from foretold.sessions.archive.in_use import RECENT, RunningProcesses
from foretold.sessions.archive.restore import verify_archive
from foretold.sessions.archive.session_files import agent_files, is_shared, list_session_files, root_of, status_of
from foretold.sessions.catalog import KINDS, iter_sessions
from foretold.sessions.formats.readers import reader_of
from foretold.storage.kernel import KERNEL, Kernel
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.archive.store_session import Progress
    from foretold.sessions.model import Homes, StoredSession
    from foretold.types import Finding

DAY = 86_400.0


class PruneCriteria(NamedTuple):
    """What to look for; None or False does not matter."""

    older: float | None = None  #: days
    larger: int | None = None  #: bytes, with all that belongs to it
    is_empty: bool = False
    is_orphan: bool = False  #: its folder does not exist any more


class PruneCandidate(NamedTuple):
    """A session that could be deleted, or that meets the criteria and cannot."""

    stored: StoredSession
    size: int  #: with all that belongs to it
    why: str
    obstacle: str = ""  #: why it stays; empty if it can be deleted


def plan_prune(
    homes: Homes,
    wanted: PruneCriteria,
    now: float,
    *,
    agents: Iterable[str] | None = None,
    project: str | None = None,
    processes: RunningProcesses | None = None,
    progress: Progress | None = None,
) -> list[PruneCandidate]:
    """The sessions for which every reason that was asked for holds, the oldest first. Changes nothing."""
    processes = processes or RunningProcesses()
    found = []
    for number, stored in enumerate(iter_sessions(homes, agents=agents, project=project, kinds=KINDS), 1):
        paths = [each.path for each in list_session_files(stored)]
        statuses = [status for path in paths if (status := status_of(path))]
        size = sum(status.st_size for status in statuses)
        changed = max((status.st_mtime for status in statuses), default=stored.changed)
        why = _why(stored, size, changed, wanted, now)
        if is_shared(stored):
            obstacle = f"it is in a database: {stored.agent} session delete {stored.id}"
        elif now - changed < RECENT:
            obstacle = "it was written to a moment ago"
        else:
            obstacle = processes.find_use(stored.id, paths) if why else ""
        if why:
            found.append(PruneCandidate(stored, size, why, obstacle))
        if progress:
            progress(number, number)
    return sorted(_with_forks(homes, found), key=lambda each: each.stored.changed)


def _with_forks(homes: Homes, found: list[PruneCandidate]) -> list[PruneCandidate]:
    """The candidates; one that a fork begins with stays unless the fork is deleted too."""
    agents = {each.stored.agent for each in found if agent_files(each.stored.agent).has_shared_forks}
    if not agents:
        return found
    forks = [stored for stored in iter_sessions(homes, agents=sorted(agents)) if stored.kind == "fork"]
    while True:
        going = {each.stored.id for each in found if not each.obstacle}
        needed = {stored.parent: stored.id for stored in forks if stored.id not in going}
        checked = [
            each._replace(obstacle=f"the session {needed[each.stored.id]} is a fork of it and needs it")
            if not each.obstacle and each.stored.agent in agents and each.stored.id in needed
            else each
            for each in found
        ]
        if checked == found:  # else a fork of a fork may stay now
            return found
        found = checked


def _why(stored: StoredSession, size: int, changed: float, wanted: PruneCriteria, now: float) -> str:
    """The criteria in words; empty if one of them does not hold."""
    days = (now - changed) / DAY
    criteria: tuple[tuple[bool, Callable[[], bool], str], ...] = (
        (wanted.older is not None, lambda: days > (wanted.older or 0), f"{days:.0f} days old"),
        (wanted.larger is not None, lambda: size > (wanted.larger or 0), "large"),
        (wanted.is_empty, lambda: _is_empty(stored), "nothing was said"),
        (wanted.is_orphan, lambda: bool(stored.cwd) and not os.path.lexists(stored.cwd), "its folder is gone"),
    )
    asked = [(holds, words) for is_asked, holds, words in criteria if is_asked]
    return ", ".join(words for _, words in asked) if all(holds() for holds, _ in asked) else ""


def _is_empty(stored: StoredSession) -> bool:
    """Whether nothing was said in a session. One that is damaged, or of which nothing can be read, does not count."""
    if is_shared(stored):
        return False
    damage: list[Finding] = []
    message = None
    try:
        for message in reader_of(stored.agent).read_messages(stored, 0, damage):
            if message.role in ("user", "assistant") and not message.kind:
                return False
        if any(each.code.startswith("record-") for each in damage):
            return False
        with open(stored.path, "rb", opener=open_regular) as file:  # Gemini CLI has documents without messages
            return message is not None or file.read(1) in (b"", b"{")
    except OSError:
        return False


class PruneResult(NamedTuple):
    """What became of a candidate."""

    candidate: PruneCandidate
    files: int  #: that were deleted
    problem: str = ""  #: why it was not


def prune(
    archive: Archive, candidate: PruneCandidate, *, kernel: Kernel = KERNEL, progress: Progress | None = None
) -> PruneResult:
    """Archive a session, verify that the archive has all of it, then delete it."""
    if candidate.obstacle:
        return PruneResult(candidate, 0, candidate.obstacle)
    stored = candidate.stored
    archive.archive(stored, is_thorough=True, progress=progress)
    contents = archive.find(stored.id)
    problems, last = verify_archive(contents), contents.last_at(stored.path)
    if problems or last is None:
        said = problems[0].message if problems else "the archive does not have it"
        return PruneResult(candidate, 0, f"{said}; nothing was deleted")
    root = root_of(stored)
    paths = [(os.path.join(root, file.name), file) for file in last.files]
    known = {path for path, _ in paths}
    if any(each.path not in known for each in list_session_files(stored)):
        return PruneResult(candidate, 0, "it got another file meanwhile; nothing was deleted")
    for path, file in paths:
        status = status_of(path)
        if status is not None and (status.st_mtime_ns != file.changed or not file.is_at(path)):
            said = f"{os.path.basename(path)} was written to meanwhile; nothing was deleted"
            return PruneResult(candidate, 0, said)
    return PruneResult(candidate, _delete([path for path, _ in paths], root, kernel))


def _delete(paths: list[str], root: str, kernel: Kernel) -> int:
    """Delete files, the transcript last, and the folders that they leave empty."""
    count = 0
    for path in reversed(paths):
        try:
            kernel.unlink(path)
            count += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            said = (
                f"cannot delete {path}: {error.strerror}; {count} files of its session are deleted and in the archive"
            )
            raise SessionFailed(f"{said}. Fix that, and prune again") from error
    for path in paths:
        folder = os.path.dirname(path)
        while folder.startswith(root + "/") and os.path.dirname(folder) != root:
            with suppress(OSError):
                kernel.rmdir(folder)
            if os.path.isdir(folder):
                break
            folder = os.path.dirname(folder)
    return count
