"""The texts whose claims are checked, and the claims that each makes: paths, links, commands, names of code.

1. Every instruction file is read once, whatever links lead to it; files that agents only look for in another spelling
   (an agents.md among other pages) are not instructions. Definitions of skills, agents and commands are read, too.
2. Markdown is read as the drift engine reads memories (`memory.drift.sentences`): sentences with what is in backticks
   and in links, and fenced blocks. Frontmatter is not read: its patterns are a matter of delivery.
3. What is in backticks is a command, a path or a name of code, by its spelling. In plain prose only a path with a
   slash and a known ending counts. In fenced blocks of a shell, commands count, and nothing else does.
4. Whether a claim is meant (`hedges`) is asked later, and only for what is not there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache, partial

from foretold.check.project import Project
from foretold.check.truth.commands import Command, parse_commands
from foretold.dialects.extensions.agent_skills import FILE as SKILL, FOLDERS as SKILLS
from foretold.dialects.extensions.registry import DEFINITIONS
from foretold.instructions.discover.inventory import list_names
from foretold.memory.drift import classify
from foretold.memory.drift.claims import find_plain
from foretold.memory.drift.sentences import MOST_KEPT, Fence, Sentence, Span, read_paragraph, split_paragraphs
from foretold.text.frontmatter import split_fenced
from foretold.text.patterns import lazy
from foretold.types import NamedTuple

MARKDOWN = (".md", ".mdc", ".mdx", ".markdown", ".txt")
MOST_CLAIMS = 20_000  #: of one document; what is beyond them is not looked at
_DEFINED = lazy(r"\s{0,3}\[[^\]\n]{1,200}\]:\s+<?([^\s<>]+)")
_VERSION = lazy(r"\bNode(?:\.js|JS|js)?[ \xa0]v?(\d{1,2})(?:\.x|\.\d+(?:\.\d+)?)?\b(?!\.?\d)(\+)?", re.IGNORECASE)
#: more versions after one, as in `18+/22+`
_OTHER_VERSIONS = lazy(r"(?: ?/ ?v?\d{1,2}(?:\.x|\.\d+(?:\.\d+)?)?\b\+?)+")
_RELEASE = lazy(r"(?<![\d.])\d+")
_DATED = lazy(r"\s*(?:[-*+]|\d{1,9}[.)])?\s*[*_\[(]*20\d\d-[01]\d-[0-3]\d\b")
_ARCHIVED = lazy(r"(?i)/[._]?(?:archived?|archives|attic|graveyard)/")  #: what is there is kept as it was
_RULED = lazy(r"\s*\|[\s|:-]*-[\s|:-]*\Z")  #: the line between the head of a table and its rows
_SCHEME = lazy(r"[A-Za-z][A-Za-z0-9+.-]*:")


class TruthDocument(NamedTuple):
    """A text that is checked."""

    path: str  #: absolute
    folders: tuple[str, ...]  #: that it is in, by each of its names, below the top; empty for the top
    body: str
    first: int  #: the line of the file on which the body begins
    kind: str = "rule"  #: main: a file that is found by its name; rule; definition: of a skill, an agent, a command

    @property
    def folder(self) -> str:
        return self.folders[0]


class Claim(NamedTuple):
    """Something that a document says is there."""

    kind: str  #: path, link, command, symbol, version
    text: str  #: as it is written, without the number of a line
    line: int
    source: str = "code"  #: code, prose, link, program, argument
    sentence: Sentence | None = None
    at: int = 0  #: where it begins in the sentence
    command: Command | None = None
    where: str = ""  #: of a symbol: the path that it is said to be in
    head: str = ""  #: of the column of a table that it is in


class DocumentPlace(NamedTuple):
    """Where a document is, and what it is."""

    path: str
    folders: tuple[str, ...]
    kind: str


def list_documents(project: Project) -> dict[DocumentPlace, TruthDocument]:
    """All documents that can be read, each once."""
    places = project.remember("document places", partial(_list_places, project))
    documents = project.remember_each("document", places, partial(_read_document, project))
    return {place: each for place, each in zip(places, documents, strict=True) if each is not None}


def read_document(project: Project, place: DocumentPlace) -> TruthDocument:
    """The document at a place."""
    found = project.remember(("document", place), partial(_read_document, project, place))
    return found or TruthDocument(place.path, place.folders, "", 1, place.kind)


def read_claims(project: Project, place: DocumentPlace) -> list[Claim]:
    """What the document at a place claims."""
    return find_claims(read_document(project, place))


def _read_document(project: Project, place: DocumentPlace) -> TruthDocument | None:
    body = _read_body(project, place.path)
    return None if body is None else TruthDocument(place.path, place.folders, *body, place.kind)


def _list_places(project: Project) -> list[DocumentPlace]:
    """The paths of documents, the folders that each of them is in, links counted, and what kind of document it is."""
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    names = {name.rpartition("/")[2] for choice in project.choices for name in list_names(choice.dialect).files}
    lower = {name.lower() for name in names}
    for path in project.instruction_files:
        base = os.path.basename(path)
        is_misspelt = base not in names and base.lower() in lower
        inside = f"/{project.relative(path)}"
        if not is_misspelt and (base in names or base.lower().endswith(MARKDOWN)) and not _ARCHIVED.search(inside):
            is_brought = "/skills/" in inside or "/plugins/" in inside
            _add(found, project, path, "definition" if is_brought else "main" if base in names else "rule")
    for path in project.remember("definition files", partial(_list_definitions, project)):
        _add(found, project, path, "definition")
    return [DocumentPlace(path, folders, kind) for path, (folders, kind) in found.items()]


def _list_definitions(project: Project) -> list[str]:
    found = (project.absolute(inside) for inside in project.files if _is_definition(inside))
    return [path for path in found if project.is_checked(path)]


def _add(found: dict[str, tuple[tuple[str, ...], str]], project: Project, path: str, kind: str) -> None:
    real = project.tree.real(path)
    real = real if project.is_checked(real) else path
    folders = tuple(dict.fromkeys(os.path.dirname(project.relative(each)) for each in (real, path)))
    before, first = found.get(real, ((), kind))
    found[real] = tuple(dict.fromkeys((*before, *folders))), first


def _read_body(project: Project, path: str) -> tuple[str, int] | None:
    """The text of a file without its frontmatter, and its first line."""
    text = project.read(path)
    if text is None:
        return None
    front, _ = split_fenced(text)
    end = 0
    if front is not None:
        end = text.find("\n---", text.find("\n") + len(front) - 1) + 1
        end = text.find("\n", end) + 1 or len(text)
    return text[end:], text.count("\n", 0, end) + 1


_FOLDERS = tuple(f"{folder}/" for table in DEFINITIONS for folder in table.folders if table.suffix.endswith(".md"))
_SKILLS = tuple(f"{each.folder}/" for each in SKILLS)


def _is_definition(inside: str) -> bool:
    if not inside.endswith(".md"):
        return False
    if inside.endswith(f"/{SKILL}"):
        return any(folder in f"/{inside}" for folder in _SKILLS)
    return any(inside.startswith(folder) or f"/{folder}" in inside for folder in _FOLDERS)


def find_claims(document: TruthDocument) -> list[Claim]:
    """What a document claims, in the order of its lines."""
    found: list[Claim] = []
    row, table = "", ""  # the row before, and the heads of the columns of the table that it is in
    for piece in split_paragraphs(document.body, document.first):
        if isinstance(piece, Fence):
            found += _claims_of_fence(piece)
            row = table = ""
        else:
            is_row = piece.text.lstrip().startswith("|")
            table = "" if not is_row else row if _RULED.match(piece.text) else table
            claims = _claims_at(piece.line, piece.text, piece.lead)
            found += (_head(claim, piece.text, table) for claim in claims) if table else claims
            row = piece.text if is_row else ""
        if len(found) > MOST_CLAIMS:
            break
    return found


def _head(claim: Claim, row: str, table: str) -> Claim:
    """A claim in a row of a table, led to by the head of its column as well: `old path`, `in your project`."""
    before, heads = row[: max(row.find(claim.text), 0)], table.split("|")
    column = before.count("|") - before.count("\\|")
    if claim.sentence is None or column >= len(heads):
        return claim
    head = heads[column].strip()
    return claim._replace(sentence=claim.sentence._replace(lead=f"{claim.sentence.lead} {head}"), head=head)


@lru_cache(MOST_KEPT)  # most edits leave most paragraphs where they were
def _claims_at(line: int, text: str, lead: str) -> tuple[Claim, ...]:
    """The claims of a paragraph that begins at this line."""
    return tuple(claim._replace(line=claim.line + line) for claim in _claims_of_paragraph(text, lead))


@lru_cache(MOST_KEPT)
def _claims_of_paragraph(text: str, lead: str) -> tuple[Claim, ...]:
    """The claims of a paragraph; its first line has the number 0. One that begins with a date is a record."""
    if _DATED.match(text):
        return ()
    return tuple(claim for sentence in read_paragraph(text, lead) for claim in _claims_of_sentence(sentence))


def _claims_of_sentence(sentence: Sentence) -> Iterator[Claim]:
    for span in sentence.spans:
        if span.is_link:
            yield Claim("link", span.text, span.line, "link", sentence, span.at)
        elif not sentence.text.startswith("](", _end_of(span, sentence)):  # else the link is the claim
            yield from _claims_of_span(span, sentence)
    defined = _DEFINED.match(sentence.text) if sentence.text.startswith("[") else None
    if defined:
        yield Claim("link", defined[1], sentence.line, "link", sentence, 0)
        return
    for named, at in find_plain(sentence.text):
        if named.kind == "path" and "/" in named.text and len(named.text) <= classify.LONGEST:
            line = sentence.line + sentence.text.count("\n", 0, at)
            yield Claim("path", classify.without_line(named.text), line, "prose", sentence, at)
    for found in _VERSION.finditer(sentence.text) if "ode" in sentence.text else ():
        line = sentence.line + sentence.text.count("\n", 0, found.start())
        yield Claim("version", _read_newest(sentence.text, found), line, "prose", sentence, found.start())


def _read_newest(text: str, found: re.Match[str]) -> str:
    """The newest of the versions that are given together: who lists several says that one of them is enough."""
    others = _OTHER_VERSIONS.match(text, found.end())
    versions: list[str] = [found[1], *(_RELEASE.findall(others[0]) if others else ())]
    return max(versions, key=int)


def _end_of(span: Span, sentence: Sentence) -> int:
    """Where a code span ends in its sentence."""
    marks = len(sentence.text) - len(sentence.text[span.at :].lstrip("`")) - span.at
    end = sentence.text.find("`", span.at + marks)
    return end + marks if end >= 0 else len(sentence.text)


def _claims_of_span(span: Span, sentence: Sentence) -> Iterator[Claim]:
    commands = parse_commands(span.text)
    for command in commands:
        source = command.kind if command.kind in ("program", "argument") else "code"
        kind = "path" if source != "code" else "command"
        yield Claim(kind, command.name, span.line, source, sentence, span.at, command)
    if commands:
        return
    path = ""
    for named in classify.classify_text(span.text):
        if named.kind == "path":
            path = classify.without_line(named.text)
            yield Claim("path", path, span.line, "code", sentence, span.at)
        elif named.kind == "symbol":
            yield Claim("symbol", named.text, span.line, "code", sentence, span.at, where=path)


# Fenced blocks

SHELLS = frozenset("sh bash zsh shell console shell-session shellsession terminal shellscript".split())
_PROMPT = ("$ ", "❯ ", "% ")


def _claims_of_fence(fence: Fence) -> Iterator[Claim]:
    """The commands of a block, each with the folder that commands before it went to."""
    language = fence.info.partition(" ")[0].strip("{}.").lower()
    if language not in SHELLS or "<<" in fence.text:
        return
    lines = fence.text.split("\n")
    is_session = any(line.lstrip().startswith(_PROMPT) for line in lines)
    folder, comment, at = "", "", 0
    while at < len(lines):
        start, line = at, lines[at].strip().removeprefix(">").strip()
        at += 1
        while line.endswith("\\") and at < len(lines):
            line, at = f"{line[:-1]} {lines[at].strip()}", at + 1
        if is_session:
            line = line[2:] if line.startswith(_PROMPT) else ""
        if line.startswith("#"):
            comment = line
        sentence = Sentence(f"{comment} {line}", fence.line + start, (), _introduce(fence))
        for command in parse_commands(line, folder):
            if command.kind == "cd":
                folder = command.folder
            else:
                source = command.kind if command.kind in ("program", "argument") else "code"
                kind = "path" if source != "code" else "command"
                yield Claim(kind, command.name, fence.line + start, source, sentence, 0, command)


def _introduce(fence: Fence) -> str:
    return f"{fence.intro.lead} {fence.intro.text}" if fence.intro else ""


def has_scheme(target: str) -> bool:
    """Whether a link leads to another program or host."""
    return bool(_SCHEME.match(target))
