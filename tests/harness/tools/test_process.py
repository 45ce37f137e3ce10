"""Running a program that cannot outlive what started it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from foretold.harness.tools.process import Output, run

PARENT = """
import sys
from foretold.harness.tools.process import run
run(["/bin/bash", "-c", sys.argv[1]], "/", {"PATH": "/usr/bin:/bin"}, 600)
"""
LONG = 20  #: seconds until a test gives up waiting for an end


def bash(command: str, folder: Path, seconds: float = 60, *, keeps_background: bool = False) -> tuple[int, str, bool]:
    done = run(
        ["/bin/bash", "-c", command], str(folder), {"PATH": "/usr/bin:/bin"}, seconds, keeps_background=keeps_background
    )
    return done.code, done.output.cut(1_000), done.timed_out


def ended(descriptor: int) -> bytes:
    """All that is written to a pipe, until nobody holds it any more."""
    text = b""
    while select.select([descriptor], [], [], LONG)[0]:
        data = os.read(descriptor, 4096)
        if not data:
            return text
        text += data
    pytest.fail("somebody still holds the pipe")


@pytest.mark.parametrize(
    "command",
    [
        "sleep 600",
        "sleep 600 & sleep 600",
        "(sleep 600 &) ; trap '' TERM HUP; sleep 600; :",
        "setsid sleep 600 & sleep 600",
        "(env -i setsid sleep 600 &) ; exec setsid -w sh -c 'sleep 600 & sleep 600'",
    ],
)
def test_nothing_is_left_when_the_parent_is_killed(tmp_path: Path, command: str) -> None:
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    script = f"exec 9> {fifo}; echo begun >&9; {command}"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, script])
    try:
        assert select.select([reader], [], [], LONG)[0]
        assert os.read(reader, 100) == b"begun\n"
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert ended(reader) == b""
    finally:
        parent.kill()
        parent.wait()
        os.close(reader)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 600 &",
        "setsid sleep 600 &",
        "setsid --fork sleep 600;",
        "(env -i setsid sh -c 'sleep 600 & trap : TERM; sleep 600' &) ;",
        "setsid sh -c 'while :; do sleep 600 & sleep 0.01; done' >/dev/null 2>&1 &",
    ],
)
def test_what_is_left_running_is_ended(tmp_path: Path, command: str) -> None:
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    # opened before the command goes on: one that is ended before it opens the pipe would never have held it
    assert bash(f"exec 9> {fifo}; {command} echo done", tmp_path) == (0, "done\n", False)
    assert ended(reader) == b""
    os.close(reader)


def test_after_its_time_nothing_is_left(tmp_path: Path) -> None:
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert bash(f"exec 9> {fifo}; setsid sleep 600 & sleep 600", tmp_path, 0.5)[2]
    assert ended(reader) == b""
    os.close(reader)


def test_a_process_of_the_same_parent_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        assert bash("setsid sleep 600 & echo done", tmp_path)[0] == 0
        assert other.poll() is None
        other.kill()


def test_what_is_left_running_stays_if_it_is_to_be_kept(tmp_path: Path) -> None:
    code, said, _ = bash("sleep 600 > /dev/null & echo $!", tmp_path, keeps_background=True)
    kept = int(said)
    os.kill(kept, 0)
    os.kill(kept, signal.SIGKILL)
    assert code == 0


@pytest.mark.parametrize("command", ["sleep 600", "trap '' TERM; echo a; while :; do sleep 600; done"])
def test_after_its_time_a_program_is_ended(tmp_path: Path, command: str) -> None:
    code, _, timed_out = bash(command, tmp_path, 0.3)
    assert (code, timed_out) == (143, True)


def test_the_status_is_that_of_the_program(tmp_path: Path) -> None:
    assert bash("echo out; echo err >&2; exit 7", tmp_path) == (7, "out\nerr\n", False)
    assert bash("kill -KILL $$", tmp_path)[0] == 137
    assert bash("kill 0", tmp_path)[0] == 143


def test_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert bash("cat; read x; echo $?", tmp_path) == (0, "1\n", False)


def test_what_is_told_is_apart_from_the_output(tmp_path: Path) -> None:
    done = run(["/bin/bash", "-c", "echo a; echo b >&3"], str(tmp_path), {"PATH": "/usr/bin:/bin"}, 60)
    assert (done.output.cut(10), done.status_text) == ("a\n", "b\n")


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        run(["/bin/true"], f"{tmp_path}/none", {}, 1)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
    for _ in range(3):
        bash("echo a", tmp_path)
    assert (sorted(os.listdir("/proc/self/fd")) if before else []) == before


def test_two_ends_are_kept_of_any_length() -> None:
    output = Output(kept=100)
    for number in range(10_000):
        output.add(f"{number}\n".encode())
    assert output.length == 48_890
    assert (
        output.cut(40)
        == "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n\n\n... [48850 characters truncated] ...\n\n9996\n9997\n9998\n9999\n"
    )
    split = Output()
    for byte in "ä€😀".encode():
        split.add(bytes([byte]))
    assert split.cut(10) == "ä€😀"
