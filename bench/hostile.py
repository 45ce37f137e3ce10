"""Documents made to be slow, each in a process of its own that has a limit.

1. A document is loaded as CLAUDE.md, in two sizes. Honest prose of the smaller size is measured every now and then
   between them; the fastest counts.
2. Frontmatter is loaded as a rule, in a session that then touches a file: its patterns are compiled and asked.
   It is smaller, because long frontmatter is refused before it is parsed.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import statistics
import sys
import traceback
from collections.abc import Callable
from typing import NamedTuple

from loading import NOW, loader
from measure import Effort, cpu_seconds, rounds
from report import Row, Table, millis, times
from shapes import DOCUMENTS, FRONTS, LONG, Shape, plain
from trees import AGENTS, Place, place, write

from foretold import Session

PROSE_BAR, GROWTH_BAR = 10.0, 2.6
LIMIT = 20  #: seconds for one shape
HOPELESS = 5 * PROSE_BAR
EVERY = 40  #: shapes, after which prose is measured again
LARGE, SMALL = 1_000_000, 30_000
WORDS = {LARGE: "1 MB", SMALL: "30 kB"}
NEVER = float("inf")
Way = Callable[[str, str], Callable[[], object]]
EFFORT, QUICK, LONGER = Effort(0.2, 2, 20), Effort(0.1, 1, 10), Effort(1.0, 5, 40)


class Figures(NamedTuple):
    once: float
    growth: float | None = None  #: twice the size against once


def hostile(root: str, *, quick: bool) -> Table:
    effort = QUICK if quick else EFFORT
    tried = [(name, shape, document, LARGE) for name, shape in DOCUMENTS.items()]
    tried += [(name, shape, rule, SMALL) for name, shape in FRONTS.items()]
    tried += [(name, FRONTS[name], rule, LARGE) for name in LONG]
    found, prose = [], {}
    for number, (name, shape, way, size) in enumerate(tried):
        if number % EVERY == 0:
            for key in ((document, LARGE), (rule, SMALL), (rule, LARGE)):
                prose[key] = min(prose.get(key, NEVER), _prose(root, *key, effort))
        if sys.stderr.isatty():
            print(f"\r{number}/{len(tried)} {name:40}", end="\r", file=sys.stderr, flush=True)
        found.append((name, (way, size), _in_child(root, shape, size, way, effort, prose[way, size])))
    return Table(
        "6. Hostile documents",
        "CPU ms of a load with such a document, against prose of the same size with an import and a comment; then "
        f"twice the size against once. Bars: {PROSE_BAR:.0f}x prose, growth {GROWTH_BAR}x (not judged where twice the "
        "size costs less than the prose). Frontmatter has 30 kB: what is much longer is refused.",
        ("document", "size", "ms", "of prose", "growth"),
        [_row(name, WORDS[key[1]], figures, prose[key]) for name, key, figures in found],
        highest="of_prose",
    )


def _prose(root: str, way: Way, size: int, effort: Effort) -> float:
    found = _in_child(root, plain, size, way, effort, NEVER)
    return NEVER if isinstance(found, str) else found.once


def document(root: str, text: str) -> Callable[[], object]:
    """A load of a text that stands in CLAUDE.md."""
    where = _stage(root, "CLAUDE.md", text)
    return loader(where, AGENTS[1])


def rule(root: str, text: str) -> Callable[[], object]:
    """A session with a text that stands in a rule, and a file that is touched."""
    where = _stage(root, ".claude/rules/hostile.md", text)

    def run() -> None:
        session = Session(where.cwd, agent=AGENTS[1], home=where.home, managed=where.managed, env={}, now=NOW)
        session.start()
        session.read("src/m77/name.ts")

    return run


def _stage(root: str, name: str, text: str) -> Place:
    where = place(root)
    write(f"{where.cwd}/docs/guide.md", "Short.\n")
    write(f"{where.cwd}/{name}", text)
    return where


def measure(root: str, shape: Shape, size: int, way: Way, effort: Effort, prose: float = NEVER) -> Figures:
    """The figures of one shape. What looks too slow is measured longer; what is hopeless, once."""
    once = way(f"{root}/once", shape(size))
    first = cpu_seconds(once)
    if first > HOPELESS * prose:
        return Figures(first)
    twice = way(f"{root}/twice", shape(2 * size))
    found = _figures(rounds(effort, once, twice))
    if found.once / prose > PROSE_BAR or found.growth > GROWTH_BAR:
        found = _figures(rounds(LONGER, once, twice))
    return found


def _figures(found: list[list[float]]) -> Figures:
    """The fastest run, and the growth in the middle of all rounds: a machine may be slower for a while."""
    return Figures(min(once for once, _ in found), statistics.median(twice / once for once, twice in found))


def _in_child(root: str, shape: Shape, size: int, way: Way, effort: Effort, prose: float) -> Figures | str:
    """The figures of one shape, or how its process ended."""
    folder = f"{root}/hostile"
    os.mkdir(folder)
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(reading)
            found = measure(folder, shape, size, way, effort, prose)
            os.write(writing, json.dumps(found).encode())
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    # A limit on CPU time would make Linux count that time in ticks of 4 ms.
    try:
        slow = not select.select([reading], [], [], LIMIT)[0]
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    if slow:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    shutil.rmtree(folder)
    code = os.waitstatus_to_exitcode(status)
    if code:
        return f"over {LIMIT} s" if code == -signal.SIGKILL else f"signal {-code}" if code < 0 else "raised"
    return Figures(*json.loads(data))


def _row(name: str, size: str, found: Figures | str, prose: float) -> Row:
    if isinstance(found, str):
        return Row(name, (size, found, "", ""), {"size": size, "ended": found}, (found,))
    ratio, growth = found.once / prose, found.growth
    over = ["prose"] if ratio > PROSE_BAR else []
    if growth and growth > GROWTH_BAR and growth * found.once > prose:
        over.append("growth")
    figures = {"size": size, "ms": found.once * 1000, "of_prose": ratio, "growth": growth}
    return Row(name, (size, millis(found.once), times(ratio), times(growth) if growth else ""), figures, tuple(over))


if __name__ == "__main__":  # one shape, for a profile: python bench/hostile.py "front, keys" 120000 FOLDER
    name, size, root = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    shape, way = (DOCUMENTS[name], document) if name in DOCUMENTS else (FRONTS[name], rule)
    print(measure(root, shape, size, way, QUICK))
