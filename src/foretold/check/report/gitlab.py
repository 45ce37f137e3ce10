"""Code Quality of GitLab: a JSON list that the merge request shows (`artifacts: reports: codequality`)."""

from __future__ import annotations

from foretold.check.baseline import fingerprint_findings
from foretold.check.report.json import write_json
from foretold.check.report.sentences import write_sentence
from foretold.check.run import CheckReport
from foretold.storage.tree import is_inside

SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render_gitlab(report: CheckReport) -> str:
    """The findings about files of the project; GitLab can show no others."""
    project = report.project
    marks = fingerprint_findings(report.findings, project)
    rows = [
        {
            "description": write_sentence(each),
            "check_name": each.code,
            "fingerprint": mark,
            "severity": SEVERITIES[each.severity],
            "location": {"path": project.relative(each.path), "lines": {"begin": each.line or 1}},
        }
        for mark, each in zip(marks, report.findings, strict=True)
        if is_inside(each.path, project.top)
    ]
    return write_json(rows)
