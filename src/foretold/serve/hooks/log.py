"""The log of hooks: one line for each fault, or for what a person may want to know. Never the content of a payload.

1. `<state>/hooks.log`, a line each: time, event, the first characters of the session id, what happened.
2. At MOST bytes the file is renamed to `hooks.log.1`, which replaces the one before.
3. A fault is described by its type and its place in our code, not by its message: messages quote what was being read.
4. If the log cannot be written, nothing happens.
"""

from __future__ import annotations

import os
import time

from foretold.storage.tree import open_regular, read_regular

NAME = "hooks.log"
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + "/"  #: our own code
MOST = 256 * 1024
LONGEST = 500  #: characters of a line


def log(state: str, event: str, session: str, text: str, now: float | None = None) -> None:
    """Add a line."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    plain = "".join(char for char in session if char.isascii() and (char.isalnum() or char in "-_"))
    line = " ".join(f"{stamp} {event or '-'} {plain[:8] or '-'} {text}".split())[:LONGEST]
    path = f"{state}/{NAME}"
    try:
        handle = open_to_append(path)
        try:
            os.write(handle, f"{line}\n".encode("utf-8", "backslashreplace"))
            is_full = os.fstat(handle).st_size > MOST
        finally:
            os.close(handle)
        if is_full:
            os.replace(path, f"{path}.1")
    except OSError:
        return


def open_to_append(path: str) -> int:
    """A handle of a file, which is made if it is missing, with its folder."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    try:
        return open_regular(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        return open_regular(path, flags, 0o600)


def fault_of(error: BaseException) -> str:
    """What went wrong, without anything that was being read."""
    at, where = error.__traceback__, ""
    while at is not None:
        path = at.tb_frame.f_code.co_filename
        if path.startswith(PACKAGE) and at.tb_frame.f_code.co_name != "raise_timeout":  # where time was up, not why
            where = f"{path[len(PACKAGE) :]}:{at.tb_lineno}"
        at = at.tb_next
    name = type(error).__name__
    code = f" {error.errno}" if isinstance(error, OSError) and error.errno else ""
    return f"{name}{code} in {where}" if where else f"{name}{code}"


def read_lines(state: str) -> list[str]:
    """All lines, the oldest first."""
    found: list[str] = []
    for name in (f"{NAME}.1", NAME):
        try:
            found += read_regular(f"{state}/{name}", 16 * MOST).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
    return found
