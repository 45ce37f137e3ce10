"""Imports that an agent reads otherwise than they were meant: a space in a path, a circle, an agent without imports.

1. An import ends at the first space. If the words after it belong to the name of a file that is there, that was meant.
2. A file that is imported again by what it imports is left out there. A file that two others import is not a mistake.
3. A folder is not imported. It was meant if the import ends with a slash.
4. What a rule with `paths` imports does not wait with it: Claude Code sends it at the start of every session.
5. An agent that follows no imports, as recorded or in its source, sends `@docs/style.md` as text. That counts if the
   file is there and the agent is not given it in another way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.dialects.registry import DialectChoice
from foretold.dialects.surroundings import join
from foretold.instructions.intent import DOCUMENTS, PUNCTUATION, extension_of_path
from foretold.instructions.text.markdown import scan
from foretold.instructions.view import View
from foretold.types import Entry, Facts, Skip

MOST_WORDS = 6  #: of a name with spaces
MAX_MARKDOWN = 1024 * 1024  #: characters of a text that is looked at for imports that are not followed


def find_import_problems(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """Problems of imports, in every folder in which an agent is asked."""
    named: dict[str, list[tuple[str, str, int]]] = {}
    for folder in project.starts(choice):
        view = project.view(choice, folder)
        nested = project.nested(choice) if folder == project.top else None
        skips = (*view.skips, *(nested.skips if nested else ()))
        entries = (*view.entries, *(nested.entries if nested else ()))
        agents = (choice.dialect.name,)
        yield from (each._replace(agents=agents) for each in _find_spaces(project, skips))
        yield from (each._replace(agents=agents) for each in _find_circles(entries, skips))
        yield from (each._replace(agents=agents) for each in _find_folders(project, skips))
        yield from (each._replace(agents=agents) for each in _find_unconditional(view))
        if choice.dialect.imports.mode == "none" and choice.dialect.evidence != "documented":
            yield from (each._replace(agents=agents) for each in _find_unfollowed(project, view, named))


def _find_spaces(project: Project, skips: tuple[Skip, ...]) -> Iterator[CheckFinding]:
    texts: dict[str, list[str]] = {}
    for skip in skips:
        if skip.reason != "missing" or not skip.parent or not skip.line:
            continue
        if skip.parent not in texts:
            texts[skip.parent] = (project.read(skip.parent) or "").split("\n")
        rows = texts[skip.parent]
        row = rows[skip.line - 1][:2_000] if skip.line <= len(rows) else ""
        folder = os.path.dirname(project.tree.real(skip.parent))
        for written in (f"@{os.path.relpath(skip.path, folder)}", f"@./{os.path.relpath(skip.path, folder)}"):
            meant = _with_spaces(project, folder, row.partition(f"{written} ")) if f"{written} " in row else ""
            if meant:
                said = f"`@{meant}` is not imported: the path ends at its first space"
                hint = f"write @{meant.replace(' ', chr(92) + ' ')}, or rename the file"
                yield CheckFinding(skip.parent, skip.line, "import-space", said, hint, facts=Facts(meant))
                break


def _with_spaces(project: Project, folder: str, parts: tuple[str, str, str]) -> str:
    """The path that a line names with some of the words after an import; empty if there is no such file."""
    path = parts[1].strip()[1:]
    for word in parts[2].split(" ")[:MOST_WORDS]:
        path += f" {word}"
        for name in (path, path.rstrip(PUNCTUATION)):
            if project.tree.kind(join(folder, name)) == "file":
                return name
    return ""


def _find_circles(entries: tuple[Entry, ...], skips: tuple[Skip, ...]) -> Iterator[CheckFinding]:
    parents = {entry.path: entry.parent for entry in entries}
    for skip in skips:
        if skip.reason != "duplicate" or not skip.parent:
            continue
        chain: list[str] = []
        above: str | None = skip.parent
        while above and above not in chain:
            chain.append(above)
            above = parents.get(above)
        if skip.path in chain:
            said = f"{skip.path}: the import leads back to a file that imports this one, and is left out"
            yield CheckFinding(skip.parent, skip.line, "import-cycle", said)


def _find_folders(project: Project, skips: tuple[Skip, ...]) -> Iterator[CheckFinding]:
    for skip in skips:
        if skip.reason != "folder" or not skip.parent or not skip.line:
            continue
        rows = (project.read(skip.parent) or "").split("\n")
        row = rows[skip.line - 1] if skip.line <= len(rows) else ""
        if f"{os.path.basename(skip.path)}/" in row:
            said = f"{skip.path}: the import is not followed: it is a folder"
            yield CheckFinding(skip.parent, skip.line, "import-folder", said)


def _find_unconditional(view: View) -> Iterator[CheckFinding]:
    waiting = {rule.entry.path for rule in view.waiting}
    for entry in view.entries:
        if entry.parent in waiting and entry.parent is not None:
            said = (
                f"{entry.path}: its text is sent in every session ({entry.tokens:,} tokens): what a rule imports does "
            )
            said += "not wait for the `paths` of the rule"
            yield CheckFinding(entry.parent, None, "import-unconditional", said)


def _find_unfollowed(
    project: Project, view: View, named: dict[str, list[tuple[str, str, int]]]
) -> Iterator[CheckFinding]:
    """Documents that an entry imports in vain. `named` keeps those of each file: it is in the views of many folders."""
    given = {project.tree.real(entry.path) for entry in view.entries}
    for entry in view.entries:
        if entry.path not in named:
            named[entry.path] = [*_list_named(project, entry)]
        for path, real, line in named[entry.path]:
            if real not in given:
                said = f"@{path}: {view.dialect.agent} follows no imports, so it is given these words, not the file"
                yield CheckFinding(entry.path, line, "import-not-followed", said)


def _list_named(project: Project, entry: Entry) -> Iterator[tuple[str, str, int]]:
    """The documents that a text imports and that are there: as written, where they are, and the line."""
    if "@" not in entry.text or entry.kind == "setting" or len(entry.text) > MAX_MARKDOWN:
        return
    folder = os.path.dirname(project.tree.real(entry.path))
    for mention in project.remember(("mentions", entry.path), partial(scan, entry.raw)).mentions:
        path = mention.path.rstrip(PUNCTUATION)
        target = join(folder, path)
        is_meant = mention.region == "text" and extension_of_path(path) in DOCUMENTS
        if is_meant and project.tree.kind(target) == "file":
            yield path, project.tree.real(target), mention.line
