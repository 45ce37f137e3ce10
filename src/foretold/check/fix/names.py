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

_GLOB = re.compile(r"[*?\[\]!#\\\s]")


def correct_case(finding: CheckFinding, project: Project) -> Fix | None:
    """`claude.md` -> `CLAUDE.md`"""
    fix, name = rename_file(finding, project), os.path.basename(finding.path)
    if fix is None or finding.facts is None or finding.facts.meant.lower() != name.lower():
        return None
    mentioned = project.git.mentioned([name]) if project.git else None
    return fix._replace(is_safe=mentioned is not None and name not in mentioned)


def rename_file(finding: CheckFinding, project: Project) -> Fix | None:
    """A file gets the name with which it would be read."""
    name = finding.facts.meant if finding.facts else ""
    return _rename(finding.path, f"{os.path.dirname(finding.path)}/{name}", project) if name else None


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


def _rename(path: str, to: str, project: Project) -> Fix | None:
    """A file gets another name, if none has it; links stay what they are."""
    if project.tree.real(path) != path or open_text(project, path) is None or project.tree.kind(to) != "missing":
        return None
    near = os.path.relpath(to, os.path.dirname(path))
    word = "move" if "/" in near else "rename"
    shown = project.relative(to) if "/" in near else near
    return Fix(f"{word} it to {shown}", renames=(Rename(path, to),), is_safe=False, effect=Effect((to,), (to,)))


def create_importer(finding: CheckFinding, project: Project) -> Fix | None:
    """A CLAUDE.md with `@AGENTS.md` next to an AGENTS.md that is never read; a new file is not safe."""
    path = finding.facts.meant if finding.facts else ""
    folder = os.path.dirname(path)
    if not path or project.tree.kind(path) != "missing" or project.tree.kind(folder) != "folder":
        return None
    line = "@" + os.path.relpath(finding.path, folder).replace(" ", "\\ ")
    edit = TextEdit(path, 0, 0, f"{line}\n")
    title = f"create {project.relative(path)} with the line {line}"
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
