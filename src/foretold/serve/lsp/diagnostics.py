"""Findings as an editor shows them: where in a text, how serious, in which words, and which other files they name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.secrets.invisible import show_hidden
from foretold.serve.lsp.positions import EditorText, TextSpan
from foretold.types import NamedTuple

SEVERITIES = {"error": 1, "warning": 2, "note": 3}  #: the numbers of the protocol: Error, Warning, Information
MOST_NAMED = 3  #: other files that a diagnostic points to
LONGEST_SUBJECT = 300  #: characters of what a message is about
_PATH = re.compile(r"[^\s`“”\"'(),;:]{1,400}")


class Diagnostic(NamedTuple):
    """A finding in a text."""

    finding: CheckFinding
    span: TextSpan
    severity: int
    message: str
    others: tuple[str, ...]  #: paths of files that it names


def diagnose_all(findings: Iterable[CheckFinding], project: Project) -> tuple[Diagnostic, ...]:
    """Findings with their places in the texts as they are now."""
    texts: dict[str, EditorText] = {}
    found = []
    for each in findings:
        if each.path not in texts:
            texts[each.path] = EditorText(project.read(each.path) or "")
        found.append(diagnose(each, project, texts[each.path]))
    return tuple(found)


def diagnose(finding: CheckFinding, project: Project, text: EditorText | None = None) -> Diagnostic:
    """A finding with its place in the text as it is now, which may be given."""
    text = text or EditorText(project.read(finding.path) or "")
    message = finding.message + (f"\n{finding.hint}" if finding.hint else "")
    if finding.agents and len(finding.agents) < len(project.choices):
        message += f"\nfor {', '.join(finding.agents)}"
    severity = SEVERITIES.get(finding.severity, SEVERITIES["warning"])
    named = tuple(_named_files(finding, project))
    return Diagnostic(finding, locate_in(finding, text), severity, show_hidden(message), named)


def locate(finding: CheckFinding, lines: list[str]) -> TextSpan:
    """What a finding is about: what its message begins with, if that is in its line, else the whole line."""
    at = min(max((finding.line or 1) - 1, 0), len(lines) - 1)
    return _find_subject(finding, lines[at], at) or _take_line(lines[at], at)


def locate_in(finding: CheckFinding, text: EditorText) -> TextSpan:
    """As `locate`. Rules about Markdown count lines as an editor does, others line feeds: the subject decides."""
    lines, rows = text.lines, text.rows
    if rows is None:
        return locate(finding, lines)
    number = max((finding.line or 1) - 1, 0)
    first, end = (rows[at] if at < len(rows) else len(lines) for at in (number, number + 1))
    for at in (number, *range(first, end)):
        span = _find_subject(finding, lines[at], at) if at < len(lines) else None
        if span:
            return span
    first = min(first, len(lines) - 1)
    return _take_line(lines[first], first)


def _find_subject(finding: CheckFinding, line: str, at: int) -> TextSpan | None:
    subject = finding.message.partition(": ")[0].strip("`“”")
    for written in (f"@{subject}", subject, subject.partition(" ")[0].strip("`“”")):
        start = line.find(written) if 2 < len(written) <= LONGEST_SUBJECT and finding.line else -1
        if start >= 0:
            return TextSpan(at, start, at, start + len(written))
    return None


def _take_line(line: str, at: int) -> TextSpan:
    start = len(line) - len(line.lstrip())
    return TextSpan(at, start, at, max(len(line.rstrip()), start))


def _named_files(finding: CheckFinding, project: Project) -> list[str]:
    found: dict[str, None] = {}
    for word in _PATH.findall(finding.message[:4_000]):
        path = project.absolute(word.rstrip("."))
        if ("/" in word or "." in word) and path != finding.path and word.rstrip(".") in project.file_set:
            found[path] = None
    return list(found)[:MOST_NAMED]
