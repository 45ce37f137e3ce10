"""Checking memories about real repositories: how often `memory verify` is right. Exit status 1 under a bar.

python bench/drift_sets.py NAME=FOLDER ...      a set of bench/drift, and a clone of its repository with all history
python bench/drift_sets.py --all NAME=FOLDER    every memory with its verdict, not only the wrong ones
python bench/drift_sets.py --json FILE ...      the figures for programs

The sets are ours; nothing of the repositories is here. A set names its repository and the commit at which its labels
hold: `git clone URL FOLDER && git -C FOLDER checkout COMMIT`. Labels come from the history, not from this program:
valid, resolves (a path by its end), moved, missing, changed (a value), trap (planned, negated, gone by its own words,
of another place). Moved, missing and changed are to be reported, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import NamedTuple

from report import Row, Table, over, render, write_json

from foretold.memory.drift.verify import DRIFT, MemoryVerdict, verify
from foretold.memory.note import Memory, read_note

PRECISION, RECALL = 0.95, 0.85
LABELS = ("valid", "resolves", "moved", "missing", "changed", "trap")
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "drift")


class Labelled(NamedTuple):
    """A memory about a repository, and what became of what it says."""

    repository: str
    commit: str
    label: str
    memory: Memory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="NAME=FOLDER", help=f"of {', '.join(list_sets())}")
    parser.add_argument("--all", action="store_true", help="print every memory, not only the wrong ones")
    parser.add_argument("--quiet", action="store_true", help="print the figures alone")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    options = parser.parse_args()
    tables = []
    for given in options.sets:
        name, _, folder = given.partition("=")
        labelled = read_set(name)
        at = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        if at.stdout.strip() != labelled[0].commit:
            parser.error(f"{folder} is not at {labelled[0].commit}, at which the labels of {name} hold")
        begun = time.process_time(), os.times().children_user
        verdicts = verify([each.memory for each in labelled], folder)
        spent = time.process_time() - begun[0] + os.times().children_user - begun[1]
        if not options.quiet:
            print_verdicts(labelled, verdicts, is_all=options.all)
        tables.append(count(name, labelled, verdicts, spent))
    for table in tables:
        print(render(table))
    if options.json:
        write_json(options.json, tables, {})
    exceeded = over(tables)
    print("\n".join([f"{len(exceeded)} under the bar:", *exceeded]) if exceeded else "Every figure is within its bar.")
    return 1 if exceeded else 0


def list_sets() -> list[str]:
    return sorted(name.removesuffix(".jsonl") for name in os.listdir(FOLDER) if name.endswith(".jsonl"))


def read_set(name: str) -> list[Labelled]:
    """The memories of a set: as the body of a memory of type project."""
    with open(os.path.join(FOLDER, f"{name}.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    found = []
    for number, row in enumerate(rows):
        text = f"---\nname: note-{number}\ntype: project\n---\n\n{row['memory']}\n"
        note = read_note(f"note_{number:03}.md", text.encode())
        found.append(Labelled(row["repository"], row["commit"], row["label"], note))
    return found


def print_verdicts(labelled: list[Labelled], verdicts: tuple[MemoryVerdict, ...], *, is_all: bool) -> None:
    for each, verdict in zip(labelled, verdicts, strict=True):
        is_wrong = (verdict.state in DRIFT) != (each.label in DRIFT)
        if is_wrong or is_all:
            print(f"{'WRONG ' if is_wrong else ''}{each.label} -> {verdict.state}: {each.memory.body}")
            for one in verdict.claims:
                print(f"    {one.state}: {one.claim.kind} {one.claim.text}: {one.evidence}")


def count(name: str, labelled: list[Labelled], verdicts: tuple[MemoryVerdict, ...], spent: float) -> Table:
    """How often a set was judged rightly."""
    states = [verdict.state for verdict in verdicts]
    rows = []
    for label in LABELS:
        mine = [state for each, state in zip(labelled, states, strict=True) if each.label == label]
        cells = (str(len(mine)), *(str(mine.count(state)) for state in ("valid", "unknown", *DRIFT)))
        rows.append(Row(label, cells, {"memories": len(mine)}, ()))
    reported = [each.label for each, state in zip(labelled, states, strict=True) if state in DRIFT]
    right, stale = sum(label in DRIFT for label in reported), sum(each.label in DRIFT for each in labelled)
    precision, recall = right / max(len(reported), 1), right / max(stale, 1)
    exceeded = [] if precision >= PRECISION else [f"precision {precision:.3f}"]
    exceeded += [] if recall >= RECALL else [f"recall {recall:.3f}"]
    figures = {"precision": precision, "recall": recall, "reported": len(reported), "stale": stale, "seconds": spent}
    rows.append(Row("all", (str(len(labelled)), "", "", "", "", ""), figures, tuple(exceeded)))
    about = (
        f"{labelled[0].repository} at {labelled[0].commit[:10]}: {len(reported)} reported, {right} rightly of {stale}: "
        f"precision {precision:.3f} (bar {PRECISION}), recall {recall:.3f} (bar {RECALL}); {spent:.1f} s of CPU."
    )
    return Table(f"Drift: {name}", about, ("label", "memories", "valid", "unknown", *DRIFT), rows)


if __name__ == "__main__":
    sys.exit(main())
