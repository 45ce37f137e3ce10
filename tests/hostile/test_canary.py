"""The canary can be heard: each payload does run when something runs it. Else the other files would prove nothing."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("kind", ["command", "python", "program"])
def test_every_payload_runs_when_it_is_run(canary, tmp_path, kind):
    assert not canary.ran
    words = {
        "command": ["/bin/sh", "-c", canary.command],
        "python": [sys.executable, "-c", canary.python],
        "program": [canary.program(str(tmp_path / "tool"))],
    }
    subprocess.run(words[kind], check=True, cwd=tmp_path, timeout=60)
    assert canary.ran


def test_the_installed_command_answers(installed):
    code, out, err = installed.run("--version")
    assert (code, out.split()[0], err) == (0, b"foretold", b"")


def test_a_module_of_the_folder_would_run_in_a_python_that_is_not_isolated(canary, place):
    place.write("proj/json.py", canary.python)
    subprocess.run([sys.executable, "-c", "import json"], cwd=place.proj, check=True, timeout=60)
    assert canary.ran


def test_permission_bits_hold_for_this_user(needs_bits, place):
    with pytest.raises(PermissionError):
        open(place.write("proj/secret", mode=0), encoding="utf-8").close()
    assert os.geteuid() != 0
