"""What extractions did, and how far: for every session a small file with the message up to which it was examined.

1. A record is appended when a run has ended, so a run that was killed is repeated; the judge prevents that it writes
   anything twice. Records are lines with a checksum (`storage.append_log`); the last whole one counts.
2. One run at a time for a session: the file is locked. A lock ends with its process.
3. Records hold what a run did in numbers, never what it refused: that may be a secret.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from foretold.memory.store.transaction import now
from foretold.models.protocol import Usage
from foretold.storage.append_log import RecordLog
from foretold.storage.digest import digest_of
from foretold.storage.kernel import failed
from foretold.storage.lock import try_lock
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.extraction.transcript import TranscriptPiece

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class ProgressMark(NamedTuple):
    """Up to where a session was examined."""

    last: str = ""  #: a message
    end: int = 0  #: where its record ends in the transcript; 0 if that is not known

    def new_in(self, said: Sequence[TranscriptPiece]) -> int:
        """The number of the first piece after the mark."""
        for at in range(len(said) - 1, -1, -1):
            if self.last and said[at].id == self.last:
                return at + 1
        if said and 0 < max(piece.end for piece in said) < self.end:
            return 0  # another transcript has replaced it
        return next((at for at, piece in enumerate(said) if not piece.end or piece.end > self.end), len(said))


class ProgressLog:
    """The marks of all sessions of a store."""

    def __init__(self, state: str) -> None:
        self.folder = os.path.join(state, "extracted")

    def path(self, session: str) -> str:
        """The file of a session."""
        name = session if _PLAIN.fullmatch(session) else f"x-{digest_of(session.encode('utf-8', 'replace'))[:32]}"
        return os.path.join(self.folder, f"{name}.jsonl")

    def of(self, session: str) -> ProgressMark:
        """The last mark of a session."""
        records = RecordLog(self.path(session)).read()[0]
        if not records:
            return ProgressMark()
        end = records[-1].get("end")
        return ProgressMark(str(records[-1].get("last", "")), end if isinstance(end, int) else 0)

    @contextmanager
    def held(self, session: str) -> Iterator[bool]:
        """Lock a session; False if another process has it."""
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            descriptor = open_regular(self.path(session), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise failed(f"cannot open {self.path(session)}", error) from error
        try:
            yield try_lock(descriptor)
        finally:
            os.close(descriptor)

    def put(self, session: str, mark: ProgressMark, done: Extraction) -> None:
        """Record that a run has ended."""
        refused = Counter(each.reason for each in done.refused)
        record: dict[str, object] = {"session": session, **mark._asdict(), "time": now(), "mode": done.mode}
        record |= {"requests": done.requests, "usage": done.usage._asdict(), "refused": refused}
        record |= {name: list(getattr(done, name)) for name in ("added", "updated", "proposed")}
        RecordLog(self.path(session)).append([record])


class Refusal(NamedTuple):
    """Something that was not written, and why."""

    file: str
    reason: str  #: see `foretold.memory.extraction.judge.judge.REASONS`
    detail: str = ""


class Extraction(NamedTuple):
    """What an extraction did."""

    added: tuple[str, ...] = ()  #: files; of the team, with `team:` before them
    updated: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    usage: Usage = Usage()
    requests: int = 0
    unchanged: tuple[str, ...] = ()  #: written as they already were
    proposed: tuple[str, ...] = ()  #: put into the inbox
    warned: tuple[Refusal, ...] = ()  #: written, with something that should be known
    masked: int = 0  #: pieces of recalled and instruction text that count as no one's word
    mode: str = ""  #: fork, or digest
    session: str = ""
    skipped: str = ""  #: why nothing was asked: never, not-due, nothing-new, nothing-typed, policy, running
    stopped: str = ""  #: why it ended early: rounds, model-failed, store-failed; only the first counts as done
    last: str = ""  #: the message up to which it has looked

    def findings(self, path: str) -> list[Finding]:
        """What was refused, and why it ended early; `path` is where that happened."""
        found = [Finding(each.file, None, "memory-refused", f"{each.reason}: {each.detail}") for each in self.refused]
        if self.stopped:
            said = f"memories could not be extracted: {self.stopped}"
            found.append(Finding(path, None, "extraction-failed", said))
        return found

    def to_json(self) -> dict[str, object]:
        """As plain values."""
        values: dict[str, object] = {**self._asdict(), "usage": self.usage._asdict()}
        for name in ("refused", "warned"):
            values[name] = [each._asdict() for each in getattr(self, name)]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
