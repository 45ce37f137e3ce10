"""A model that does not mean well: what it asks its tools for does not get away with more than it was given."""

import os
import select
import sys

import pytest

from foretold.errors import ProbeFailed
from foretold.harness.permissions.check import Permission
from foretold.harness.tools.registry import DEFAULT_TOOLS, ToolContext, run_tool
from foretold.proof.probe.run import probe

# Processes that want to stay

#: each holds the pipe of descriptor 9 while it lives
STAYING = {
    "setsid": "setsid sleep 600 >/dev/null 2>&1 &",
    "setsid, forked": "setsid --fork sleep 600 >/dev/null 2>&1;",
    "orphan without a variable": "(env -i setsid sh -c 'sleep 600 & wait' >/dev/null 2>&1 &) ;",
    "nohup": "nohup setsid nohup sleep 600 >/dev/null 2>&1 &",
    "grandchildren": "setsid sh -c 'setsid sh -c \"setsid sleep 600 & sleep 600\" & exit' >/dev/null 2>&1 &",
}
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere only the process group is ended")


class Held:
    """A pipe that tells whether a process still holds it."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path, self.reader = path, os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def is_free(self):
        """Whether nobody holds it; a process that was just killed may take a moment to be gone."""
        while select.select([self.reader], [], [], 20)[0]:
            if not os.read(self.reader, 4096):
                return True
        return False


@pytest.fixture
def held(place):
    pipe = Held(place.path("held"))
    yield pipe
    os.close(pipe.reader)


@linux
@pytest.mark.parametrize("kind", STAYING)
def test_no_process_outlives_bash(place, held, kind):
    permission = Permission("bypass", cwd=place.proj, home=place.home)
    env = {"PATH": os.environ.get("PATH", os.defpath)}
    context = ToolContext(place.proj, home=place.home, env=env, permission=permission)
    command = f"exec 9> {held.path}; {STAYING[kind]} echo done"
    done = run_tool(context, DEFAULT_TOOLS, {"name": "Bash", "input": {"command": command}})
    assert (done.content, held.is_free()) == ("done", True)


@linux
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("kind", STAYING)
def test_no_process_outlives_a_probe(place, held, monkeypatch, kind, alone):
    """With a process tree of its own, where the system has `unshare`, and without."""
    if not alone:
        for name in ("sh", "sleep", "setsid", "env", "nohup"):
            place.link(f"tools/{name}", next(filter(os.path.exists, (f"/bin/{name}", f"/usr/bin/{name}"))))
        monkeypatch.setenv("PATH", place.path("tools"))
    agent = place.write("bin/claude", f"#!/bin/sh\nexec 9> {held.path}\n{STAYING[kind]} exit 3\n", mode=0o755)
    with pytest.raises(ProbeFailed, match="ended with 3"):
        probe("claude-code@2.1.325", place.proj, program=agent, home=place.home)
    assert held.is_free()
