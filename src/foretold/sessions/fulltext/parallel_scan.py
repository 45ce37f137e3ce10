"""A second process that looks through files from the other end, where there is much to look through.

1. It is started when `AFTER` bytes were looked through here and more than twice as many are left, on a machine that has
   more than one processor. It begins with the oldest file; here, the newest came first.
2. It tells which files have nothing in them that may be meant, and the size it saw. Those are passed over here.
3. The answer does not depend on it: what it has not told is looked through here. It ends with whoever started it.
"""

from __future__ import annotations

import json
import os
import select
import sys

from foretold.paths import source_folder
from foretold.sessions.fulltext.scan import Sieve, has_odd, regions
from foretold.sessions.fulltext.update import is_lines
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from subprocess import Popen

    from foretold.sessions.model import StoredSession

AFTER = 8 * 1024 * 1024


class Ahead:
    """What such a process has found out. `sessions` are in the order in which they are looked through here."""

    def __init__(self, sieve: Sieve, sessions: Sequence[StoredSession]) -> None:
        self._sieve = sieve
        self._sessions = [stored for stored in sessions if is_lines(stored)]
        self._left = sum(stored.size for stored in self._sessions)
        self._seen = 0
        self._worker: Popen[bytes] | None = None
        self._told = b""
        self._clean: dict[str, int] = {}

    def is_clean(self, stored: StoredSession) -> bool:
        """Whether a file need not be looked at."""
        self._listen()
        if self._clean.get(stored.path) == stored.size:
            return True
        self._seen += stored.size
        self._left -= stored.size
        if self._worker is None and self._seen > AFTER and self._left > 2 * AFTER:
            self._start()
        return False

    def close(self) -> None:
        """End the process, if there is one."""
        if self._worker is not None:
            self._worker.kill()
            self._worker.communicate()
            self._worker = None
            self._left = 0  # no second one

    def _start(self) -> None:
        if not self._sieve.words or not sys.executable or (os.cpu_count() or 1) < 2:
            self._left = 0
            return
        import subprocess

        root = source_folder()
        words = [sys.executable, "-P", "-c", "from foretold.sessions.fulltext.parallel_scan import work; work()"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))}
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        try:
            self._worker = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=nothing, env=env)
            paths = [os.fsencode(stored.path).decode("latin-1") for stored in reversed(self._sessions)]
            given = {"words": [word.decode() for word in self._sieve.words], "paths": paths}
            assert self._worker.stdin is not None
            self._worker.stdin.write(json.dumps(given).encode() + b"\n")
            self._worker.stdin.flush()
        except OSError:
            self.close()
            self._left = 0

    def _listen(self) -> None:
        """Take in what was told until now."""
        if self._worker is None or self._worker.stdout is None:
            return
        told = self._worker.stdout.fileno()
        while select.select([told], [], [], 0)[0]:
            data = os.read(told, 65536)
            if not data:
                break
            *lines, self._told = (self._told + data).split(b"\n")
            for line in lines:
                number, size = map(int, line.split())
                self._clean[self._sessions[-1 - number].path] = size


def work() -> None:
    """What the process does: words and paths come by standard input, files without a find go to standard output."""
    given = json.loads(sys.stdin.buffer.readline())
    sieve = Sieve.of([word.encode() for word in given["words"]])
    for number, path in enumerate(given["paths"]):
        size = _looked_through(path.encode("latin-1"), sieve)
        if size:
            os.write(1, b"%d %d\n" % (number, size))
        if select.select([0], [], [], 0)[0]:
            return  # whoever started it has gone


def _looked_through(path: bytes, sieve: Sieve) -> int:
    """The size of a file that has nothing in it; 0 for any other."""
    is_odd = None
    end = 0
    try:
        for piece in regions(os.fsdecode(path)):
            end = end or piece.end
            is_odd = has_odd(piece.data) if is_odd is None else is_odd
            if not piece.data or sieve.lines(piece.data, is_odd=is_odd):
                return 0
    except OSError:
        return 0
    return end
