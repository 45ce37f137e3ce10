"""`foretold.compare` over all agents, against the slowest load of one of them. Exit status 1 if the bar is exceeded.

python bench/compare.py            200,000 files, the working directory 40 levels down
python bench/compare.py --quick    10,000 files
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile

from measure import Effort, fastest
from report import Row, Table, millis, over, render, times
from trees import Place, files, write

import foretold
from foretold.dialects.registry import AGENTS, EVIDENCE, make_request
from foretold.instructions.load import load_view
from foretold.storage.tree import Disk

BAR = 3.0
EFFORT = Effort(3.0, 15)


def deep(root: str, count: int) -> Place:
    """A large repository, and a working directory far down in it with instruction files at many levels."""
    where = files(root, count)
    folder = where.cwd
    for level in range(40):
        folder += f"/l{level}"
        write(f"{folder}/CLAUDE.md", f"Level {level} has a rule of its own.\n")
        if level % 4 == 0:
            write(f"{folder}/AGENTS.md", f"Level {level}, for others.\n")
    return where._replace(cwd=folder)


def single(where: Place, agent: str) -> float:
    """CPU seconds of a load of one agent."""

    def load() -> object:
        choice, request = make_request(where.cwd, agent, home=where.home, managed=where.managed, env={})
        return load_view(Disk(), choice, request)

    return fastest(Effort(0.4, 10), load, before=gc.collect)[0]


def table(where: Place) -> Table:
    agents = [agent for agent in AGENTS if agent in EVIDENCE]  # mink looks for files that match, by its nature
    alone = {agent: single(where, agent) for agent in agents}
    slowest = max(alone, key=lambda agent: alone[agent])

    def all_of_them() -> object:
        return foretold.compare(where.cwd, agents, home=where.home, managed=where.managed, env={})

    together = fastest(EFFORT, all_of_them, before=gc.collect)[0]
    ratio = together / alone[slowest]
    cells = (
        str(len(agents)),
        slowest,
        millis(alone[slowest]),
        millis(sum(alone.values())),
        millis(together),
        times(ratio),
    )
    figures: dict[str, float | int | str | None] = {
        "ratio": ratio,
        "slowest_ms": alone[slowest] * 1000,
        "compare_ms": together * 1000,
    }
    return Table(
        "compare against the slowest single load",
        f"CPU time; all agents through one tree that remembers. Bar: {BAR:.0f}x.",
        ("tree", "agents", "slowest", "its ms", "all alone ms", "compare ms", "ratio"),
        [Row("deep 40", cells, figures, ("ratio",) if ratio > BAR else ())],
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller tree")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foretold-bench-") as folder:
        found = table(deep(os.path.realpath(folder) + "/t", 10_000 if options.quick else 200_000))
    print(render(found))
    return 1 if over([found]) else 0


if __name__ == "__main__":
    sys.exit(main())
