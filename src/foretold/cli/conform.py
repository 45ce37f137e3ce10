"""`foretold conform`: run recorded cases of real agents and report where we differ."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence

from foretold.cli.options import make_parser
from foretold.errors import BadCase
from foretold.proof.conform.cases import Case, CaseOutcome, read_cases
from foretold.proof.conform.run import run_cases

EXAMPLES = """\
  foretold conform tests/conformance/claude-code@2.1.325.jsonl
  foretold conform --allow-setup cases/*.jsonl
  foretold conform --json cases.jsonl | jq '.failures[].differences'"""


def command(words: Sequence[str]) -> int:
    about = "Run recorded cases (one JSON object per line) and compare our answers with the recordings."
    parser = make_parser(
        "conform", about, EXAMPLES, "--json", json="data for programs, each failure with its difference"
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .jsonl file of cases")
    parser.add_argument("--allow-setup", action="store_true", help="let cases run their own shell commands")
    parser.add_argument("--only", metavar="ID", help="run the cases whose id contains this")
    parser.add_argument("--live", action="store_true", help="ask the agent on this machine instead of foretold")
    parser.add_argument("--program", default="", metavar="PATH", help="with --live: its program, if not on PATH")
    parser.add_argument("--limit", type=int, metavar="N", help="run at most N cases")
    options = parser.parse_args(list(words))
    cases = [case for path in options.files for case in read_cases(path)]
    if options.only:
        cases = [case for case in cases if options.only in str(case["id"])]
    if not cases:
        asked = f" whose id contains {options.only!r}" if options.only else ""
        raise BadCase(f"there is no case{asked} in {', '.join(options.files)}")
    outcomes = []
    progress = Progress(len(cases))
    ran = 0
    for outcome in _run(cases, options):
        outcomes.append(outcome)
        progress.step(len(outcomes))
        ran += outcome.status != "skipped"
        if options.limit and ran >= options.limit:
            break
    progress.end()
    if options.json:
        _emit(outcomes)
    else:
        _print(outcomes)
    return 1 if any(outcome.status == "failed" for outcome in outcomes) else 0


def _run(cases: list[Case], options: argparse.Namespace) -> Iterator[CaseOutcome]:
    if not options.live:
        yield from run_cases(cases, allow_setup=options.allow_setup)
        return
    from foretold.proof.probe.cases import play
    from foretold.proof.probe.recipes import RECIPES
    from foretold.proof.probe.run import find_program

    for case in cases:
        agent = str(case.get("agent"))
        program = options.program or (find_program(RECIPES[agent]) if agent in RECIPES else "")
        yield play(case, program, allow_setup=options.allow_setup)


class Progress:
    """A line on a terminal's stderr when it takes longer than a second."""

    def __init__(self, total: int) -> None:
        self.total, self.shown = total, time.monotonic()
        self.on = sys.stderr.isatty()
        self.wrote = False

    def step(self, done: int) -> None:
        if self.on and time.monotonic() - self.shown > 1:
            self.shown, self.wrote = time.monotonic(), True
            print(f"\r{done} of {self.total} cases", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.wrote:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _count(outcomes: list[CaseOutcome], status: str) -> int:
    return sum(1 for outcome in outcomes if outcome.status == status)


def _print(outcomes: list[CaseOutcome]) -> None:
    for reason in dict.fromkeys(outcome.reason for outcome in outcomes if outcome.status == "skipped"):
        same = [outcome.id for outcome in outcomes if outcome.status == "skipped" and outcome.reason == reason]
        print(f"skipped {', '.join(same)}: {reason}")
    for outcome in outcomes:
        if outcome.status == "failed":
            print(f"failed  {outcome.id} {outcome.reason}".rstrip())
            for difference in outcome.differences:
                print(f"    {difference['key']}")
                print(f"      recorded: {difference['expected']!r}")
                print(f"      ours:     {difference['actual']!r}")
    passed, failed, skipped = (_count(outcomes, status) for status in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


def _emit(outcomes: list[CaseOutcome]) -> None:
    from foretold.cli.json import emit

    emit(
        "conform",
        {
            **{status: _count(outcomes, status) for status in ("passed", "failed", "skipped")},
            "failures": [outcome._asdict() for outcome in outcomes if outcome.status == "failed"],
            "skips": [{"id": each.id, "reason": each.reason} for each in outcomes if each.status == "skipped"],
        },
    )
