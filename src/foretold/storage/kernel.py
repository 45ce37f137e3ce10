"""The system calls that change something, in one place.

Stores write through a `Kernel`. Tests pass one that fails, or kills the process, at the n-th call, and one that records
what a power cut could leave on disk.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from foretold.errors import StoreFailed

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_EXCHANGE = 2  #: RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


class Kernel:
    """The system calls under their own names, and `exchange`."""

    open = staticmethod(os.open)
    close = staticmethod(os.close)
    write = staticmethod(os.write)
    fsync = staticmethod(os.fsync)
    fchmod = staticmethod(os.fchmod)
    ftruncate = staticmethod(os.ftruncate)
    link = staticmethod(os.link)
    rename = staticmethod(os.rename)
    unlink = staticmethod(os.unlink)
    mkdir = staticmethod(os.mkdir)
    rmdir = staticmethod(os.rmdir)

    @staticmethod
    def exchange(one: str, other: str, one_folder: int, other_folder: int) -> bool:
        """Exchange two files in one step. False if this system cannot.

        A plain rename loses what another program wrote there a moment before; after an exchange that file still exists
        under our temporary name and can be compared.
        """
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        call = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
        if call is None:
            return False
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
        if call(one_folder, os.fsencode(one), other_folder, os.fsencode(other), _EXCHANGE) == 0:
            return True
        code = ctypes.get_errno()
        if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
            return False
        raise OSError(code, os.strerror(code), one)


KERNEL = Kernel()


def write_all(kernel: Kernel, descriptor: int, data: bytes) -> None:
    """Write every byte, in as many calls as it takes."""
    view = memoryview(data)
    while view:
        count = kernel.write(descriptor, view)
        if count <= 0:
            raise OSError(errno.EIO, "the disk did not accept any bytes")
        view = view[count:]


def link_new(kernel: Kernel, temporary: str, name: str, top: int, parent: int) -> None:
    """Give a temporary file its own name; FileExistsError if that is taken."""
    try:
        kernel.link(temporary, name, src_dir_fd=top, dst_dir_fd=parent, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if is_there(name, parent):  # no hard links here: the lock keeps our own processes apart
            raise FileExistsError(errno.EEXIST, "", name) from None
        kernel.rename(temporary, name, src_dir_fd=top, dst_dir_fd=parent)


def is_there(name: str, folder: int) -> bool:
    """Whether a folder has an entry of this name."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def sync_folder(path: str, kernel: Kernel = KERNEL) -> None:
    """Wait until the disk has the names in a folder."""
    descriptor = os.open(path or ".", FOLDER)
    try:
        kernel.fsync(descriptor)
    finally:
        os.close(descriptor)


def token() -> str:
    """Part of a file name that no other process uses."""
    return f"{os.getpid():x}-{os.urandom(6).hex()}"


def failed(doing: str, error: OSError, *, is_read: bool = False) -> StoreFailed:
    """A system error as a StoreFailed whose message says what to do; of reading, not that nothing was changed."""
    advice = {
        errno.ENOSPC: "the disk is full; free some space and try again",
        errno.EDQUOT: "the disk quota is exceeded; free some space and try again",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "permission denied; check its owner and mode",
        errno.EPERM: "permission denied; check its owner and mode",
        errno.ELOOP: "there is a symbolic link in the path, and a store does not follow links",
        errno.ENOTDIR: "there is a file where a folder should be",
        errno.EISDIR: "there is a folder where a file should be",
    }.get(error.errno or 0, error.strerror or str(error))
    return StoreFailed(f"{doing}: {advice}" + ". Nothing was changed" * (not is_read))


@contextmanager
def store_errors(doing: str) -> Iterator[None]:
    """Raise system errors as StoreFailed."""
    try:
        yield
    except OSError as error:
        raise failed(doing, error) from error
