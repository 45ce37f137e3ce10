"""`foretold doctor`: a check-up of this machine and this project. Each room says what is wrong; this prints it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from foretold.cli.doctor.checks import CHECKS, Patient, find_repairs, offer_vectors, repair
from foretold.cli.install import place_of
from foretold.cli.install.report import print_plan, summarize_plan
from foretold.cli.json import emit, findings_json
from foretold.cli.options import make_parser
from foretold.cli.output import Paint, confirm, plural, print_findings
from foretold.dialects.registry import DEFAULT_AGENT

ABOUT = (
    "Check this machine and this project: can every agent start foretold, is what it starts isolated from the folder, "
    "did a killed install leave files, and what is wrong with the memories here. With --fix it shows what it would "
    "change, and asks; without a terminal it needs --yes."
)
NOTHING = (
    "Nothing is wrong with hooks, servers, search paths and memories.\nWhat instruction files do: foretold explain"
)
EXAMPLES = "  foretold doctor\n  foretold doctor --fix"


def command(words: Sequence[str]) -> int:
    helps = {"C": "a folder of the project", "agent": "whose memories", "managed": argparse.SUPPRESS}
    parser = make_parser("doctor", ABOUT, EXAMPLES, "-C --agent --home --managed --yes --json", **helps)
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired")
    parser.set_defaults(agent=DEFAULT_AGENT)
    options = parser.parse_args(words)
    patient = Patient(place_of(options), options.agent, options.home, options.managed)
    paint = Paint(patient.place.cwd, patient.place.home)
    fixed = _fix(patient, options, paint) if options.fix else []
    findings = [finding for check in CHECKS for finding in check(patient)]
    if options.json:
        emit("checkup", {"folder": patient.place.cwd, "fixed": fixed, "findings": findings_json(findings)})
        return 1 if findings else 0
    print(f"{plural(len(findings), 'finding')}:" if findings else NOTHING)
    print_findings(findings, paint)
    if offer := offer_vectors(patient):
        print(paint.faint(offer))
    return 1 if findings else 0


def _fix(patient: Patient, options: argparse.Namespace, paint: Paint) -> list[str]:
    """Show what can be repaired, ask, and do it; the paths that were changed."""
    repairs = find_repairs(patient)
    if not repairs.paths or (options.json and not options.yes):
        return []
    if not options.json:
        for plan in repairs.plans:
            print_plan(plan, paint, "repair")
            print(paint.wrap(summarize_plan(plan, paint, "repair"), 0))
        for path in repairs.leftovers:
            print(paint.wrap(f"{path}: was left by an install that was killed, and is deleted", 0))
        for path in repairs.indexes:
            print(paint.wrap(f"{path}: is updated from the files", 0))
    if not confirm(f"Change {plural(len(repairs.paths), 'file')}?", yes=options.yes):
        return []
    repair(patient, repairs)
    if not options.json:
        print(f"Done. What settings were before is kept in {paint.path(patient.backups.folder)}\n")
    return list(repairs.paths)
