"""Keeping sessions before their agent deletes them: an archive of our own that only grows.

1. Each session has one file of frames (`frames.py`), `<state>/archive/<agent>/<id>.frames`; there is no other index.
2. A session is archived with all that belongs to it (`belongings.py`); of a database, its rows (`rows.py`).
3. A file that is as it was, by size, time and mode, is not read. One that grew is read: if its beginning has the digest
   that was archived, only the rest is added; else it is kept anew beside the old one.
4. Memory is bounded whatever the size: a piece at a time. Nothing of the agent's is written to.
5. With a redactor, credentials are taken out first; such archives are files of their own, `<id>.redacted.frames`.
6. Whether a transcript is kept as it is now is told by its name, size and time: no transcript is read for that.
"""

from __future__ import annotations

import hashlib
import os
import time

from foretold.errors import ForetoldError, NoSuchSession, SessionFailed
from foretold.paths import our_folders
from foretold.sessions.ambiguous import several
from foretold.sessions.archive.session_files import is_shared
from foretold.sessions.archive.snapshot import Contents, Snapshot
from foretold.sessions.archive.store_session import ROWS, Archived, Filing, nanoseconds
from foretold.sessions.model import Homes, StoredSession
from foretold.storage.folder import Folder
from foretold.storage.frames import Frames
from foretold.storage.kernel import KERNEL, Kernel, failed
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foretold.secrets.redactor import Redactor
    from foretold.sessions.archive.retention import Leaving
    from foretold.sessions.archive.store_session import Progress

ENDING = ".frames"
REDACTED = ".redacted" + ENDING
Look = tuple[str, int, int]  #: name, size and time of a file
ANY = -1  #: a size that says nothing: what was taken out made it another


def archive_folder(homes: Homes) -> str:
    """Where archives are: in our own state folder.

    >>> archive_folder(Homes("/home/me", {})), archive_folder(Homes("/home/me", {"FORETOLD_HOME": "/srv/h"}))
    ('/home/me/.local/state/foretold/archive', '/srv/h/archive')
    """
    return our_folders(homes.home, homes.env).state + "/archive"


class Archive:
    """All archived sessions of a user."""

    def __init__(self, folder: str, kernel: Kernel = KERNEL) -> None:
        self.folder = folder
        self.kernel = kernel

    def frames_of(self, agent: str, name: str, *, redacted: bool = False) -> Frames:
        """The file of a session."""
        plain = name if name and all(char.isalnum() or char in "-_" for char in name) else _digest_name(name)
        ending = REDACTED if redacted else ENDING
        return Frames(os.path.join(self.folder, agent, plain + ending), self.kernel)

    def archive(
        self,
        stored: StoredSession,
        *,
        redactor: Redactor | None = None,
        is_thorough: bool = False,
        progress: Progress | None = None,
        now: float | None = None,
    ) -> Archived:
        """Keep a session as it is now. `is_thorough`: read also files that look as they did."""
        if not os.path.isfile(stored.path):
            raise SessionFailed(f"{stored.path} is not there any more, so nothing was archived")
        frames = self.frames_of(stored.agent, stored.id, redacted=redactor is not None)
        folder = Folder(os.path.dirname(frames.path), kernel=self.kernel)
        try:
            folder.make()
        except OSError as error:
            raise failed(f"cannot make {folder.path}", error) from error
        with frames.writing() as writer:
            filing = Filing(stored, Contents(frames), writer, redactor, progress, is_thorough=is_thorough)
            return filing.done(time.time() if now is None else now)

    def sessions(self, findings: list[Finding] | None = None) -> list[Snapshot]:
        """The last snapshot of each session, the newest first."""
        found = []
        for agent in _names(self.folder):
            for name in _names(os.path.join(self.folder, agent)):
                if name.endswith(ENDING):
                    path = os.path.join(self.folder, agent, name)
                    found += Contents(Frames(path, self.kernel), findings).snapshots[-1:]
        return sorted(found, key=lambda snapshot: -snapshot.changed)

    def find(self, name: str, *, redacted: bool = False) -> Contents:
        """What is archived of a session, by its id or the beginning of it; redacted only if it is not kept whole."""
        close = self._named(name, redacted=redacted)
        if not close:
            what = "redacted copy of a session" if redacted else "session"
            raise NoSuchSession(f"no {what} {name!r} is in the archive; foretold sessions restore lists what is")
        if len(close) > 1:
            raise NoSuchSession(
                several(name, [StoredSession(agent, _id(each), each) for agent, each in close], self._card)
            )
        contents = Contents(Frames(os.path.join(self.folder, *close[0]), self.kernel))
        if not contents.snapshots:
            raise SessionFailed(f"{contents.frames.path} has no whole snapshot; archive the session again")
        return contents

    def _card(self, stored: StoredSession) -> StoredSession:
        """What the last snapshot in a file says of its session."""
        found = Contents(Frames(os.path.join(self.folder, stored.agent, stored.path), self.kernel)).snapshots[-1:]
        return stored._replace(title=found[0].title, changed=found[0].changed) if found else stored

    def _named(self, name: str, *, redacted: bool = False) -> list[tuple[str, str]]:
        """The files, with their agents, that a name may mean."""
        every = [(agent, each) for agent in _names(self.folder) for each in _names(os.path.join(self.folder, agent))]
        every = [each for each in every if each[1].endswith(REDACTED if redacted else ENDING)]
        exact = [each for each in every if name == _id(each[1])]
        close = exact or [each for each in every if name and each[1].startswith(name)]
        plain = {(agent, _id(each)) for agent, each in close if not each.endswith(REDACTED)}
        return [each for each in close if not each[1].endswith(REDACTED) or (each[0], _id(each[1])) not in plain]


def unkept(homes: Homes, leaving: Iterable[Leaving]) -> list[Leaving]:
    """Those of the sessions that are about to be deleted which the archive does not hold as they are now.

    >>> unkept(Homes("/nonexistent", {}), [])
    []
    """
    kept = Keeping(Archive(archive_folder(homes)))
    return [each for each in leaving if not kept.has(each.stored)]


class Keeping:
    """Whether sessions are in an archive as they are now, whole or redacted."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._seen: dict[tuple[str, str], set[Look]] = {}

    def has(self, stored: StoredSession) -> bool:
        """Whether the transcript is kept with its name, size and time; that of a subagent may be with its session."""
        names = {stored.parent, stored.id} - {""} if stored.kind == "subagent" else {stored.id}
        return any(not self._kept(stored.agent, name).isdisjoint(_looks_of(stored)) for name in names)

    def _kept(self, agent: str, name: str) -> set[Look]:
        if (agent, name) not in self._seen:
            self._seen[agent, name] = set(self._looks(agent, name))
        return self._seen[agent, name]

    def _looks(self, agent: str, name: str) -> Iterator[Look]:
        for is_redacted in (False, True):
            try:
                snapshots = Contents(self.archive.frames_of(agent, name, redacted=is_redacted)).snapshots
            except (ForetoldError, OSError):
                continue  # what cannot be read keeps nothing
            for kept in (kept for snapshot in snapshots for kept in snapshot.files):
                is_rows = kept.name.endswith(ROWS)
                yield os.path.basename(kept.name), ANY if is_redacted or is_rows else kept.size, kept.changed


def _looks_of(stored: StoredSession) -> tuple[Look, ...]:
    if is_shared(stored):
        return ((stored.id + ROWS, ANY, nanoseconds(stored)),)
    try:
        status = os.stat(stored.path)
    except OSError:
        return ()
    name = os.path.basename(stored.path)
    return (name, status.st_size, status.st_mtime_ns), (name, ANY, status.st_mtime_ns)


def archived_hint(homes: Homes, name: str) -> str:
    """What to say of a name that no session on disk has: how to bring it back, if the archive has it. Never raises.

    >>> archived_hint(Homes("/nonexistent", {}), "118ca5f9")
    ''
    """
    try:
        close = Archive(archive_folder(homes))._named(name)
    except (OSError, ValueError):
        return ""
    if not close:
        return ""
    if len(close) > 1:
        return f"{len(close)} such sessions are in the archive: foretold sessions restore"
    return f"it is in the archive: foretold sessions restore {_id(close[0][1])}"


def _id(file: str) -> str:
    return file.removesuffix(REDACTED).removesuffix(ENDING)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _digest_name(name: str) -> str:
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
