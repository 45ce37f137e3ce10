"""`foretold check --watch`: the report, and again whenever something changes that matters for it.

1. What the last check looked at is looked at again a few times a second, with one `stat` a path; a text is read only if
   that differs. No program of the system has to report changes, so it works on every file system.
2. Only what depends on what has changed is checked again (`check.recheck`). Nothing is printed if nothing that was read
   has another text.
3. On a terminal, each report begins on an empty screen, and ends with what changed: the top may be out of sight. With
   `--format json`, each is a document on a line of its own.
4. Settings that cannot be read are named, and the next change is awaited. Ctrl-C ends it, with the status of the last
   report.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time

from foretold.check.baseline import read_baseline
from foretold.check.fix import attach_fixes
from foretold.check.recheck import LiveCheck
from foretold.check.run import CheckReport, hide_known, restrict_report
from foretold.cli.check import deliver_report, exit_code, render_report
from foretold.cli.check.options import CheckScope, find_baseline, find_scope, list_wanted
from foretold.cli.output import printable, write_controls
from foretold.errors import ForetoldError
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from foretold.check.settings import CheckSettings

PAUSE = 0.3  #: seconds between two looks
SHARE = 20  #: a look may take one of this many parts of the time, however many paths there are
MOST_NAMED = 3  #: changed files that are named
WATCHING = "watching for changes; Ctrl-C ends it"
CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def watch(folder: str, options: argparse.Namespace, settings: CheckSettings) -> int:  # noqa: ARG001
    """Check again and again, until Ctrl-C; the exit status."""
    scope = find_scope(options.cwd, options.paths)
    gc.enable()  # it lives long
    status, changed = 0, list[str]()
    try:
        live = LiveCheck(scope.top, scope.folder, list_wanted(options), select=options.select, ignore=options.ignore)
        while True:
            report = _restrict(live, scope, options)
            status = exit_code(report, options)
            _print_report(report, options, changed)
            changed = _wait_for_news(live)
    except KeyboardInterrupt:
        return status


def _wait_for_news(live: LiveCheck) -> list[str]:
    """Check again until there is something to report; the paths that have changed."""
    is_broken = False
    while True:
        changed = _wait_for_change(live)
        try:
            live.refresh(changed)
        except ForetoldError as error:
            print(f"foretold: {error}", file=sys.stderr)
            is_broken = True
            continue
        if live.has_news or is_broken:
            return changed


def _wait_for_change(live: LiveCheck) -> list[str]:
    """The paths that have changed, as soon as some have."""
    pause = PAUSE
    while True:
        time.sleep(pause)
        began = time.perf_counter()
        if changed := live.find_changes():
            return changed
        pause = max(PAUSE, SHARE * (time.perf_counter() - began))


def _restrict(live: LiveCheck, scope: CheckScope, options: argparse.Namespace) -> CheckReport:
    """The newest report, as far as it is asked for."""
    report = live.report
    if baseline := find_baseline(options, live.settings):
        report = hide_known(report, read_baseline(baseline), live.settings)
    report = restrict_report(report, scope.paths, options.severity)
    return report._replace(findings=tuple(attach_fixes(report.findings, report.project)))


def _print_report(report: CheckReport, options: argparse.Namespace, changed: list[str]) -> None:
    is_text = options.format == "text" and not options.output
    is_screen = is_text and sys.stdout.isatty()
    if is_screen:
        sys.stdout.flush()
        write_controls(CLEAR)
    said = (sys.stdout if is_text else sys.stderr) if is_text or sys.stderr.isatty() else None
    if said and changed and not is_screen:
        print(_describe(changed, report) + "\n", file=said)
    if options.format == "json" and not options.output:
        _print_line(report)
    else:
        deliver_report(render_report(report, options), report.project, options)
    if said and (is_screen or not changed):
        print(f"\n{_describe(changed, report) if changed else WATCHING}", file=said)
    sys.stdout.flush()


def _print_line(report: CheckReport) -> None:
    from foretold.check.report.json import render_json
    from foretold.cli.output import escape_json

    line = json.dumps(json.loads(render_json(report)), ensure_ascii=True)
    print(escape_json(line) if sys.stdout.isatty() else line)


def _describe(changed: list[str], report: CheckReport) -> str:
    """What changed, and when: files rather than the folders that they are in."""
    top = report.project.top
    files = [path for path in changed if not any(other != path and is_inside(other, path) for other in changed)]
    shown = sorted(report.project.relative(path) if path != top else os.path.basename(path) for path in files)
    more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
    return printable(f"{time.strftime('%H:%M:%S')} changed: {', '.join(shown[:MOST_NAMED])}{more}")
