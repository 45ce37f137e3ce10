"""Fixes of imports: what was evidently meant is written so that the agent follows it.

1. The words of the author stay: white space is put in, a path gets the capitals, the extension or the folders that it
   lacks. A path is completed only if exactly one file fits.
2. An import in a code span may be an example after all, so taking it out of the code is not safe.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from foretold.check.finding import CheckFinding, Effect, Fix, TextEdit
from foretold.check.fix.edits import EditedText, open_text
from foretold.check.project import Project
from foretold.instructions.engine import NEARLY
from foretold.instructions.intent import IMPORT_TOKEN, PUNCTUATION
from foretold.instructions.text.imports import target_of
from foretold.storage.tree import Fault, is_inside
from foretold.types import NamedTuple

_ENDINGS = (".md", ".txt")  #: that are left out


class ImportToken(NamedTuple):
    """An `@path` in a text."""

    start: int  #: of the `@`, in characters
    end: int
    written: str  #: what follows the `@`

    @property
    def path(self) -> str:
        return self.written.partition("#")[0].replace("\\ ", " ")


def _list_tokens(file: EditedText, line: int | None) -> Iterator[ImportToken]:
    start, row = file.line(line)
    for found in IMPORT_TOKEN.finditer(row):
        yield ImportToken(start + found.start(), start + found.end(), found[1])


def _find_token(
    finding: CheckFinding,
    project: Project,
    is_meant: Callable[[str, str], bool] = lambda found, target: found == target,
) -> tuple[EditedText, ImportToken, str] | None:
    """The file and the token that a finding is about, and what it is taken to mean; None if that is not clear."""
    file, target = open_text(project, finding.path), finding.facts.subject if finding.facts else ""
    if file is None or not target:
        return None
    tokens = [
        each
        for each in _list_tokens(file, finding.line)
        if is_meant(target_of(each.path, file.folder, project.home), target)
    ]
    return (file, tokens[0], target) if len({each.written for each in tokens}) == 1 else None


def separate_punctuation(finding: CheckFinding, project: Project) -> Fix | None:
    """`@docs/style.md,` -> `@docs/style.md ,`"""
    found = _find_token(finding, project)
    if found is None:
        return None
    file, token, target = found
    meant = token.written.rstrip(PUNCTUATION)
    if "#" in token.written or project.tree.kind(target.rstrip(PUNCTUATION)) != "file":
        return None
    at = token.start + 1 + len(meant)
    return _make_fix(f"put white space after @{meant}", file.splice(at, at, " "), target.rstrip(PUNCTUATION))


def complete_path(finding: CheckFinding, project: Project) -> Fix | None:
    """`@docs/Testing` -> `@docs/testing.md`, if exactly one file fits"""
    found = _find_token(finding, project)
    if found is None or found[1].written.startswith("~"):
        return None
    file, token, target = found
    kept = token.path[len(token.path.rstrip(PUNCTUATION)) :]
    if kept:  # then punctuation is part of what is missing, too
        return None
    meant = {*_find_meant(token.path, target, file.folder, project)}
    if len(meant) != 1:
        return None
    path = meant.pop()
    written = os.path.relpath(path, file.folder).replace(" ", "\\ ")
    lead = "./" if token.written.startswith("./") and not written.startswith("../") else ""
    rest = token.written[len(token.written.partition("#")[0]) :]
    new = f"@{lead}{written}{rest}"
    return _make_fix(f"write {new}", file.splice(token.start, token.end, new), path)


def _find_meant(written: str, target: str, folder: str, project: Project) -> Iterator[str]:
    """The files that a path may mean: with other capitals, with an extension, seen from the top or a folder above."""
    places = [target]
    above = folder
    while not written.startswith("/") and is_inside(above, project.top) and above != project.top:
        above = os.path.dirname(above)
        places.append(os.path.normpath(os.path.join(above, written)))
    if written.startswith("/"):  # from the top of the repository
        places.append(os.path.normpath(f"{project.top}/{written}"))
    for place in places:
        for path in (place, *(f"{place}{ending}" for ending in _ENDINGS)):
            if is_inside(path, project.top):
                yield from _find_spelled(path, project)


def _find_spelled(path: str, project: Project) -> list[str]:
    """The files below the top that differ from a path only in capitals; the path itself, if it is a file."""
    if project.tree.kind(path) == "file":
        return [path]
    found = [project.top]
    for part in project.relative(path).split("/"):
        names = {folder: project.tree.names(folder) for folder in found}
        found = [
            f"{folder}/{name}"
            for folder, listed in names.items()
            if not isinstance(listed, Fault)
            for name in listed[0]
            if name.lower() == part.lower()
        ]
    return [each for each in found if project.tree.kind(each) == "file"]


def drop_directive(finding: CheckFinding, project: Project) -> Fix | None:
    """`@include docs/style.md` -> `@docs/style.md`"""
    file = open_text(project, finding.path)
    word = f"@{os.path.basename(finding.facts.subject)}" if finding.facts else ""
    start, row = file.line(finding.line) if file else (0, "")
    found = [*re.finditer(rf"(?<!\S){re.escape(word)}[ \t]+([^\s`\"'<>()]+)(?=\s|$)", row)]
    if file is None or word not in ("@include", "@import") or len(found) != 1:
        return None
    path = target_of(found[0][1].replace("\\ ", " "), file.folder, project.home)
    if project.tree.kind(path) != "file":
        return None
    edits = file.splice(start + found[0].start(), start + found[0].start(1), "@")
    return _make_fix(f"write @{found[0][1]}", edits, path)


def separate_import(finding: CheckFinding, project: Project) -> Fix | None:
    """`(@docs/style.md)` -> `( @docs/style.md )`; `@éa/style.md` -> `@./éa/style.md`"""
    found = _find_token(finding, project, lambda found, target: found == target or found.startswith(target))
    if found is None:
        return None
    file, token, target = found
    if project.tree.kind(target) != "file":
        return None
    if finding.facts is None or finding.facts.detail != NEARLY["punctuation-before"]:
        at = token.start + 1
        return _make_fix(f"write @./{token.written}", file.splice(at, at, "./"), target)
    end = next(
        (at for at in range(len(token.written), 0, -1) if _leads_to(token.written[:at], file, target, project)), 0
    )
    if not end:
        return None
    rest = token.written[end:]
    written = f" @{token.written[:end]}" + (f" {rest}" if rest else "")
    return _make_fix(
        f"put white space around @{token.written[:end]}", file.splice(token.start, token.end, written), target
    )


def _leads_to(written: str, file: EditedText, target: str, project: Project) -> bool:
    return target_of(written.replace("\\ ", " "), file.folder, project.home) == target


def escape_spaces(finding: CheckFinding, project: Project) -> Fix | None:
    r"""`@docs/my notes.md` -> `@docs/my\ notes.md`"""
    file, written = open_text(project, finding.path), finding.facts.subject if finding.facts else ""
    start, row = file.line(finding.line) if file else (0, "")
    if file is None or not written or row.count(f"@{written}") != 1:
        return None
    path = target_of(written, file.folder, project.home)
    at = start + row.index(f"@{written}")
    new = "@" + written.replace(" ", "\\ ")
    return _make_fix(f"write {new}", file.splice(at, at + 1 + len(written), new), path)


def leave_code(finding: CheckFinding, project: Project) -> Fix | None:
    """The backticks around an import go; it may have been an example, so this is not safe."""
    file, facts = open_text(project, finding.path), finding.facts
    if file is None or facts is None or facts.detail != "code-span":
        return None
    start, row = file.line(finding.line)
    found = re.finditer(r"(?<!`)`@([^`\s]+)`(?!`)", row)
    spans = [each for each in found if _leads_to(each[1], file, facts.subject, project)]
    if len(spans) != 1:
        return None
    span = spans[0]
    before, after = row[: span.start()][-1:], row[span.end() :][:1]
    written = ("" if not before.strip() else " ") + f"@{span[1]}" + ("" if not after.strip() else " ")
    edits = file.splice(start + span.start(), start + span.end(), written)
    return _make_fix(f"take @{span[1]} out of the code", edits, facts.subject)._replace(is_safe=False)


def _make_fix(title: str, edits: tuple[TextEdit, ...], brings: str) -> Fix:
    return Fix(title, edits, effect=Effect((brings,)))
