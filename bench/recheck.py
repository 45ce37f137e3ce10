"""How long one saved file takes to be judged again, against loading its folder. Exit status 1 if a bar is exceeded.

python bench/recheck.py               the sample, and a generated repository of 14,000 files
python bench/recheck.py DIR …         these folders instead; nothing in them is changed
python bench/recheck.py --profile     also where the time goes
python bench/recheck.py --json FILE   the figures for programs

Loading: `foretold.load` of the folder that the file is in, for every agent in use, each with a new `Disk`. Judging
again: `LiveCheck.edit` with another text of the file, all families: what `foretold check --watch` and `lsp` do.
CPU time, that of git included, the fastest of many runs, both in one process, in turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from check_trees import write_big
from report import Row, Table, millis, over, render, times, write_json

import foretold
from foretold.check.project import CheckOptions
from foretold.check.recheck import LiveCheck
from foretold.storage.tree import Disk

MOST = 2.0  #: times loading
ROUNDS = 100
SAMPLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sample", "repo")
NAMES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
#: what is saved: a kind of edit -> what is added to the end of the file, in the round of this number
EDITS: dict[str, Callable[[int], str]] = {
    "prose": lambda number: f"\nKeep lines short{'.' * (number % 7 + 1)} Names are words.\n",
    "import": lambda number: f"\nSee @docs/no-such-page-{number}.md\n",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="DIR")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    table = Table(
        "One saved file, judged again",
        "milliseconds; the first check of the whole tree, loading the folder of the file, judging it again",
        ("file", "first", "load", "again", "ratio"),
        [],
    )
    with tempfile.TemporaryDirectory(prefix="foretold-bench-") as root:
        for folder in options.folders or _make_trees(os.path.realpath(root)):
            table.rows.extend(_measure(folder, is_profiled=options.profile))
    print(render(table))
    if options.json:
        write_json(options.json, [table])
    return 1 if over([table]) else 0


def _make_trees(root: str) -> list[str]:
    """The sample, and a large repository."""
    copied = shutil.copytree(SAMPLE, os.path.join(root, "sample"), symlinks=True)
    return [copied, write_big(os.path.join(root, "big"), 14_000).repo]


def _measure(folder: str, *, is_profiled: bool) -> list[Row]:
    began = _cpu()
    live = LiveCheck(folder, folder, CheckOptions(home=""))
    first = _cpu() - began
    rows = []
    for path in _choose_files(live):
        for kind, add in EDITS.items():
            load, again = _compare(live, path, add)
            name = f"{os.path.basename(live.project.top)}/{live.project.relative(path)}, {kind}"
            cells = (millis(first), millis(load), millis(again), times(again / load))
            figures = {"first": first, "load": load, "again": again, "ratio": again / load}
            rows.append(Row(name, cells, dict(figures), ("2x",) if again > MOST * load else ()))
            if is_profiled:
                _profile(live, path, add)
    return rows


def _choose_files(live: LiveCheck) -> list[str]:
    """A file at the top, one in a folder below, and a rule, as far as there are such."""
    project = live.project
    files = [path for path in project.instruction_files if os.path.realpath(path) == path]
    top = [path for path in files if os.path.dirname(path) == project.top and os.path.basename(path) in NAMES]
    below = [path for path in files if os.path.basename(path) in NAMES and path not in top]
    rules = [path for path in files if "/rules/" in path]
    return [*top[:2], *below[:1], *rules[:1]]


def _compare(live: LiveCheck, path: str, add: Callable[[int], str]) -> tuple[float, float]:
    text = (live.project.read(path) or "").encode()
    folder = os.path.dirname(path)
    agents = [choice.dialect.name for choice in live.project.choices]
    nobody = {"home": "/dev/null/home", "managed": "/dev/null/managed", "env": {}, "trust": True}
    load = again = float("inf")
    for number in range(ROUNDS):
        began = _cpu()
        for agent in agents:
            foretold.load(folder, agent=agent, tree=Disk(), **nobody)
        load = min(load, _cpu() - began)
        changed = text + add(number).encode()
        began = _cpu()
        live.edit({path: changed})
        again = min(again, _cpu() - began)
    live.edit({path: None})
    return load, again


def _cpu() -> float:
    """CPU seconds of this process and of those that it has started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _profile(live: LiveCheck, path: str, add: Callable[[int], str]) -> None:
    import cProfile
    import pstats

    text = (live.project.read(path) or "").encode()
    profile = cProfile.Profile()
    for number in range(ROUNDS, ROUNDS + 5):
        profile.enable()
        live.edit({path: text + add(number).encode()})
        profile.disable()
    live.edit({path: None})
    pstats.Stats(profile).sort_stats("cumtime").print_stats(45)


if __name__ == "__main__":
    sys.exit(main())
