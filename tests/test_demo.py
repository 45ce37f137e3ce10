"""`make demo`: it fits on two screens, and every command it shows can be pasted."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def test_the_demo_fits_and_its_commands_can_be_pasted(tmp_path):
    env = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "sample", "demo.py")], env=env, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 80 or str(tmp_path) in done.stdout
    findings = re.findall(r"^  \S+:\d+  [a-z]+ [a-z-]+$", done.stdout, re.MULTILINE)
    assert findings
    assert len(set(findings)) == len(findings), "a finding is printed twice"
    typed = [line[2:] for line in lines if line.startswith("$ ")]
    typed += [found[0] for found in re.findall(r"next: (foretold( [a-z]+)?)", done.stdout)]
    assert len(typed) > 7
    for command in typed[1:]:
        pasted = subprocess.run(
            ["/bin/sh", "-c", f"{typed[0]}\n{command}"], env=env, capture_output=True, text=True, check=False
        )
        assert pasted.returncode in (0, 1), (command, pasted.stderr)
        assert pasted.stdout, command


def test_a_second_demo_replaces_the_first(tmp_path):
    env = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    for _ in range(2):
        subprocess.run(
            [sys.executable, os.path.join(ROOT, "sample", "demo.py")], env=env, capture_output=True, check=True
        )
    assert len([name for name in os.listdir(tmp_path) if name.startswith("foretold-demo")]) == 1
