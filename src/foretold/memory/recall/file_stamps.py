"""The memory files of a folder, and whether they changed: one scan, a stamp for each file, a digest over all stamps.

1. A memory is a `.md` file at any depth, except the index `MEMORY.md` and names that begin with a dot. Links are not
   followed. What looks like a memory and is not one is reported as a skip.
2. A stamp is inode, size, mtime and ctime. A file with the same stamp as before was not changed.
3. A stamp younger than the resolution of the clock proves nothing: the file may change again under the same stamp. It
   is spoilt before it is stored, and so differs at the next scan.
"""

from __future__ import annotations

import os
import stat
import time

from foretold.memory.note import INDEX, MAX_FILE, Memory, read_note
from foretold.storage.tree import read_regular
from foretold.types import NamedTuple, Skip

Stamp = tuple[str, int, int, int, int]  #: file, inode, size, mtime and ctime in nanoseconds
_COARSE, _WHOLE = 100_000_000, 2 * 10**9  #: nanoseconds: the resolution of file times; where they are whole seconds
_POSITIVE = 2**63 - 1  #: what SQLite takes as a number
_KIND, _FILE, _FOLDER = 0o170000, stat.S_IFREG, stat.S_IFDIR
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class FolderScan(NamedTuple):
    """The memory files of a folder."""

    folder: str
    flat: list[str | int]  #: the stamps, one after the other: the garbage collector need not track them
    skips: list[Skip]
    digest: str
    began: int  #: when the scan began, in nanoseconds
    folders: bytes = b""  #: the scanned folders with their stamps; empty if one is too young to prove anything

    @property
    def stamps(self) -> list[Stamp]:
        flat = self.flat
        return [tuple(flat[at : at + 5]) for at in range(0, len(flat), 5)]  # type: ignore[misc]


def scan_folder(folder: str, without: frozenset[str] = frozenset()) -> FolderScan:
    """All memory files below a folder, and what looks like one and is not. Folders in `without` are not entered."""
    began, waiting = time.time_ns(), [""]
    flat: list[str | int] = []
    skips: list[Skip] = []
    entered: list[tuple[str, int, int]] = []
    while waiting:
        below = waiting.pop()
        path = os.path.join(folder, below)
        try:
            handle = os.open(path, _ENTER | (os.O_NOFOLLOW if below else 0))
        except FileNotFoundError:
            continue
        except OSError as error:
            skips.append(Skip(path, "unreadable", error.strerror or ""))
            continue
        try:
            about = os.fstat(handle)
            entered.append((below, about.st_ino, about.st_mtime_ns))
            waiting += [each for each in _stamp_files(folder, below, handle, flat, skips) if each[:-1] not in without]
        finally:
            os.close(handle)
    return FolderScan(folder, flat, skips, _digest(flat), began, _pack_folders(entered, began))


def _pack_folders(entered: list[tuple[str, int, int]], began: int) -> bytes:
    """Folders and their stamps as bytes. One that was changed just now may change again under the same stamp."""
    if any(changed > began - (_COARSE if changed % 10**9 else _WHOLE) for _, _, changed in entered):
        return b""
    return b"\0".join(field for name, *stamp in entered for field in (os.fsencode(name), b"%d %d" % tuple(stamp)))


def is_unchanged(folder: str, packed: bytes) -> bool:
    """Whether the folders of an earlier scan are unchanged: no name was added, removed or replaced in them.

    One `stat` a folder. A file that was overwritten in place does not show.
    """
    fields = packed.split(b"\0")
    try:
        for at in range(0, len(fields) - 1, 2):
            about = os.stat(os.path.join(folder, os.fsdecode(fields[at])))
            if b"%d %d" % (about.st_ino, about.st_mtime_ns) != fields[at + 1]:
                return False
    except OSError:
        return False
    return len(fields) > 1


def _stamp_files(folder: str, below: str, handle: int, flat: list[str | int], skips: list[Skip]) -> list[str]:
    """Stamp the files of one folder; the folders in it. By descriptor: full paths cost half as much again."""
    folders = []
    with os.scandir(handle) as entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            if name[-3:] == ".md" and name != INDEX:
                try:
                    seen = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                mode, size = seen.st_mode, seen.st_size
                if mode & _KIND == _FILE and size <= MAX_FILE:
                    flat += (below + name, seen.st_ino & _POSITIVE, size, seen.st_mtime_ns, seen.st_ctime_ns)
                    continue
                if mode & _KIND != _FOLDER:
                    skips.append(_skip(os.path.join(folder, below + name), mode, size))
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{below}{name}/")
    return folders


def _skip(path: str, mode: int, size: int) -> Skip:
    if stat.S_ISREG(mode):
        return Skip(path, "too-large", f"{size} bytes, of at most {MAX_FILE}")
    return Skip(path, "not-a-file", "a link is not followed" if stat.S_ISLNK(mode) else "")


def _digest(flat: list[str | int]) -> str:
    """One digest over all stamps, in the order of the scan: another order only costs a comparison of each."""
    from marshal import dumps

    try:
        from _blake2 import blake2b  # `hashlib` loads OpenSSL first
    except ImportError:
        from hashlib import blake2b
    return blake2b(dumps(flat, 2), digest_size=16).hexdigest()


def has_many_files(folder: str, few: int) -> bool:
    """Whether there are more than a few files below a folder: only as many names as needed are counted."""
    count = 0
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        count += sum(not name.startswith(".") for name in files)
        if count > few:
            return True
    return False


def spoil_young_stamp(stamp: Stamp, began: int) -> Stamp:
    """A stamp, spoilt if the file may change again without changing it."""
    changed = stamp[4]
    coarse = _COARSE if changed % 10**9 else _WHOLE
    return (*stamp[:4], -1) if changed > began - coarse else stamp


def read_memory(folder: str, file: str, changed: float, scope: str = "private") -> Memory | None:
    """The memory in a file; None if it cannot be read, or is no longer one."""
    try:
        data = read_regular(os.path.join(folder, file), MAX_FILE, flags=os.O_NOFOLLOW)
    except OSError:
        return None
    return read_note(file, data, changed, scope)
