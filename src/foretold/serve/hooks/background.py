"""Work that takes time is done by another process, which no one waits for.

1. It runs our own command in a session of its own, without input or output, and isolated (`paths.py`): the working
   folder is the agent's, and may contain anything.
2. One process per job and conversation at a time: a lock says that it runs. A second one leaves a mark and exits, and
   the first starts over when it is done. So processes never pile up, and the last change is not missed.
3. It has the lowest priority, so that it only uses what the machine has to spare.
4. It has no parent that would end it, so an alarm does, after `LONGEST` seconds: what it writes is written whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from foretold.paths import python_words
from foretold.serve.hooks.said_before import folder_of, notes_name
from foretold.storage.tree import open_regular

PAUSE = 20.0  #: seconds in which a job for all conversations is not started again
ROUNDS = 3  #: of one process; after that the next hook starts another
LONGEST = 900  #: seconds, after which the system ends a process that hangs


def start(words: Sequence[str], env: Mapping[str, str]) -> int:
    """Start our own `hook` command with these arguments; its process id."""
    return start_command(["hook", *words], env)


def start_command(words: Sequence[str], env: Mapping[str, str]) -> int:
    """Start our own command; its process id."""
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    argv = python_words("foretold.cli", "run", *words)
    return os.posix_spawn(argv[0], argv, env, file_actions=silence, setsid=True)


def was_started(state: str, job: str, session: str, now: float | None = None) -> bool:
    """Whether a job was started just now."""
    try:
        age = (time.time() if now is None else now) - os.stat(_path(state, job, session) + ".lock").st_mtime
    except OSError:
        return False
    return 0 <= age < PAUSE


def _path(state: str, job: str, session: str) -> str:
    return f"{folder_of(state)}/{notes_name(session)}.{job}"


def run_alone(state: str, job: str, session: str, work: Callable[[], None]) -> bool:
    """Do a job, unless another process does it for this conversation; then leave a mark for it. Whether it was done."""
    import signal

    from foretold.storage.lock import try_lock

    path = _path(state, job, session)
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    handle = open_regular(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        if not try_lock(handle):
            os.close(open_regular(f"{path}.again", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
            return False
        os.utime(handle)
        signal.alarm(LONGEST)
        for _ in range(ROUNDS):
            work()
            try:
                os.unlink(f"{path}.again")
            except OSError:
                break
    finally:
        signal.alarm(0)
        os.close(handle)
    return True
