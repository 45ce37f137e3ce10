"""What a compaction took: instruction files that had come with a touched file, and are not told again.

1. Known are those that hooks wrote down, and those that the end of the transcript has: at most TAIL bytes are read,
   however long the conversation is. Only the part counts that this compaction took: behind the one before it, and up to
   the length that the transcript had when it began (`compacting`).
2. The agent attaches the newest files that it has read again, and what came with them counts among those; which, is in
   the table of what it is told (`restores`). When a hook is asked, they are not in the transcript yet (claude-code
   2.1.197 and 2.1.325), so they are reckoned. What a hook had said is never among them.
"""

from __future__ import annotations

import os

from foretold.serve.hooks.json import parse, table_of, text_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import Scene
    from foretold.serve.hooks.said_before import Note

TAIL = 1024 * 1024
_NESTED, _BOUNDARY = b'"nested_memory"', b'"compact_boundary"'


def lost_paths(scene: Scene, restores: int) -> list[str]:
    """The instruction files that were attached, and are not any more; the last first."""
    noted = [note for note in scene.notes.since("attached", "compacting") if len(note) > 1]
    begun = next((int(note[1]) for note in reversed(noted) if _is_begun(note)), None)
    start, data = tail_of(text_of(scene.payload, "transcript_path"))
    first, point = _span(start, data, begun)
    lines = [line for at, line in _lines(start, data) if first <= at < point and _NESTED in line]
    own = [*(note[1] for note in noted if note[0] == "attached" and note[2:] == ("agent",)), *_paths_in(lines)]
    again = _newest([*own, *(note[1] for note in scene.notes.since("read"))], restores)
    paths = dict.fromkeys([*(note[1] for note in noted if note[0] == "attached"), *own])
    return [path for path in reversed(paths) if path not in again and os.path.isfile(path)]


def _newest(paths: list[str], most: int) -> set[str]:
    """Those files that were changed last."""
    stamps = {}
    for path in paths:
        try:
            stamps[path] = os.stat(path).st_mtime_ns
        except OSError:
            continue
    return set(sorted(stamps, key=lambda path: -stamps[path])[:most])


def _is_begun(note: Note) -> bool:
    return note[0] == "compacting" and note[1].isdigit()


def tail_of(path: str) -> tuple[int, bytes]:
    """The last bytes of a file, and where they begin; nothing if it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return 0, b""
    try:
        start = max(0, os.fstat(handle).st_size - TAIL)
        return start, os.pread(handle, TAIL, start)
    except OSError:
        return 0, b""
    finally:
        os.close(handle)


def _span(start: int, data: bytes, begun: int | None) -> tuple[int, int]:
    """Where the part begins that this compaction took, behind the one before it, and where it ends."""
    boundaries, at = [], data.find(_BOUNDARY)
    while at >= 0:
        boundaries.append(start + at)
        at = data.find(_BOUNDARY, at + 1)
    point = begun if begun is not None else start + len(data)
    return max((at for at in boundaries if at < point), default=start), point


def _lines(start: int, data: bytes) -> list[tuple[int, bytes]]:
    """Lines with an attachment, and where they begin. The first one may be cut, and is then no JSON."""
    found, at = [], 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line = data[at:end]
        if b'"attachment"' in line:
            found.append((start + at, line))
        at = end + 1
    return found


def _paths_in(lines: list[bytes]) -> list[str]:
    """The files of attachments."""
    found = []
    for line in lines:
        try:
            value = parse(line)
        except ValueError:
            continue
        attachment = table_of(value, "attachment") if isinstance(value, dict) else {}
        path = text_of(attachment, "path")
        if path and text_of(attachment, "type") == "nested_memory":
            found.append(path)
    return found
