"""A search shared among processes: what `scan` does, on every core.

1. The first files, among them those that memories name, are searched here. Mostly all is found in them.
2. If git can tell which of the other files contain any of the words that are left, only those are searched.
3. They are searched by one process a core, each with a share of them in their order. The processes are fresh
   interpreters without site packages, environment or working directory; they read files only.
4. The answer is the one that a single process gives: the first code that has a needle, else the first document. Only
   the number of files that were searched may be higher.
5. A process that fails is replaced by searching its share here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable

from foretold.memory.drift.search import Group, Hit, Needle, Own, Searched, keys_of, search

FIRST = 2_000  #: files that are searched before others are asked to help
SHARE = 20_000  #: files that are worth a process
MOST = 8  #: processes
Narrow = Callable[[Collection[bytes]], frozenset[str] | None]
_CODE = "import sys; sys.path[:0] = sys.argv[1:]; from foretold.memory.drift.parallel_search import work; work()"


def search_all(
    root: str,
    files: list[str],
    groups: Iterable[Group],
    *,
    own: Own | None = None,
    narrow: Narrow | None = None,
    progress: Callable[[int], None] | None = None,
    processes: int | None = None,
) -> Searched:
    """Look in all files for all groups of needles, as `search` does.

    >>> search_all("/nowhere", [], [(Needle("run"),)]).hits
    {}
    """
    groups, own = [*groups], own or Own()
    if len(files) < FIRST + SHARE:
        return search(root, files, groups, own=own, progress=progress)
    found = search(root, files[:FIRST], groups, own=own, progress=progress)
    code = {needle for needle, hit in found.hits.items() if not hit.is_prose}
    left = [group for group in groups if not code & {*group}]
    if not left:
        return found
    rest = files[FIRST:]
    near = narrow(keys_of(left)) if narrow else None
    if near is not None:
        rest = [path for path in rest if path in near]
        found = found._replace(files=found.files + len(files) - FIRST - len(rest))
    count = min(processes or os.cpu_count() or 1, MOST, len(rest) // SHARE + 1) if sys.executable else 1
    size = max(-(-len(rest) // count), 1)
    shares = [rest[start : start + size] for start in range(0, len(rest), size)]
    return _merge([found, *_together(root, shares, left, own, progress)])


def _together(
    root: str, shares: list[list[str]], groups: list[Group], own: Own, progress: Callable[[int], None] | None
) -> Iterable[Searched]:
    """The answers for all shares, in their order; this process takes the first."""
    if not shares:
        return
    path = os.path.abspath(__file__)
    for _ in __name__.split("."):
        path = os.path.dirname(path)
    mates = []
    for share in shares[1:]:
        task = [root, share, groups, [*own.names], [*own.digests]]
        command = [sys.executable, "-I", "-S", "-c", _CODE, path]
        pipe = subprocess.PIPE
        mate = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={})
        _give(mate, json.dumps(task).encode())
        mates.append((mate, share))
    try:
        yield search(root, shares[0], groups, own=own, progress=progress)
        for mate, share in mates:
            assert mate.stdout is not None
            said = mate.stdout.read()
            yield _read(said) if mate.wait() == 0 else search(root, share, groups, own=own)
    finally:
        for mate, _ in mates:
            mate.kill()
            with mate:
                pass  # closes its pipe and waits for it


def _give(mate: subprocess.Popen[bytes], task: bytes) -> None:
    """Write a task and close the pipe; a mate reads all of it before it writes."""
    assert mate.stdin is not None
    try:
        mate.stdin.write(task)
        mate.stdin.close()
    except OSError:
        mate.kill()
    mate.stdin = None


def work() -> None:
    """What a mate does: a task on standard input, the answer on standard output."""
    root, files, groups, names, digests = json.load(sys.stdin)
    needles = [tuple(Needle(*needle) for needle in group) for group in groups]
    found = search(root, files, needles, own=Own(frozenset(names), frozenset(digests)))
    json.dump([[*found.hits.items()], *found[1:]], sys.stdout)


def _read(said: bytes) -> Searched:
    hits, files, binary, large, unread = json.loads(said)
    return Searched({Needle(*needle): Hit(*hit) for needle, hit in hits}, files, binary, tuple(large), unread)


def _merge(parts: list[Searched]) -> Searched:
    """One answer from those for parts of the files, in their order."""
    hits: dict[Needle, Hit] = {}
    for part in parts:
        for needle, hit in part.hits.items():
            known = hits.get(needle)
            if known is None or (known.is_prose and not hit.is_prose):
                hits[needle] = hit
    return Searched(
        hits,
        sum(part.files for part in parts),
        sum(part.binary for part in parts),
        tuple(path for part in parts for path in part.large),
        sum(part.unread for part in parts),
    )
