"""Archiving sessions before their agent deletes them. The archive only grows; erase.py alone takes something out.

1. Each session has one file of frames (storage/frames.py), `<state>/archive/<agent>/<id>.frames`; there is no index.
2. A session is archived with all that belongs to it (session_files.py); of a database, its rows.
3. Memory is bounded at any size: a piece at a time. No file of the agent is changed.
4. With a redactor, credentials are removed first; such archives are separate files, `<id>.redacted.frames`.
5. Whether a transcript is archived as it is now follows from its name, size and time: no transcript is read for that.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress

from foretold.errors import ForetoldError, NoSuchSession, SessionFailed
from foretold.paths import foretold_folders
from foretold.sessions.archive.session_files import is_shared
from foretold.sessions.archive.snapshot import ArchiveContents, ArchiveSnapshot
from foretold.sessions.archive.store_session import ROWS, ArchiveResult, SessionArchiver, nanoseconds
from foretold.sessions.catalog import describe_ambiguity
from foretold.sessions.model import Homes, StoredSession
from foretold.storage.folder import Folder
from foretold.storage.frames import Frames
from foretold.storage.kernel import KERNEL, Kernel, failed
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.secrets.redactor import Redactor
    from foretold.sessions.archive.retention import ExpiringSession
    from foretold.sessions.archive.store_session import Progress

ENDING = ".frames"
REDACTED = ".redacted" + ENDING
Stamp = tuple[str, int, int]  #: name, size and time of a file
ANY = -1  #: a size that does not count: redacting changed it


def archive_folder(homes: Homes) -> str:
    """Where archives are: in our own state folder."""
    return foretold_folders(homes.home, homes.env).state + "/archive"


class Archive:
    """All archived sessions of a user."""

    def __init__(self, folder: str, kernel: Kernel = KERNEL) -> None:
        self.folder = folder
        self.kernel = kernel

    def frames_of(self, agent: str, name: str, *, redacted: bool = False) -> Frames:
        """The file of a session."""
        is_plain = name and all(char.isalnum() or char in "-_" for char in name)
        file = name if is_plain else hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
        return Frames(os.path.join(self.folder, agent, file + (REDACTED if redacted else ENDING)), self.kernel)

    def archive(
        self,
        stored: StoredSession,
        *,
        redactor: Redactor | None = None,
        is_thorough: bool = False,
        progress: Progress | None = None,
        now: float | None = None,
    ) -> ArchiveResult:
        """Archive a session as it is now. `is_thorough`: also read files that look unchanged."""
        if not os.path.isfile(stored.path):
            raise SessionFailed(f"{stored.path} does not exist any more, so nothing was archived")
        frames = self.frames_of(stored.agent, stored.id, redacted=redactor is not None)
        folder = Folder(os.path.dirname(frames.path), kernel=self.kernel)
        try:
            folder.make()
        except OSError as error:
            raise failed(f"cannot make {folder.path}", error) from error
        with frames.writing() as writer:
            archiver = SessionArchiver(
                stored, ArchiveContents(frames), writer, redactor, progress, is_thorough=is_thorough
            )
            return archiver.run(time.time() if now is None else now)

    def sessions(self, findings: list[Finding] | None = None) -> list[ArchiveSnapshot]:
        """The last snapshot of each session, the newest first."""
        found = [self._contents(agent, name, findings).snapshots[-1:] for agent, name in self._files()]
        return sorted((snapshot for last in found for snapshot in last), key=lambda snapshot: -snapshot.changed)

    def find(self, name: str, *, redacted: bool = False) -> ArchiveContents:
        """The archive of a session, by its id or the beginning of it; a redacted one only if there is no other."""
        close = self._match(name, redacted=redacted)
        if not close:
            what = "redacted copy of a session" if redacted else "session"
            raise NoSuchSession(f"no {what} {name!r} is in the archive; foretold sessions restore lists them")
        if len(close) > 1:
            matches = [StoredSession(agent, _id(file), file) for agent, file in close]
            raise NoSuchSession(describe_ambiguity(name, matches, self._summarize))
        contents = self._contents(*close[0])
        if not contents.snapshots:
            raise SessionFailed(f"{contents.frames.path} has no whole snapshot; archive the session again")
        return contents

    def _contents(self, agent: str, file: str, findings: list[Finding] | None = None) -> ArchiveContents:
        return ArchiveContents(Frames(os.path.join(self.folder, agent, file), self.kernel), findings)

    def _summarize(self, stored: StoredSession) -> StoredSession:
        """A session as the last snapshot in a file describes it."""
        found = self._contents(stored.agent, stored.path).snapshots[-1:]
        return stored._replace(title=found[0].title, changed=found[0].changed) if found else stored

    def _files(self, ending: str = ENDING) -> list[tuple[str, str]]:
        """Every agent and file."""
        every = [(agent, file) for agent in _names(self.folder) for file in _names(os.path.join(self.folder, agent))]
        return [each for each in every if each[1].endswith(ending)]

    def _match(self, name: str, *, redacted: bool = False) -> list[tuple[str, str]]:
        """The files that a name matches, with their agents."""
        every = self._files(REDACTED if redacted else ENDING)
        exact = [each for each in every if name == _id(each[1])]
        close = exact or [each for each in every if name and each[1].startswith(name)]
        plain = {(agent, _id(each)) for agent, each in close if not each.endswith(REDACTED)}
        return [each for each in close if not each[1].endswith(REDACTED) or (each[0], _id(each[1])) not in plain]


def find_unarchived(homes: Homes, expiring: Iterable[ExpiringSession]) -> list[ExpiringSession]:
    """Those of the sessions that are about to be deleted which the archive does not hold as they are now."""
    coverage = ArchiveCoverage(Archive(archive_folder(homes)))
    return [each for each in expiring if not coverage.includes(each.stored)]


class ArchiveCoverage:
    """Whether sessions are in an archive as they are now, whole or redacted."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._stamps: dict[tuple[str, str], set[Stamp]] = {}

    def includes(self, stored: StoredSession) -> bool:
        """Whether the transcript is archived with its name, size and time; a subagent's may be with its session."""
        names = {stored.parent, stored.id} - {""} if stored.kind == "subagent" else {stored.id}
        return any(not self._archived(stored.agent, name).isdisjoint(_stamps_of(stored)) for name in names)

    def _archived(self, agent: str, name: str) -> set[Stamp]:
        if (agent, name) in self._stamps:
            return self._stamps[agent, name]
        found = self._stamps[agent, name] = set()
        for is_redacted in (False, True):
            try:
                snapshots = ArchiveContents(self.archive.frames_of(agent, name, redacted=is_redacted)).snapshots
            except (ForetoldError, OSError):
                continue  # an archive that cannot be read does not count
            for file in (file for snapshot in snapshots for file in snapshot.files):
                has_size = not is_redacted and not file.name.endswith(ROWS)
                found.add((os.path.basename(file.name), file.size if has_size else ANY, file.changed))
        return found


def _stamps_of(stored: StoredSession) -> tuple[Stamp, ...]:
    if is_shared(stored):
        return ((stored.id + ROWS, ANY, nanoseconds(stored)),)
    try:
        status = os.stat(stored.path)
    except OSError:
        return ()
    name = os.path.basename(stored.path)
    return (name, status.st_size, status.st_mtime_ns), (name, ANY, status.st_mtime_ns)


def archive_hint(homes: Homes, name: str) -> str:
    """How to restore a session that is not on disk, if the archive has it; else empty. Never raises."""
    close = []
    with suppress(OSError, ValueError):
        close = Archive(archive_folder(homes))._match(name)
    if len(close) > 1:
        return f"{len(close)} such sessions are in the archive: foretold sessions restore"
    return f"it is in the archive: foretold sessions restore {_id(close[0][1])}" if close else ""


def _id(file: str) -> str:
    return file.removesuffix(REDACTED).removesuffix(ENDING)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
