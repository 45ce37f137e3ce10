"""What stands in the way of a fix, whatever it says: files that cannot be written, and rules of git that count more.

One such file must not stop the fixes of all others, so this is found out before anything is tried. `write.py` looks
once more: what comes about meanwhile stops everything there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import cached_property

from foretold.check.finding import CheckFinding, Fix, TextEdit
from foretold.check.fix.proof import JUDGED_BY_GIT
from foretold.check.project import Project
from foretold.files.restore.plans import find_problem
from foretold.git.runner import IgnoreRule


class Obstacles:
    """The obstacles of a project, each found once."""

    def __init__(self, project: Project, findings: Iterable[CheckFinding]) -> None:
        self._project = project
        self._judged = [project.relative(each.path) for each in findings if each.code in JUDGED_BY_GIT]
        self._known: dict[str, str] = {}  #: path -> why it cannot be written

    def find(self, finding: CheckFinding, fix: Fix) -> str:
        """Why a fix cannot be made; empty if nothing is known that prevents it."""
        paths = [edit.path for edit in fix.edits] + [path for rename in fix.renames for path in rename]
        reason = next((reason for path in dict.fromkeys(paths) if (reason := self._find_by_path(path))), "")
        if not reason and not all(map(_is_text, fix.edits)):
            return "the name that would be written is not UTF-8"
        return reason or (self._find_rule(finding) if finding.code in JUDGED_BY_GIT else "")

    def _find_by_path(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = _describe_obstacle(path, self._project)
        return self._known[path]

    def _find_rule(self, finding: CheckFinding) -> str:
        """A rule of git for a folder, which a line in the .gitignore at the top does not outweigh."""
        inside = self._project.relative(finding.path)
        rule = self._rules.get(inside)
        if rule is None or not rule.pattern.startswith("!") or not rule.source.endswith("/.gitignore"):
            return ""
        said = f"{rule.source}:{rule.line} says {rule.pattern}"
        return "" if os.path.isabs(rule.source) else f"{said}, and counts more than the .gitignore at the top"

    @cached_property
    def _rules(self) -> dict[str, IgnoreRule]:
        return self._project.git.find_ignore_rules(self._judged) if self._project.git else {}


def _is_text(edit: TextEdit) -> bool:
    """Whether an edit can be written: a name of a file may have bytes that are not UTF-8."""
    try:
        edit.text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _describe_obstacle(path: str, project: Project) -> str:
    """Why a file cannot be written or renamed so that everything but its text stays."""
    shown = project.relative(path)
    try:
        about = os.lstat(path)
    except OSError:
        about = None
    if about is not None and stat.S_ISLNK(about.st_mode):
        return f"{shown} is a link that leads nowhere"
    if about is not None and about.st_nlink > 1 and stat.S_ISREG(about.st_mode):
        return f"{shown} has {about.st_nlink} names (hard links), and only one of them would get the new text"
    if about is not None and os.geteuid() != 0 and about.st_gid not in (os.getegid(), *os.getgroups()):
        return f"{shown} belongs to a group that you are not in, and would not after the fix"
    problem = find_problem(path)
    return f"{shown}: {problem.message}; {problem.hint}".replace(f"{project.top}/", "") if problem else ""
