"""The report of a check for people, in the columns of a terminal: files with their findings, then a summary.

1. Findings are under the file that they are about, by line. What is said of several files is said once, below them.
2. An agent is named where a finding does not hold for all that are in use, unless the message names it already.
3. The summary has what was found, for which agents, what each of them costs in every session, what was left out, and
   what to do next. A clean tree gets one line, and another if it pins a version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import FIXTURES
from foretold.check.report.sentences import count, count_files, list_assumed, list_pin_problems, name_choices
from foretold.check.run import CheckReport
from foretold.findings.registry import SEVERITIES, find_rule
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class TextStyle(Protocol):
        """How to write for one terminal: `foretold.cli.output.Paint`."""

        width: int

        def bold(self, text: str) -> str: ...
        def faint(self, text: str) -> str: ...
        def red(self, text: str) -> str: ...
        def path(self, path: str) -> str: ...
        def wrap(self, text: str, indent: int) -> str: ...
        def fit(self, text: str, width: int) -> str: ...


ALIKE = 3  #: files from which on a finding that they share is written once
MOST_FILES = 20  #: that are named above it
INDENT = 7  #: of what is said about a line: two spaces, a number, two spaces


def render_text(report: CheckReport, style: TextStyle, again: str = "foretold check") -> str:
    """The whole report; `again` is the command that gave it, without its flags."""
    parts = [*_render_findings(report, style)]
    parts += _render_summary(report, style, again) if report.findings else _render_clean(report, style)
    return "\n".join(parts) + "\n"


# Findings


def _render_findings(report: CheckReport, style: TextStyle) -> Iterator[str]:
    """Blocks with an empty line after each: a file with its findings, or several files with one."""
    used, top = {choice.dialect.name for choice in report.project.choices}, report.project.top
    groups: dict[tuple[str, ...], list[CheckFinding]] = {}
    for each in report.findings:
        groups.setdefault(_likeness(each), []).append(each)
    shared = {key: group for key, group in groups.items() if len({each.path for each in group}) >= ALIKE}
    blocks: dict[tuple[str, ...], list[CheckFinding]] = {}
    for each in report.findings:
        is_shared = _likeness(each) in shared
        blocks.setdefault(_likeness(each) if is_shared else ("", each.path), []).append(each)
    # what is shared is at the place of its first file; what is outside of the project comes last
    firsts = {key: block[0].path for key, block in blocks.items()}
    for key in sorted(blocks, key=lambda key: (not is_inside(firsts[key], top), firsts[key], not key[0])):
        yield from _render_shared(blocks[key], used, style) if key[0] else _render_file(blocks[key], used, style)
        yield ""


def _likeness(finding: CheckFinding) -> tuple[str, ...]:
    """What findings that say the same have in common."""
    return finding.code, finding.severity, finding.message, *finding.agents


def _render_file(findings: list[CheckFinding], used: set[str], style: TextStyle) -> Iterator[str]:
    """A file, and what is found in it; a hint that the next finding has, too, is written there."""
    yield style.bold(_fit(style.path(findings[0].path), style))
    for each, following in zip(findings, [*findings[1:], None], strict=True):
        line = f"{each.line:>5}" if each.line else "     "
        yield f"{line}  {_title_of(each, used, style)}"
        yield style.wrap(each.message, INDENT)
        if each.hint and (following is None or following.hint != each.hint):
            yield _render_hint(each.hint, style)


def _render_shared(group: list[CheckFinding], used: set[str], style: TextStyle) -> Iterator[str]:
    """What is said of several files: their names, what it is, what to do with the first."""
    places = [style.path(each.path) + (f":{each.line}" if each.line else "") for each in group]
    shown = places if len(places) <= MOST_FILES + 1 else places[:MOST_FILES]
    yield from (style.bold(_fit(place, style)) for place in shown)
    if len(shown) < len(places):
        yield f"… and {len(places) - len(shown)} more (--json)"
    yield f"{'':{INDENT}}{_title_of(group[0], used, style)}"
    yield style.wrap(group[0].message, INDENT)
    others = "" if len({each.hint for each in group}) == 1 else ", and so on for the others"
    if group[0].hint:
        yield _render_hint(f"{group[0].hint}{others}", style)


def _render_hint(hint: str, style: TextStyle) -> str:
    lines = style.wrap(hint, INDENT + 2)
    return style.faint(f"{'':{INDENT}}→ {lines.lstrip()}")


def _title_of(finding: CheckFinding, used: set[str], style: TextStyle) -> str:
    """How serious it is, its rule, and for which agents it holds if not for all."""
    title = f"{finding.severity} {finding.code}"
    shown = style.red(title) if finding.severity == "error" else style.bold(title)
    names = dict.fromkeys(agent.partition("@")[0] for agent in finding.agents)
    missing = [name for name in names if name not in finding.message]
    if missing and not used <= set(finding.agents):
        shown += style.faint(f"  {', '.join(names)}")
    return shown + (style.faint("  (fixable)") if finding.fix and finding.fix.is_safe else "")


def _fit(text: str, style: TextStyle) -> str:
    return style.fit(text, min(len(text), style.width))


# The summary


def _render_clean(report: CheckReport, style: TextStyle) -> Iterator[str]:
    project = report.project
    files, agents = count_files(report), len(project.choices)
    if agents:
        yield f"no problems in {count(files, 'file')} of {count(agents, 'agent')}"
    else:
        yield "no problems: there are no instruction files of any agent here"
    if any(project.pin_of(choice.dialect.agent) for choice in project.choices):
        yield style.faint(style.wrap(f"checked for {name_choices(project)}", 0))
    for line in _list_left_out(report):
        yield style.faint(style.wrap(line, 0))


def _render_summary(report: CheckReport, style: TextStyle, again: str) -> Iterator[str]:
    project = report.project
    counts = [count(report.count(severity), severity) for severity in SEVERITIES if report.count(severity)]
    paths = {each.path for each in report.findings}
    yield style.bold(f"{', '.join(counts)} in {count(len(paths), 'file')}")
    files = count(count_files(report), "file")
    yield style.wrap(f"checked {files} for {name_choices(project) or 'no agent'}", 0)
    costs = [f"{cost.agent.partition('@')[0]} {cost.tokens:,}" for cost in report.costs]
    if costs:
        yield style.wrap(f"tokens in every session that starts at the top: {', '.join(costs)}", 0)
    for line in _list_left_out(report):
        yield style.wrap(line, 0)
    yield ""
    yield from _list_next(report, again)


def _list_left_out(report: CheckReport) -> Iterator[str]:
    """What was not looked at as asked, or is not shown."""
    project = report.project
    yield from list_assumed(project)
    yield from list_pin_problems(project)
    inside = [project.relative(path) for path in project.left_out]
    fixtures = sum(1 for path in inside if FIXTURES.search(path.rpartition("/")[0]))
    if fixtures:
        yield f"left out: {count(fixtures, 'file')} in folders of fixtures or templates (--include-fixtures)"
    if len(inside) > fixtures:
        yield f"left out: {count(len(inside) - fixtures, 'file')} that settings or --exclude name"
    if report.ignored:
        yield f"ignored: {count(report.ignored, 'finding')} that comments or per-file-ignores name"
    if report.known:
        yield f"known: {count(report.known, 'finding')} of the baseline"
    if report.fixed:
        yield f"fixed: {count(len(report.fixed), 'finding')} of the baseline; write it again (--write-baseline)"
    if report.cut:
        yield f"cut: not everything was looked at: {report.cut}"


def _list_next(report: CheckReport, again: str) -> Iterator[str]:
    worst = report.worst
    code = Counter(each.code for each in report.findings if each.severity == worst).most_common(1)[0][0]
    yield f"what it means:   foretold rule {code}"
    safe = sum(1 for each in report.findings if each.fix and each.fix.is_safe)
    unsafe = sum(1 for each in report.findings if each.fix) - safe
    if safe:
        yield f"fix {safe} of them:   {again} --fix"
    elif unsafe:
        yield f"fix {unsafe} of them:   {again} --fix --unsafe"


def render_statistics(report: CheckReport, style: TextStyle) -> str:
    """How many findings each rule has, the most serious first."""
    counts = Counter(each.code for each in report.findings)
    severities = {each.code: each.severity for each in report.findings}
    rows = sorted(counts, key=lambda code: (SEVERITIES.index(severities[code]), -counts[code], code))
    wide = max(map(len, rows), default=0)
    lines = []
    for code in rows:
        rule = find_rule(code)
        about = style.wrap(rule.what if rule else "", 17 + wide).lstrip()
        lines.append(f"{counts[code]:>5}  {severities[code]:7}  {code:{wide}} {about}")
    return "".join(f"{line}\n" for line in lines)
