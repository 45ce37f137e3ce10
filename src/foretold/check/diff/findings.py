"""What a change does to the findings of a check.

Findings are new or fixed by what they are recognised by (`baseline`); one whose line was edited, or whose file has
another path now, is neither. One that a baseline has is not new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from foretold.check.baseline import BaselineEntry, fingerprint_findings
from foretold.check.finding import CheckFinding, mask_numbers
from foretold.check.project import Project
from foretold.check.run import check_tree, is_among, list_severities
from foretold.check.settings import CheckSettings
from foretold.types import NamedTuple


class ChangeScope(NamedTuple):
    """What of a change is reported."""

    paths: tuple[str, ...] = ()  #: files and folders, absolute; none: all
    severity: str = "note"  #: the least of findings
    baseline: tuple[BaselineEntry, ...] = ()  #: findings that are not new


class ChangedFindings(NamedTuple):
    """What a change does to the findings of a check."""

    new: tuple[CheckFinding, ...]
    fixed: tuple[CheckFinding, ...]
    known: int  #: how many new ones a baseline has


def compare_findings(before: Project, after: Project, settings: CheckSettings, scope: ChangeScope) -> ChangedFindings:
    """The findings that are new, and those that are fixed."""
    old, now = check_tree(before, settings).findings, check_tree(after, settings).findings
    marks = [
        dict(zip(fingerprint_findings(found, side), found, strict=True))
        for found, side in ((old, before), (now, after))
    ]
    new = [each for mark, each in marks[1].items() if mark not in marks[0]]
    fixed = [each for mark, each in marks[0].items() if mark not in marks[1]]
    for describe in (_describe_subject, _describe_message):
        new, fixed = _take_out_common(new, fixed, describe)
    new, fixed = ([each for each in found if _is_reported(each, scope)] for found in (new, fixed))
    known = {entry.fingerprint for entry in scope.baseline}
    in_baseline = {each.key for mark, each in marks[1].items() if mark in known}
    unknown = tuple(each for each in new if each.key not in in_baseline)
    return ChangedFindings(unknown, tuple(fixed), len(new) - len(unknown))


def _is_reported(finding: CheckFinding, scope: ChangeScope) -> bool:
    return finding.severity in list_severities(scope.severity) and is_among(finding.path, scope.paths)


def _describe_subject(finding: CheckFinding) -> tuple[str, ...]:
    """What a finding is about, wherever it is in its file."""
    return finding.path, finding.code, mask_numbers(finding.message.partition(": ")[0])


def _describe_message(finding: CheckFinding) -> tuple[str, ...]:
    """What a finding says, whatever its file is called: a folder that is renamed has the same ones."""
    name = finding.path.rpartition("/")[2]
    return name, finding.code, mask_numbers(finding.message)


def _take_out_common(
    new: list[CheckFinding], fixed: list[CheckFinding], describe: Callable[[CheckFinding], tuple[str, ...]]
) -> tuple[list[CheckFinding], list[CheckFinding]]:
    """Both lists without findings that are in the other one, too."""
    common = Counter(map(describe, new)) & Counter(map(describe, fixed))
    return [*_leave_out(new, common, describe)], [*_leave_out(fixed, common, describe)]


def _leave_out(
    findings: Iterable[CheckFinding],
    common: Counter[tuple[str, ...]],
    describe: Callable[[CheckFinding], tuple[str, ...]],
) -> Iterator[CheckFinding]:
    left = Counter(common)
    for each in findings:
        key = describe(each)
        if left[key] > 0:
            left[key] -= 1
        else:
            yield each
