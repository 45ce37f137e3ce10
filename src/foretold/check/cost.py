"""The family *cost*: what is paid for in every session, and more than once.

1. A file is compared with the size that the documentation of its agent, or the program itself, asks for
   (`Dialect.sizes`): a program's own warning is a warning, a piece of advice is a note.
2. The tokens of an agent's start are compared with the budget that settings of the repository name for it.
3. A line that two files have in common is counted if both are delivered together: both at the start, or one when a file
   below is touched. Short ones do not count, nor code and tables; files that are the same as a whole are reported by
   *delivery*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial

from foretold.check.delivery.reach import is_in_skill
from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.settings import CheckSettings
from foretold.dialects.registry import DialectChoice
from foretold.dialects.schema import AdvisedSize
from foretold.types import Entry, NamedTuple, estimate_tokens

SHORTEST = 40  #: characters of a line that counts
LEAST = 250  #: characters that two files must have in common
MOST_LINES = 50_000
MAX_SKILL = 500  #: lines of a SKILL.md: agentskills.io, specification, progressive disclosure
_MARKS = re.compile(r"^[\s>]*(?:[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)?")


def find_problems(project: Project, settings: CheckSettings) -> Iterator[CheckFinding]:
    """Findings of this family."""
    yield from project.remember_list("long skills", _find_long_skills, project)
    for choice in project.choices:
        yield from project.remember_list(("cost", choice.dialect.name), _judge_agent, project, choice, settings)


def _judge_agent(project: Project, choice: DialectChoice, settings: CheckSettings) -> Iterator[CheckFinding]:
    entries = [entry for entry in _entries_of(project, choice) if entry.kind != "setting" and not entry.is_listed]
    yield from _find_large(choice, entries)
    yield from _find_over_budget(project, choice, settings)
    yield from _find_repeated(project, choice, entries)


def _entries_of(project: Project, choice: DialectChoice) -> Iterator[Entry]:
    """What an agent is given at the top, and what it is given below it when a file is touched."""
    view, nested = project.view(choice), project.nested(choice)
    waiting = (rule.entry for rule in (*view.waiting, *nested.waiting))
    seen: set[str] = set()
    for entry in (*view.entries, *nested.entries, *waiting):
        if entry.path not in seen and project.is_checked(entry.path) and not is_in_skill(project, entry.folder):
            seen.add(entry.path)
            yield entry


def _find_large(choice: DialectChoice, entries: list[Entry]) -> Iterator[CheckFinding]:
    for entry in entries:
        for size in choice.dialect.sizes:
            count = _measure(entry, size) if entry.kind in size.kinds else 0
            if count > size.most:
                yield _describe_size(entry, choice, size, count)


def _find_long_skills(project: Project) -> Iterator[CheckFinding]:
    """Skills that are longer than the specification of Agent Skills asks for; a skill that is used is loaded whole."""
    for path in project.remember("skills", partial(_list_skills, project)):
        lines = (project.read(path) or "").count("\n") + 1
        if lines > MAX_SKILL:
            said = f"it has {lines:,} lines; the specification of Agent Skills asks for at most {MAX_SKILL}"
            yield CheckFinding(path, None, "file-long", said, "move details into files next to it")


def _list_skills(project: Project) -> list[str]:
    found = (project.absolute(inside) for inside in project.files if inside.endswith("/SKILL.md"))
    return [path for path in found if project.is_checked(path)]


def _measure(entry: Entry, size: AdvisedSize) -> int:
    return len(entry.text) if size.unit == "characters" else len(entry.text.strip().split("\n"))


def _describe_size(entry: Entry, choice: DialectChoice, size: AdvisedSize, count: int) -> CheckFinding:
    asks = "warns of more than" if size.is_warned else "asks for at most"
    said = f"it has {count:,} {size.unit}; {size.source} {asks} {size.most:,}"
    code = "instructions-long" if size.is_warned else "file-long"
    cost = f" (about {entry.tokens:,} tokens)"
    return CheckFinding(entry.path, None, code, said + cost, "", (choice.dialect.name,))


def _find_over_budget(project: Project, choice: DialectChoice, settings: CheckSettings) -> Iterator[CheckFinding]:
    most = settings.budgets.get(choice.dialect.agent)
    view = project.view(choice)
    if most is None or view.tokens <= most:
        return
    largest = max(view.entries, key=lambda entry: entry.tokens)
    said = (
        f"{choice.dialect.agent} is given about {view.tokens:,} tokens in every session, {view.tokens - most:,} more "
    )
    said += f"than the budget of {most:,}; the largest file is this one with {largest.tokens:,}"
    yield CheckFinding(largest.path, None, "tokens-over-budget", said, "", (choice.dialect.name,))


class _Line(NamedTuple):
    """A line of a file."""

    path: str
    number: int
    length: int


def _find_repeated(project: Project, choice: DialectChoice, entries: list[Entry]) -> Iterator[CheckFinding]:
    """Files that have lines in common with a file that is delivered with them."""
    at_start = {entry.path for entry in project.view(choice).entries}
    first: dict[str, _Line] = {}  #: where each line is found first
    count = 0
    texts = project.remember_each("lines", (entry.path for entry in entries), partial(_read_lines, project))
    for entry, lines in zip(entries, texts, strict=True):
        count += len(lines)
        if count > MOST_LINES:
            return
        common: dict[str, list[tuple[_Line, _Line]]] = {}
        for text, places in lines.items():
            other = first.setdefault(text, places[0])
            if other is not places[0] and (other.path in at_start or entry.path in at_start):
                common.setdefault(other.path, []).extend((here, other) for here in places)
        for path, pairs in common.items():
            length = sum(here.length for here, _ in pairs)
            if length >= LEAST and length < 0.95 * len(entry.text.strip()):
                yield _describe_repeated(entry, path, pairs, choice)


def _read_lines(project: Project, path: str) -> dict[str, list[_Line]]:
    """The lines of a text that are long enough, without the marks of lists and in one form of white space."""
    fence = ""
    found: dict[str, list[_Line]] = {}
    for number, row in enumerate((project.read(path) or "").split("\n"), 1):
        mark = row.lstrip()[:3]
        if mark in ("```", "~~~"):
            fence = "" if fence == mark else fence or mark
        elif not fence and len(row) >= SHORTEST and not row.startswith(("|", "<")):
            text = _plain(row)
            if len(text) >= SHORTEST:
                found.setdefault(text, []).append(_Line(path, number, len(text)))
    return found


@lru_cache(MOST_LINES)
def _plain(row: str) -> str:
    return " ".join(_MARKS.sub("", row[:4_000]).split())


def _describe_repeated(
    entry: Entry, other: str, pairs: list[tuple[_Line, _Line]], choice: DialectChoice
) -> CheckFinding:
    here, there = pairs[0]
    tokens = f"about {estimate_tokens('x' * sum(each.length for each, _ in pairs)):,} tokens"
    what = f"a line of {tokens} is" if len(pairs) == 1 else f"{len(pairs)} lines of {tokens} are"
    said = f"{what} also in {other}:{there.number}, and both files are delivered together"
    return CheckFinding(entry.path, here.number, "text-repeated", said, "", (choice.dialect.name,))
