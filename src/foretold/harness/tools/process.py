"""Running a program that cannot outlive what started it.

1. It runs in a new session and process group, with no input but what is given, and its output is read as it
   comes; of a long output the beginning and the end are kept, and what is between them is counted.
2. A shell next to it, in its group, reads from a pipe that only this process holds open: should this process die, even
   by SIGKILL, that pipe ends and the whole group is killed.
3. After its time the group gets SIGTERM, a little later SIGKILL. When the program has ended, whatever it left running
   in its group is killed, unless it is to be kept.

A process that leaves the group on purpose (`setsid`) is beyond this.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import selectors
import signal
import time
from collections.abc import Mapping, Sequence

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess

KEPT = 150_000  #: characters of the beginning, and of the end
GRACE = 2.0  #: seconds between SIGTERM and SIGKILL
DRAIN = 0.2  #: seconds to wait for output that is still on its way when the program has ended
#: stdin is the pipe that must not end, stderr the one that reports the end, and takes what is written to descriptor 3
GUARD = """exec 5<&0
"$@" </dev/null 3>&2 2>&1 5<&- &
child=$!
( read -r _ <&5; kill -KILL -$$ ) >/dev/null 2>&1 &
guard=$!
wait $child
code=$?
kill -KILL $guard
printf '\\0%s\\n' $code >&2
exit $code"""


_ENDED = re.compile(rb"\0(\d+)\n")


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
            _signal(process.pid, signal.SIGKILL)
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
        if timed_out or not keeps_background:
            _signal(process.pid, signal.SIGKILL)  # before it is waited for: its number is still its own
        code = process.wait()
        while out in selector.get_map() and _read_ready(selector, DRAIN):
            pass
    output.add(b"", final=True)
    ended = _ENDED.search(status)
    code = int(ended[1]) if ended else code if code >= 0 else 128 - code  # of what ended its whole group
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


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended; macOS refuses a group of zombies
        os.killpg(group, number)
