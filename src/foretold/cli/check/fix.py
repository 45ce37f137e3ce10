"""`foretold check --fix` and `--undo`: fixes with their proof, and taking them back.

Exit status of `--fix`: 0 if nothing but notes is left, 1 if errors or warnings are; with `--dry-run`, what it would be
without. 3 if a file cannot be written safely; then none was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from foretold.check.delivered import Delivery, describe_when
from foretold.check.diff.change import ChangedDelivery
from foretold.check.diff.report import describe_delivery
from foretold.check.finding import CheckFinding, Fix
from foretold.check.fix.patch import render_patch
from foretold.check.fix.plan import FixPlan, ProvenFix, RefusedFix, plan_fixes
from foretold.check.fix.write import find_last, open_undo, undo_fixes, write_fixes
from foretold.check.project import Project
from foretold.check.report.json import describe_finding, describe_fix, write_json
from foretold.check.run import CheckReport
from foretold.check.settings import CheckSettings
from foretold.cli.check import deliver_report
from foretold.cli.check.options import name_command
from foretold.cli.output import Paint, plural, printable
from foretold.dialects.registry import title_of_agent
from foretold.errors import BadArgument
from foretold.files.restore.restore import Undo
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

MOST_LINES = 2  #: of what changes for agents, for each fix


def run_fix(report: CheckReport, settings: CheckSettings, options: argparse.Namespace) -> int:
    """Fix what can be fixed, and say what that changes."""
    if options.format not in ("text", "json"):
        raise BadArgument(f"--fix has the formats text and json, not {options.format}")
    plan = plan_fixes(report, settings, unsafe=options.unsafe)
    undo = ""
    if plan.fixes and not options.dry_run:
        undo = write_fixes(plan, _open_undo(options)).undo
    if options.format == "json":
        text = write_json({"schema": "foretold.check-fix/1", **describe_plan(plan, undo)})
    else:
        paint = Paint(plan.project.top, plan.project.home)
        paint.colour = paint.colour and not options.output
        text = render_plan(plan, paint, name_command(options), is_done=bool(undo))
    deliver_report(text, plan.project, options)
    findings = report.findings if options.dry_run else plan.left
    is_bad = any(each.severity in ("error", "warning") for each in findings)
    return 1 if is_bad and not options.exit_zero else 0


def run_undo(top: str, options: argparse.Namespace) -> int:
    """Take back the last fixes of a project."""
    undo = _open_undo(options)
    given = find_last(top, undo)
    done = undo_fixes(top, undo)
    paint = Paint(top, os.path.expanduser("~"))
    print(paint.wrap(f"Taken back: the fixes of {given.id}", 0))
    for change in done.plan.changes:
        print(f"  {change.action:6} {paint.path(change.path)}")
    return 0


def _open_undo(options: argparse.Namespace) -> Undo:
    return open_undo(options.home or os.path.expanduser("~"), os.environ)


# For people


def render_plan(plan: FixPlan, paint: Paint, again: str, *, is_done: bool) -> str:
    """What is fixed, with what it changes for agents; what is refused, with the reason; what is left.

    `again` is the command that was given, without its flags.
    """
    lines: list[str] = []
    for fixed in _join_fixes(plan.fixes):
        lines += _render_fix(fixed, paint)
    for refused in plan.refused:
        lines += _render_refusal(refused, paint)
    if plan.changes and not is_done:
        lines += ["", *_render_diff(plan)]
    return "\n".join([*lines, *_render_summary(plan, paint, again, is_done=is_done)]) + "\n"


def _join_fixes(fixes: Sequence[ProvenFix]) -> list[ProvenFix]:
    """Fixes without those that make the same edits: several findings may have one."""
    seen: dict[object, ProvenFix] = {}
    for each in fixes:
        seen.setdefault((each.fix.edits, each.fix.renames), each)
    return list(seen.values())


def _render_fix(fixed: ProvenFix, paint: Paint) -> Iterator[str]:
    yield _title(fixed.finding, paint)
    yield paint.wrap(f"{fixed.fix.title}" + ("" if fixed.fix.is_safe else " (not safe: look at it)"), 2)
    changes = describe_changes(fixed.deliveries)
    for line in changes[:MOST_LINES] or ["nothing that agents are given changes"]:
        yield paint.faint(paint.wrap(line, 4))
    if len(changes) > MOST_LINES:
        yield paint.faint(f"    … and {len(changes) - MOST_LINES} more (--json)")


def _render_refusal(refused: RefusedFix, paint: Paint) -> Iterator[str]:
    yield _title(refused.finding, paint)
    yield paint.wrap(f"not fixed ({refused.fix.title}): {refused.reason}", 2)


def _title(finding: CheckFinding, paint: Paint) -> str:
    place = paint.path(finding.path) + (f":{finding.line}" if finding.line else "")
    gap = "  " if len(place) + 2 + len(finding.code) <= paint.width else "\n  "
    return f"{paint.bold(place)}{gap}{finding.code}"


def describe_changes(deliveries: Sequence[ChangedDelivery]) -> list[str]:
    """What becomes of files for agents, before and after; agents for which it is the same are named together."""
    rows: dict[tuple[str, str, str], dict[str, None]] = {}
    order = ("delivered", "rescoped", "moved", "removed", "changed")
    for each in sorted(deliveries, key=lambda each: order.index(each.kind) if each.kind in order else 0):
        before = _describe_side(each.before)
        after = "its text changes" if each.kind == "changed" else _describe_side(each.after)
        rows.setdefault((each.path, before, after), {})[title_of_agent(each.agent.partition("@")[0])] = None
    return [
        f"{path}: {after if after == 'its text changes' else f'{before} → {after}'} ({', '.join(agents)})"
        for (path, before, after), agents in rows.items()
    ]


def _describe_side(deliveries: Sequence[Delivery]) -> str:
    times = [*dict.fromkeys(describe_when(each) for each in deliveries)]
    return " and ".join(times) if times else "not delivered"


def _render_diff(plan: FixPlan) -> list[str]:
    """The patch for people, without characters that could give a terminal a command."""
    lines = render_patch(plan).removesuffix("\n").split("\n")
    return ["\t".join(map(printable, line.split("\t"))) for line in lines]


def _render_summary(plan: FixPlan, paint: Paint, again: str, *, is_done: bool) -> Iterator[str]:
    fixes, files = len(plan.fixes), sum(1 for change in plan.changes.values() if change is not None)
    if fixes:
        said = "fixed" if is_done else "would fix"
        yield ""
        yield paint.bold(f"{said} {plural(fixes, 'finding')} in {plural(files, 'file')}")
        yield "proven: the findings are gone, no other has come, and agents are given"
        yield "everything else as before"
    else:
        yield "nothing to fix"
    if plan.refused:
        yield f"not fixed: {plural(len(plan.refused), 'finding')}, see above"
    rest = len(plan.left) - len(plan.refused) - plan.unsafe
    if rest > 0:
        yield f"left: {plural(rest, 'finding')} that cannot be fixed here"
    if plan.unsafe:
        noun = "fix is" if plan.unsafe == 1 else "fixes are"
        yield f"{plan.unsafe:,} more {noun} not safe: {again} --fix --unsafe"
    if is_done:
        yield f"undo it: {again} --undo"


# For programs


def describe_plan(plan: FixPlan, undo: str) -> dict[str, object]:
    """A plan as plain data; paths are relative to `top`, if they are below it."""
    project = plan.project
    return {
        "top": project.top,
        "done": bool(undo),
        "undo": undo or None,
        "fixes": [
            {
                "finding": describe_finding(each.finding, project),
                "fix": _describe_fix(each.fix, project),
                "deliveries": [_describe_delivery(change) for change in each.deliveries],
            }
            for each in plan.fixes
        ],
        "refused": [
            {
                "finding": describe_finding(each.finding, project),
                "fix": _describe_fix(each.fix, project),
                "reason": each.reason,
            }
            for each in plan.refused
        ],
        "files": [project.relative(path) for path in sorted(plan.changes)],
        "left": [describe_finding(each, project) for each in plan.left],
        "unsafe": plan.unsafe,
        "diff": render_patch(plan),
    }


def _describe_fix(fix: Fix, project: Project) -> dict[str, object]:
    effect = {name: [project.relative(path) for path in paths] for name, paths in fix.effect._asdict().items()}
    return {**describe_fix(fix, project), **effect}


def _describe_delivery(change: ChangedDelivery) -> dict[str, object]:
    return {
        "kind": change.kind,
        "agent": change.agent,
        "path": change.path,
        "folders": list(change.folders),
        "before": [describe_delivery(each) for each in change.before],
        "after": [describe_delivery(each) for each in change.after],
    }
