"""What takes time is done by a process of its own, which nobody waits for.

1. It is started with the words of our own command, in a session of its own, without input or output, and so that Python
   takes no module from the folder it is in: that is the agent's, and may hold anything.
2. One for each job and conversation at a time: a lock says that it runs. Whoever comes meanwhile leaves a mark, and the
   one that runs starts over when it is done. So they never pile up, and the last word is not missed.
3. It is the nicest of processes: it takes what the machine has left.
"""

from __future__ import annotations

import os
import sys
import time

from foretold.serve.hooks.said_before import folder_of, name_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PAUSE = 20.0  #: seconds in which a job for all conversations is not started again
ROUNDS = 3  #: of one process; after that the next hook starts another


def start(words: Sequence[str], env: Mapping[str, str]) -> int:
    """Start our own `hook` command with these words; its process id."""
    return start_command(["hook", *words], env)


def start_command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """Start our own command; its process id."""
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    argv = [sys.executable, "-P", "-m", "foretold", *words]
    return os.posix_spawn(sys.executable, argv, {**env, "PYTHONSAFEPATH": "1"}, file_actions=silence, setsid=True)


def was_started(state: str, job: str, session: str, now: float | None = None) -> bool:
    """Whether a job was started just now."""
    try:
        age = (time.time() if now is None else now) - os.stat(_path(state, job, session) + ".lock").st_mtime
    except OSError:
        return False
    return 0 <= age < PAUSE


def _path(state: str, job: str, session: str) -> str:
    return f"{folder_of(state)}/{name_of(session)}.{job}"


def alone(state: str, job: str, session: str, work: Callable[[], None]) -> bool:
    """Do a job, unless another process does it for this conversation; then leave it a mark. Whether it was done."""
    from foretold.storage.lock import try_lock

    path = _path(state, job, session)
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not try_lock(handle):
            os.close(os.open(f"{path}.again", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            return False
        os.utime(handle)
        for _ in range(ROUNDS):
            work()
            if not _taken(f"{path}.again"):
                break
    finally:
        os.close(handle)
    return True


def _taken(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
