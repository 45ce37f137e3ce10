"""Whether a session is in use: a running agent's files are not deleted under it.

1. A session that was written to a short while ago is in use; so is one of whose files a process has one open, or whose
   id stands on a command line.
2. Processes are asked through `/proc`, as far as the user may; where there is none, only the time counts.
"""

from __future__ import annotations

import os

from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RECENT = 15 * 60.0  #: seconds


class Processes:
    """What the processes of this machine have open, as it was when it was asked."""

    def __init__(self, proc: str = "/proc") -> None:
        self.open: set[str] = set()
        self.words: set[bytes] = set()
        for pid in _names(proc):
            if pid.isdigit() and int(pid) != os.getpid():
                self.words.update(_words(f"{proc}/{pid}/cmdline"))
                self.open.update(_links(f"{proc}/{pid}/fd"))

    def use(self, name: str, paths: Iterable[str]) -> str:
        """Why a session must be left alone; empty if nobody uses it."""
        for path in paths:
            if os.path.realpath(path) in self.open:
                return f"a process has {os.path.basename(path)} open"
        if any(name.encode() in word for word in self.words):
            return "its id stands on the command line of a process"
        return ""


def is_recent(changed: float, now: float) -> bool:
    """Whether something was written so lately that its agent may be at work.

    >>> is_recent(1000.0, 1060.0), is_recent(1000.0, 9000.0)
    (True, False)
    """
    return now - changed < RECENT


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _words(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            yield from file.read(64 * 1024).split(b"\0")
    except OSError:
        return


def _links(folder: str) -> Iterator[str]:
    for name in _names(folder):
        try:
            target = os.readlink(f"{folder}/{name}")
        except OSError:
            continue
        if target.startswith("/"):
            yield target
