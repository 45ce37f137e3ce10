"""Files whose whole text an agent is given twice at its start: a copy, or an import of what it reads anyway."""

from __future__ import annotations

from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.dialects.registry import DialectChoice
from foretold.instructions.view import View
from foretold.types import Entry, estimate_tokens

SHORTEST = 200  #: characters of a text that is worth a finding
MOST_ENTRIES = 300


def find_repeated_files(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """Entries of a start whose text is in another entry of it."""
    for folder in project.starts(choice):
        yield from _find_in(project.view(choice, folder), project)


def _find_in(view: View, project: Project) -> Iterator[CheckFinding]:
    entries = [entry for entry in view.entries if entry.kind != "setting" and not entry.is_listed][:MOST_ENTRIES]
    texts = [entry.text.strip() for entry in entries]
    for at, (entry, text) in enumerate(zip(entries, texts, strict=True)):
        if len(text) < SHORTEST:
            continue
        other = _find_other(at, text, entries, texts)
        if other is not None and project.tree.real(other.path) != project.tree.real(entry.path):
            said = f"its text is delivered twice: it is in {other.path}, too"
            cost = f"{estimate_tokens(text):,} tokens in every session"
            yield CheckFinding(entry.path, None, "delivered-twice", f"{said} ({cost})", "", (view.dialect.name,))


def _find_other(at: int, text: str, entries: list[Entry], texts: list[str]) -> Entry | None:
    """Another entry that holds the whole text; of two that are equal, the later one is the repetition."""
    for number, whole in enumerate(texts):
        is_other = number != at and entries[number].path != entries[at].path
        if is_other and len(whole) >= len(text) and (len(whole) > len(text) or number < at) and text in whole:
            return entries[number]
    return None
