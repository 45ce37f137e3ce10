"""3,000 rules that wait, and a file that is touched."""

from __future__ import annotations

import os
from functools import partial

from loading import NOW
from measure import Effort, cpu_seconds
from report import Row, Table, millis, times
from trees import AGENTS, Place, conditional, place, write_rules

from foretold import Session

BAR = 0.001
NEVER = float("inf")
COUNT = 3_000
#: a pattern with the rule's number in it, and a path that one rule, or all of them, match
SHAPES = {
    "dir/**": ("src/m{n}/**", "src/m77/a/b.ts"),
    "dir/**/*.ext": ("src/m{n}/**/*.ts", "src/m77/a/b.ts"),
    "**/*.ext": ("**/*.x{n}", "src/a/b.x77"),
    "*.ext": ("*.x{n}", "src/a/b.x77"),
    "braces": ("src/{{a{n},b{n}}}/*.ts", "src/b77/c.ts"),
    "name": ("name{n}.ts", "src/a/name77.ts"),
    "*name*": ("*mod{n}z*", "src/a/xmod77zx.ts"),
    "a?c": ("src/a?c{n}/*.ts", "src/abc77/x.ts"),
    "same": ("src/**/*.ts", "src/a/b.ts"),
    "no match": ("src/m{n}/**/*.ts", "lib/other/file.py"),
}


def touch(root: str, effort: Effort) -> Table:
    where = place(f"{root}/touch")
    rows = [_row(where, name, *shape, effort) for name, shape in SHAPES.items()]
    return Table(
        "5. One touched path against 3,000 waiting rules",
        "CPU ms of the first read of a session that has just started, and of the slowest of twenty other paths after "
        f"it; each the fastest of several sessions. Bar: {BAR * 1000:.0f} ms.",
        ("patterns", "first ms", "next ms", "in stats", "attached", "start ms"),
        rows,
    )


def _row(where: Place, name: str, pattern: str, path: str, effort: Effort) -> Row:
    write_rules(where.cwd, COUNT, conditional(pattern), size=200)
    others = [_other(path, number) for number in range(20)]
    first, start, later, attached = NEVER, NEVER, dict.fromkeys(others, NEVER), 0
    for _ in range(effort.least):
        session = _session(where)
        start = min(start, cpu_seconds(session.start))
        first = min(first, cpu_seconds(partial(session.read, path)))
        attached = len(session.attached)
        later = {other: min(best, cpu_seconds(partial(session.read, other))) for other, best in later.items()}
    slowest = max(later.values())
    stat = min(cpu_seconds(lambda: os.stat(where.cwd)) for _ in range(200))
    over = [word for word, seconds in (("first", first), ("next", slowest)) if seconds > BAR]
    # All rules have this one pattern, so all are attached: what is delivered costs what it weighs.
    unjudged = "all attached" if name == "same" else ""
    return Row(
        name,
        (millis(first), millis(slowest), times(first / stat), str(attached), millis(start)),
        {
            "first_ms": first * 1000,
            "next_ms": slowest * 1000,
            "first_in_stats": first / stat,
            "attached": attached,
            "start_ms": start * 1000,
        },
        () if unjudged else tuple(over),
        unjudged,
    )


def _session(where: Place) -> Session:
    return Session(where.cwd, agent=AGENTS[1], home=where.home, managed=where.managed, env={}, now=NOW)


def _other(path: str, number: int) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder.replace('77', str(number))}/other{number}-{name}"
