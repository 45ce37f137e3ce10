"""An index that is too large to be read: another agent, a merge or a program in a loop wrote it.

1. Nothing depends on it: memories are added, changed, removed and restored while it stays as it is.
2. `shorten_index` replaces it by one that we would write: the lines that are not entries, as many as fit into half of
   our bound, and entries of files that are there. It is read line by line; a line above 64 KiB is left out.
3. Before that it is copied into the folder `kept` of the history, under its digest, and synced; the history names it.
   `restore_index` brings it back, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress

from foretold.errors import MemoryChanged, StoreFailed
from foretold.memory.note import INDEX
from foretold.memory.store.index_file import MOST_ENTRIES, MOST_WRITTEN, entries_of, shorten_entry
from foretold.storage.atomic import CHUNK
from foretold.storage.dirfd import READ, Stamp, stamp_of
from foretold.storage.folder import Folder
from foretold.storage.kernel import store_errors
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from io import BufferedReader

    from foretold.memory.store.journal import ChangeOrigin
    from foretold.memory.store.transaction import ExternalChanges, VersionedFolder

KEPT = "kept"
LONGEST = 64 * 1024  #: bytes of a line that is taken over


class ShortIndex(NamedTuple):
    """A large index as it would be afterwards."""

    text: str
    size: int  #: bytes now
    lines: int  #: now
    left_out: int  #: lines that are not in the text


def plan_short_index(versioned: VersionedFolder) -> ShortIndex | None:
    """What a large index would be replaced by; None if it is not large. Changes nothing."""
    stamp = versioned.folder.large_index()
    if stamp is None:
        return None
    own, entries, count = list[str](), list[str](), 0
    room, files = MOST_WRITTEN // 2, set[str]()
    with _opened_index(versioned) as file:
        for line in _lines(file.fileno()):
            count += 1
            text = line.decode("utf-8", "surrogateescape").rstrip("\r")
            found = entries_of(text) if line else []
            if len(line) > LONGEST or (found and (found[0].file in files or not _has(versioned, found[0].file))):
                continue
            if found and len(entries) < MOST_ENTRIES // 2:  # the other half is for files without an entry
                files.add(found[0].file)
                entries.append(shorten_entry(text))
            elif not found and len(line) < room:
                room -= len(line) + 1
                own.append(text)
    text = "\n".join([*own, *entries]).strip("\n")
    kept = len(own) + len(entries)
    return ShortIndex(text + "\n" if text else "", stamp.size, count, count - kept)


def _has(versioned: VersionedFolder, file: str) -> bool:
    with suppress(Exception):  # a name that is not safe is not there
        return versioned.folder.has(file)
    return False


def shorten_index(versioned: VersionedFolder, seen: ExternalChanges, origin: ChangeOrigin) -> ShortIndex | None:
    """Replace a large index by a short one that is in step with the files. Under the lock."""
    plan = plan_short_index(versioned)
    if plan is None:
        return None
    digest, stamp = _keep(versioned)
    text = versioned.follow_index(plan.text, seen)
    data = text.encode("utf-8", "surrogateescape")
    head = versioned.journal.heads.get(INDEX)
    why = f"{plan.size:,} bytes, kept in {KEPT}/{digest}.md"
    record = versioned.change("edit", INDEX, head.digest if head else None, None, {"by": "other", "why": why})
    record = record._replace(after=digest, listing=digest)
    after = hashlib.sha256(data).hexdigest()
    short = versioned.change("edit", INDEX, digest, data, origin)._replace(listing=after)
    versioned.record([record, short])
    versioned.folder.replace_large(INDEX, data, stamp)
    return plan._replace(text=text)


def restore_index(versioned: VersionedFolder, digest: str, origin: ChangeOrigin) -> None:
    """Bring back a large index that was kept. Under the lock."""
    path = kept_path(versioned.state.path, digest)
    if versioned.folder.read_index() is None:
        versioned.folder.create(INDEX, b"")
    stamp, data = versioned.folder.stamp(INDEX), versioned.folder.read_index()
    before = None if data is None else hashlib.sha256(data).hexdigest()
    record = versioned.change("restore", INDEX, before, None, origin)._replace(after=digest, listing=digest)
    versioned.record([record])
    with store_errors(f"cannot read {path}"), open(path, "rb", opener=open_regular) as file:
        versioned.folder.replace_large(INDEX, iter(lambda: file.read(CHUNK), b""), stamp)


def kept_path(state: str, digest: str | None) -> str:
    """Where a large index of this digest is kept."""
    return os.path.join(state, KEPT, f"{digest}.md")


def settle_leftovers(versioned: VersionedFolder, names: list[str]) -> None:
    """Keep, and remove, what processes left that were killed while they exchanged a large index. Under the lock."""
    for name in names:
        with suppress(OSError, StoreFailed, MemoryChanged):
            path = os.path.join(versioned.folder.path, name)
            if os.lstat(path).st_size > versioned.folder.largest:
                _keep(versioned, name)
                versioned.folder.kernel.unlink(path)


def _keep(versioned: VersionedFolder, name: str = INDEX) -> tuple[str, Stamp]:
    """Copy a large file of the folder into the history's folder, synced; its digest and stamp."""
    kept = Folder(os.path.join(versioned.state.path, KEPT), kernel=versioned.folder.kernel)
    with _opened_index(versioned, name) as source, kept.locked():
        stamp, sha = stamp_of(os.fstat(source.fileno())), hashlib.sha256()
        for chunk in iter(lambda: source.read(CHUNK), b""):
            sha.update(chunk)
        digest = sha.hexdigest()
        if not kept.has(f"{digest}.md"):
            source.seek(0)
            kept.create_large(f"{digest}.md", iter(lambda: source.read(CHUNK), b""))
        if stamp_of(os.fstat(source.fileno())) != stamp:
            raise MemoryChanged(f"{name} was changed by another program meanwhile; read it again")
    return digest, stamp


def _opened_index(versioned: VersionedFolder, name: str = INDEX) -> BufferedReader:
    with store_errors(f"cannot read {name}"):
        return open(open_regular(os.path.join(versioned.folder.path, name), READ), "rb")


def _lines(descriptor: int) -> Iterator[bytes]:
    """The lines of a file without their ends. Of a line above the longest, only that many bytes and one."""
    held = b""
    while chunk := os.read(descriptor, CHUNK):
        *whole, held = (held + chunk).split(b"\n")
        for line in whole:
            yield line[: LONGEST + 1]
        if len(held) > LONGEST:
            held = held[: LONGEST + 1]
    if held:
        yield held
