"""Adding the files of one session to the streams of its archive, under the lock of its file.

1. A file whose size, time and mode are unchanged is not read, unless `is_thorough`.
2. A file that grew is read: if its beginning has the digest that was archived, only the rest is added to its stream;
   otherwise a new stream begins.
3. A file that is being written is archived up to its size when it was opened; the rest follows the next time.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator

from foretold.errors import SessionFailed
from foretold.sessions.archive.session_files import SessionFile, is_shared, list_session_files, root_of, status_of
from foretold.sessions.archive.snapshot import ArchiveContents, ArchivedFile, ArchiveSnapshot, encode_snapshot
from foretold.sessions.formats.jsonl import open_transcript
from foretold.sessions.model import StoredSession
from foretold.sessions.redacted_summary import without_credentials
from foretold.storage.frames import PIECE, FrameWriter
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import BinaryIO

    from foretold.secrets.redactor import Redactor

    Progress = Callable[[int, int], None]

ROWS = ".rows.jsonl"  #: the ending of a file with the rows of a database


class ArchiveResult(NamedTuple):
    """What archiving a session did."""

    stored: StoredSession
    what: str  #: new, grown, rewritten, same
    size: int = 0  #: bytes of the session
    added: int = 0  #: bytes that the archive grew by
    left: tuple[str, ...] = ()  #: files of it that could not be read


class SessionArchiver:
    """Archiving one session, under the lock of its file."""

    def __init__(
        self,
        stored: StoredSession,
        contents: ArchiveContents,
        writer: FrameWriter,
        redactor: Redactor | None,
        progress: Progress | None,
        *,
        is_thorough: bool,
    ) -> None:
        self.stored, self.contents, self.writer = stored, contents, writer
        self.redactor, self.progress, self.is_thorough = redactor, progress, is_thorough
        #: each file by name, as it is in the last snapshot that has it
        self.known = {file.name: file for snapshot in contents.snapshots for file in snapshot.files}
        self.by_content = {(file.size, file.digest): file for file in self.known.values()}
        self.next = max((*contents.streams, *contents.sizes), default=0) + 1  #: the number of a new stream
        self.what = "new" if not contents.snapshots else "same"
        self.extended: set[int] = set()  #: streams that this run has added to
        self.left: list[str] = []  #: files that could not be read
        self.reading = stored.path
        self.total = self.read = 0

    def run(self, now: float) -> ArchiveResult:
        stored = self.stored
        sources = list_session_files(stored)
        rows = []
        if is_shared(stored):
            from foretold.sessions.formats.opencode.database import rows_of

            fresh = ArchivedFile(stored.id + ROWS, "transcripts", 0, 0, "", 0o600, nanoseconds(stored))
            rows.append(self._store_lines(rows_of(stored.path, stored.id), fresh))
        self.total = sum(status.st_size for source in sources if (status := status_of(source.path)))
        files = (*(file for source in sources if (file := self._archive_file(source)) is not None), *rows)
        if not files:
            raise SessionFailed(f"{stored.path} does not exist any more, so nothing was archived")
        old = self.contents.last_at(stored.path)
        is_exposed = old and self.redactor and self.redactor.text(old.title) != old.title
        if old is None or old.files != files or is_exposed:
            summary = stored if self.redactor is None else without_credentials(stored, self.redactor)
            snapshot = ArchiveSnapshot(
                agent=stored.agent,
                id=stored.id,
                root=root_of(stored),
                path=stored.path,
                time=now,
                cwd=summary.cwd,
                title=summary.title,
                kind=stored.kind,
                parent=stored.parent,
                redacted=self.redactor is not None,
                files=files,
            )
            if self.what == "same":
                self.what = "grown"
            self.writer.finish({"kind": "snapshot"}, encode_snapshot(snapshot))
        size = sum(file.size for file in files)
        return ArchiveResult(stored, self.what, size, self.writer.size, tuple(self.left))

    def _store_lines(self, lines: Iterable[bytes], fresh: ArchivedFile) -> ArchivedFile:
        """Store lines, without credentials if there is a redactor."""
        with tempfile.TemporaryFile() as file:
            file.writelines(map(self._clean, lines))
            size = file.tell()
            file.seek(0)
            return self._store(file, fresh._replace(size=size))

    def _archive_file(self, source: SessionFile) -> ArchivedFile | None:
        """A file as it is archived now; None if it is gone."""
        self.reading = source.path
        opened = self._open(source)
        if opened is None:
            return None
        with opened as file:
            status = os.fstat(file.fileno())
            fresh = ArchivedFile(
                source.name, source.kind, 0, status.st_size, "", status.st_mode & 0o7777, status.st_mtime_ns
            )
            old = self.known.get(source.name)
            is_alike = old and (old.mode, old.changed) == (fresh.mode, fresh.changed)
            if old and is_alike and (self.redactor or old.size == fresh.size) and not self.is_thorough:
                self._report(status.st_size)
                return old
            if self.redactor is None:
                return self._store(file, fresh)
            longest = 16 * PIECE if source.path.endswith(".jsonl") else PIECE
            return self._store_lines(iter(lambda: file.readline(longest), b""), fresh)

    def _open(self, source: SessionFile) -> BinaryIO | None:
        """Open a file; None if it is gone, or cannot be read: then it is reported. A transcript must be readable."""
        try:
            return open_transcript(source.path)[0]
        except FileNotFoundError:
            return None
        except OSError as error:
            problem = error.strerror or str(error)
        if source.path == self.stored.path:
            raise SessionFailed(f"cannot read {source.path}: {problem}. Nothing was archived")
        self.left.append(source.path)
        return None

    def _store(self, file: BinaryIO, fresh: ArchivedFile) -> ArchivedFile:
        """Add a file to a stream: the one that has its beginning, or its whole content, or a new one."""
        old, last = self.known.get(fresh.name), os.path.basename(fresh.name)
        if old is None and last.startswith(self.stored.id):  # the transcripts of a project move with it
            old = next((each for each in reversed(self.known.values()) if os.path.basename(each.name) == last), None)
        if old:
            is_end = old.size == self.contents.sizes.get(old.stream) and old.stream not in self.extended
            if old.size == fresh.size or (old.size < fresh.size and is_end):
                digest = hashlib.sha256()
                for data in self._pieces(file, old.size):
                    digest.update(data)
                if digest.hexdigest() == old.digest:
                    return self._extend(file, fresh, old.stream, old.size, digest)
                file.seek(0)
            if self.what == "same":
                self.what = "rewritten"
        if fresh.size <= PIECE:
            data = next(self._pieces(file, PIECE), b"")
            twin = self.by_content.get((fresh.size, hashlib.sha256(data).hexdigest()))
            if twin is not None:
                return fresh._replace(stream=twin.stream, digest=twin.digest)
            file.seek(0)
        self.next += 1
        return self._extend(file, fresh, self.next - 1, 0, hashlib.sha256())

    def _extend(self, file: BinaryIO, fresh: ArchivedFile, stream: int, at: int, digest: hashlib._Hash) -> ArchivedFile:
        """Add what a file has after a place, up to its size when it was opened; if it was cut meanwhile, to its end."""
        if at and at < fresh.size and self.what == "same":
            self.what = "grown"
        self.extended.add(stream)
        for data in self._pieces(file, fresh.size - at):
            self.writer.append({"kind": "data", "stream": stream, "at": at}, data)
            digest.update(data)
            at += len(data)
        stored = fresh._replace(stream=stream, size=at, digest=digest.hexdigest())
        self.by_content[stored.size, stored.digest] = stored
        return stored

    def _pieces(self, file: BinaryIO, count: int) -> Iterator[bytes]:
        """The next bytes of a file of the agent; SessionFailed if it cannot be read: the archive is not at fault."""
        while count > 0:
            try:
                data = file.read(min(PIECE, count))
            except OSError as error:
                raise SessionFailed(f"cannot read {self.reading}: {error.strerror}. Nothing was archived") from error
            if not data:
                return
            yield data
            count -= len(data)
            self._report(len(data))

    def _report(self, count: int) -> None:
        self.read += count
        if self.progress:
            self.progress(self.read, max(self.total, self.read))

    def _clean(self, line: bytes) -> bytes:
        if self.redactor is None:
            return line
        import json

        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            text = line.decode("utf-8", "surrogateescape")
            return self.redactor.text(text).encode("utf-8", "surrogateescape")
        clean = self.redactor.value(value)
        if clean == value:
            return line
        return json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def nanoseconds(stored: StoredSession) -> int:
    """When a session in a database was last changed, as it is archived."""
    return int(stored.changed * 1000) * 1_000_000
