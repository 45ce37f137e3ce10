"""Files that are where the agent that they are for does not look, and settings that name files that are not there.

1. Places and names that are nearly right are a table (`dialects.extensions.places`).
2. A folder that has the name of an instruction file is not read; what is in it was meant to be. Some names are those
   of a file or of a folder of rules (`.clinerules`).
3. A name that settings of the project add to what an agent looks for must be that of some file.
4. Where other folders have a file for each of two agents, one that has a file for one of them only is worth a note.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.dialects.extensions.places import MISPLACED, SETTINGS, Misplaced
from foretold.dialects.registry import DialectChoice
from foretold.instructions.discover.inventory import list_names


def find_misplaced_files(project: Project) -> Iterator[CheckFinding]:
    """Files in a folder, or with a name, that is nearly right."""
    files = {f"/{each.place}": each for each in MISPLACED if not each.place.endswith("/")}
    folders = {f"/{each.place}": each for each in MISPLACED if each.place.endswith("/")}
    names = tuple(each.rpartition("/")[2] for each in files)
    for inside in project.files:
        path = f"/{inside}"
        if path.endswith(names):
            found = next((each for end, each in files.items() if path.endswith(end)), None)
        elif "/." in path and path.endswith(".md"):
            found = next((each for part, each in folders.items() if part in path), None)
        else:
            continue
        if found is None or (found.what == "servers" and _has_no_servers(project, project.absolute(inside))):
            continue
        if not _is_given(project, project.absolute(inside)):
            yield _describe(project, project.absolute(inside), found)


def find_named_folders(project: Project) -> Iterator[CheckFinding]:
    """Folders below the top that have the name of an instruction file; the loader reports those at the top."""
    tables = [list_names(choice.dialect) for choice in project.choices]
    folders = {rules.name for table in tables for rules in table.rules}
    names = {name for table in tables for name in table.files if "/" not in name and name not in folders}
    found: dict[str, None] = {}
    for inside in project.files:
        if "/" in inside and not names.isdisjoint(parts := inside.split("/")[:-1]):
            at = next(at for at, part in enumerate(parts) if part in names)
            found["/".join(parts[: at + 1])] = None
    for folder in found:
        if "/" in folder:
            path = project.absolute(folder)
            yield CheckFinding(path, None, "not-a-file", f"{path}: it is not loaded: it is a folder")


def find_named_in_settings(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """Names of instruction files in settings of the project that no file has."""
    file = SETTINGS.get(choice.dialect.agent)
    text = project.read(project.absolute(file)) if file else None
    if file is None or text is None:
        return
    known = {*list_names(choice.dialect).files}
    for name in list_names(choice.dialect, project.view(choice).surroundings).files:
        is_there = any(inside == name or inside.endswith(f"/{name}") for inside in project.files)
        if name not in known and f'"{name}"' in text and not is_there:
            line = text.count("\n", 0, text.index(f'"{name}"')) + 1
            said = f"`{name}` is not the name of any file of the tree, so nothing is loaded for it"
            path = project.absolute(file)
            yield CheckFinding(path, line, "setting-names-nothing", said, "", (choice.dialect.name,))


def find_unshared_files(project: Project) -> Iterator[CheckFinding]:
    """Folders below the top with a CLAUDE.md and no AGENTS.md, where other folders have both and Codex is in use."""
    agents = {choice.dialect.agent: choice.dialect.name for choice in project.choices}
    if not {"claude-code", "codex"} <= agents.keys():
        return
    own, other = "CLAUDE.md", "AGENTS.md"
    folders = [path[: -len(own) - 1] for path in project.files if path.endswith(f"/{own}")]
    checked = [folder for folder in folders if project.is_checked(project.absolute(f"{folder}/{own}"))]
    lone = [folder for folder in checked if f"{folder}/{other}" not in project.file_set]
    if len(lone) >= len(checked) - len(lone) or f"{other}" not in project.file_set:
        return
    for folder in lone:
        said = f"codex is not given it: there is no {other} next to it, as there is in other folders"
        hint = f"make {folder}/{other} a link to {own}"
        path = project.absolute(f"{folder}/{own}")
        yield CheckFinding(path, None, "file-unshared", said, hint, (agents["codex"],))


def _is_given(project: Project, path: str) -> bool:
    """Whether some agent is given it all the same: imported, or read by another; not just if `.claude` is touched."""
    if os.path.basename(os.path.dirname(path)).startswith("."):
        return any(path in (entry.path, *entry.includes) for each in project.views() for entry in each.view.entries)
    for each in project.views():
        if any(path in (entry.path, *entry.includes) for entry in each.view.entries):
            return True
    return any(path == entry.path for choice in project.choices for entry in project.nested(choice).entries)


def _has_no_servers(project: Project, path: str) -> bool:
    """Whether a file for servers has none, so that nothing is lost: `{"servers": {}}`."""
    try:
        value: object = json.loads(project.read(path) or "{}")
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not any(each and isinstance(each, dict) for each in value.values())


def _describe(project: Project, path: str, found: Misplaced) -> CheckFinding:
    said = f"{found.agent} does not look here for {found.what}"
    names = [choice.dialect.name for choice in project.choices if choice.dialect.agent == found.agent]
    return CheckFinding(path, None, "wrong-place", said, f"move it to {found.right}", tuple(names) or (found.agent,))
