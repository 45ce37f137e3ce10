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

from foretold.storage.atomic import read_chunks
from foretold.storage.tree import folders_above, kind_of, open_regular, read_regular
from foretold.types import NamedTuple


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
    kind = ""
    try:
        kind = kind_of(os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode)
        if kind != "file":
            return FileState(kind)
        descriptor = open_regular(path, os.O_NOFOLLOW, dir_fd=folder)
        try:
            return state_of_open(descriptor)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return FileState()
    except OSError as error:
        was_swapped = kind == "file" and error.errno == errno.ELOOP
        return FileState("link" if was_swapped else "unreadable", said=error.strerror or str(error))


def state_of_open(descriptor: int) -> FileState:
    """What an open file is."""
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        return FileState("other")
    digest, size = hashlib.sha256(), 0
    for data in read_chunks(descriptor):
        digest.update(data)
        size += len(data)
    mode, owner = stat.S_IMODE(about.st_mode), (about.st_uid, about.st_gid)
    return FileState("file", digest.hexdigest(), mode, size, about.st_nlink, owner)


def content(path: str, most: int) -> bytes | None:
    """A file's bytes; None if they are too many, or cannot be read."""
    try:
        return read_regular(path, most, flags=os.O_NOFOLLOW)
    except OSError:
        return None


def home_of(path: str, recorded: str = "", since: float = 0.0) -> tuple[str, bool]:
    """The real folder of a path, and whether it leads elsewhere than it did.

    `recorded` is the one it was; without it, links made after `since` do not count.
    """
    real = os.path.realpath(os.path.dirname(path))
    if recorded:
        return real, real != recorded
    return real, any(_is_newer_link(folder, since) for folder in folders_above(path))


def _is_newer_link(path: str, since: float) -> bool:
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(about.st_mode) and about.st_ctime > since


def is_writable(folder: str) -> bool:
    """Whether files can be put into a folder, or into the nearest one above it that is there."""
    while not os.path.lexists(folder) and folder != "/":
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
