"""Taking a text out of the archive of a session, including its compressed frames.

1. Each place is overwritten with as many bytes: sizes and offsets stay, so the archive still restores every file at its
   size, and knows that it has it. Streams are searched across the borders of their frames.
2. The digests in the snapshots are computed anew. A file that is not restorable before is not afterwards either.
3. A stream that is itself compressed (a rollout of Codex) is unpacked to look into it. If the text is there, the whole
   stream is blanked: it cannot be packed again into as many bytes.
4. The file is written anew next to the old one, synced, and takes its name in one step, under the lock of the file.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator

from foretold.secrets.erasure.scrub import count_in_file
from foretold.secrets.erasure.spellings import Spellings, blank
from foretold.sessions.archive.snapshot import ArchiveContents, decode_snapshot, encode_snapshot
from foretold.sessions.formats.codex.zstd import PACKED, readable
from foretold.storage.atomic import replace_file
from foretold.storage.frames import Frame, Frames, frame_of
from foretold.storage.kernel import sync_folder

ZSTD = b"\x28\xb5\x2f\xfd"


def erase_in_archive(frames: Frames, spellings: Spellings, *, apply: bool) -> int:
    """Blank the texts in the archive of a session; how often they were in it."""
    if not apply:
        return sum(count for _, _, count in _clean(frames, spellings))
    with frames.writing():
        count = sum(found for _, _, found in _clean(frames, spellings))
        if count:
            fresh = _renew(frames, spellings)
            replace_file(frames.path, fresh, kernel=frames.kernel)
            sync_folder(os.path.dirname(frames.path), frames.kernel)
    return count


def _clean(frames: Frames, spellings: Spellings) -> Iterator[tuple[Frame, bytes | None, int]]:
    """Every frame with its data, blanked, and how often the texts were in it; None if it is damaged.

    A text that crosses a border is counted in the frame in which it begins, and blanked in both.
    """
    packed = _packed_streams(frames, spellings)
    before: dict[int, bytes] = {}  # the end of the piece before, as it was
    following = _following(frames)
    for frame in frames.scan():
        data = frames.read(frame)
        if data is None:
            yield frame, None, 0
            continue
        if frame.kind != "data":
            yield frame, *spellings.replace(data, blank)
            continue
        stream = frame.number("stream")
        if stream in packed:
            count, packed[stream] = packed[stream], 0
            yield frame, blank(data), count
            continue
        start = before.get(stream, b"") if frame.number("at") else b""
        after = following.get(frame.start)
        head = (frames.read(after) or b"")[: spellings.reach] if after else b""
        whole = start + data + head
        count, clean = 0, bytearray(whole)
        for begin, end in spellings.find(whole):
            clean[begin:end] = b"x" * (end - begin)
            count += len(start) <= begin < len(start) + len(data)
        before[stream] = whole[: len(start) + len(data)][-spellings.reach :]
        yield frame, bytes(clean[len(start) : len(start) + len(data)]), count


def _following(frames: Frames) -> dict[int, Frame]:
    """The piece of the same stream that follows a frame, by where that frame begins."""
    last: dict[int, Frame] = {}
    found = {}
    for frame in frames.scan():
        if frame.kind == "data":
            stream = frame.number("stream")
            if stream in last and frame.number("at") == last[stream].number("at") + last[stream].number("raw"):
                found[last[stream].start] = frame
            last[stream] = frame
    return found


def _packed_streams(frames: Frames, spellings: Spellings) -> dict[int, int]:
    """The streams that are compressed files with the texts in them, and how often."""
    contents = ArchiveContents(frames)
    found = {}
    for stream, pieces in contents.streams.items():
        if not pieces or not (frames.read(pieces[0]) or b"").startswith(ZSTD):
            continue
        with tempfile.TemporaryDirectory(prefix="foretold-") as folder:
            path = os.path.join(folder, f"stream{PACKED}")
            with open(path, "wb") as file:
                file.writelines(frames.read(piece) or b"" for piece in pieces)
            with readable(path) as plain:
                count = count_in_file(plain, spellings) if plain else 0
        if count:
            found[stream] = count
    return found


def _renew(frames: Frames, spellings: Spellings) -> Iterator[bytes]:
    """The frames without the texts, and with digests that fit."""
    streams: dict[int, list[tuple[int, bytes]]] = {}  # of each stream: sizes, and digests up to there
    running: dict[int, tuple[int, hashlib._Hash]] = {}
    wanted: dict[int, set[int]] = {}
    for snapshot in ArchiveContents(frames).snapshots:
        for file in snapshot.files:
            wanted.setdefault(file.stream, set()).add(file.size)
    for frame, data, _ in _clean(frames, spellings):
        if data is None:
            continue  # damaged: it cannot be read, so it cannot be searched
        facts = {key: value for key, value in frame.head.items() if key in ("kind", "stream", "at")}
        if frame.kind == "data":
            _digest(frame, data, running, wanted, streams)
        elif frame.kind == "snapshot":
            data = _with_digests(data, streams)
        yield frame_of(facts, data)


def _digest(
    frame: Frame,
    data: bytes,
    running: dict[int, tuple[int, hashlib._Hash]],
    wanted: dict[int, set[int]],
    streams: dict[int, list[tuple[int, bytes]]],
) -> None:
    """Note the digest of a stream at each size that a snapshot names."""
    stream, at = frame.number("stream"), frame.number("at")
    size, digest = running.get(stream, (0, hashlib.sha256()))
    if at != size:
        if at:
            return  # what a killed process left
        size, digest = 0, hashlib.sha256()
    for border in sorted(each for each in wanted.get(stream, ()) if size < each <= size + len(data)):
        part = digest.copy()
        part.update(data[: border - size])
        streams.setdefault(stream, []).append((border, part.digest()))
    digest.update(data)
    running[stream] = size + len(data), digest


def _with_digests(data: bytes, streams: dict[int, list[tuple[int, bytes]]]) -> bytes:
    """A snapshot with the digests of what its streams hold now."""
    snapshot = decode_snapshot(data)
    if snapshot is None:
        return data
    files = []
    for file in snapshot.files:
        known = dict(streams.get(file.stream, ()))
        files.append(file._replace(digest=known[file.size].hex()) if file.size in known else file)
    return encode_snapshot(snapshot._replace(files=tuple(files)))
