"""The system calls that change something, in one place.

Stores write through a `Kernel`. Tests pass one that fails, or kills the process, at the n-th call, and one that records
what a power cut could leave on disk.
"""

from __future__ import annotations

import errno
import os

from foretold.errors import StoreFailed

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


def sync_folder(path: str, kernel: Kernel = KERNEL) -> None:
    """Wait until the disk has the names in a folder."""
    descriptor = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        kernel.fsync(descriptor)
    finally:
        os.close(descriptor)


def token() -> str:
    """Part of a file name that no other process uses."""
    return f"{os.getpid():x}-{os.urandom(6).hex()}"


def failed(doing: str, error: OSError) -> StoreFailed:
    """A system error as a StoreFailed whose message says what to do."""
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
    return StoreFailed(f"{doing}: {advice}. Nothing was changed")
