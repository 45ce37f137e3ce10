"""Names of code that instructions mention and no code has. Most names that are nowhere are those of libraries, of tools
or examples; so a name is reported only if it was there:

1. Names of instruction files count, not those of skills, agents and commands; with an inner capital or underscore, not
   all in capitals, not dotted, without a word that stands for any name, in a sentence that means it (`hedges`).
2. A repository of more than `MOST_FILES` files is not searched for them: that costs more than all else together.
3. No text file but documents has the name as a word.
4. When the line was written, as `git blame` knows, some file had it, not just in a comment: `git grep` in that commit
   says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.truth.documents import Claim, TruthDocument
from foretold.check.truth.hedges import find_hedge, has_stand_in, is_english
from foretold.memory.drift import classify, vocabulary
from foretold.memory.drift.locate import printable
from foretold.memory.drift.search import Needle, SearchResult, search
from foretold.types import NamedTuple

MOST_FILES = 3_000
MOST_ASKED = 12  #: names that git is asked about
MOST_DATED = 6  #: commits that are searched


class LostName(NamedTuple):
    """A name that no code has."""

    document: TruthDocument
    claim: Claim


def find_lost(project: Project, claimed: list[tuple[TruthDocument, list[Claim]]]) -> list[LostName]:
    """The names that documents mention and no code has."""
    if len(project.files) > MOST_FILES or project.git is None or project.git.is_shallow:
        return []
    named = [
        LostName(document, claim)
        for document, claims in claimed
        if document.kind != "definition"
        for claim in claims
        if claim.kind == "symbol" and _is_distinct(claim.text)
    ]
    groups = frozenset((Needle(each.claim.text),) for each in named)
    if not groups:
        return []
    own = frozenset(project.relative(document.path) for document, _ in claimed)
    found = project.remember("names of code", partial(_search, project, own, groups))
    lost = [each for each in named if Needle(each.claim.text) not in found.hits]
    return [each for each in lost if not find_hedge(each.claim) and is_english(each.document.body)]


def _search(project: Project, own: frozenset[str], groups: frozenset[tuple[Needle, ...]]) -> SearchResult:
    files = [path for path in project.files if path not in own and not path.lower().endswith(vocabulary.PROSE)]
    return search(project.top, files, groups)


def _is_distinct(name: str) -> bool:
    if "." in name or "__" in name or name.isupper() or len(name) < 6 or has_stand_in(name):
        return False
    return classify.is_distinct(name)


def report_lost(project: Project, lost: list[LostName]) -> Iterator[CheckFinding]:
    """Findings about names that were there when their line was written."""
    git = project.git
    if git is None:
        return
    written: dict[str, list[LostName]] = {}
    for each in lost[:MOST_ASKED]:
        commit = git.blame(project.relative(each.document.path), each.claim.line)
        if commit:
            written.setdefault(commit, []).append(each)
    for commit in list(written)[:MOST_DATED]:
        names = {each.claim.text for each in written[commit]}
        had = git.find_words(commit, names, tuple(f"*{ending}" for ending in vocabulary.PROSE))
        for each in written[commit]:
            name, path = each.claim.text, had.get(each.claim.text)
            if path:
                message = f"{name}: no code has it any more; {printable(path)} had it in {commit[:7]}"
                yield CheckFinding(each.document.path, each.claim.line, "symbol-missing", message)
