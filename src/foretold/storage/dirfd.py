"""Looking into a folder through descriptors, following no link: a file's bytes, and what files there are."""

from __future__ import annotations

import os
import stat

from foretold.errors import BadName, NoSuchMemory, StoreFailed
from foretold.storage.kernel import failed
from foretold.storage.names import INDEX, MAX_FILE, MAX_PARTS, safe_file
from foretold.types import Finding, NamedTuple

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
INSIDE = FOLDER | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Stamp(NamedTuple):
    """What tells a changed file from an unchanged one without reading it."""

    inode: int
    size: int
    mtime: int
    ctime: int


class Held(NamedTuple):
    """A file's bytes as they were read in one go."""

    data: bytes
    stamp: Stamp

    @property
    def changed(self) -> float:
        return self.stamp.mtime / 1e9


def read_in(parent: int, name: str, file: str, where: str = "here") -> Held:
    """The bytes of a plain file that is no link, and not too large."""
    try:
        descriptor = os.open(name, _READ, dir_fd=parent)
    except FileNotFoundError:
        raise NoSuchMemory(f"there is no {file} in {where}") from None
    except OSError as error:
        raise failed(f"cannot read {file}", error) from error
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise StoreFailed(f"cannot read {file}: it is no plain file")
        if about.st_size > MAX_FILE:
            raise StoreFailed(f"cannot read {file}: it has more than {MAX_FILE:,} bytes")
        with open(descriptor, "rb", closefd=False) as opened:
            data = opened.read(MAX_FILE + 1)
    finally:
        os.close(descriptor)
    return Held(data, stamp_of(about))


def scan(folder: int, prefix: str, found: dict[str, Stamp], told: list[Finding]) -> None:
    """Every Markdown file below a folder but the index, with its stamp; what is passed over is told."""
    with os.scandir(folder) as items:
        for item in items:
            file = prefix + item.name
            if item.name.startswith("."):
                continue
            if item.is_symlink():
                said = "it is a symbolic link, and the store follows none"
                told.append(Finding(file, None, "memory-link", said, "put the file itself here"))
            elif item.is_dir(follow_symlinks=False):
                _enter(folder, file, found, told)
            elif item.name.endswith(".md") and file != INDEX and item.is_file(follow_symlinks=False):
                _meet(item, file, found, told)


def _enter(folder: int, file: str, found: dict[str, Stamp], told: list[Finding]) -> None:
    if file.count("/") + 2 > MAX_PARTS:
        told.append(Finding(file, None, "memory-too-deep", f"the store looks {MAX_PARTS} folders deep, no further"))
        return
    try:
        inner = os.open(file.rpartition("/")[2], INSIDE, dir_fd=folder)
    except OSError as error:
        told.append(Finding(file, None, "unreadable", error.strerror or str(error)))
        return
    try:
        scan(inner, file + "/", found, told)
    finally:
        os.close(inner)


def _meet(item: os.DirEntry[str], file: str, found: dict[str, Stamp], told: list[Finding]) -> None:
    try:
        safe_file(file)
        about = item.stat(follow_symlinks=False)
    except BadName as error:
        shown = os.fsencode(file).decode("utf-8", "replace")
        told.append(Finding(shown, None, "memory-name", str(error), "give the file another name"))
        return
    except OSError:
        return  # gone in this moment
    if about.st_size > MAX_FILE:
        said = f"it has {about.st_size:,} bytes; a memory has at most {MAX_FILE:,}"
        told.append(Finding(file, None, "memory-too-large", said))
    else:
        found[file] = stamp_of(about)


def is_there(name: str, folder: int) -> bool:
    """Whether a folder has something of this name."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def stamp_of(about: os.stat_result) -> Stamp:
    return Stamp(about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
