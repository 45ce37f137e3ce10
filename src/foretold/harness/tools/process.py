"""Running a program that cannot outlive what started it.

1. It runs in a new session and process group, with no input but what is given, and its output is read as it
   comes; of a long output the beginning and the end are kept, and what is between them is counted.
2. A shell next to it, in its group, reads from a pipe that only this process holds open: should this process die, even
   by SIGKILL, that pipe ends and the whole group is killed.
3. After its time the group gets SIGTERM, a little later SIGKILL. When the program has ended, whatever it left running
   is killed, unless it is to be kept.
4. A process that leaves the group on purpose (`setsid`), or whose parents have ended, does not get away: on Linux the
   shell adopts all that descends from it, and waits until all of them are killed. Elsewhere only the group is.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import selectors
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess

KEPT = 150_000  #: characters of the beginning, and of the end
GRACE = 2.0  #: seconds between SIGTERM and SIGKILL
DRAIN = 0.2  #: seconds to wait for output that is still on its way when the program has ended
#: stdin is the pipe that must not end, stderr the one that reports the end, and takes what is written to descriptor 3.
#: The shell stays until it is ended, also after its report: what it has adopted would get away if it left.
GUARD = """exec 5<&0
"$@" </dev/null 3>&2 2>&1 5<&- &
child=$!
trap '' TERM
(
    read -r _ <&5
    kill -STOP $$
    me=$(exec /bin/sh -c 'echo $PPID')
    end() {
        for list in /proc/$1/task/*/children; do
            for each in $(cat $list); do
                [ $each = $me ] || { kill -STOP $each; (end $each); kill -KILL $each; }
            done
        done
    }
    for round in 1 2 3 4 5; do end $$; done
    kill -KILL -$$
) >/dev/null 2>&1 &
guard=$!
wait $child
code=$?
printf '\\0%s %s\\n' $code $guard >&2
wait $guard
exit $code"""


_ENDED = re.compile(rb"\0(\d+) (\d+)\n")


class Finished(NamedTuple):
    """A program that has ended."""

    code: int  #: 128 and the number of the signal, if one ended it
    output: Output
    status_text: str  #: what it wrote to descriptor 3
    timed_out: bool = False


class Output:
    """A text of any length, of which two ends are kept."""

    def __init__(self, kept: int = KEPT) -> None:
        self.kept, self.length = kept, 0
        self._head: list[str] = []
        self._tail: list[str] = []
        self._missing, self._held = kept, 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, data: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(data, final)
        self.length += len(text)
        head, tail = text[: self._missing], text[self._missing :]
        self._head.append(head)
        self._missing -= len(head)
        self._tail.append(tail)
        self._held += len(tail)
        if self._held > 2 * self.kept:
            self._tail = ["".join(self._tail)[-self.kept :]]
            self._held = len(self._tail[0])

    def cut(self, most: int) -> str:
        """The text; of a longer one, its two ends, and how much is missing between them."""
        head, tail = "".join(self._head), "".join(self._tail)
        if self.length <= min(most, len(head) + len(tail)):
            return head + tail
        half = min(most // 2, self.kept)
        end = tail if len(tail) >= half else head + tail
        return f"{head[:half]}\n\n... [{self.length - 2 * half} characters truncated] ...\n\n{end[-half:]}"


def run(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    seconds: float,
    *,
    keeps_background: bool = False,
    kept: int = KEPT,
) -> Finished:
    """Run a program to its end. OSError if it cannot be started."""
    import subprocess

    end, lifeline = os.pipe()
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "sh", *argv],
            cwd=cwd,
            env=dict(env),
            stdin=end,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=adopter(),
        )
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(end)
    try:
        return _attend(process, seconds, Output(kept), keeps_background=keeps_background)
    finally:
        if process.returncode is None:
            _end_all(process.pid)
        os.close(lifeline)
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _attend(process: subprocess.Popen[bytes], seconds: float, output: Output, *, keeps_background: bool) -> Finished:
    """Read what a program says until it ends, or is ended."""
    assert process.stdout is not None
    assert process.stderr is not None
    out, reports = process.stdout.fileno(), process.stderr.fileno()
    #: what comes through the status pipe: after a NUL byte the status of the program, which has then ended. That the
    #: pipe is open proves nothing: what the program left running may still hold it.
    status = bytearray()
    deadline, timed_out = time.monotonic() + seconds, False
    with selectors.DefaultSelector() as selector:
        selector.register(out, selectors.EVENT_READ, output.add)
        selector.register(reports, selectors.EVENT_READ, status.extend)
        while reports in selector.get_map() and not _ENDED.search(status):
            left = deadline - time.monotonic()
            if left > 0:
                _read_ready(selector, left)
                del status[:-KEPT]
            elif not timed_out:
                timed_out, deadline = True, time.monotonic() + GRACE
                _signal(process.pid, signal.SIGTERM)
            else:
                break
        ended = _ENDED.search(status)
        if timed_out or not keeps_background:
            _end_all(process.pid)  # before it is waited for: its number is still its own
        elif ended:
            os.kill(int(ended[2]), signal.SIGKILL)  # what waits for our end; its parent is still there
        code = process.wait()
        while out in selector.get_map() and _read_ready(selector, DRAIN):
            pass
    output.add(b"", final=True)
    code = int(ended[1]) if ended else code if code >= 0 else 128 - code  # of what ended its whole group
    if timed_out:
        code = 128 + signal.SIGTERM
    text = status.partition(b"\0")[0].decode("utf-8", "replace")
    return Finished(code, output, text, timed_out)


def _read_ready(selector: selectors.BaseSelector, seconds: float) -> bool:
    """Take what has come; whether anything has."""
    ready = selector.select(seconds)
    for key, _ in ready:
        data = os.read(key.fd, 65_536)
        key.data(data)
        if not data:
            selector.unregister(key.fd)
    return bool(ready)


def _end_all(shell: int) -> None:
    """End our shell, its group, and all that descends from it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(shell, signal.SIGSTOP)  # it would leave when what it waits for is gone
    end_descendants(shell)
    _signal(shell, signal.SIGKILL)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended; macOS refuses a group of zombies
        os.killpg(group, number)


# What descends from a process

ADOPT = 36  #: PR_SET_CHILD_SUBREAPER of prctl(2)
QUIET = 5  #: looks in a row that find nothing
ROUNDS = 100  #: of a process that starts others as fast as they are ended; each round stops all it sees before it kills


def adopter() -> Callable[[], object] | None:
    """What a process calls so that descendants whose parents end become its children; None where there is no such call.

    The setting outlives `exec`, and is not inherited.
    """
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    call = ctypes.CDLL(None).prctl  # looked up here: between fork and exec nothing may be loaded
    return lambda: call(ADOPT, 1, 0, 0, 0)


def end_descendants(process: int) -> None:
    """End every process that descends from one, and has not ended: also those that left its group and session."""
    quiet = 0  # a look takes time: one that is started meanwhile by one that ends meanwhile is seen by the next
    for _ in range(ROUNDS):
        found = descendants_of(process)
        quiet = 0 if found else quiet + 1
        if quiet == QUIET:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):  # one that is stopped starts no other
            for each in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(each, number)


def descendants_of(process: int) -> list[int]:
    """The processes that descend from one and run, by their numbers; none where there is no `/proc`."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]  # its own name may have brackets
                if state not in (b"Z", b"X"):
                    children.setdefault(int(parent), []).append(int(name))
    found, waiting = list[int](), [process]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += below
    return found
