"""SARIF 2.1.0, for code scanning.

1. Paths are relative to `%SRCROOT%`, the top of the project, and percent-encoded; one in a home has a `file:` URI.
2. A finding without a line is at line 1: GitHub shows nothing without one.
3. `partialFingerprints` stay the same while lines above change (`foretold.check.baseline`). GitHub's own
   `primaryLocationLineHash` is left to the step that uploads the file: that warns of every other value.
4. A fix is there if it changes text only: SARIF cannot rename. Columns count characters.
5. At most 25,000 results, the most serious first: GitHub refuses a file with more. What is left out is a notification.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from urllib.parse import quote

from foretold import __version__
from foretold.check.baseline import fingerprint_findings
from foretold.check.finding import CheckFinding, Fix, TextEdit
from foretold.check.project import MAX_TEXT, Project
from foretold.check.report.json import write_json
from foretold.check.report.rules import render_help
from foretold.check.report.sentences import count, write_sentence
from foretold.check.run import CheckReport
from foretold.findings.registry import SEVERITIES as LEVELS, Rule, family_of, find_rule
from foretold.storage.tree import Fault, is_inside

MOST = 25_000
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}  #: in the words of GitHub


def render_sarif(report: CheckReport) -> str:
    """The whole log, with one run."""
    project = report.project
    marked = list(zip(fingerprint_findings(report.findings, project), report.findings, strict=True))
    if len(marked) > MOST:
        marked = sorted(marked, key=lambda pair: LEVELS.index(pair[1].severity))[:MOST]
    codes = list(dict.fromkeys(each.code for _, each in marked))
    places = _Places(project)
    results = [_describe_result(each, places, codes.index(each.code), mark) for mark, each in marked]
    rules = [rule for rule in map(find_rule, codes) if rule is not None]
    driver = {
        "name": "foretold",
        "semanticVersion": __version__,
        "version": __version__,
        "rules": [_describe_rule(rule) for rule in rules],
    }
    root = {"description": {"text": "The top of the project."}}
    run = {
        "tool": {"driver": driver},
        "invocations": [_describe_invocation(report)],
        "originalUriBaseIds": {"%SRCROOT%": root},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return write_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _describe_invocation(report: CheckReport) -> dict[str, object]:
    said = [f"Not everything was looked at: {report.cut}."] if report.cut else []
    left = len(report.findings) - MOST
    said += [f"{count(left, 'finding')} left out: a file may have {MOST:,}."] if left > 0 else []
    notifications = [{"level": "warning", "message": {"text": text}} for text in said]
    return {"executionSuccessful": True, "toolExecutionNotifications": notifications}


def _describe_rule(rule: Rule) -> dict[str, object]:
    plain, marked = render_help(rule)
    tags = [family_of(rule.code), *(["security"] if family_of(rule.code) == "safety" else [])]
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.code.split("-")),
        "shortDescription": {"text": f"{rule.what[:1].upper()}{rule.what[1:]}."},
        "fullDescription": {"text": rule.why},
        "help": {"text": plain, "markdown": marked},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": tags, "precision": "high", "problem.severity": SEVERITIES[rule.severity]},
    }


def _describe_result(finding: CheckFinding, places: _Places, index: int, mark: str) -> dict[str, object]:
    place = {"artifactLocation": locate(finding.path, places.project), "region": {"startLine": finding.line or 1}}
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": write_sentence(finding)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"foretold/v1": mark},
        "properties": {"agents": list(finding.agents)},
    }
    fix = _describe_fix(finding.fix, places) if finding.fix else None
    return {**result, "fixes": [fix]} if fix else result


def locate(path: str, project: Project) -> dict[str, str]:
    """Where a file is: below the top of the project, or by its whole path."""
    if is_inside(path, project.top):
        return {"uri": quote(project.relative(path).encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}
    return {"uri": "file://" + quote(path.encode("utf-8", "surrogateescape"))}


def _describe_fix(fix: Fix, places: _Places) -> dict[str, object] | None:
    """The texts that a fix replaces; None if it does something else, or a file cannot be read."""
    if fix.renames or not fix.edits:
        return None
    changes: dict[str, list[dict[str, object]]] = {}
    for edit in fix.edits:
        region = places.describe_region(edit)
        if region is None:
            return None
        change = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.path, []).append(change)
    files = [
        {"artifactLocation": locate(path, places.project), "replacements": edits} for path, edits in changes.items()
    ]
    return {"description": {"text": f"{fix.title[:1].upper()}{fix.title[1:]}."}, "artifactChanges": files}


class _Places:
    """Lines and columns of the bytes of files; a file is read once, however many edits it has."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._files: dict[str, tuple[bytes, list[int]] | None] = {}  #: path -> its bytes, and where its lines begin

    def describe_region(self, edit: TextEdit) -> dict[str, object] | None:
        """The lines and columns that an edit replaces; None if the file cannot be read."""
        if edit.path not in self._files:
            data = self.project.tree.read(edit.path, MAX_TEXT)
            self._files[edit.path] = None if isinstance(data, Fault) else (data, _list_starts(data))
        found = self._files[edit.path]
        if found is None:
            return None
        (line, column), (end_line, end_column) = (_find_place(*found, at) for at in (edit.start, edit.end))
        return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _list_starts(data: bytes) -> list[int]:
    return [0, *(found.end() for found in re.finditer(rb"\n", data))]


def _find_place(data: bytes, starts: list[int], at: int) -> tuple[int, int]:
    """The line and the column of a byte, both from 1."""
    line = bisect_right(starts, at)
    return line, len(data[starts[line - 1] : at].decode("utf-8", "replace")) + 1
