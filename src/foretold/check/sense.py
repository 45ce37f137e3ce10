"""The family *sense*: contradictions between instructions that can be shown without a model. All of them are notes.

1. A sentence that chooses (`SHELVES`: package manager, indentation, quotes, length of lines, test runner) contradicts
   another one that chooses differently from the same shelf, for the same languages. A choice for a language is an
   exception to one for all; a choice for a folder, a kind of file or a case is not compared.
2. A sentence that says *never* or *do not* contradicts one that says the same words without it.
3. A command that installs with a package manager contradicts the lock file of another one, if there is only that.
4. Only what an agent is given together is compared: the start, and what the folders on one path add to it. Text in
   code, quotes and tables is not a sentence; commands are looked for in code as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.settings import CheckSettings
from foretold.dialects.registry import DialectChoice
from foretold.storage.tree import is_inside
from foretold.types import Entry, NamedTuple

MAX_TEXT = 200_000  #: characters of a file that are read for sentences
MAX_SENTENCE = 300
MOST_ROWS = 50_000  #: that are remembered
NUMBERS = {"two": "2", "three": "3", "four": "4", "eight": "8"}
LANGUAGES = frozenset(
    "typescript javascript python go golang rust java kotlin swift ruby php scala c c++ c# html css scss sql yaml json"
    " toml xml bash shell markdown makefiles makefile elixir dart lua".split()
)
_CHOOSE = r"\b(?:use|prefer|install with) (?:only |always )?`?"
_MANAGES = (
    r"`?(?=$|[.;:!]|, not\b| (?:exclusively|only)\b| (?:as|for|to manage|to install) (?:the |a |our |all )?"
    r"(?:only |primary |default )?(?:package|dependenc|installing|everything))"
)
_END = r"`?(?=$|[.,;:!)]| (?:as|for|to|in|not|instead|rather|over|only|exclusively|everywhere)\b| ?[—–-] )"
#: shelf -> the pattern of a clause that chooses from it; its group is the choice
SHELVES = {
    "package manager": re.compile(rf"{_CHOOSE}(npm|pnpm|yarn|bun){_MANAGES}"),
    "Python package manager": re.compile(rf"{_CHOOSE}(pip|poetry|uv|conda|pipenv){_MANAGES}"),
    "indentation": re.compile(
        r"(?:^|\b(?:use|prefer|indent\w*(?: [\w+#]+)?(?: with| using| by| is| of|:)) )(?:only |always )?"
        rf"(tabs|(?:\d|two|three|four|eight)[ -]spaces?){_END}"
    ),
    "quotes": re.compile(rf"(?:^|\b(?:use|prefer) )(?:only |always )?(single|double)[ -]quotes?{_END}"),
    "length of lines": re.compile(
        r"\blines? (?:end at|are at most|of at most|at most|up to|under|have at most|length is|limit is|of)? ?"
        r"(\d{2,3}) (?:characters|columns|chars)\b"
    ),
    "test runner": re.compile(
        r"(?:\btests? (?:run|are run|are written) (?:with|in|using|on) |^(?:always )?(?:use|prefer) )`?"
        rf"(jest|vitest|mocha|jasmine|ava|karma){_END}"
    ),
}
#: words with which a clause speaks for a part of the project only
_PART = re.compile(
    r"\b(?:in|for|inside|within|under|when|if|unless|except|where|while|until|needs?)\b(?! (?:indent\w*|strings|all|"
    r"every|everything|this repo\w*|the project|this project|package management|dependenc\w+|installing|packages|"
    r"everyone))"
)
_NEGATION = re.compile(r"\b(?:not|never|no|don't|avoid|instead of|rather than|without|over)\b")
_ORDER = re.compile(r"^(?:please )?(?:never|do not|don't|avoid) (.+)$")
_ALWAYS = re.compile(r"^(?:please )?(?:always|do) ")
_IN_LANGUAGE = re.compile(r"\b(?:in|for) (?:" + "|".join(map(re.escape, sorted(LANGUAGES))) + r")(?![\w+#])")
_CODE = re.compile(r"`[^`\n]*`")
_LEAD = re.compile(r"^[\s>]*(?:[-*+]\s+|\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?|[*_]{2,3}")
_STOP = re.compile(r"(?<=[.!?])\s+")
_CLAUSE = re.compile(r"[,;] (?:and |but )?| and (?=\w+ (?:with|in)\b)")
_WORD = re.compile(r"[\w`./+#'-]+")
LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "bun.lock": "bun",
    "bun.lockb": "bun",
}
_INSTALL = re.compile(
    r"(?<![\w/.-])(npm|pnpm|yarn|bun) (?:install|ci|i)(?= *(?:`|$|&&|[.,;)#]))|(?<![\w/.-])(pnpm|yarn|bun) add (?!-g)"
)
_FOR_USERS = re.compile(r"(?i)readme|(?:^|[-_.])(?:docs|documentation|blog|changelog|release-notes)(?:[-_.]|$)")
_MANAGER = re.compile(r"(?<![\w/.-])(npm|pnpm|yarn|bun)(?![\w/-])")


class _Choice(NamedTuple):
    """What a clause chooses, and for which languages."""

    shelf: str
    value: str
    scope: frozenset[str]


class _Sentence(NamedTuple):
    """A sentence of an instruction file, without the marks of Markdown around it."""

    written: str
    choices: tuple[_Choice, ...]
    words: tuple[str, ...]  #: without what makes an order of it
    is_refusal: bool  #: whether it says never, or do not


class _Document(NamedTuple):
    """What the sentences of an instruction file say, with their lines."""

    choices: tuple[tuple[int, _Choice], ...] = ()
    said: Mapping[tuple[str, ...], tuple[str, int, str]] = {}  #: words -> where they are first, and as they are written
    refused: tuple[tuple[tuple[str, ...], int, str], ...] = ()
    installs: bool = False


_Read = list[tuple[Entry, _Document]]


def find_problems(project: Project, settings: CheckSettings) -> Iterator[CheckFinding]:  # noqa: ARG001
    """Findings of this family."""
    for choice in project.choices:
        yield from project.remember(("sense", choice.dialect.name), partial(_judge_agent, project, choice))


def _judge_agent(project: Project, choice: DialectChoice) -> list[CheckFinding]:
    entries = [*_entries_of(project, choice)]
    documents = project.remember_each("said", (entry.path for entry in entries), partial(_read_document, project))
    read = [*zip(entries, documents, strict=True)]
    found = [*_find_other_choices(read), *_find_opposites(read), *_find_other_locks(project, read)]
    return [each._replace(agents=(choice.dialect.name,)) for each in found]


def _entries_of(project: Project, choice: DialectChoice) -> Iterator[Entry]:
    """What an agent is given: at its start at the top, below it by folder, and when files match."""
    view, nested = project.view(choice), project.nested(choice)
    rules = (rule.entry for rule in (*view.waiting, *nested.waiting))
    for entry in {entry.path: entry for entry in (*view.entries, *nested.entries, *rules)}.values():
        if entry.kind in ("file", "import", "rule") and project.is_checked(entry.path):
            yield entry


def _read_document(project: Project, path: str) -> _Document:
    text = (project.read(path) or "")[:MAX_TEXT]
    choices: list[tuple[int, _Choice]] = []
    said: dict[tuple[str, ...], tuple[str, int, str]] = {}
    refused: list[tuple[tuple[str, ...], int, str]] = []
    fence = ""
    for number, row in enumerate(text.split("\n"), 1):
        mark = row.lstrip()[:3]
        if mark in ("```", "~~~"):
            fence = "" if fence == mark else fence or mark
        elif not fence and len(row) <= 2_000 and not row.startswith(("    ", "\t", "|", "#", ">")):
            for sentence in _read_row(row):
                choices += ((number, made) for made in sentence.choices)
                if len(sentence.words) < 3:
                    continue
                if sentence.is_refusal:
                    refused.append((sentence.words, number, sentence.written))
                else:
                    said.setdefault(sentence.words, (path, number, sentence.written))
    return _Document(tuple(choices), said, tuple(refused), any(map(_installs, text.split("\n"))))


@lru_cache(MOST_ROWS)
def _installs(row: str) -> bool:
    return bool(_INSTALL.search(row))


@lru_cache(MOST_ROWS)  # most rows of a file that is edited are the ones that they were
def _read_row(row: str) -> tuple[_Sentence, ...]:
    parts = [part for part in _STOP.split(_LEAD.sub("", row)) if 5 <= len(part) <= MAX_SENTENCE and '"' not in part]
    return tuple(_read_sentence(part.strip()) for part in parts)


def _read_sentence(written: str) -> _Sentence:
    text = written.lower()
    order = _ORDER.match(text)
    words = _words_of(order[1] if order else _ALWAYS.sub("", text))
    return _Sentence(written, tuple(_choices_of(text)), words, bool(order))


# Choices


def _find_other_choices(read: _Read) -> Iterator[CheckFinding]:
    known: dict[tuple[str, frozenset[str]], list[tuple[Entry, int, _Choice]]] = {}
    for entry, document in read:
        for line, made in document.choices:
            if entry.globs and not made.scope:
                continue
            others = known.setdefault((made.shelf, made.scope), [])
            other = next(
                (each for each in others if each[2].value != made.value and _is_together(each[0], entry)), None
            )
            if other is not None:
                where = f"{other[0].path}:{other[1]}"
                said = f"{made.shelf}: {made.value} here, and {other[2].value} in {where}; both are delivered together"
                yield CheckFinding(entry.path, line, "contradiction", said)
            others.append((entry, line, made))


def _choices_of(text: str) -> Iterator[_Choice]:
    for clause in _CLAUSE.split(text.rstrip(".!")):
        scope = frozenset(word for word in _WORD.findall(clause) if word in LANGUAGES)
        bare = _IN_LANGUAGE.sub("", clause) if scope else clause
        if _PART.search(_CODE.sub("", bare)):
            continue
        for shelf, pattern in SHELVES.items():
            found = pattern.search(clause)
            if found and not _NEGATION.search(clause, 0, found.start(1)):
                yield _Choice(shelf, _plain(found[1]), scope)
                break


def _plain(value: str) -> str:
    number, _, rest = value.replace("-", " ").partition(" ")
    return f"{NUMBERS.get(number, number)} spaces" if rest.startswith("space") else value


def _is_together(one: Entry, other: Entry) -> bool:
    """Whether an agent is given both: one of their folders is in the other."""
    first, second = (each.folder or os.path.dirname(each.path) for each in (one, other))
    return is_inside(first, second) or is_inside(second, first)


# The same words, with and without a negation


def _find_opposites(read: _Read) -> Iterator[CheckFinding]:
    said: dict[tuple[str, ...], tuple[str, int, str]] = {}
    for _, document in reversed(read):  # what comes first counts
        said.update(document.said)
    entries = {entry.path: entry for entry, _ in read}
    for entry, document in read:
        for words, line, written in document.refused:
            path, number, other = said.get(words, ("", 0, ""))
            if path and _is_together(entries[path], entry):
                text = f"“{written}” here, and “{other}” in {path}:{number}; both are delivered together"
                yield CheckFinding(entry.path, line, "contradiction", text)


def _words_of(text: str) -> tuple[str, ...]:
    return tuple(word.strip("`.,'") for word in _WORD.findall(text))


# Commands and lock files


def _find_other_locks(project: Project, read: _Read) -> Iterator[CheckFinding]:
    for entry, document in read:
        # a document that is imported may be for others, and one about a README says what users run
        if entry.kind == "import" or not document.installs or _FOR_USERS.search(os.path.basename(entry.path)):
            continue
        text = (project.read(entry.path) or "")[:MAX_TEXT]
        lock, manager = _find_lock(project, entry.folder or os.path.dirname(entry.path))
        rows = text.split("\n") if manager else []
        for number, row in enumerate(rows, 1):
            found = _INSTALL.search(row[:2_000]) if _installs(row) else None
            used = (found[1] or found[2]) if found else manager
            if used == manager or not found or _is_hedged(row.lower()) or _is_offered(rows, number, manager):
                continue
            said = f"`{found[0].strip()}` here, but the lock file of the project is {manager}'s ({lock})"
            yield CheckFinding(entry.path, number, "contradiction", said, f"write the command of {manager}")
            break


def _find_lock(project: Project, folder: str) -> tuple[str, str]:
    """The lock file that is nearest to a folder, and whose it is; nothing if there are several there, or none."""
    while is_inside(folder, project.top):
        locks = [name for name in LOCKS if project.tree.kind(f"{folder}/{name}") == "file"]
        if locks:
            return (f"{folder}/{locks[0]}", LOCKS[locks[0]]) if len({LOCKS[name] for name in locks}) == 1 else ("", "")
        folder = os.path.dirname(folder)
    return "", ""


def _is_hedged(row: str) -> bool:
    """Whether a line says more than to run the command: that it is not to be run, or where else it is."""
    return len({*_MANAGER.findall(row)}) > 1 or bool(_NEGATION.search(row)) or "cd " in row or "global" in row


def _is_offered(rows: list[str], number: int, manager: str) -> bool:
    """Whether the command of the project's own package manager is near: then several are offered."""
    near = "\n".join(rows[max(0, number - 6) : number + 5])
    return any(manager in (found[1], found[2]) for found in _INSTALL.finditer(near))
