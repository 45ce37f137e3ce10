"""What an editor shows for a place in a file: what agents make of the file, of an import, and what a finding means.

Texts of the repository are shown as they are written: no mark in them makes a link or an image of the editor's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.dialects.registry import DialectChoice, title_of_agent
from foretold.findings.registry import find_rule
from foretold.instructions.explain import FileVerdict, verdict_of
from foretold.instructions.view import View
from foretold.secrets.invisible import show_hidden
from foretold.serve.lsp.diagnostics import locate_in
from foretold.serve.lsp.imports import describe_import, find_import
from foretold.serve.lsp.positions import EditorText, split_lines
from foretold.storage.tree import Fault
from foretold.types import REASONS, NamedTuple

MAX_FILE = 64 * 1024 * 1024
_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$:-])")


class HoverPart(NamedTuple):
    """A heading, and rows under it: a label and a text, or just a text."""

    title: str
    rows: tuple[tuple[str, str], ...]


def describe_place(
    path: str, line: int, character: int, project: Project, findings: Iterable[CheckFinding]
) -> list[HoverPart]:
    """All that is known about a place, the nearest first; lines and characters count from 0."""
    parts = []
    text = project.read(path)
    found = find_import(path, text, line, character, project) if text is not None else None
    if found is not None:
        rows = describe_import(path, found, project)
        parts += [HoverPart(f"@{found.written}", tuple(rows))] if rows else []
    lines = EditorText(text or "")
    here = [each for each in findings if locate_in(each, lines).line == line]
    parts += [describe_rule(code) for code in dict.fromkeys(each.code for each in here)]
    rows = describe_file(path, line, project)
    return [*parts, HoverPart(project.relative(path), tuple(rows))] if rows else parts


def describe_rule(code: str) -> HoverPart:
    """What `foretold rule CODE` says, in short."""
    rule = find_rule(code)
    if rule is None:
        return HoverPart(code, ())
    what = rule.what[:1].upper() + rule.what[1:]
    rows = [("", f"{what}. {rule.why}"), ("What to do", rule.fix)]
    rows += [("Instead", rule.instead)] if rule.instead else []
    return HoverPart(f"{code} ({rule.severity})", tuple(rows))


def describe_file(path: str, line: int, project: Project) -> list[tuple[str, str]]:
    """What becomes of a file, for each agent that is given it or might be; and of one of its lines, if it is cut."""
    if path not in project.instruction_files:
        return []
    return [
        (title_of_agent(choice.dialect.agent), _describe_for(path, line, choice, project)) for choice in project.choices
    ]


def _describe_for(path: str, line: int, choice: DialectChoice, project: Project) -> str:
    view = project.view(choice)
    verdict = verdict_of(view, path, project.tree)
    where = ""
    if verdict.loaded == "never":
        for folder in project.starts(choice):
            other = project.view(choice, folder)
            if any(entry.path == path for entry in other.entries):
                view, verdict = other, verdict_of(other, path, project.tree)
                where = f" when it starts in {project.relative(folder)}"
                break
    if verdict.loaded == "never":
        return _describe_never(verdict, project)
    said = {
        "start": f"always{where}",
        "listed": f"listed by its name{where}",
        "on-match": "when a file that matches its patterns is touched",
        "on-touch": "when a file in its folder is touched",
    }[verdict.loaded]
    cut = _last_line(path, view, project)
    more = f", {verdict.tokens:,} token{'' if verdict.tokens == 1 else 's'}" if verdict.tokens else ""
    if cut is None:
        return said + more
    return f"{said}{more}; cut after line {cut:,}" + ("; this line is not given" if line >= cut else "")


def _describe_never(verdict: FileVerdict, project: Project) -> str:
    reason = REASONS.get(verdict.reason, "")
    said = reason + (f" ({verdict.detail})" if verdict.detail and reason else "")
    said = said or "; ".join(verdict.why)
    return f"never: {said}".replace(project.top.rstrip("/") + "/", "")


def _last_line(path: str, view: View, project: Project) -> int | None:
    """The last line that is given of a file whose end a budget cuts off; None if it is not cut."""
    if not any(each.code == "budget-cut" and each.path == path for each in view.findings):
        return None
    size = next((entry.size for entry in view.entries if entry.path == path), 0)
    data = project.tree.read(path, MAX_FILE)
    return None if isinstance(data, Fault) else len(split_lines(data[:size].decode("utf-8", "replace"))) - 1


def render_parts(parts: Sequence[HoverPart], *, markdown: bool) -> str:
    """The text that an editor shows."""
    shown = []
    for part in parts:
        escape = escape_markdown if markdown else show_hidden
        head = f"**{escape(part.title)}**" if markdown else escape(part.title)
        rows = [f"{escape(label)}: {escape(text)}" if label else escape(text) for label, text in part.rows]
        between = "\n\n" if markdown else "\n"
        shown.append(between.join([head, *rows]))
    return ("\n\n---\n\n" if markdown else "\n\n").join(shown)


def escape_markdown(text: str) -> str:
    """A text without a mark that means something in Markdown.

    >>> escape_markdown("![x](http://a) <b>")
    '\\\\!\\\\[x\\\\]\\\\(http\\\\://a\\\\) \\\\<b\\\\>'
    """
    return _MARKS.sub(r"\\\1", " ".join(show_hidden(text).split()))
