"""The only edge to the file system: a small read-only tree.

1. `read` opens a file once, without waiting (a FIFO cannot hang us) and without following a link in the last
   place; a link is then followed in a second step. So most files are known not to be links, at no extra cost.
2. What cannot be read is a `Fault` with a reason word, never an exception.
3. `scan` lists a folder in the file system's own order, because real agents do not sort; `names` does so in haste,
   for a walk over everything.
4. `real` resolves links, once per folder: it is the expensive call.
5. Every path that was read, there or not, leaves a stamp, so that a view can be checked for changes later
   with one `stat` a path.
6. All other rooms open what they read with `open_regular` or `read_regular` (`tests/test_imports.py` looks): nothing
   waits, nothing but a regular file is read, and never more than a limit. A database is first asked about with
   `require_regular`: SQLite opens it by itself.
"""

from __future__ import annotations

import errno
import os
import stat

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    Stamp = tuple[int, ...] | None
else:
    Protocol = object


class Fault(NamedTuple):
    """Why a path could not be read: a reason word of `foretold.types.REASONS`, and the system's words."""

    reason: str
    detail: str = ""


class Item(NamedTuple):
    """A name in a folder. `kind` is file, folder, link or other."""

    name: str
    kind: str


class Tree(Protocol):
    """What a loader needs of a file system. A test may pass its own."""

    def read(self, path: str, limit: int) -> bytes | Fault: ...
    def scan(self, folder: str) -> list[Item] | Fault: ...
    def names(self, folder: str) -> tuple[list[str], list[str]] | Fault: ...
    def real(self, path: str) -> str: ...
    def identity(self, path: str) -> object: ...
    def kind(self, path: str) -> str: ...
    def is_executable(self, path: str) -> bool: ...


_PLAIN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_NOFOLLOW = _PLAIN | os.O_NOFOLLOW
_REASON = {
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
    errno.ELOOP: "symlink-loop",
    errno.ENAMETOOLONG: "bad-name",
    errno.EINVAL: "bad-name",
    errno.ENXIO: "not-a-file",
}
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
MISSING = Fault("missing")
EXISTENCE, RIGHTS = 2, 3  #: numbers in a stamp of less than a file's content


class Disk:
    """The real file system."""

    __slots__ = ("_real", "stamps")

    def __init__(self) -> None:
        self.stamps: dict[str, Stamp] = {}
        self._real: dict[str, str] = {"/": "/"}

    def read(self, path: str, limit: int) -> bytes | Fault:
        """The bytes of a file, at most `limit` of them; a longer file is a fault."""
        is_link = False
        try:
            try:
                handle = os.open(path, _NOFOLLOW)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
                is_link = True
                handle = os.open(path, _PLAIN)
            else:
                self._real.setdefault(path, "")
        except (OSError, ValueError) as error:
            return self._fault(path, error, is_link=is_link)
        try:
            return self._read(path, handle, limit)
        except OSError as error:
            return self._fault(path, error)
        finally:
            os.close(handle)

    def _read(self, path: str, handle: int, limit: int) -> bytes | Fault:
        info = os.fstat(handle)
        size = info.st_size
        self.stamps[path] = _content(info)
        if not stat.S_ISREG(info.st_mode):
            return Fault("folder" if stat.S_ISDIR(info.st_mode) else "not-a-file")
        if size > limit:
            return Fault("too-large", f"{size} bytes, the limit is {limit}")
        data = os.read(handle, size + 1)
        if len(data) == size:
            return data
        # its size is not what `stat` said: it grows, shrinks, or is made up as it is read
        parts, length = [data], len(data)
        while data and length <= limit:
            data = os.read(handle, 1 << 20)
            parts.append(data)
            length += len(data)
        return Fault("too-large", f"more than {limit} bytes") if length > limit else b"".join(parts)

    def _fault(self, path: str, error: OSError | ValueError, *, is_link: bool = False) -> Fault:
        self.stamps[path] = None
        if isinstance(error, ValueError):  # an embedded NUL, or a lone surrogate
            return Fault("bad-name", "embedded null byte" if "\0" in path else str(error))
        if is_link and isinstance(error, FileNotFoundError):  # something is there, and it cannot be read
            return Fault("missing", "the link is broken")
        reason = _REASON.get(error.errno or 0, "unreadable")
        return MISSING if reason == "missing" else Fault(reason, error.strerror or "")

    def scan(self, folder: str) -> list[Item] | Fault:
        """The names in a folder, in the file system's own order."""
        try:
            info = os.stat(folder)
            with os.scandir(folder) as listing:
                items = [Item(item.name, _kind_of(item)) for item in listing]
        except NotADirectoryError:
            if self.kind(folder) == "missing":
                return MISSING
            return Fault("not-a-file", "a folder should be here")
        except (OSError, ValueError) as error:
            return self._fault(folder, error, is_link=os.path.islink(folder))
        self.stamps[folder] = _content(info)
        return items

    def names(self, folder: str) -> tuple[list[str], list[str]] | Fault:
        """The names in a folder, and those of them that are folders, not links: half the price of a scan."""
        names, folders = [], []
        try:
            info = os.stat(folder)
            with os.scandir(folder) as listing:
                for item in listing:
                    names.append(item.name)
                    if item.is_dir(follow_symlinks=False):
                        folders.append(item.name)
        except (OSError, ValueError) as error:
            return self._fault(folder, error)
        self.stamps[folder] = _content(info)
        return names, folders

    def kind(self, path: str) -> str:
        """file, folder, other, missing, or unreadable; links are followed."""
        try:
            info = os.stat(path)
        except PermissionError:
            self.stamps[path] = None
            return "unreadable"
        except (OSError, ValueError):
            self.stamps[path] = None
            return "missing"
        self.stamps.setdefault(path, _existence(info))
        return kind_of(info.st_mode)

    def is_executable(self, path: str) -> bool:
        """Whether it is a file that its owner may execute: the only right that git keeps. Links are followed."""
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            self.stamps[path] = None
            return False
        if len(self.stamps.get(path) or ()) < RIGHTS:
            self.stamps[path] = _rights(info)
        return stat.S_ISREG(info.st_mode) and bool(info.st_mode & stat.S_IXUSR)

    def identity(self, path: str) -> object:
        """What is the same for two names of one file, links and hard links alike."""
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            return path
        return info.st_dev, info.st_ino

    def size(self, path: str) -> int:
        """The bytes of a file; 0 if there is none."""
        try:
            return os.stat(path).st_size
        except (OSError, ValueError):
            return 0

    def real(self, path: str) -> str:
        """The path with every link resolved; each folder is resolved once."""
        known = self._real.get(path)
        if known:
            return known
        pending = []
        while not known:
            pending.append(path)
            path = path.rpartition("/")[0] or "/"
            known = self._real.get(path)
        for path in reversed(pending):
            if self._real.get(path) is None and os.path.islink(path):
                known = _resolve(path)
            else:
                known = known.rstrip("/") + "/" + path.rpartition("/")[2]
            self._real[path] = known
        return known


def open_regular(path: str | bytes, flags: int = os.O_RDONLY, mode: int = 0o666, *, dir_fd: int | None = None) -> int:
    """Open a regular file without waiting; OSError for a pipe, a device, a socket or a folder. An `opener` of `open`.

    >>> open("/dev/zero", opener=open_regular)
    Traceback (most recent call last):
    OSError: [Errno 22] it is not a regular file: '/dev/zero'
    """
    try:
        handle = os.open(path, flags | _PLAIN, mode, dir_fd=dir_fd)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a pipe to write to that nobody reads
            raise _irregular(path) from None
        raise
    found = os.fstat(handle).st_mode
    if stat.S_ISREG(found):
        return handle
    os.close(handle)
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise _irregular(path)


def _irregular(path: str | bytes) -> OSError:
    return OSError(errno.EINVAL, "it is not a regular file", path)


def read_regular(path: str, limit: int, *, flags: int = os.O_RDONLY, dir_fd: int | None = None) -> bytes:
    """The bytes of a regular file, all of them; OSError if they are more than a limit, or it is anything else."""
    handle = open_regular(path, flags, dir_fd=dir_fd)
    parts, length = [], 0
    try:
        step = os.fstat(handle).st_size + 1
        while length <= limit and (data := os.read(handle, min(step, limit + 1 - length))):
            parts.append(data)
            length += len(data)
            step = max(1 << 16, step - len(data))
    finally:
        os.close(handle)
    if length > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes", path)
    return b"".join(parts)


def require_regular(path: str) -> None:
    """OSError if a database, or a file next to it that SQLite would open, is there and is not a regular file."""
    for ending in ("", "-wal", "-shm", "-journal"):
        try:
            found = os.stat(path + ending)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(found.st_mode):
            raise _irregular(path + ending)


def _resolve(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def kind_of(mode: int) -> str:
    """What has this mode: file, folder, link, other."""
    return _KINDS.get(stat.S_IFMT(mode), "other")


def _kind_of(item: os.DirEntry[str]) -> str:
    if item.is_symlink():
        return "link"
    if item.is_file(follow_symlinks=False):
        return "file"
    return "folder" if item.is_dir(follow_symlinks=False) else "other"


def _content(info: os.stat_result) -> tuple[int, ...]:
    """What changes when a file's text or rights, or the names in a folder, change."""
    return info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino


def _existence(info: os.stat_result) -> tuple[int, ...]:
    """What changes when something else is at a path: all that matters of a folder that was not listed."""
    return info.st_ino, stat.S_IFMT(info.st_mode)


def _rights(info: os.stat_result) -> tuple[int, ...]:
    """What changes when something else is at a path, or it has other rights."""
    return info.st_ino, info.st_mode, info.st_uid


def _stamp_like(stamp: tuple[int, ...], info: os.stat_result) -> tuple[int, ...]:
    make = {EXISTENCE: _existence, RIGHTS: _rights}.get(len(stamp), _content)
    return make(info)


def unchanged(stamps: dict[str, Stamp]) -> bool:
    """Whether every path still is what it was when the stamps were taken: one `stat` a path."""
    for path, stamp in stamps.items():
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            if stamp is not None:
                return False
        else:
            if stamp is None or stamp != _stamp_like(stamp, info):
                return False
    return True


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it, by spelling."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def folders_above(path: str) -> Iterator[str]:
    """The folders above an absolute path, the nearest first.

    >>> list(folders_above("/a/b"))
    ['/a', '/']
    """
    while path.startswith("/") and (above := os.path.dirname(path)) != path:
        yield above
        path = above
