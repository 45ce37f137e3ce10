"""Extraction from a stored transcript: for the command, and for the hook at the end of a turn.

1. Only the new part of the file is read: from where the last extraction ended, and a little before it, so that a `yes`
   has what it says yes to.
2. Of a file that was never looked at, the last TAIL bytes count as new: a session of a gigabyte is not read whole. All
   of it can be had with `since=0`.
3. The model is asked about a digest: a transcript has no request to go on with.
"""

from __future__ import annotations

import os

from foretold.errors import NoSuchSession
from foretold.memory.extraction.progress import Mark
from foretold.memory.extraction.transcript import said_of
from foretold.sessions.formats.jsonl import records_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foretold.memory.extraction.extractor import Extractor
    from foretold.memory.extraction.outcome import Extraction
    from foretold.memory.extraction.transcript import Said
    from foretold.models.protocol import Model
    from foretold.sessions.model import StoredSession
    from foretold.types import Entry

TAIL = 4 * 1024 * 1024  #: bytes
BEFORE = 128 * 1024  #: bytes that are read again


def extract_stored(
    stored: StoredSession | str,
    model: Model,
    extractor: Extractor,
    *,
    session: str = "",
    instructions: Iterable[str | Entry] = (),
    force: bool = False,
    since: int | None = None,
) -> Extraction:
    """Extract memories from what is new in a transcript of Claude Code, by its path or as it was found.

    `since` is a byte: what stands behind it counts as new, whatever was looked at before, and however much it is.
    """
    path, name = _named(stored, session)
    said = said_since(path, extractor.marks.of(name).end if since is None else since, whole=since is not None)
    mark = None if since is None else Mark(end=since)
    return extractor.run(model, None, said, session=name, instructions=instructions, force=force, since=mark)


def is_due(stored: StoredSession | str, extractor: Extractor, *, session: str = "") -> bool:
    """Whether enough is new in a transcript."""
    path, name = _named(stored, session)
    return extractor.due(said_since(path, extractor.marks.of(name).end), session=name)


def _named(stored: StoredSession | str, session: str) -> tuple[str, str]:
    path = stored if isinstance(stored, str) else stored.path
    if not os.path.isfile(path):
        raise NoSuchSession(f"there is no transcript {path}")
    return path, session or (os.path.basename(path).removesuffix(".jsonl") if isinstance(stored, str) else stored.id)


def said_since(path: str, end: int, *, whole: bool = False) -> list[Said]:
    """What a transcript says from a byte on, with a little before it; at most TAIL bytes, unless all is wanted."""
    size = os.path.getsize(path)
    start = max(0, end - BEFORE if 0 < end <= size else 0)
    if not whole:
        start = max(start, size - TAIL)
    return said_of(records_of(path, _line_start(path, start)))


def _line_start(path: str, at: int) -> int:
    """The first place from a byte on at which a line begins."""
    if at == 0:
        return 0
    with open(path, "rb") as file:
        file.seek(at - 1)
        while chunk := file.read(1 << 16):
            found = chunk.find(b"\n")
            if found >= 0:
                return file.tell() - len(chunk) + found + 1
        return file.tell()
