"""The operating system's lock on an open file or folder. It ends with its process and leaves nothing on disk."""

from __future__ import annotations

import fcntl
import os
import time


def try_lock(descriptor: int) -> bool:
    """Lock an open file; False if another process holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(descriptor: int, seconds: float | None = None) -> bool:
    """Lock an open file as soon as it is free; False if it was not for so many seconds. None waits forever."""
    if seconds is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return True
    until = time.monotonic() + seconds
    while not try_lock(descriptor):
        if time.monotonic() > until:
            return False
        pause()
    return True


def pause() -> None:
    """Sleep for 1 to 6 ms, a different time in each process, so that those who wait do not try in step."""
    time.sleep(0.001 + int.from_bytes(os.urandom(1)) / 50_000)


def unlock(descriptor: int) -> None:
    """Release a lock without closing its file."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
