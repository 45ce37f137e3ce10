"""Whether a session is in use: a running agent's files are not deleted under it.

1. A session is in use if a process has one of its files open, if its id is on a command line, or if it was written to a
   short while ago.
2. Agents do not hold a transcript open between two records. A caller that knows the folder can look for an agent that
   runs in it; then a minute of silence is enough.
3. Processes are read from `/proc`, as far as the user may; where there is none, only the time counts, and it has to be
   longer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from foretold.sessions.formats.fields import list_names
from foretold.storage.tree import open_regular

RECENT = 15 * 60.0  #: seconds after a write in which the agent may be at work
QUIET = 60.0  #: seconds, where processes and their folders are known
AGENTS = ("claude", "codex", "gemini", "opencode")  #: the names of their programs


class RunningProcesses:
    """What the processes of this machine have open, at the moment this was made."""

    def __init__(self, proc: str = "/proc") -> None:
        self.open: set[str] = set()
        self.words: set[bytes] = set()
        self.agents: dict[str, str] = {}  #: folder -> the agent that runs in it
        self.is_known = False  #: whether there is a `/proc`
        for pid in list_names(proc):
            if pid.isdigit() and int(pid) != os.getpid():
                self.is_known = True
                words = _words(f"{proc}/{pid}/cmdline")
                self.words.update(words)
                targets = (_target(f"{proc}/{pid}/fd/{name}") for name in list_names(f"{proc}/{pid}/fd"))
                self.open.update(target for target in targets if target.startswith("/"))
                for word in words[:2]:  # the program, or what an interpreter is given
                    name = os.path.basename(os.fsdecode(word)).removesuffix(".js")
                    if name in AGENTS:
                        self.agents[_target(f"{proc}/{pid}/cwd")] = name

    def find_use(self, name: str, paths: Iterable[str]) -> str:
        """Why a session must be left alone; empty if no process uses it."""
        for path in paths:
            if os.path.realpath(path) in self.open:
                return f"a process has {os.path.basename(path)} open"
        if any(name.encode() in word for word in self.words):
            return "its id is on the command line of a process"
        return ""

    def find_agent_in(self, folders: Iterable[str]) -> str:
        """Which agent runs in one of these folders, or below it; empty if none does."""
        tops = [folder.rstrip("/") for folder in folders]
        for place, name in self.agents.items():
            if any(place == top or place.startswith(top + "/") for top in tops):
                return f"{name} runs in {place}"
        return ""

    def seconds_to_wait(self, changed: float, now: float) -> float:
        """How many more seconds nothing must be written before a session counts as unused; 0 if it does now."""
        return max(0.0, changed + (QUIET if self.is_known else RECENT) - now)


def _words(path: str) -> list[bytes]:
    with suppress(OSError), open(path, "rb", opener=open_regular) as file:
        return file.read(64 * 1024).split(b"\0")
    return []


def _target(path: str) -> str:
    with suppress(OSError):
        return os.readlink(path)
    return ""
