"""What the attacks share: a canary that proves that nothing ran, and the command as a user has it installed.

The tests run twice in `.ci/run`: as the user who runs the tests (often root) and as one without rights
(`tests/system/unprivileged.py`), because permission bits prove nothing to root.
"""

import os
import shlex
import signal
import subprocess
import sys

import pytest

SECONDS = 60  #: a process that takes longer hangs


class Canary:
    """A file that an attack's payload would create. `command`, `python` and `program` are payloads that do."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "canary")
        self.command = f"touch {shlex.quote(self.path)}"  #: for a shell
        self.python = f"open({self.path!r}, 'w').close()\n"  #: for an interpreter

    def program(self, path, content=""):
        """An executable file that is the payload, whatever it is called with; its path."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{self.command}\n{content}\n")
        os.chmod(path, 0o755)
        return path

    @property
    def ran(self):
        return os.path.exists(self.path)


@pytest.fixture
def canary(tmp_path):
    return Canary(os.path.realpath(tmp_path))


class Installed:
    """The command `foretold` of a user who installed it: no folder of the project is on the module path.

    `start` gives a process with pipes, `run` a finished one; both are ended with all they started if they hang.
    """

    def __init__(self, place):
        self.place = place
        self.words = [sys.executable, "-I", "-c", "from foretold.cli import run; run()"]

    def environment(self, **more):
        env = self.place.environment(PATH=os.environ.get("PATH", os.defpath), **more)
        del env["PYTHONPATH"]  # the attacker's folder must not get in, and ours is installed
        return env

    def start(self, *words, cwd="proj", env=None, **options):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [*self.words, *words],
            cwd=self.place.path(cwd),
            env=self.environment(**(env or {})),
            start_new_session=True,
            **{**pipes, **options},
        )

    def run(self, *words, given=b"", seconds=SECONDS, **options):
        """The finished process as (exit code, standard output, standard error). A hang fails the test."""
        with self.start(*words, **options) as process:
            try:
                out, err = process.communicate(given, timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                pytest.fail(f"foretold {shlex.join(words)} hangs: no end after {seconds} s")
        return process.returncode, out, err


@pytest.fixture
def installed(place):
    return Installed(place)


@pytest.fixture
def needs_bits():
    """Skip for root, to whom permission bits prove nothing; the same test runs again without rights."""
    if os.geteuid() == 0:
        pytest.skip("root can read and write everything; tests/system/unprivileged.py runs this as another user")
