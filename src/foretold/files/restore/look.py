"""The state of a file that may be restored: what is at its path, and where that path really leads.

1. The path itself is not followed: a link in a file's place is a link.
2. The folders above it are followed, if they lead where they led when the file was recorded: to the real folder that
   was recorded, or else through links that are older than the record.
3. A file is read in pieces; only its digest is kept.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat

from foretold.types import NamedTuple

CHUNK = 1024 * 1024
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "folder"), (stat.S_ISLNK, "link"))


class FileState(NamedTuple):
    """What is at a path: a file with its content and mode, nothing, or something else."""

    kind: str = "missing"  #: file, missing, link, folder, other, unreadable
    digest: str = ""
    mode: int = 0
    size: int = 0
    names: int = 1  #: how many names the file has
    owner: tuple[int, int] = (-1, -1)
    said: str = ""  #: why it cannot be read


def look_at(path: str, folder: int | None = None) -> FileState:
    """What is at a path; links are not followed."""
    try:
        about = os.stat(path, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return FileState()
    except OSError as error:
        return FileState("unreadable", said=error.strerror or str(error))
    kind = next((name for is_kind, name in _KINDS if is_kind(about.st_mode)), "other")
    if kind != "file":
        return FileState(kind)
    try:
        descriptor = os.open(path, READ, dir_fd=folder)
    except FileNotFoundError:
        return FileState()
    except OSError as error:
        return FileState("link" if error.errno == errno.ELOOP else "unreadable", said=error.strerror or str(error))
    try:
        return state_of_open(descriptor)
    except OSError as error:
        return FileState("unreadable", said=error.strerror or str(error))
    finally:
        os.close(descriptor)


def state_of_open(descriptor: int) -> FileState:
    """What an open file is."""
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        return FileState("other")
    digest, size = hashlib.sha256(), 0
    while data := os.pread(descriptor, CHUNK, size):
        digest.update(data)
        size += len(data)
    mode, owner = stat.S_IMODE(about.st_mode), (about.st_uid, about.st_gid)
    return FileState("file", digest.hexdigest(), mode, size, about.st_nlink, owner)


def content(path: str, most: int) -> bytes | None:
    """A file's bytes; None if they are too many, or cannot be read."""
    try:
        with open(os.open(path, READ), "rb") as file:
            data = file.read(most + 1)
    except OSError:
        return None
    return data if len(data) <= most else None


class Home(NamedTuple):
    """The folder that a file belongs to."""

    path: str  #: the real one
    is_there: bool = True
    moved: str = ""  #: the folder it leads to now, if that is not the one it led to


def home_of(path: str, recorded: str = "", since: float = 0.0) -> Home:
    """The real folder of a path. `recorded` is the one it was; without it, links made after `since` do not count."""
    above = os.path.dirname(path)
    real = os.path.realpath(above)
    is_there = os.path.isdir(real)
    if recorded:
        return Home(real, is_there, "" if real == recorded else real)
    return Home(real, is_there, real if _has_newer_link(above, since) else "")


def _has_newer_link(path: str, since: float) -> bool:
    while True:
        try:
            about = os.lstat(path)
        except OSError:
            pass
        else:
            if stat.S_ISLNK(about.st_mode) and about.st_ctime > since:
                return True
        if path in ("/", ""):
            return False
        path = os.path.dirname(path)


def is_writable(folder: str) -> bool:
    """Whether files can be put into a folder, or into the nearest one above it that is there."""
    while not os.path.lexists(folder) and folder != "/":
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
