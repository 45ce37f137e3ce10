"""The JSON of a check (`docs/schemas/check.1.json`)."""

from __future__ import annotations

import json

from foretold.check.finding import CheckFinding, Fix
from foretold.check.project import Project
from foretold.check.run import CheckReport


def describe_report(report: CheckReport) -> dict[str, object]:
    """A report as plain data; paths are relative to `top`, if they are below it."""
    project = report.project
    return {
        "top": project.top,
        "agents": [choice.dialect.name for choice in project.choices],
        "assumed": describe_assumed(project),
        "pinned": describe_pins(project),
        "costs": [cost._asdict() for cost in report.costs],
        "findings": [describe_finding(each, project) for each in report.findings],
        "ignored": report.ignored,
        "left_out": [project.relative(path) for path in project.left_out],
        "cut": report.cut,
        "known": report.known,
        "fixed": [entry._asdict() for entry in report.fixed],
    }


def describe_assumed(project: Project) -> list[dict[str, str]]:
    """Agents in versions that were not recorded, with the ones that were used instead."""
    return [
        {"agent": choice.dialect.agent, "asked_version": choice.asked, "version": choice.dialect.version}
        for choice in project.choices
        if choice.assumed
    ]


def describe_pins(project: Project) -> list[dict[str, object]]:
    """Where the tree pins versions of the agents that are checked for; the first of an agent is the one that counts."""
    agents = dict.fromkeys(choice.dialect.agent for choice in project.choices)
    return [
        dict(each._asdict()) for agent in agents if project.pin_of(agent) for each in project.pins.list_sources(agent)
    ]


def describe_finding(finding: CheckFinding, project: Project) -> dict[str, object]:
    return {
        "path": project.relative(finding.path),
        "line": finding.line,
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "hint": finding.hint,
        "agents": list(finding.agents),
        "fix": describe_fix(finding.fix, project) if finding.fix else None,
    }


def describe_fix(fix: Fix, project: Project) -> dict[str, object]:
    """A fix: bytes of files that are replaced, and files that get another name."""
    edits = [{**edit._asdict(), "path": project.relative(edit.path)} for edit in fix.edits]
    renames = [{"path": project.relative(one.path), "to": project.relative(one.to)} for one in fix.renames]
    return {"title": fix.title, "safe": fix.is_safe, "edits": edits, "renames": renames}


def render_json(report: CheckReport) -> str:
    """The whole document."""
    return write_json({"schema": "foretold.check/1", **describe_report(report)})


def write_json(document: object) -> str:
    """A document as text; a path that is not UTF-8 is escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    return f"{text}\n"
