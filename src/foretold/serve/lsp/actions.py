"""Quick fixes: what `foretold check --fix` would do about a finding, as changes that an editor makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foretold.check.finding import CheckFinding, Fix
from foretold.check.project import MAX_TEXT, Project
from foretold.serve.lsp.positions import TextSpan, span_of_bytes
from foretold.storage.tree import Fault, is_inside
from foretold.types import NamedTuple


class FileEdit(NamedTuple):
    """Texts of a file that are replaced."""

    path: str
    is_new: bool
    changes: tuple[tuple[TextSpan, str], ...]


class QuickFix(NamedTuple):
    """A fix of one finding."""

    finding: CheckFinding
    title: str
    is_safe: bool
    edits: tuple[FileEdit, ...]
    renames: tuple[tuple[str, str], ...]


def list_fixes(findings: Iterable[CheckFinding], project: Project) -> Iterator[QuickFix]:
    """The fixes of some findings; those that would change something outside of the tree are left out."""
    for finding in findings:
        fix = finding.fix or _find_fix(finding, project)
        paths = [*(edit.path for edit in fix.edits), *(one.path for one in fix.renames)] if fix else []
        paths += [one.to for one in fix.renames] if fix else []
        if fix is not None and paths and all(_may_change(path, project) for path in paths):
            title = fix.title[:1].upper() + fix.title[1:] + ("" if fix.is_safe else " (changes what is meant)")
            renames = tuple((one.path, one.to) for one in fix.renames)
            yield QuickFix(finding, title, fix.is_safe, tuple(_group_edits(fix, project)), renames)


def _find_fix(finding: CheckFinding, project: Project) -> Fix | None:
    from foretold.check.fix import find_fix

    return find_fix(finding, project)


def _may_change(path: str, project: Project) -> bool:
    return is_inside(project.tree.real(path), project.top) and is_inside(path, project.top)


def _group_edits(fix: Fix, project: Project) -> Iterator[FileEdit]:
    for path in dict.fromkeys(edit.path for edit in fix.edits):
        data = project.tree.read(path, MAX_TEXT)
        text = b"" if isinstance(data, Fault) else data
        changes = [(span_of_bytes(text, edit.start, edit.end), edit.text) for edit in fix.edits if edit.path == path]
        yield FileEdit(path, isinstance(data, Fault), tuple(changes))
