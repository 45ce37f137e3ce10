"""Checking memories against a repository: how long it takes, and how often it is right. Exit status 1 over a bar.

python bench/drift.py               200,000 files, 500 memories; precision and recall on a scripted history
python bench/drift.py --quick       20,000 files
python bench/drift.py --files N     another size
python bench/drift.py --json FILE   the figures for programs
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from drift_history import Labelled, scripted
from drift_trees import big, memories
from report import Row, Table, over, render, times, write_json

from foretold.memory.drift.verify import verify
from foretold.memory.note import Memory

BAR = 4.0  #: aim: 3; times one `git grep` for a rare text and one `git ls-files`
RARE = "zqxjv_never_written"
MOST_MEMORY = 600  #: MB
PRECISION, RECALL = 0.98, 0.9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20,000 files")
    parser.add_argument("--files", type=int, metavar="N", help="files of the repository (200,000)")
    parser.add_argument("--memories", type=int, metavar="N", default=500)
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    options = parser.parse_args()
    count = options.files or (20_000 if options.quick else 200_000)
    print(
        f"foretold, Python {platform.python_version()}, {os.cpu_count()} cores. Wall time, minimum of runs in turns.\n"
    )
    with tempfile.TemporaryDirectory(prefix="foretold-bench-") as folder:
        root = os.path.realpath(folder)
        tables = [quality(f"{root}/history"), speed(f"{root}/big", count, options.memories)]
    for table in tables:
        print(render(table))
    if options.json:
        write_json(options.json, tables, {"python": platform.python_version(), "files": count})
    exceeded = over(tables)
    print("\n".join([f"{len(exceeded)} over the bar:", *exceeded]) if exceeded else "Every figure is within its bar.")
    return 1 if exceeded else 0


# How long


def speed(root: str, count: int, number: int) -> Table:
    """Against what git and the file system need for one look at everything."""
    repository = big(root, count)
    cases = {
        "all is there": memories(repository, number, stale=0),
        "1 in 10 is stale": memories(repository, number, stale=10),
        "all are stale": memories(repository, number, stale=1),
    }
    actions: dict[str, Callable[[], object]] = {
        "git grep -c": lambda: _git(root, "grep", "-c", "-F", RARE),
        "git ls-files": lambda: _git(root, "ls-files", "-z"),
        "os.scandir": lambda: _walk(root),
        **{name: (lambda notes=notes: verify(notes, root)) for name, notes in cases.items()},
    }
    best = dict.fromkeys(actions, float("inf"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        for name, action in actions.items():
            begun = time.perf_counter()
            action()
            best[name] = min(best[name], time.perf_counter() - begun)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    floor = best["git grep -c"] + best["git ls-files"]
    judged = count >= 200_000  # in a small repository the reading of 500 memories outweighs all else
    rows = [_row(name, best, floor, notes=cases.get(name), grown=grown, judged=judged) for name in actions]
    return Table(
        f"Drift: {number} memories against {count:,} files",
        f"Seconds; also as a ratio to one `git grep` for a text that is nowhere plus one `git ls-files` (bar: "
        f"{BAR:.0f}x), and to one os.scandir walk. The process may grow by {MOST_MEMORY} MB in all: {grown:.0f} MB.",
        ("what", "claims", "seconds", "of git", "of walk"),
        rows,
    )


def _row(
    name: str, best: dict[str, float], floor: float, *, notes: list[Memory] | None, grown: float, judged: bool
) -> Row:
    seconds, ratio, walks = best[name], best[name] / floor, best[name] / best["os.scandir"]
    exceeded = []
    claims = 0
    if notes is not None:
        from foretold.memory.drift.claims import find_claims

        claims = sum(len(find_claims(note)) for note in notes)
        exceeded += [f"{times(ratio)} of git"] if ratio > BAR and judged else []
        exceeded += [f"{grown:.0f} MB"] if grown > MOST_MEMORY else []
    figures = {"seconds": seconds, "of_git": ratio, "of_walk": walks, "claims": claims, "grown_mb": grown}
    cells = (f"{claims:,}" if claims else "", f"{seconds:.2f}", times(ratio), times(walks))
    return Row(name, cells, figures, tuple(exceeded), "" if notes is not None else "yardstick")


def _git(root: str, *words: str) -> None:
    subprocess.run(["git", "-C", root, *words], stdout=subprocess.DEVNULL, check=False)


def _walk(root: str) -> int:
    """Every file of a tree, by one walk."""
    waiting, count = [root], 0
    while waiting:
        with os.scandir(waiting.pop()) as items:
            for item in items:
                if item.is_dir(follow_symlinks=False):
                    waiting.append(item.path)
                else:
                    count += 1
    return count


# How often it is right


def quality(root: str) -> Table:
    """Memories written along a scripted history; what the history did afterwards is their label."""
    labelled = scripted(root)
    states = {verdict.file: verdict.state for verdict in verify([each.memory for each in labelled], root)}
    groups: dict[str, list[Labelled]] = {}
    for each in labelled:
        groups.setdefault(each.group, []).append(each)
    rows = [_judged(name, group, states) for name, group in groups.items()]
    rows.append(_judged("all", labelled, states))
    return Table(
        "Drift: verdicts by construction",
        "A memory is stale if the history renamed, moved or deleted what it names after it was written. Reported: "
        f"moved or missing. Exact: the very state. Bars on all: precision {PRECISION}, recall {RECALL}.",
        ("what happened", "memories", "stale", "reported", "right", "precision", "recall", "exact"),
        rows,
    )


def _judged(name: str, group: list[Labelled], states: dict[str, str]) -> Row:
    stale = {each.memory.file for each in group if each.state in ("moved", "missing")}
    reported = {each.memory.file for each in group if states[each.memory.file] in ("moved", "missing")}
    right = len(stale & reported)
    exact = sum(states[each.memory.file] == each.state for each in group) / len(group)
    precision = right / len(reported) if reported else None
    recall = right / len(stale) if stale else None
    exceeded = []
    if name == "all":
        exceeded += ["precision"] if (precision or 0) < PRECISION else []
        exceeded += ["recall"] if (recall or 0) < RECALL else []
    cells = [str(len(group)), str(len(stale)), str(len(reported)), str(right)]
    cells += ["-" if value is None else f"{value:.3f}" for value in (precision, recall, exact)]
    return Row(name, tuple(cells), {"precision": precision, "recall": recall, "exact": exact}, tuple(exceeded))


if __name__ == "__main__":
    sys.exit(main())
