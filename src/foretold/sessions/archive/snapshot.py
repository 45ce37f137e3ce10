"""What an archive of one session holds: streams of bytes, and snapshots that say which of them a file is.

1. A stream is what a file held, from its first byte on; it only grows. A frame `data` is a piece of one.
2. A snapshot names every file of a session at a moment: its stream, how much of it, the digest, mode and time. Frames
   count when a snapshot behind them counts on them; what a killed process left is passed over.
3. A file that grew adds its new bytes to its stream. One that was rewritten begins a new stream: nothing is dropped. A
   file whose content is there already, under whatever name, adds nothing.
"""

from __future__ import annotations

import json

from foretold.errors import SessionFailed
from foretold.storage.frames import Frame, Frames
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Kept(NamedTuple):
    """A file of a session at a moment."""

    name: str  #: in the agent's folder
    kind: str
    stream: int
    size: int
    digest: str  #: SHA-256
    mode: int
    changed: int  #: nanoseconds since 1970


class Snapshot(NamedTuple):
    """A session at a moment."""

    agent: str
    id: str
    root: str  #: the agent's folder
    path: str  #: the transcript, or the database
    time: float  #: when it was archived
    cwd: str = ""
    title: str = ""
    kind: str = "main"
    parent: str = ""
    redacted: bool = False
    files: tuple[Kept, ...] = ()

    @property
    def size(self) -> int:
        return sum(kept.size for kept in self.files)

    @property
    def changed(self) -> float:
        """When something of it was last written."""
        return max((kept.changed for kept in self.files), default=0) / 1e9


def encode(snapshot: Snapshot) -> bytes:
    """A snapshot as the data of its frame."""
    values = {**snapshot._asdict(), "files": [list(kept) for kept in snapshot.files]}
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode()


def decode(data: bytes) -> Snapshot | None:
    """The snapshot of a frame; None if it is none. Fields of later versions are passed over.

    >>> decode(encode(Snapshot("codex", "1", "/r", "/r/s", 0.5))).id
    '1'
    """
    try:
        values = json.loads(data)
        files = tuple(Kept(*fields[: len(Kept._fields)]) for fields in values.pop("files"))
        known = {name: value for name, value in values.items() if name in Snapshot._fields}
        return Snapshot(**known, files=files)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


class Contents:
    """What is in the archive of one session."""

    def __init__(self, frames: Frames, findings: list[Finding] | None = None) -> None:
        self.frames = frames
        self.snapshots: list[Snapshot] = []
        self.streams: dict[int, list[Frame]] = {}
        self.sizes: dict[int, int] = {}  #: of streams, as far as a snapshot counts on them
        told: list[Finding] = [] if findings is None else findings
        for frame in frames.scan(told):
            if frame.kind == "data":
                self._learn(frame)
            elif frame.kind == "snapshot":
                self._count(frame, told)

    def _learn(self, frame: Frame) -> None:
        """A piece of a stream. What it overlaps was left by a process that died before its snapshot."""
        pieces = self.streams.setdefault(frame.number("stream"), [])
        while pieces and pieces[-1].number("at") >= frame.number("at"):
            pieces.pop()
        pieces.append(frame)

    def _count(self, frame: Frame, told: list[Finding]) -> None:
        data = self.frames.read(frame)
        snapshot = decode(data) if data is not None else None
        if snapshot is None:
            said = f"a snapshot at byte {frame.start:,} is damaged; the others are read"
            told.append(Finding(self.frames.path, None, "archive-damaged", said, "archive the session again"))
            return
        self.snapshots.append(snapshot)
        for kept in snapshot.files:
            self.sizes[kept.stream] = max(self.sizes.get(kept.stream, 0), kept.size)

    @property
    def last(self) -> Snapshot:
        return self.snapshots[-1]

    def last_at(self, path: str) -> Snapshot | None:
        """The last snapshot of a transcript; a session may lie at several places."""
        return next((each for each in reversed(self.snapshots) if each.path == path), None)

    def next_stream(self) -> int:
        return max((*self.streams, *self.sizes), default=0) + 1

    def known(self) -> dict[str, Kept]:
        """Each file by name, as the last snapshot that has it says."""
        return {kept.name: kept for snapshot in self.snapshots for kept in snapshot.files}

    def bytes_of(self, kept: Kept) -> Iterator[bytes]:
        """What a file held, piece by piece. Raises SessionFailed where the archive is damaged."""
        at = 0
        for frame in self.streams.get(kept.stream, []):
            if at >= kept.size:
                return
            data = self.frames.read(frame)
            if frame.number("at") != at or data is None:
                break
            yield data[: kept.size - at]
            at += len(data)
        if at < kept.size:
            said = f"{kept.name} cannot be read behind byte {at:,}: {self.frames.path} is damaged"
            raise SessionFailed(f"{said}. foretold sessions archive --verify says what is left")
