"""Whether a session is in use: a running agent's files are not deleted under it.

1. A session of whose files a process has one open, or whose id stands on a command line, is in use; so is one that was
   written to a short while ago.
2. Agents do not hold a transcript open between two records. Who asks by folder is told of an agent that runs in it;
   then a minute of silence is enough.
3. Processes are asked through `/proc`, as far as the user may; where there is none, only the time counts, and it has to
   be longer.
"""

from __future__ import annotations

import os

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RECENT = 15 * 60.0  #: seconds
QUIET = 60.0  #: seconds, where processes and their folders were asked
AGENTS = ("claude", "codex", "gemini", "opencode")  #: as their programs are called


class Processes:
    """What the processes of this machine have open, as it was when it was asked."""

    def __init__(self, proc: str = "/proc") -> None:
        self.open: set[str] = set()
        self.words: set[bytes] = set()
        self.agents: dict[str, str] = {}  #: folder -> the agent that runs in it
        self.is_asked = False  #: whether there was somebody to ask
        for pid in _names(proc):
            if pid.isdigit() and int(pid) != os.getpid():
                self.is_asked = True
                words = list(_words(f"{proc}/{pid}/cmdline"))
                self.words.update(words)
                self.open.update(_links(f"{proc}/{pid}/fd"))
                for name in _agent(words):
                    self.agents[_target(f"{proc}/{pid}/cwd")] = name

    def use(self, name: str, paths: Iterable[str]) -> str:
        """Why a session must be left alone; empty if nobody uses it."""
        for path in paths:
            if os.path.realpath(path) in self.open:
                return f"a process has {os.path.basename(path)} open"
        if any(name.encode() in word for word in self.words):
            return "its id stands on the command line of a process"
        return ""

    def runs_in(self, folders: Iterable[str]) -> str:
        """Which agent runs in one of these folders, or below it; empty if none does."""
        tops = [folder.rstrip("/") for folder in folders]
        for place, name in self.agents.items():
            if any(place == top or place.startswith(top + "/") for top in tops):
                return f"{name} runs in {place}"
        return ""

    def waits(self, changed: float, now: float) -> float:
        """How many seconds more nothing must be written before a session counts as left; 0 if it does."""
        return max(0.0, changed + (QUIET if self.is_asked else RECENT) - now)


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


def _agent(words: list[bytes]) -> Iterator[str]:
    """The agent that a command line starts: the program, or what an interpreter is given."""
    for word in words[:2]:
        name = os.path.basename(os.fsdecode(word)).removesuffix(".js")
        if name in AGENTS:
            yield name


def _links(folder: str) -> Iterator[str]:
    for name in _names(folder):
        target = _target(f"{folder}/{name}")
        if target.startswith("/"):
            yield target


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
