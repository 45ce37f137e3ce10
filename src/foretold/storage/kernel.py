"""The system calls that change something, in one place.

A `Kernel` is what a store writes through. Tests give it one that fails, or dies, at the n-th call, and one that records
what a power cut could leave behind.
"""

from __future__ import annotations

import errno
import hashlib  # noqa: F401 - who writes needs fast digests: see note.digest_of
import os

from foretold.errors import StoreFailed

_EXCHANGE = 2  #: RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


class Kernel:
    """Calls of the operating system by their own names, with `exchange` beside them."""

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
        """Let two files change places in one step. False if this system cannot.

        A plain rename loses what another program put in its way a moment before; after an exchange it is still there,
        under our name, and can be looked at.
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
            raise OSError(errno.EIO, "the disk took no byte")
        view = view[count:]


def token() -> str:
    """A name that no other process makes up."""
    return f"{os.getpid():x}-{os.urandom(6).hex()}"


def failed(doing: str, error: OSError) -> StoreFailed:
    """An error of the system in words that say what to do."""
    advice = {
        errno.ENOSPC: "the disk is full; make room and try again",
        errno.EDQUOT: "the quota is used up; make room and try again",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "it may not be written to; look at its owner and mode",
        errno.EPERM: "it may not be written to; look at its owner and mode",
        errno.ELOOP: "a symbolic link stands in the way; a store follows none",
        errno.ENOTDIR: "a file stands where a folder should",
        errno.EISDIR: "a folder stands where a file should",
    }.get(error.errno or 0, error.strerror or str(error))
    return StoreFailed(f"{doing}: {advice}. Nothing was changed")
