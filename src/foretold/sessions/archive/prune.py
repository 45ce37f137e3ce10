"""Which sessions could go, and letting them go: into the archive first.

1. A session is proposed for a reason that was asked for: older than, larger than, empty, of a folder that is not there
   any more (one that has moved along with its project has a folder: `kept.py`). With several reasons, every one of them
   must hold. What cannot be read, or not all of it, is not empty.
2. One that is in use is never proposed (`running.py`); nor one that shares its file with others (a database), nor one
   that a fork which stays begins with.
3. Letting go: the session is archived, everything it has is read back from the archive and compared with what is on the
   disk, and only then deleted. A file that changed meanwhile stays, and so does its session.
4. Only files that were archived are deleted, and folders that are empty then. Deleting another time, after a failure,
   goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from foretold.errors import SessionFailed
from foretold.sessions.archive.archive import Archive
from foretold.sessions.archive.in_use import Processes, is_recent
from foretold.sessions.archive.restore import verify
from foretold.sessions.archive.session_files import SHARING, belongings_of, is_shared, root_of
from foretold.sessions.catalog import sessions_of
from foretold.storage.kernel import KERNEL, Kernel
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foretold.sessions.archive.snapshot import Kept
    from foretold.sessions.archive.store_session import Progress
    from foretold.sessions.model import Homes, StoredSession
    from foretold.types import Finding

DAY = 86_400.0


class Wanted(NamedTuple):
    """What to look for; what is None or False is not asked."""

    older: float | None = None  #: days
    larger: int | None = None  #: bytes, with all that belongs to it
    is_empty: bool = False
    is_orphan: bool = False  #: its folder is not there any more


class Candidate(NamedTuple):
    """A session that could go, or that cannot."""

    stored: StoredSession
    size: int  #: with all that belongs to it
    why: str
    kept: str = ""  #: why it stays; empty if it may go


def plan_prune(
    homes: Homes,
    wanted: Wanted,
    now: float,
    *,
    agents: Iterable[str] | None = None,
    project: str | None = None,
    processes: Processes | None = None,
    progress: Progress | None = None,
) -> list[Candidate]:
    """The sessions for which every reason that was asked for holds, the oldest first. Changes nothing."""
    processes = processes or Processes()
    found = []
    kinds = ("main", "fork", "archived")
    for number, stored in enumerate(sessions_of(homes, agents=agents, project=project, kinds=kinds), 1):
        files = [(each.path, _status(each.path)) for each in belongings_of(stored)]
        size = sum(status.st_size for _, status in files if status)
        changed = max((status.st_mtime for _, status in files if status), default=stored.changed)
        why = _why(stored, size, changed, wanted, now)
        if why:
            found.append(
                Candidate(stored, size, why, _kept(stored, [path for path, _ in files], changed, now, processes))
            )
        if progress:
            progress(number, number)
    return sorted(_with_forks(homes, found), key=lambda each: each.stored.changed)


def _with_forks(homes: Homes, found: list[Candidate]) -> list[Candidate]:
    """The candidates; one that a fork begins with stays unless the fork goes too."""
    agents = {each.stored.agent for each in found} & SHARING
    if not agents:
        return found
    forks = [stored for stored in sessions_of(homes, agents=sorted(agents)) if stored.kind == "fork"]
    while True:
        going = {each.stored.id for each in found if not each.kept}
        needed = {stored.parent: stored.id for stored in forks if stored.id not in going}
        kept = [
            each._replace(kept=f"the session {needed[each.stored.id]} is a fork of it, and needs it")
            if not each.kept and each.stored.agent in SHARING and each.stored.id in needed
            else each
            for each in found
        ]
        if kept == found:  # a fork of a fork may have come to stay
            return found
        found = kept


def _why(stored: StoredSession, size: int, changed: float, wanted: Wanted, now: float) -> str:
    """The reasons in words; empty if one of them does not hold."""
    said: list[str] = []
    if wanted.older is not None:
        days = (now - changed) / DAY
        if days <= wanted.older:
            return ""
        said.append(f"{days:.0f} days old")
    if wanted.larger is not None:
        if size <= wanted.larger:
            return ""
        said.append("large")
    if wanted.is_empty:
        if not _is_empty(stored):
            return ""
        said.append("nothing was said")
    if wanted.is_orphan:
        if not stored.cwd or os.path.lexists(stored.cwd):
            return ""
        said.append("its folder is gone")
    return ", ".join(said)


def _is_empty(stored: StoredSession) -> bool:
    """Whether nobody said anything in a session. One with damage, or of which nothing can be read, may have been said
    something in."""
    from foretold.sessions.formats.readers import reader_of

    if is_shared(stored):
        return False
    damage: list[Finding] = []
    count = 0
    try:
        for message in reader_of(stored.agent).read_messages(stored, 0, damage):
            count += 1
            if message.role in ("user", "assistant") and not message.kind:
                return False
        return not any(each.code.startswith("record-") for each in damage) and (count > 0 or _is_blank(stored.path))
    except OSError:
        return False


def _is_blank(path: str) -> bool:
    """Whether a file has no byte in it, or is a document without messages: Gemini CLI has such."""
    with open(path, "rb") as file:
        return file.read(1) in (b"", b"{")


def _kept(stored: StoredSession, paths: list[str], changed: float, now: float, processes: Processes) -> str:
    if is_shared(stored):
        return f"it is in a database: {stored.agent} session delete {stored.id}"
    if is_recent(changed, now):
        return "it was written to a moment ago"
    return processes.use(stored.id, paths)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


class Pruned(NamedTuple):
    """What became of a candidate."""

    candidate: Candidate
    files: int  #: that were deleted
    problem: str = ""  #: why it stays


def prune(
    archive: Archive, candidate: Candidate, *, kernel: Kernel = KERNEL, progress: Progress | None = None
) -> Pruned:
    """Archive a session, prove that the archive has all of it, then delete it."""
    if candidate.kept:
        return Pruned(candidate, 0, candidate.kept)
    stored = candidate.stored
    archive.archive(stored, is_thorough=True, progress=progress)
    contents = archive.find(stored.id)
    problems, last = verify(contents), contents.last_at(stored.path)
    if problems or last is None:
        said = problems[0].message if problems else "the archive does not have it"
        return Pruned(candidate, 0, f"{said}; nothing was deleted")
    root = root_of(stored)
    paths = [(os.path.join(root, kept.name), kept) for kept in last.files]
    known = {path for path, _ in paths}
    if any(each.path not in known for each in belongings_of(stored)):
        return Pruned(candidate, 0, "it got another file meanwhile; nothing was deleted")
    changed = [path for path, kept in paths if os.path.lexists(path) and not _is_as_kept(path, kept)]
    if changed:
        return Pruned(candidate, 0, f"{os.path.basename(changed[0])} was written to meanwhile; nothing was deleted")
    return Pruned(candidate, _delete([path for path, _ in paths], root, kernel))


def _is_as_kept(path: str, kept: Kept) -> bool:
    status = _status(path)
    if status is None or (status.st_size, status.st_mtime_ns) != (kept.size, kept.changed):
        return False
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(1024 * 1024):
            digest.update(data)
    return digest.hexdigest() == kept.digest


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
            raise SessionFailed(f"{said}. Mend that, and prune again") from error
    for path in paths:
        folder = os.path.dirname(path)
        while folder.startswith(root + "/") and os.path.dirname(folder) != root:
            with suppress(OSError):
                kernel.rmdir(folder)
            if os.path.isdir(folder):
                break
            folder = os.path.dirname(folder)
    return count
