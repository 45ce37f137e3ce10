"""What instructions claim and the repository does not have: paths, links, scripts, targets, names of code.

The texts are those that agents are given (`documents`). A claim that does not hold is reported only with evidence, and
only if it is meant (`hedges`): what is gone on purpose, planned, elsewhere, an example or a placeholder is not missed.
Files are looked up in the one listing of the project; git is asked once about all paths that are not there, and the
contents of files are searched once, for the few texts that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.settings import CheckSettings
from foretold.check.truth import links, paths, symbols
from foretold.check.truth.commands import Command
from foretold.check.truth.documents import (
    Claim,
    DocumentPlace,
    TruthDocument,
    list_documents,
    read_claims,
    read_document,
)
from foretold.check.truth.hedges import find_strong_hedge, is_english, is_example, is_of_platforms, stands_for_any
from foretold.check.truth.programs import DefinedCommands, Lookup
from foretold.types import NamedTuple

MOST_COMMANDS = 100  #: that fail in one document; with more, it is about something else


def find_problems(project: Project, settings: CheckSettings) -> Iterator[CheckFinding]:  # noqa: ARG001
    """Findings of this family: each thing once in a document, where it is named first."""
    seen: set[tuple[str, str, str]] = set()
    for finding in _find_all(project):
        key = finding.path, finding.code, finding.message
        if key not in seen:
            seen.add(key)
            yield finding


def _find_all(project: Project) -> Iterator[CheckFinding]:
    documents = list_documents(project)
    claims = project.remember_each("claims", documents, partial(read_claims, project))
    claimed = [*zip(documents.values(), claims, strict=True)]
    book = _open_book(project)
    if not book.is_ready:
        book.expect({claim.text for _, claims in claimed for claim in claims if claim.kind in ("path", "link")})
    doubtful: list[paths.Doubtful] = []
    passing: set[str] = set()
    judge = partial(_judge_document, project)
    for judged in project.remember_each("truth", documents, judge):
        yield from judged.remarks
        doubtful += judged.doubtful
        passing |= judged.passing
    # a folder that one document says comes and goes does so in all
    asked = [each for each in doubtful if not (each.claim.text.endswith("/") and each.claim.text in passing)]
    yield from project.remember("lost paths", partial(_judge_paths, project, book, asked))
    yield from symbols.report_lost(project, symbols.find_lost(project, claimed))


class JudgedDocument(NamedTuple):
    """What is wrong with the claims of a document, which paths are to be asked about, and which of them come and go."""

    remarks: list[CheckFinding]
    doubtful: list[paths.Doubtful]
    passing: set[str]


def _open_book(project: Project) -> paths.PathBook:
    return project.remember("path book", partial(paths.PathBook, project))


def _judge_document(project: Project, place: DocumentPlace) -> JudgedDocument:
    document, book = read_document(project, place), _open_book(project)
    claims = project.remember(("claims", place), partial(read_claims, project, place))
    defined = project.remember("definitions", partial(DefinedCommands, project))
    credit = paths.Credit()
    found = paths.find_doubtful(book, document, _select(claims, "path"), credit)
    dead = [*links.find_dead(project, book, document, _select(claims, "link"), credit)]
    remarks = [*_check_commands(defined, document, _select(claims, "command"), credit)]
    missing = {each.claim.text for each in found if each.is_strong}
    is_copied = document.kind != "main" and 2 * (len(missing) + len(remarks)) > len(credit.holding)
    if is_copied or credit.is_elsewhere(document):
        remarks = []
    remarks += links.report_headings(dead)
    remarks += _check_versions(defined, document, _select(claims, "version"))
    remarks += paths.find_many(document, found, credit)
    doubtful = paths.weigh(document, found, credit)
    doubtful += (each for each in links.as_paths(dead) if not credit.is_elsewhere(document))
    return JudgedDocument(remarks, doubtful, credit.passing)


def _judge_paths(project: Project, book: paths.PathBook, doubtful: list[paths.Doubtful]) -> list[CheckFinding]:
    return [paths.report(verdict) for verdict in paths.judge_paths(project, book, doubtful)]


def _select(claims: list[Claim], kind: str) -> list[Claim]:
    return [claim for claim in claims if claim.kind == kind]


def _check_versions(defined: DefinedCommands, document: TruthDocument, claims: list[Claim]) -> Iterator[CheckFinding]:
    """Versions of Node that the package does not run on."""
    for claim in claims if document.kind != "definition" else ():
        oldest, said, path = defined.find_node(document.folder)
        if oldest <= int(claim.text) or find_strong_hedge(claim) or is_example(claim) or is_of_platforms(claim):
            continue
        message = f"Node {claim.text}: {path} asks for {said}"
        yield CheckFinding(document.path, claim.line, "version-differs", message)


# -- commands


def _check_commands(
    defined: DefinedCommands, document: TruthDocument, claims: list[Claim], credit: paths.Credit
) -> Iterator[CheckFinding]:
    looked: dict[Command, tuple[Lookup, str, str]] = {}
    failing = 0
    english: bool | None = None
    for claim in claims:
        command = claim.command
        if command is None or command.kind not in _LOOKUPS:
            continue
        if command not in looked:
            looked[command] = _LOOKUPS[command.kind](defined, command, document.folder)
            failing += not looked[command][0].is_there
        found, code, what = looked[command]
        if found.is_there:
            credit.holding |= {f"{command.tool} {command.name}"} if found.is_sure and _is_own(command) else set()
            continue
        if failing > MOST_COMMANDS:
            return
        english = is_english(document.body) if english is None else english
        if find_strong_hedge(claim, is_english=english) or is_example(claim) or stands_for_any(command.name):
            continue
        message = f"{_spell(command)}: no {what} {command.name}"
        message += f" in {found.looked[0]}" if len(found.looked) == 1 else f" in {len(found.looked)} files"
        message += f"; {found.close} is there" if found.close else ""
        yield CheckFinding(document.path, claim.line, code, message)


#: scripts and targets that most repositories have
USUAL = frozenset("test tests lint build dev start format check clean install run fmt all help typecheck setup".split())


def _is_own(command: Command) -> bool:
    """Whether a script or a target is not one that most repositories have."""
    return command.name not in USUAL


def _find_script(defined: DefinedCommands, command: Command, folder: str) -> tuple[Lookup, str, str]:
    return defined.find_script(command, folder), "script-missing", "script"


def _find_target(defined: DefinedCommands, command: Command, folder: str) -> tuple[Lookup, str, str]:
    return defined.find_target(command, folder), "target-missing", "target"


def _find_package(defined: DefinedCommands, command: Command, _: str) -> tuple[Lookup, str, str]:
    return defined.find_package(command), "package-missing", "package"


_LOOKUPS = {"script": _find_script, "target": _find_target, "package": _find_package}


def _spell(command: Command) -> str:
    if command.kind == "package":
        return f"{command.tool} --filter {command.name}"
    return f"{command.tool} run {command.name}" if command.kind == "script" else f"{command.tool} {command.name}"
