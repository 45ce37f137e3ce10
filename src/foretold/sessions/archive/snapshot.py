"""What the archive of one session holds: streams of bytes, and snapshots that say which stream is which file.

1. A stream is what a file held, from its first byte on; it only grows. A frame `data` is a piece of one.
2. A snapshot names every file of a session at a moment: its stream, how much of it, the digest, mode and time. Frames
   count if a later snapshot refers to them; what a killed process left is passed over.
3. A file that grew adds its new bytes to its stream. One that was rewritten begins a new stream: nothing is dropped. A
   file whose content is there already, under any name, adds nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator

from foretold.errors import SessionFailed
from foretold.storage.frames import Frame, Frames
from foretold.storage.tree import open_regular
from foretold.types import Finding, NamedTuple


class ArchivedFile(NamedTuple):
    """A file of a session at a moment."""

    name: str  #: in the agent's folder
    kind: str
    stream: int
    size: int
    digest: str  #: SHA-256
    mode: int
    changed: int  #: nanoseconds since 1970

    def is_at(self, path: str) -> bool:
        """Whether the file at a path has this content."""
        try:
            if not os.path.isfile(path) or os.path.islink(path) or os.path.getsize(path) != self.size:
                return False
            with open(path, "rb", opener=open_regular) as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == self.digest
        except OSError:
            return False


class ArchiveSnapshot(NamedTuple):
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
    files: tuple[ArchivedFile, ...] = ()

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def changed(self) -> float:
        """When something of it was last written."""
        return max((file.changed for file in self.files), default=0) / 1e9


def encode_snapshot(snapshot: ArchiveSnapshot) -> bytes:
    """A snapshot as the data of its frame."""
    values = {**snapshot._asdict(), "files": [list(file) for file in snapshot.files]}
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode()


def decode_snapshot(data: bytes) -> ArchiveSnapshot | None:
    """The snapshot of a frame; None if it is not one. Fields of later versions are passed over."""
    try:
        values = json.loads(data)
        files = tuple(ArchivedFile(*fields[: len(ArchivedFile._fields)]) for fields in values.pop("files"))
        known = {name: value for name, value in values.items() if name in ArchiveSnapshot._fields}
        return ArchiveSnapshot(**known, files=files)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


class ArchiveContents:
    """What is in the archive of one session."""

    def __init__(self, frames: Frames, findings: list[Finding] | None = None) -> None:
        self.frames = frames
        self.snapshots: list[ArchiveSnapshot] = []
        self.streams: dict[int, list[Frame]] = {}
        self.sizes: dict[int, int] = {}  #: of streams, as far as a snapshot refers to them
        found: list[Finding] = [] if findings is None else findings
        for frame in frames.scan(found):
            if frame.kind == "data":
                pieces = self.streams.setdefault(frame.number("stream"), [])
                while pieces and pieces[-1].number("at") >= frame.number("at"):
                    pieces.pop()  # left by a process that died before its snapshot
                pieces.append(frame)
            elif frame.kind == "snapshot":
                self._add_snapshot(frame, found)

    def _add_snapshot(self, frame: Frame, findings: list[Finding]) -> None:
        data = self.frames.read(frame)
        snapshot = decode_snapshot(data) if data is not None else None
        if snapshot is None:
            said = f"a snapshot at byte {frame.start:,} is damaged; the others are read"
            findings.append(Finding(self.frames.path, None, "archive-damaged", said, "archive the session again"))
            return
        self.snapshots.append(snapshot)
        for file in snapshot.files:
            self.sizes[file.stream] = max(self.sizes.get(file.stream, 0), file.size)

    @property
    def last(self) -> ArchiveSnapshot:
        return self.snapshots[-1]

    def last_at(self, path: str) -> ArchiveSnapshot | None:
        """The last snapshot of a transcript; a session may have been at several paths."""
        return next((each for each in reversed(self.snapshots) if each.path == path), None)

    def read_file(self, file: ArchivedFile) -> Iterator[bytes]:
        """What a file held, piece by piece. Raises SessionFailed where that is not what was archived."""
        at = 0
        digest = hashlib.sha256()
        for frame in self.streams.get(file.stream, []):
            if at >= file.size:
                break
            data = self.frames.read(frame)
            if frame.number("at") != at or data is None:
                break
            data = data[: file.size - at]
            yield data
            digest.update(data)
            at += len(data)
        if at < file.size or digest.hexdigest() != file.digest:
            problem = f"cannot be read after byte {at:,}" if at < file.size else "does not have its digest"
            said = f"{file.name} {problem}: {self.frames.path} is damaged"
            raise SessionFailed(f"{said}. foretold sessions archive --verify reports what can be restored")
