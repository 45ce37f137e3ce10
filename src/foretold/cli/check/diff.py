"""`foretold check --diff BASE`: what a change does to what each agent is given.

Exit status: 1 if something does not arrive any more, is cut, or there are new errors or warnings; else 0. Nobody's home
is looked at, unless one is named: a change does the same on every machine.
"""

from __future__ import annotations

import os
import sys

from foretold.check.baseline import read_baseline
from foretold.check.diff.change import ChangeReport, compare_with
from foretold.check.diff.findings import ChangeScope
from foretold.check.diff.report import render_json, render_markdown, render_text
from foretold.check.project import Project
from foretold.check.run import CheckReport, OpenedProject
from foretold.cli.check import deliver_report
from foretold.cli.check.options import CheckScope, find_baseline
from foretold.cli.output import Paint
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def run_diff(opened: OpenedProject, scope: CheckScope, options: argparse.Namespace) -> int:
    """Print what the change since a commit does, as far as it is asked for."""
    project = opened.project
    if not options.home:
        project = Project(project.top, project.options._replace(home=""), project.tree)
    baseline = find_baseline(options, opened.settings)
    known = tuple(read_baseline(baseline)) if baseline else ()
    wanted = ChangeScope(scope.paths, options.severity, known)
    # what is installed here is for the person here: a report for others is the same on every machine
    env = os.environ if options.format == "text" and not options.output else None
    report = compare_with(project, options.diff, opened.settings, wanted, env)
    deliver_report(_render(report, options), project, options)
    return 1 if report.is_worse and not options.exit_zero else 0


def _render(report: ChangeReport, options: argparse.Namespace) -> str:
    """The report in the format that was asked for; formats that have only findings get the new ones."""
    name = options.format
    if name == "text":
        paint = Paint(report.project.top, report.project.home)
        paint.colour = paint.colour and not options.output
        return render_text(report, paint)
    if name in ("json", "markdown"):
        return render_json(report) if name == "json" else render_markdown(report)
    print("the format has no place for what is delivered: only new findings are reported", file=sys.stderr)
    module = __import__(f"foretold.check.report.{name}", fromlist=["render"])
    rendered: str = getattr(module, f"render_{name}")(CheckReport(report.project, report.new))
    return rendered
