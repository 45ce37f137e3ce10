"""Markdown for a comment on a pull request.

Paths and messages come from the change, so a stranger may have written them. None of it can notify anybody, link
anywhere, or break the table:

1. Every character that Markdown could read as more than itself is written as an entity.
2. Words with `@`, `#` or an address, and what is in backticks, are in `<code>`: there, GitHub and GitLab look neither
   for names nor for links.
3. Line ends are spaces; what cannot be seen is shown as `U+202E`.
4. The text is at most 60,000 characters: GitHub takes 65,536 in a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.report.sentences import count, count_files, name_agents, name_choices
from foretold.check.run import CheckReport
from foretold.findings.registry import SEVERITIES

LONGEST = 60_000
LONGEST_CELL = 400  #: characters of a message
_CODE = re.compile(r"[@#`]|://|\bwww\.|\bGH-[0-9]|[0-9a-fA-F]{7,}", re.IGNORECASE)
_SPAN = re.compile(r"`([^`\s][^`]{0,199})`")
_SAFE = re.compile(r"[A-Za-z0-9 ,.;/=%'\"“”‘’…→-]")
ICONS = {"error": "🔴", "warning": "🟡", "note": "🔵"}


def render_markdown(report: CheckReport, longest: int = LONGEST) -> str:
    """The whole comment."""
    project = report.project
    head = f"### foretold check\n\n{_describe_result(report)}\n"
    foot = "".join(f"\n{line}\n" for line in _list_facts(report))
    ordered = sorted(report.findings, key=lambda each: SEVERITIES.index(each.severity))
    table = _render_table(ordered, project, longest - len(head) - len(foot)) if ordered else ""
    return f"{head}{table}{foot}"


def _describe_result(report: CheckReport) -> str:
    files, agents = count_files(report), len(report.project.choices)
    if not report.findings:
        return f"No problems in {count(files, 'file')} of {count(agents, 'agent')}."
    counts = [count(report.count(severity), severity) for severity in SEVERITIES if report.count(severity)]
    names = escape_markdown(name_choices(report.project))
    return f"**{', '.join(counts)}** in {count(files, 'file')}, for {names}."


def _render_table(findings: list[CheckFinding], project: Project, room: int) -> str:
    """The table, with as many rows as there is room for."""
    head, shown = "\n| | Where | Rule | What, and what to do |\n|---|---|---|---|\n", list[str]()
    room -= len(head) + 60
    for each in findings:
        row = _render_row(each, project)
        room -= len(row)
        if room < 0:
            break
        shown.append(row)
    left = len(findings) - len(shown)
    more = f"\n… and {count(left, 'more finding')}; all of them: `foretold check`\n" if left else ""
    return f"{head}{''.join(shown)}{more}"


def _render_row(finding: CheckFinding, project: Project) -> str:
    place = project.relative(finding.path) + (f":{finding.line}" if finding.line else "")
    message = cut_text(finding.message, LONGEST_CELL) + name_agents(finding)
    hint = f"<br>→ {escape_markdown(cut_text(finding.hint, LONGEST_CELL))}" if finding.hint else ""
    what = f"{escape_markdown(message)}{hint}"
    icon = f"{ICONS[finding.severity]} {finding.severity}"
    return f"| {icon} | {quote_code(cut_text(place, LONGEST_CELL))} | {quote_code(finding.code)} | {what} |\n"


def _list_facts(report: CheckReport) -> Iterator[str]:
    costs = ", ".join(f"{escape_markdown(cost.agent.partition('@')[0])} {cost.tokens:,}" for cost in report.costs)
    if costs:
        yield f"Tokens in every session that starts at the top: {costs}."
    if report.ignored:
        yield f"Ignored by comments or settings: {count(report.ignored, 'finding')}."
    if report.known or report.fixed:
        yield f"Baseline: {count(report.known, 'finding')} known, {len(report.fixed):,} fixed."
    if report.cut:
        yield f"Not everything was looked at: {escape_markdown(report.cut)}."


# Text of strangers


def escape_markdown(text: str) -> str:
    """A text that is shown as it is, and cannot notify anybody.

    >>> escape_markdown("see @octocat, a|b *now* in `x y`")
    'see <code>&#64;octocat,</code> a&#124;b &#42;now&#42; in <code>x y</code>'
    """
    parts = _SPAN.split(show_text(text))
    return "".join(quote_code(part) if at % 2 else _escape_words(part) for at, part in enumerate(parts))


def _escape_words(text: str) -> str:
    return " ".join(quote_code(word) if _CODE.search(word) else _write_entities(word) for word in text.split(" "))


def quote_code(text: str) -> str:
    """A text as code.

    >>> quote_code("docs/a|b`.md")
    '<code>docs/a&#124;b&#96;.md</code>'
    """
    return f"<code>{_write_entities(show_text(text))}</code>" if text else ""


def show_text(text: str) -> str:
    """A text in one line, with what cannot be seen shown by its number."""
    plain = re.sub(r"\s+", " ", text)
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in plain)


def cut_text(text: str, longest: int) -> str:
    """A text of at most this many characters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _write_entities(text: str) -> str:
    return "".join(char if _SAFE.match(char) or ord(char) > 0x7F else f"&#{ord(char)};" for char in text)
