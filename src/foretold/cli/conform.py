"""`foretold conform`: run recorded cases of real agents and report where we differ."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from foretold.cli.json import emit, pick
from foretold.cli.options import make_parser
from foretold.cli.output import ProgressLine
from foretold.errors import BadCase
from foretold.proof.conform.cases import Case, CaseOutcome, read_cases
from foretold.proof.conform.run import run_cases

EXAMPLES = """\
  foretold conform tests/conformance/claude-code@2.1.325.jsonl
  foretold conform --allow-setup cases/*.jsonl
  foretold conform --json cases.jsonl | jq '.failures[].differences'"""


def command(words: Sequence[str]) -> int:
    about = "Run recorded cases (one JSON object per line) and compare our answers with the recordings."
    data = "data for programs, each failure with its difference"
    parser = make_parser("conform", about, EXAMPLES, "--json", json=data)
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
    outcomes: dict[str, list[CaseOutcome]] = {"passed": [], "failed": [], "skipped": []}
    with ProgressLine("running", "cases") as progress:
        for number, outcome in enumerate(_run(cases, options), 1):
            outcomes[outcome.status].append(outcome)
            progress(number, len(cases))
            if options.limit and number - len(outcomes["skipped"]) >= options.limit:
                break
    if options.json:
        counts = {status: len(each) for status, each in outcomes.items()}
        skips = [pick(each, "id reason") for each in outcomes["skipped"]]
        emit("conform", {**counts, "failures": [each._asdict() for each in outcomes["failed"]], "skips": skips})
    else:
        _print(outcomes)
    return 1 if outcomes["failed"] else 0


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


def _print(outcomes: dict[str, list[CaseOutcome]]) -> None:
    reasons: dict[str, list[str]] = {}
    for outcome in outcomes["skipped"]:
        reasons.setdefault(outcome.reason, []).append(outcome.id)
    for reason, same in reasons.items():
        print(f"skipped {', '.join(same)}: {reason}")
    for outcome in outcomes["failed"]:
        print(f"failed  {outcome.id} {outcome.reason}".rstrip())
        for difference in outcome.differences:
            print(f"    {difference['key']}")
            print(f"      recorded: {difference['expected']!r}")
            print(f"      ours:     {difference['actual']!r}")
    print(", ".join(f"{len(each)} {status}" for status, each in outcomes.items()))
