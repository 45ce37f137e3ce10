"""`foretold check`: what is wrong with the instruction files of a whole tree, for every agent that works there.

Exit status: 0 if there is nothing but notes, 1 if there are errors or warnings among what is reported, 2 for wrong
usage or settings, 3 for failures. The report goes to standard output or a file, everything else to standard error.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from foretold.check.baseline import read_baseline, write_baseline
from foretold.check.fix import attach_fixes
from foretold.check.run import CheckReport, OpenedProject, check_tree, hide_known, open_project, restrict_report
from foretold.cli.check.options import CheckScope, find_baseline, find_scope, list_wanted, name_command, parse_options
from foretold.cli.output import Paint, ProgressLine, plural
from foretold.errors import BadArgument, BadSettings
from foretold.storage.atomic import replace_file
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from foretold.check.project import Project


def command(words: Sequence[str]) -> int:
    options = parse_options(words)
    scope = find_scope(options.cwd, options.paths, may_be_gone=options.diff is not None)
    if options.watch:
        from foretold.cli.check.watch import watch

        return watch(scope.folder, options, _open(scope, options).settings)
    if options.undo:
        from foretold.cli.check.fix import run_undo

        return run_undo(scope.top, options)
    opened = _open(scope, options)
    if options.show_settings:
        return _print_settings(opened, options)
    if options.diff is not None:
        from foretold.cli.check.diff import run_diff

        return run_diff(opened, scope, options)
    report = _check(opened, scope, options)
    if options.write_baseline:
        return _write_baseline(report, options)
    if options.fix:
        from foretold.cli.check.fix import run_fix

        return run_fix(report, opened.settings, options)
    deliver_report(render_report(report, options), report.project, options)
    return exit_code(report, options)


def _open(scope: CheckScope, options: argparse.Namespace) -> OpenedProject:
    wanted = list_wanted(options)
    return open_project(scope.top, scope.folder, wanted, select=options.select, ignore=options.ignore)


def _check(opened: OpenedProject, scope: CheckScope, options: argparse.Namespace) -> CheckReport:
    """The report that is asked for: without what a baseline has, about the given paths, serious enough."""
    baseline = find_baseline(options, opened.settings)
    known = read_baseline(baseline) if baseline else None
    with ProgressLine("checking", "families") as progress:
        report = check_tree(opened.project, opened.settings, progress)
    if known is not None:
        report = hide_known(report, known, opened.settings)
    report = restrict_report(report, scope.paths, options.severity)
    return report._replace(findings=tuple(attach_fixes(report.findings, report.project)))


def exit_code(report: CheckReport, options: argparse.Namespace) -> int:
    """1 if something is reported that is not a note, unless that is not wanted."""
    return 1 if report.worst in ("error", "warning") and not options.exit_zero else 0


# Reports


def render_report(report: CheckReport, options: argparse.Namespace) -> str:
    """A report in the format that was asked for."""
    name = options.format
    if name == "text":
        from foretold.check.report.text import render_statistics, render_text

        paint = Paint(report.project.top, report.project.home)
        paint.colour = paint.colour and not options.output
        if options.statistics:
            return render_statistics(report, paint)
        return render_text(report, paint, name_command(options))
    module = __import__(f"foretold.check.report.{name}", fromlist=["render"])
    text: str = getattr(module, f"render_{name}")(report)
    return text


def deliver_report(text: str, project: Project, options: argparse.Namespace) -> None:
    """Print a report, or write it to a file."""
    if not options.output:
        sys.stdout.write(_for_stdout(text, options.format))
        return
    path = os.path.realpath(options.output)
    if path in map(os.path.realpath, project.instruction_files):
        raise BadArgument(f"{options.output} is an instruction file; give another --output")
    if os.path.lexists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:  # /dev/stderr, a pipe
            file.write(text)
    else:
        replace_file(path, text.encode("utf-8", "surrogateescape"), mode=None, keep_mode=True)


def _for_stdout(text: str, name: str) -> str:
    """A text that standard output can take, whatever bytes a path has; data stays data on a terminal."""
    from foretold.cli.output import escape_json

    return escape_json(text) if name in ("json", "sarif", "gitlab") and sys.stdout.isatty() else text


def _write_baseline(report: CheckReport, options: argparse.Namespace) -> int:
    path = options.write_baseline
    if os.path.lexists(path):
        _require_baseline(path)
    write_baseline(path, report.findings, report.project)
    count = plural(len(report.findings), "finding")
    again = f"{name_command(options)} --baseline {shlex.quote(path)}"
    print(f"{path}: {count}; from now on: {again}", file=sys.stderr)
    return 0


def _require_baseline(path: str) -> None:
    """BadSettings unless a file is a baseline: nothing else is overwritten."""
    try:
        read_baseline(path)
    except BadSettings:
        if not os.path.isfile(path) or not os.access(path, os.R_OK):
            raise
        raise BadSettings(f"{path} is not a baseline, and is not overwritten; give another file") from None


# Settings


def _print_settings(opened: OpenedProject, options: argparse.Namespace) -> int:
    """What counts, and where it comes from."""
    from foretold.check.report.settings import render_settings

    names = {"select": "select", "ignore": "ignore", "agents": "agent", "exclude": "exclude", "baseline": "baseline"}
    given = [key for key, name in names.items() if getattr(options, name)]
    given += ["include-fixtures"] if options.include_fixtures else []
    if options.baseline:
        settings = opened.settings._replace(baseline=os.path.realpath(options.baseline))
        opened = opened._replace(settings=settings)
    sys.stdout.write(render_settings(opened, given))
    return 0
