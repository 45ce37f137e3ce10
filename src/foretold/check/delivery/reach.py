"""Files that are there and never reach an agent: hidden by another, excluded by a setting, empty.

1. Claude Code reads AGENTS.md only where no CLAUDE.md is loaded: one above it is enough. A CLAUDE.md in the same folder
   is a choice of the author; one above is an accident. A text that arrives in another way is not lost.
2. A file without content that takes the place of one with content is an error at the empty file.
3. What belongs to a skill is read with the skill, what is in the folder of another agent is for that one, and what is
   among templates, or has blanks to fill in, is for another project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial

from foretold.check.finding import CheckFinding
from foretold.check.project import AGENT_FOLDERS, Project
from foretold.dialects.registry import DialectChoice
from foretold.instructions.remedies import import_fallback
from foretold.storage.tree import Fault, is_inside
from foretold.text.frontmatter import split
from foretold.types import Entry, Facts, Skip

#: folders of files that are copied elsewhere, or are for another agent
ELSEWHERE = frozenset(
    "asset assets template templates boilerplate skeleton codex gemini cursor copilot opencode".split()
)
_TO_FILL_IN = re.compile(r"\bYOUR_[A-Z_]+\b|\{\{ ?[\w.]+ ?\}\}|\[(?:PROJECT|Project)[ _](?:NAME|Name|name)\]")
HEAD = 500  #: characters of a text in which a template says what it is
MAX_BLANK = 64 * 1024  #: bytes of a file that may be blank


def find_unreached_files(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """Files that an agent looks for by name, and leaves out."""
    skips = _skips_of(project, choice)
    hiders = {skip.detail.removeprefix("by ") for skip in skips if skip.reason == "shadowed"}
    given = {entry.text.strip() for entry in _entries_of(project, choice)} if hiders else set()
    for skip in skips:
        if skip.reason == "shadowed":
            yield from _find_shadowed(project, choice, skip, given)
        elif skip.reason == "excluded":
            said = f"{choice.dialect.agent} never loads it: a pattern of `claudeMdExcludes` matches it"
            yield CheckFinding(skip.path, None, "file-excluded", said, "", (choice.dialect.name,))
        elif skip.reason == "disabled" and skip.detail.startswith("only when it is asked for"):
            if split(project.read(skip.path) or "", after_bom=True)[0] is None:
                said = f"{choice.dialect.agent} never attaches it by itself: it has no frontmatter that says when"
                yield CheckFinding(skip.path, None, "rule-manual", said, "", (choice.dialect.name,))
        elif skip.reason == "missing":
            said = f"{skip.path}: the link leads nowhere, or back to itself"
            yield CheckFinding(skip.path, None, "dangling-link", said, "", (choice.dialect.name,))
        elif skip.reason == "empty" and skip.layer != "memory" and skip.path not in hiders:
            said = "nothing is left of it without frontmatter, comments and white space"
            yield CheckFinding(skip.path, None, "file-empty", said, "", (choice.dialect.name,))


def _skips_of(project: Project, choice: DialectChoice) -> list[Skip]:
    """What an agent leaves out in the folders where it is asked, and below the top; files that are imported aside."""
    found: dict[tuple[str, str], Skip] = {}
    for folder in project.starts(choice):
        for skip in project.view(choice, folder).skips:
            found.setdefault((skip.path, skip.reason), skip)
    nested = project.nested(choice)
    for skip in nested.skips:
        found.setdefault((skip.path, skip.reason), skip)
    for verdict in nested.verdicts:
        if verdict.loaded == "never" and verdict.reason in ("shadowed", "excluded", "empty", "missing"):
            found.setdefault((verdict.path, verdict.reason), Skip(verdict.path, verdict.reason, verdict.detail))
    return [skip for skip in found.values() if skip.parent is None and project.is_checked(skip.path)]


def _entries_of(project: Project, choice: DialectChoice) -> Iterator[Entry]:
    for folder in project.starts(choice):
        yield from project.view(choice, folder).entries
    yield from project.nested(choice).entries


def _find_shadowed(project: Project, choice: DialectChoice, skip: Skip, given: set[str]) -> Iterator[CheckFinding]:
    agent, fallback = choice.dialect.agent, choice.dialect.fallback
    hider = skip.detail.removeprefix("by ")
    if hider.startswith("/") and _is_blank(project, hider):
        said = f"{agent} reads it in place of {skip.path}, and it is empty"
        yield CheckFinding(hider, None, "empty-shadows", said, "remove it, or write into it", (choice.dialect.name,))
        return
    if ".override." in os.path.basename(hider):
        said = f"{agent} does not read it: {hider} takes its place"
        yield CheckFinding(skip.path, None, "file-overridden", said, "", (choice.dialect.name,))
    if fallback is None or os.path.basename(skip.path) not in fallback.names:
        return
    folder = os.path.dirname(skip.path)
    is_choice = any(project.tree.kind(f"{folder}/{name}") == "file" for name in fallback.unless)
    text = (project.read(skip.path) or "").strip()
    if is_choice or not text or text in given or _is_elsewhere(project, folder, text):
        return
    said = f"{agent} never loads it: where a CLAUDE.md is loaded ({hider}), no AGENTS.md below it is read"
    hint, facts = import_fallback(skip.path, fallback, project.tree), Facts(skip.path, f"{folder}/{fallback.unless[0]}")
    yield CheckFinding(skip.path, None, "file-shadowed", said, hint, (choice.dialect.name,), facts=facts)


def _is_elsewhere(project: Project, folder: str, text: str) -> bool:
    """Whether a file is for something else than the folder that it is in."""
    parts = project.relative(folder).split("/")
    is_apart = not AGENT_FOLDERS.isdisjoint(parts) or not ELSEWHERE.isdisjoint(parts)
    return is_apart or is_in_skill(project, folder) or bool(_TO_FILL_IN.search(text, 0, HEAD))


def _is_blank(project: Project, path: str) -> bool:
    data = project.tree.read(path, MAX_BLANK)
    return not isinstance(data, Fault) and not data.strip()


def is_in_skill(project: Project, folder: str) -> bool:
    """Whether a folder is part of a skill: then its files are read with the skill, not by their names."""
    if folder == project.top or not is_inside(folder, project.top):
        return False
    skills = project.remember("skill folders", partial(_list_skill_folders, project))
    inside = project.relative(folder)
    while inside and skills:
        if inside in skills:
            return True
        inside = os.path.dirname(inside)
    return False


def _list_skill_folders(project: Project) -> frozenset[str]:
    return frozenset(path[: -len("/SKILL.md")] for path in project.files if path.endswith("/SKILL.md"))
