"""The compatible interfaces, against `foretold.load` and against a plain walk. Exit status 1 if a bar is exceeded.

python bench/compat.py              the whole run
python bench/compat.py --quick      fewer repetitions, no tree of 200,000 files
python bench/compat.py --json FILE  the figures for programs
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Callable

from loading import NOW
from measure import QUICK, Effort, fastest
from report import Row, Table, millis, over, render, times, write_json
from trees import BUILDERS, Place, conditional, files, write_rules

import foretold
from foretold.compat import claude_code, code_assist, ex_athena, mink

WALK_BAR, LOAD_BAR = 3.0, 1.0
LONG = Effort(3.0, 12)
NOISE = 0.05  #: two runs of the same thing differ by so much
AGENT = "claude-code@2.1.325"
Call = Callable[[], object]


def plain_walk(folder: str) -> int:
    """Every name below a folder, with `os.scandir` and nothing else."""
    count, waiting = 0, [folder]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            for item in listing:
                count += 1
                if item.is_dir(follow_symlinks=False):
                    waiting.append(item.path)
    return count


def forget() -> None:
    """Let a call find nothing that is kept from the one before, and pay for none of its garbage.

    Whether a collection falls into a call of a few milliseconds is chance: they are made here, between the calls.
    """
    gc.disable()
    foretold.invalidate()
    claude_code.invalidate()
    gc.collect()


def interfaces(where: Place) -> dict[str, Call]:
    cwd, home, managed = where
    return {
        "foretold.load": lambda: foretold.load(cwd, agent=AGENT, home=home, managed=managed, env={}, now=NOW).text,
        "mink": lambda: mink.load_memory(cwd, home=home),
        "code-assist": lambda: code_assist.build_claude_md_context(
            code_assist.get_memory_files(cwd, home=home, managed=managed)
        ),
        "claude-code": lambda: claude_code.get_claude_mds(
            claude_code.get_memory_files(cwd=cwd, agent=AGENT, home=home, managed=managed, env={})
        ),
        "ex-athena": lambda: ex_athena.discover(cwd, home=home),
    }


def against_load(places: dict[str, Place], effort: Effort) -> Table:
    rows = [_load_row(name, where, effort) for name, where in places.items()]
    return Table(
        "1. The interfaces against foretold.load",
        "CPU time of a whole answer, up to the text, with nothing kept and no collection of garbage; each in turns "
        f"with foretold.load, which is Claude Code 2.1.325 in the same tree. Bar: {LOAD_BAR:.0f}x.",
        ("tree", "load ms", "mink", "code-assist", "claude-code", "ex-athena"),
        rows,
    )


def _load_row(name: str, where: Place, effort: Effort) -> Row:
    calls = interfaces(where)
    load = calls.pop("foretold.load")
    pairs = {each: _pair(effort, load, call) for each, call in calls.items()}
    ratios = {each: theirs / ours for each, (ours, theirs) in pairs.items()}
    least = min(ours for ours, _ in pairs.values())
    exceeded = tuple(each for each, ratio in ratios.items() if ratio > LOAD_BAR + NOISE)
    cells = (millis(least), *(f"{ratio:.2f}x" for ratio in ratios.values()))
    return Row(name, cells, {"load_ms": least * 1000, **ratios}, exceeded)


def _pair(effort: Effort, load: Call, call: Call) -> list[float]:
    """The fastest run of both. Noise only ever adds, so where it seems too slow, more runs are made and all count."""
    best = fastest(effort, load, call, before=forget)
    for _ in range(3):
        if best[1] <= best[0] * (LOAD_BAR + NOISE):
            break
        more = fastest(effort, load, call, before=forget)
        best = [min(pair) for pair in zip(best, more, strict=True)]
    return best


def against_walk(places: dict[str, Place], effort: Effort) -> Table:
    rows = [_walk_row(name, where, effort) for name, where in places.items()]
    return Table(
        "2. mink's own work against one plain walk",
        "10 rules whose globs match nothing, so that every folder is looked at; the walk lists the same folders with "
        f"os.scandir. Bar: {WALK_BAR:.0f}x.",
        ("tree", "names", "walk ms", "mink ms", "ratio"),
        rows,
    )


def _walk_row(name: str, where: Place, effort: Effort) -> Row:
    count = plain_walk(where.cwd)
    ours, walk = fastest(
        effort, lambda: mink.load_memory(where.cwd, home=where.home), lambda: plain_walk(where.cwd), before=forget
    )
    ratio = ours / walk
    cells = (f"{count:,}", millis(walk), millis(ours), times(ratio))
    unjudged = "" if count > 1000 else "no bar"
    exceeded = ("ratio",) if ratio > WALK_BAR and not unjudged else ()
    return Row(
        name,
        cells,
        {"names": count, "walk_ms": walk * 1000, "mink_ms": ours * 1000, "ratio": ratio},
        exceeded,
        unjudged,
    )


def _walked(root: str, count: int) -> Place:
    """A tree of files with rules for languages that it has not, wherever they might be."""
    where = files(root, count)
    write_rules(where.cwd, 10, conditional("**/*.kt{n}"))
    return where


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, smaller trees")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    options = parser.parse_args()
    effort = QUICK if options.quick else LONG
    largest = 10_000 if options.quick else 200_000
    tables = []
    with tempfile.TemporaryDirectory(prefix="foretold-bench-") as folder:
        root = os.path.realpath(folder)
        names = [name for name in BUILDERS if "," not in name or name == "rules 3,000"]
        places = {name: BUILDERS[name](f"{root}/{name.replace(' ', '-').replace(',', '')}") for name in names}
        tables.append(against_load(places, effort))
        print(render(tables[-1]), flush=True)
        counts = [count for count in (100, 10_000, 200_000) if count <= largest]
        walked = {f"files {count:,}": _walked(f"{root}/walked-{count}", count) for count in counts}
        tables.append(against_walk(walked, effort))
        print(render(tables[-1]), flush=True)
    if options.json:
        write_json(options.json, tables, {"agent": AGENT})
    exceeded = over(tables)
    print("\n".join([f"{len(exceeded)} over the bar:", *exceeded]) if exceeded else "Every figure is within its bar.")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
