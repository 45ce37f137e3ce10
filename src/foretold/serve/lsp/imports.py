"""The imports of a text, with their places in it, and what each agent makes of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from foretold.check.project import MAX_TEXT, Project
from foretold.dialects.registry import DialectChoice, title_of_agent
from foretold.instructions.intent import IMPORT_TOKEN, PUNCTUATION
from foretold.instructions.text.imports import target_of
from foretold.instructions.text.markdown import scan
from foretold.serve.lsp.positions import TextSpan, split_lines
from foretold.storage.tree import is_inside
from foretold.text.frontmatter import split
from foretold.types import REASONS, Entry, NamedTuple, Skip

MOST_LINKS = 2_000


class TextImport(NamedTuple):
    """An `@path` of a text: where it is, and which file it names."""

    span: TextSpan
    written: str  #: without the `@`
    target: str  #: a path, whether or not something is there


def find_import(path: str, text: str, line: int, character: int, project: Project) -> TextImport | None:
    """The import at a position, whether or not an agent would follow it."""
    lines = split_lines(text)
    if line >= len(lines):
        return None
    for found in IMPORT_TOKEN.finditer(lines[line]):
        if found.start() <= character <= found.end():
            return _make(path, line, found.start(), found[1], project)
    return None


def list_imports(path: str, text: str, project: Project) -> Iterator[TextImport]:
    """The imports that agents follow in a text and whose files are there."""
    if "@" not in text or len(text) > MAX_TEXT or not any(_follows(choice) for choice in project.choices):
        return
    front, body = split(text, after_bom=True)
    offset = len(split_lines(text[: len(text) - len(body)])) - 1 if front is not None else 0
    lines = split_lines(text)
    for mention in [each for each in scan(body).mentions if each.region == "text"][:MOST_LINKS]:
        at = mention.line - 1 + offset
        written = mention.path.replace(" ", "\\ ")
        start = _find_token(lines[at], written) if at < len(lines) else -1
        if start >= 0:
            found = _make(path, at, start, written, project)
            if found.written == written and project.tree.kind(found.target) == "file":
                yield found


def _find_token(line: str, written: str) -> int:
    """Where an import is in its line: as a word of its own, if there is one; another may be in code."""
    alone = re.search(rf"(?<!\S)@{re.escape(written)}(?![^\s#])", line)
    return alone.start() if alone else line.find(f"@{written}")


def _follows(choice: DialectChoice) -> bool:
    return choice.dialect.imports.mode != "none"


def _make(path: str, line: int, start: int, written: str, project: Project) -> TextImport:
    folder = os.path.dirname(project.tree.real(path))
    target = target_of(written.replace("\\ ", " "), folder, project.home)
    trimmed = written.rstrip(PUNCTUATION)
    if trimmed != written and project.tree.kind(target) != "file":
        meant = target_of(trimmed.replace("\\ ", " "), folder, project.home)
        if project.tree.kind(meant) == "file":
            written, target = trimmed, meant
    return TextImport(TextSpan(line, start, line, start + 1 + len(written)), written, target)


def find_target(found: TextImport, project: Project) -> str:
    """The file that an import leads to, if an editor may open it: one of the tree, or one that an agent is given."""
    if project.tree.kind(found.target) != "file":
        return ""
    if is_inside(project.tree.real(found.target), project.top):
        return found.target
    given = any(entry.path == found.target for each in project.views() for entry in each.view.entries)
    return found.target if given else ""


def describe_import(path: str, found: TextImport, project: Project) -> list[tuple[str, str]]:
    """What becomes of an import, for each agent: its name, and what it does."""
    rows = []
    for choice in project.choices:
        said = _describe_for(path, found, choice, project)
        if said:
            rows.append((title_of_agent(choice.dialect.agent), said))
    return rows


def _describe_for(path: str, found: TextImport, choice: DialectChoice, project: Project) -> str:
    entries, skips = collect_delivery(choice, project)
    paths = (path, project.tree.real(path))
    if not any(entry.path in paths for entry in entries):
        return ""  # it is not given the file that the import is in
    if not _follows(choice):
        return "sends the words, and follows no imports"
    places = (found.target, project.tree.real(found.target))
    for entry in entries:
        if entry.path in places and entry.parent in paths:
            return f"imports it, {entry.tokens:,} token{'' if entry.tokens == 1 else 's'}"
        if entry.path in paths and any(place in entry.includes for place in places):
            return "puts its text here"
    for skip in skips:
        is_meant = skip.path in places or skip.path.startswith(found.target)
        if skip.parent in paths and is_meant and skip.line in (None, found.span.line + 1):
            if skip.reason == "missing" and skip.path not in places:  # the file is there; another one is looked for
                return f"does not import it: the import is taken to mean {project.relative(skip.path)}"
            why = REASONS.get(skip.reason, skip.reason)
            return f"does not import it: {why}" + (f" ({skip.detail})" if skip.detail else "")
    return "does not import it"


def collect_delivery(choice: DialectChoice, project: Project) -> tuple[list[Entry], list[Skip]]:
    """What an agent is given, and what it is not, wherever it starts in a tree and whatever it touches there."""
    entries: list[Entry] = []
    skips: list[Skip] = []
    for folder in project.starts(choice):
        view = project.view(choice, folder)
        entries += (*view.entries, *(rule.entry for rule in view.waiting))
        skips += view.skips
    nested = project.nested(choice)
    entries += (*nested.entries, *(rule.entry for rule in nested.waiting))
    return entries, [*skips, *nested.skips]
