"""Linters of agents' instruction files, scored by one rule. Exit status 1 if ours is over a bar.

python bench/check.py               ours, and the peers that are found, on the clean tree and on every fault
python bench/check.py --install     install agnix, skillsaw, ctxlint and claude-code-lint first, in a temporary folder
python bench/check.py --faults      also print which linter catches which fault
python bench/check.py --only NAME   one linter, or several
python bench/check.py --speed       CPU time on repositories of 14,000 and 27,000 files, against agnix
python bench/check.py --json FILE   the figures for programs

Caught: the linter says something of the faulty tree that it does not say of the clean one, at an accepted file, with a
word that names the matter. The faults, their files and their words are in tests/check/fixture.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from check_linters import AGNIX, LINTERS, OURS, Linter, find_program, find_version, install, measure, run
from check_trees import write_big
from report import Row, Table, millis, over, render, times, write_json
from tests.check.fixture import DECOYS, FAMILIES, FAULTS, Fault, Tree, build, fallen_for, is_caught, plant

CAUGHT = 0.9  #: of the faults, at least; 54 of 60 was the bar of the first yardstick
RUNS = 5  #: of which the least counts
SIZES = (14_000, 27_000)
WITHOUT_TRUTH, WITH_TRUTH = 1.0, 2.0  #: times agnix


class Score(NamedTuple):
    """How one linter did."""

    linter: str
    version: str
    caught: frozenset[str]
    clean: int
    fallen: tuple[str, ...]
    gave_up: tuple[str, ...]
    ratio: float  #: times a bare start of Python, on the clean tree

    def of(self, family: str) -> int:
        return sum(fault.id in self.caught for fault in FAULTS if fault.family == family)


def main() -> int:
    options = _options()
    if options.install:
        install()
    found = {each.name: find_program(each) for each in LINTERS if not options.only or each.name in options.only}
    linters = [each for each in LINTERS if found.get(each.name)]
    for name in (name for name, program in found.items() if not program):
        print(f"{name} is not found; --install installs it", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="foretold-bench-") as folder:
        root = os.path.realpath(folder)
        table = speed(root) if options.speed else quality(root, linters, options)
    if options.json:
        write_json(options.json, [table], {"python": platform.python_version()})
    exceeded = over([table])
    print("\n".join([f"{len(exceeded)} over the bar:", *exceeded]) if exceeded else "Every figure is within its bar.")
    return 1 if exceeded else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true", help="install the peers")
    parser.add_argument("--only", action="append", choices=[each.name for each in LINTERS], help="may be repeated")
    parser.add_argument("--faults", action="store_true", help="print the table fault by fault")
    parser.add_argument("--speed", action="store_true", help="measure large repositories instead")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    return parser.parse_args()


# How much is caught


def quality(root: str, linters: list[Linter], options: argparse.Namespace) -> Table:
    clean = build(f"{root}/clean")
    trees = {fault.id: plant(fault, clean, f"{root}/{number}") for number, fault in enumerate(FAULTS)}
    scores = [score(linter, clean, trees) for linter in linters]
    print(markdown(scores))
    if options.faults:
        print(fault_by_fault(scores))
    return Table("Linters", "", ("linter",), [_row(each) for each in scores])


def score(linter: Linter, clean: Tree, trees: dict[str, Tree]) -> Score:
    program = find_program(linter)
    said = run(linter, program, clean).remarks
    assert said is not None, f"{linter.name} gave up on the clean tree"
    caught, gave_up = set(), []
    for fault in FAULTS:
        remarks = run(linter, program, trees[fault.id]).remarks
        if remarks is None:
            gave_up.append(fault.id)
        elif is_caught(fault, remarks, said):
            caught.add(fault.id)
    bare = min(measure([sys.executable, "-c", "pass"], clean)[1] for _ in range(RUNS))
    ratio = min(run(linter, program, clean).seconds for _ in range(RUNS)) / bare
    fallen = tuple(fallen_for(DECOYS, said))
    return Score(linter.name, find_version(program), frozenset(caught), len(said), fallen, tuple(gave_up), ratio)


def markdown(scores: list[Score]) -> str:
    """The table of all linters: a row a family, a column a linter."""
    sizes = {family: sum(fault.family == family for fault in FAULTS) for family in FAMILIES}
    rows = [
        ["", *(f"{each.linter} {each.version}" for each in scores)],
        ["---", *("--:" for _ in scores)],
        [f"caught of {len(FAULTS)}", *(f"**{len(each.caught)}**" for each in scores)],
        *([f"{family}, of {sizes[family]}", *(str(each.of(family)) for each in scores)] for family in FAMILIES),
        ["remarks on the clean tree", *(str(each.clean) for each in scores)],
        [f"decoys fallen for, of {len(DECOYS)}", *(str(len(each.fallen)) for each in scores)],
        ["gave up on a tree", *(str(len(each.gave_up)) for each in scores)],
        ["CPU time, times a bare Python start", *(times(each.ratio) for each in scores)],
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    peers = [each.caught for each in scores if each.linter != OURS.name]
    if peers:
        lines.append(f"\nAll peers together catch {len(frozenset().union(*peers))} of {len(FAULTS)}.")
    return "\n".join(lines) + "\n"


def fault_by_fault(scores: list[Score]) -> str:
    """Which linter catches which fault (x), and on which it gave up (-)."""

    def mark(each: Score, fault: Fault) -> str:
        return "x" if fault.id in each.caught else "-" if fault.id in each.gave_up else ""

    rows = [["fault", "family", *(each.linter for each in scores)], ["---"] * (len(scores) + 2)]
    rows += [[fault.id, fault.family, *(mark(each, fault) for each in scores)] for fault in FAULTS]
    decoys = [f"{each.linter} fell for: {', '.join(each.fallen) or 'no decoy'}" for each in scores]
    return "\n".join(["| " + " | ".join(row) + " |" for row in rows] + ["", *decoys, ""])


def _row(each: Score) -> Row:
    families = {family: each.of(family) for family in FAMILIES}
    figures = {
        "version": each.version,
        "caught": len(each.caught),
        **families,
        "clean": each.clean,
        "decoys": len(each.fallen),
        "gave_up": len(each.gave_up),
        "ratio": each.ratio,
        "missed": ", ".join(fault.id for fault in FAULTS if fault.id not in each.caught),
        "fallen": ", ".join(each.fallen),
    }
    return Row(each.linter, (), figures, _over_bars(each) if each.linter == OURS.name else (), "")


def _over_bars(ours: Score) -> tuple[str, ...]:
    bars = {
        f"{len(ours.caught)} of {len(FAULTS)} caught, the bar is {CAUGHT:.0%}": len(ours.caught) < CAUGHT * len(FAULTS),
        f"{ours.clean} remarks on the clean tree": ours.clean > 0,
        f"{len(ours.fallen)} decoys": bool(ours.fallen),
        f"gave up on {', '.join(ours.gave_up)}": bool(ours.gave_up),
    }
    return tuple(what for what, is_over in bars.items() if is_over)


# How long it takes


def speed(root: str) -> Table:
    programs = {each.name: find_program(each) for each in (OURS, AGNIX)}
    assert all(programs.values()), "both foretold and agnix are needed; --install installs agnix"
    version = find_version(programs["agnix"])
    rows = []
    for count in SIZES:
        tree = write_big(f"{root}/{count}", count)
        rows += _rows_of_speed(tree, count, programs)
    table = Table(
        "Large repositories",
        f"CPU ms of a run and of all that it starts, the least of {RUNS} in turns; agnix {version}. "
        f"Bars: {WITHOUT_TRUTH}x agnix without the family truth, {WITH_TRUTH}x with it.",
        ("run", "agnix ms", "ours ms", "ratio", "bar"),
        rows,
    )
    print(render(table))
    return table


def _rows_of_speed(tree: Tree, count: int, programs: dict[str, str]) -> list[Row]:
    kinds = {"without truth": (("--ignore", "truth"), WITHOUT_TRUTH), "with truth": ((), WITH_TRUTH)}
    agnix, ours = float("inf"), dict.fromkeys(kinds, float("inf"))
    for _ in range(RUNS):
        done = run(AGNIX, programs["agnix"], tree)
        assert done.remarks is not None, "agnix gave up"
        agnix = min(agnix, done.seconds)
        for kind, (words, _bar) in kinds.items():
            done = run(OURS, programs["foretold"], tree, *words)
            assert done.remarks is not None, "foretold gave up"
            ours[kind] = min(ours[kind], done.seconds)
    return [_row_of_speed(f"{count:,} files, {kind}", agnix, ours[kind], bar) for kind, (_, bar) in kinds.items()]


def _row_of_speed(name: str, agnix: float, ours: float, bar: float) -> Row:
    ratio = ours / agnix
    return Row(
        name,
        (millis(agnix), millis(ours), f"{ratio:.2f}x", f"{bar}x"),
        {"agnix_ms": agnix * 1000, "ours_ms": ours * 1000, "ratio": ratio},
        (f"{ratio:.2f}x",) if ratio > bar else (),
    )


if __name__ == "__main__":
    sys.exit(main())
