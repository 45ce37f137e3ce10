"""The second process of a search: our own code, which ends with the process that started it.

1. It is isolated (`paths.python_words`): nothing of the folder it is started in is imported.
2. Its task comes by standard input, a line of JSON. That stays open for as long as the starter lives, and the worker
   watches it: when it ends, whatever the reason, the worker does too, at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from foretold.paths import python_words
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen


def start_worker(module: str, function: str, task: object, inherited: Sequence[int] = ()) -> Popen[bytes]:
    """Start a process that runs one of our functions; it gets these descriptors, too. OSError if it cannot start."""
    import subprocess

    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    program = python_words(module, function)
    process = subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=nothing, pass_fds=inherited)
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(task).encode() + b"\n")
        process.stdin.flush()
    except OSError:
        end_worker(process)
        raise
    return process


def end_worker(process: Popen[bytes]) -> None:
    """End a worker, and wait until it is gone."""
    process.kill()
    process.communicate()


def worker_task() -> object:
    """In the worker: its task. From now on it ends with its starter."""
    import threading

    task = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_starter, daemon=True).start()
    return task


def _end_with_starter() -> None:
    """Wait for the end of standard input: nobody would read what is found after that."""
    while os.read(0, 1024):
        pass
    os._exit(1)
