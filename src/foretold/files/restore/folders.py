"""Opening a folder by its real path, part by part, following no link: one that is swapped in is met, not followed."""

from __future__ import annotations

import os
from contextlib import suppress

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.storage.kernel import Kernel

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  #: needs no right to read


def open_folder(path: str, kernel: Kernel, *, make: bool) -> int:
    """A folder by its real path; `make`: with those that are not there."""
    folder = os.open("/", _STEP)
    try:
        for part in filter(None, path.split("/")):
            try:
                inner = os.open(part, _STEP, dir_fd=folder)
            except FileNotFoundError:
                if not make:
                    raise
                inner = _made(part, folder, kernel)
            os.close(folder)
            folder = inner
        return os.open(".", _FOLDER, dir_fd=folder)
    finally:
        os.close(folder)


def _made(part: str, folder: int, kernel: Kernel) -> int:
    """A folder that was not there."""
    with suppress(FileExistsError):
        kernel.mkdir(part, 0o777, dir_fd=folder)
    above = os.open(".", _FOLDER, dir_fd=folder)
    try:
        kernel.fsync(above)
    finally:
        os.close(above)
    return os.open(part, _STEP, dir_fd=folder)
