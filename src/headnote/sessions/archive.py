"""Keeping sessions before their agent deletes them: an archive of our own that only grows.

1. Each session has one file of frames (`frames.py`), `<state>/archive/<agent>/<id>.frames`; there is no other index.
2. A session is archived with all that belongs to it (`belongings.py`); of a database, its rows (`rows.py`).
3. A file that is as it was, by size, time and mode, is not read. One that grew is read: if its beginning has the digest
   that was archived, only the rest is added; else it is kept anew beside the old one.
4. Memory is bounded whatever the size: a piece at a time. Nothing of the agent's is written to.
5. With a redactor, credentials are taken out first; such archives are files of their own, `<id>.redacted.frames`.
"""

from __future__ import annotations

import hashlib
import os
import time

from headnote.errors import NoSuchSession, SessionFailed
from headnote.memory.durable import KERNEL, Kernel, failed
from headnote.memory.folder import Folder
from headnote.sessions.filing import Archived, Filing
from headnote.sessions.frames import Frames
from headnote.sessions.model import Homes, Stored
from headnote.sessions.snapshots import Contents, Snapshot
from headnote.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from headnote.sessions.filing import Progress
    from headnote.sessions.redact import Redactor

ENDING = ".frames"


def archive_folder(homes: Homes) -> str:
    """Where archives are: in our own state folder.

    >>> archive_folder(Homes("/home/me", {})), archive_folder(Homes("/home/me", {"HEADNOTE_HOME": "/srv/h"}))
    ('/home/me/.local/state/headnote/archive', '/srv/h/archive')
    """
    own, state = homes.env.get("HEADNOTE_HOME"), homes.env.get("XDG_STATE_HOME", "")
    if own:
        return os.path.join(os.path.abspath(own), "archive")
    return os.path.join(state if state.startswith("/") else f"{homes.home}/.local/state", "headnote", "archive")


class Archive:
    """All archived sessions of a user."""

    def __init__(self, folder: str, kernel: Kernel = KERNEL) -> None:
        self.folder = folder
        self.kernel = kernel

    def frames_of(self, agent: str, name: str, *, redacted: bool = False) -> Frames:
        """The file of a session."""
        plain = name if name and all(char.isalnum() or char in "-_" for char in name) else _digest_name(name)
        ending = (".redacted" if redacted else "") + ENDING
        return Frames(os.path.join(self.folder, agent, plain + ending), self.kernel)

    def archive(
        self,
        stored: Stored,
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

    def find(self, name: str) -> Contents:
        """What is archived of a session, by its id or the beginning of it."""
        close = []
        for agent in _names(self.folder):
            names = [each for each in _names(os.path.join(self.folder, agent)) if each.endswith(ENDING)]
            exact = [each for each in names if each == name + ENDING]
            close += [(agent, each) for each in exact or names if each.startswith(name) and (exact or len(name) >= 4)]
        plain = [each for each in close if not each[1].endswith(f".redacted{ENDING}")]
        close = plain or close
        if not close:
            raise NoSuchSession(f"no session {name!r} is in the archive; headnote sessions restore lists what is")
        if len(close) > 1:
            ids = ", ".join(f"{agent} {each.removesuffix(ENDING)}" for agent, each in close[:5])
            raise NoSuchSession(f"{name!r} may be {len(close)} sessions: {ids}; write more of the id")
        contents = Contents(Frames(os.path.join(self.folder, *close[0]), self.kernel))
        if not contents.snapshots:
            raise SessionFailed(f"{contents.frames.path} has no whole snapshot; archive the session again")
        return contents


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _digest_name(name: str) -> str:
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
