"""Fixes by names and by whole files: a file is renamed, moved or put next to another, and git ignores one.

1. Nothing is overwritten: where a file has the name, there is no fix.
2. Only capitals can be corrected safely, if no tracked file has the old name in its text. Where a file belongs is a
   guess, though a good one.
"""

from __future__ import annotations

import os
import re

from foretold.check.finding import CheckFinding, Effect, Fix, Rename, TextEdit
from foretold.check.fix.edits import open_text
from foretold.check.project import Project
from foretold.dialects.extensions.places import MISPLACED

_RENAME = re.compile(r"rename it to ([^\s,;/]+)")
_CREATE = re.compile(r"create (\S+) with the line (@\S+)")
_GLOB = re.compile(r"[*?\[\]!#\\\s]")


def correct_case(finding: CheckFinding, project: Project) -> Fix | None:
    """`claude.md` -> `CLAUDE.md`"""
    named, name = _RENAME.match(finding.hint), os.path.basename(finding.path)
    if named is None or named[1].lower() != name.lower():
        return None
    mentioned = project.git.mentioned([name]) if project.git else None
    is_safe = mentioned is not None and name not in mentioned
    return _rename(finding.path, f"{os.path.dirname(finding.path)}/{named[1]}", project, is_safe=is_safe)


def rename_file(finding: CheckFinding, project: Project) -> Fix | None:
    """A file gets the name that the hint has."""
    named = _RENAME.match(finding.hint)
    return _rename(finding.path, f"{os.path.dirname(finding.path)}/{named[1]}", project) if named else None


def move_file(finding: CheckFinding, project: Project) -> Fix | None:
    """A file is put where the agent looks for it."""
    for each in MISPLACED:
        is_folder = each.place.endswith("/")
        at = finding.path.rfind(f"/{each.place}")
        if at < 0 or not (is_folder or finding.path.endswith(f"/{each.place}")) or " " in each.right:
            continue
        rest = finding.path[at + 1 + len(each.place) :] if is_folder else ""
        if not is_folder and each.right.endswith("/"):
            rest = os.path.basename(finding.path)
        return _rename(finding.path, f"{finding.path[:at]}/{each.right}{rest}", project)
    return None


def _rename(path: str, to: str, project: Project, *, is_safe: bool = False) -> Fix | None:
    """A file gets another name, if none has it; links stay what they are."""
    if project.tree.real(path) != path or open_text(project, path) is None or project.tree.kind(to) != "missing":
        return None
    near = os.path.relpath(to, os.path.dirname(path))
    word = "move" if "/" in near else "rename"
    shown = project.relative(to) if "/" in near else near
    return Fix(f"{word} it to {shown}", renames=(Rename(path, to),), is_safe=is_safe, effect=Effect((to,), (to,)))


def create_importer(finding: CheckFinding, project: Project) -> Fix | None:
    """A CLAUDE.md with `@AGENTS.md` next to an AGENTS.md that is never read; a new file is not safe."""
    named = _CREATE.match(finding.hint)
    if named is None:
        return None
    path = named[1] if named[1].startswith("/") else project.absolute(named[1])
    if project.tree.kind(path) != "missing" or project.tree.kind(os.path.dirname(path)) != "folder":
        return None
    title = f"create {project.relative(path)} with the line {named[2]}"
    edit = TextEdit(path, 0, 0, f"{named[2]}\n")
    return Fix(title, (edit,), is_safe=False, effect=Effect((path, finding.path)))


def ignore_file(finding: CheckFinding, project: Project) -> Fix | None:
    """A line in the .gitignore at the top of the repository."""
    git = project.git
    if git is None or git.prefix:
        return None
    inside = project.relative(finding.path)
    name = inside.rpartition("/")[2] if inside.endswith(".md") else f"/{inside}"
    path = f"{project.top}/.gitignore"
    if _GLOB.search(name):
        return None
    if project.tree.kind(path) == "missing":
        return Fix(f"add {name} to .gitignore", (TextEdit(path, 0, 0, f"{name}\n"),))
    file = open_text(project, path)
    if file is None or file.path != path:
        return None
    lead = "" if not file.text or file.text.endswith("\n") else file.newline
    return Fix(f"add {name} to .gitignore", file.replace(f"{file.text}{lead}{name}{file.newline}"))
