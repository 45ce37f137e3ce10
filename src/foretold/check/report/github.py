"""Workflow commands of GitHub Actions: a finding becomes an annotation at its line of a pull request.

`::error file=…,line=…,title=…::message`; in values `%`, line ends, `:` and `,` are escaped, in the message `%` and line
ends, as the toolkit of GitHub does (`packages/core/src/command.ts`).
"""

from __future__ import annotations

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.report.sentences import write_sentence
from foretold.check.run import CheckReport
from foretold.storage.tree import is_inside

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render_github(report: CheckReport) -> str:
    """A line for each finding."""
    return "".join(f"{_write_command(each, report.project)}\n" for each in report.findings)


def _write_command(finding: CheckFinding, project: Project) -> str:
    values = {"title": f"foretold {finding.code}"}
    if is_inside(finding.path, project.top):
        values = {"file": project.relative(finding.path), "line": str(finding.line or 1), **values}
    written = ",".join(f"{key}={escape_value(value)}" for key, value in values.items())
    return f"::{COMMANDS[finding.severity]} {written}::{escape_message(write_sentence(finding))}"


def escape_message(text: str) -> str:
    r"""A message that cannot end its line, and so cannot begin another command.

    >>> escape_message("100%\n::stop-commands::x")
    '100%25%0A::stop-commands::x'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_value(text: str) -> str:
    """A value of a command.

    >>> escape_value("a,b:c.md")
    'a%2Cb%3Ac.md'
    """
    return escape_message(text).replace(":", "%3A").replace(",", "%2C")
