"""Fingerprints of findings, and a baseline: findings of an earlier run that are not reported again.

1. A fingerprint is made of the rule, the path, the text of the line with its white space folded, what the message is
   about, and a number that tells equal ones apart. Lines that are added above change nothing. Numbers in a message do
   not count: a file that grows by a byte has the same finding.
2. A baseline is a JSON file with a fingerprint, a path and a rule for each finding, in the order of a report, so that
   it can be reviewed and merged like any other file.
3. Those of a baseline that are not found any more are fixed, and reported as such; findings of rules that did not run,
   or of paths that were not asked about, are neither.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence

from foretold.check.finding import CheckFinding, mask_numbers
from foretold.check.project import Project
from foretold.errors import BadSettings
from foretold.storage.atomic import replace_file
from foretold.storage.tree import is_inside, read_regular
from foretold.types import NamedTuple

SCHEMA = "foretold.baseline/1"
MAX_FILE = 64 * 1024 * 1024  #: bytes of a baseline
LONGEST = 2_000  #: characters of a line that count


class BaselineEntry(NamedTuple):
    """A finding of a baseline."""

    fingerprint: str
    path: str  #: from the top of the project
    code: str


def fingerprint_findings(findings: Sequence[CheckFinding], project: Project) -> list[str]:
    """What each of some findings is recognised by in a later run."""
    seen: Counter[str] = Counter()
    lines: dict[str, list[str]] = {}  #: of each file that a finding names a line of
    found = []
    for each in findings:
        if each.line and each.path not in lines:
            lines[each.path] = (project.read(each.path) or "").split("\n")
        about = mask_numbers(_describe_topic(each, project))
        parts = (each.code, _place_of(each, project), _line_of(each, lines.get(each.path, [])), about)
        base = "\0".join(parts)
        text = f"{base}\0{seen[base]}"
        seen[base] += 1
        found.append(hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32])
    return found


def _describe_topic(finding: CheckFinding, project: Project) -> str:
    """What a finding is about. A path is as seen from the top, on every machine."""
    topic = finding.topic
    return os.path.relpath(topic, project.top) if topic.startswith("/") else topic


def _place_of(finding: CheckFinding, project: Project) -> str:
    """The path of a finding, the same on every machine if it is in the project."""
    if is_inside(finding.path, project.top) or not is_inside(finding.path, project.home):
        return project.relative(finding.path)
    return "~" + finding.path[len(project.home.rstrip("/")) :]


def _line_of(finding: CheckFinding, lines: list[str]) -> str:
    """The text of the line that a finding is about; empty if there is none."""
    line = lines[finding.line - 1] if finding.line and finding.line <= len(lines) else ""
    return " ".join(line[:LONGEST].split())


def write_baseline(path: str, findings: Sequence[CheckFinding], project: Project) -> None:
    """Write a file that `read_baseline` reads."""
    entries = _list_entries(findings, project)
    document = {"schema": SCHEMA, "findings": [entry._asdict() for entry in entries]}
    replace_file(path, (json.dumps(document, indent=1) + "\n").encode(), mode=None, keep_mode=True)


def _list_entries(findings: Sequence[CheckFinding], project: Project) -> list[BaselineEntry]:
    marks = fingerprint_findings(findings, project)
    return [
        BaselineEntry(mark, _place_of(each, project), each.code) for mark, each in zip(marks, findings, strict=True)
    ]


def read_baseline(path: str) -> list[BaselineEntry]:
    """The findings of a baseline; an error that says what is wrong with the file."""
    try:
        document = json.loads(read_regular(path, MAX_FILE))
    except OSError as error:
        raise BadSettings(f"the baseline {path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise BadSettings(f"the baseline {path} is not JSON: {error}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    rows = document.get("findings") if schema == SCHEMA else None
    if not isinstance(rows, list):
        raise BadSettings(f"{path} is not a baseline; write one with: foretold check --write-baseline {path}")
    entries = [_parse_entry(row) for row in rows]
    wrong = next((number for number, entry in enumerate(entries, 1) if entry is None), 0)
    if wrong:
        raise BadSettings(f"the baseline {path} is damaged: its finding {wrong} has no fingerprint, path and code")
    return [entry for entry in entries if entry is not None]


def _parse_entry(row: object) -> BaselineEntry | None:
    values = [row.get(name) for name in BaselineEntry._fields] if isinstance(row, dict) else []
    texts = [value for value in values if isinstance(value, str)]
    return BaselineEntry(*texts) if len(texts) == len(BaselineEntry._fields) else None


class BaselineResult(NamedTuple):
    """Findings that are new, how many a baseline has already, and what of it is fixed."""

    findings: tuple[CheckFinding, ...]
    known: int
    fixed: tuple[BaselineEntry, ...]


def apply_baseline(
    findings: Sequence[CheckFinding], project: Project, entries: Iterable[BaselineEntry]
) -> BaselineResult:
    """Take out the findings that a baseline has."""
    known = {entry.fingerprint: entry for entry in entries}
    marks = fingerprint_findings(findings, project)
    new = tuple(each for mark, each in zip(marks, findings, strict=True) if mark not in known)
    found = set(marks)
    fixed = tuple(entry for mark, entry in known.items() if mark not in found)
    return BaselineResult(new, len(findings) - len(new), fixed)
