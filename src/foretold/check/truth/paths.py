"""Paths that documents name: whether they are there, and if not, whether that is a fault.

1. A path is there if it is, seen from the folder of its document, from any folder above that up to the top, from the
   folder that a command goes to, or as the end of a longer path. What several files may be is not missed.
2. A path that is not there was in git once: it is reported, with the commit, and with its new place if git knows of a
   rename. Only the last commits are asked (`COMMITS`), and only about such paths.
3. A path that never was in git is reported only if much speaks for it: it has a slash and a known ending, the folder
   it should be in is there, no word in it stands for any name, nothing in its sentence says that it is an example, is
   optional, made by somebody, or elsewhere (`hedges`), git would not ignore it, and no code names it.
4. Paths in definitions of skills, agents and commands, and among the words of a command, are often those of other
   repositories, or examples: these are reported only if git knew them, or, in definitions, if rule 3 holds as well.
5. If more paths of an instruction file are missing than twice those that are there, it seems to be about another tree:
   then only git is believed, and one finding (`paths-missing`) says how many there are. Of a skill, an agent or a
   command, which may come from anywhere, nothing is said.
6. Files that every machine has its own of (`.env`), build folders and the places of agents' settings are never missed.

The messages have a stable form, from which a fix can be made. `TEXT` is exactly as it is written at that line, `NEW`
is exactly what to write in its place:

    path-moved:    TEXT: moved to NEW (git abc1234, 2026-02-03)
    path-missing:  TEXT: there is no such file; …
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.truth.documents import Claim, TruthDocument
from foretold.check.truth.hedges import OPTIONAL, find_hedge, find_strong_hedge, has_stand_in, is_english
from foretold.git.moves import PathFate, trace_paths
from foretold.memory.drift import classify, vocabulary
from foretold.memory.drift.locate import FileLocator, Listing, printable
from foretold.memory.drift.search import Needle, search
from foretold.storage.tree import folders_above, is_inside
from foretold.text.patterns import lazy
from foretold.types import Facts, NamedTuple

COMMITS = 5_000  #: of the history that are asked; fewer in a large repository, where each takes longer
#: commits times files that are asked about: 0.2 s of the processor in apache/airflow, which has 13,800 files
EFFORT = 40_000_000
NEAR = 4  #: folders of the same name as its first one in which a path may have been
SECONDS = 5.0  #: for a pass over the history
MOST_ASKED = 300  #: paths that git is asked about
ELSEWHERE = 4  #: paths that are not there, besides twice as many as are, from which on a document is a sample
CREDIBLE = 3  #: claims that hold, from which on a document is surely about this repository
MOST_MISSING = 500  #: things that are not there in one document; with more, it is about something else
MOST_NAMES = 500  #: among which one that is nearly the same is looked for
SHOWN = 3  #: paths that one finding about many of them names
MOST_SEARCHED = 30  #: texts that are searched for
#: files of documents, data and packages that were checked in: that they name a path says nothing about it
PROSE = (*(f"*{ending}" for ending in vocabulary.PROSE), "*node_modules/*")
#: names that every machine has its own file of, or that are not of this repository
LOCAL = lazy(
    r"(?i)(?:^|/)(?:\.env[\w.-]*|[\w.-]*\.local(?:\.[\w.-]+)?|\.mcp\.json|mcp\.json|settings\.json|node_modules|"
    r"\.vscode|\.idea|\.git|\.venv|venv|__pycache__|\.DS_Store|\.npmrc|\.netrc|id_rsa|credentials|package-lock\.json|"
    r"yarn\.lock|pnpm-lock\.yaml|\.terraform|tmp|temp|logs?|cache|\.[\w-]*(?:cache|build|tmp|temp|logs?))(?:/|$)"
)
BUILT = frozenset("dist build out output outputs target coverage bin obj lib-cov .next .nuxt .turbo htmlcov".split())
#: folders in which agents keep what is theirs
AGENTS = lazy(r"\.(?:claude|cursor|codex|gemini|github|vscode|windsurf|kiro|roo|cline|goose|opencode|agents|factory)/")


class Doubtful(NamedTuple):
    """A path that is not there."""

    document: TruthDocument
    claim: Claim
    path: str  #: from the top, as it was most likely meant
    places: tuple[str, ...]  #: from the top, wherever it may have been meant
    is_strong: bool  #: rule 3 holds, as far as the text and the tree tell
    is_link: bool = False  #: then code that names it does not matter
    is_far: bool = False  #: not even the folder that it should be in is there, only the one above


class Credit:
    """Which claims of a document that could be of no other repository hold, and what it says need not be there."""

    def __init__(self) -> None:
        self.holding: set[str] = set()
        self.missing: set[str] = set()  #: paths with a slash that are not there, whatever is said about them
        self.hedged: set[str] = set()
        self.passing: set[str] = set()  #: what comes and goes

    def is_elsewhere(self, document: TruthDocument) -> bool:
        """Whether a document below the top is about another repository: a sample of one, or a copy."""
        return bool(document.folder) and len(self.missing) > ELSEWHERE + 2 * len(self.holding)


class Verdict(NamedTuple):
    """What is wrong with a path."""

    doubtful: Doubtful
    fate: PathFate | None
    close: str = ""  #: from the top: what may be meant


class PathBook:
    """Where paths are in a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._expected: frozenset[str] = frozenset()
        self._resolved: dict[tuple[str, str, str], bool | None] = {}
        self.is_ready = False  #: whether what is expected is indexed

    def expect(self, texts: Iterable[str]) -> None:
        """Index the files by the names that these paths have; others take longer."""
        self._expected = frozenset(texts)

    @cached_property
    def locator(self) -> FileLocator:
        self.is_ready = True
        listing = Listing(list(self.project.files))
        return FileLocator(self.project.top, listing, self._expected, is_there=self._is_at)

    def _is_at(self, path: str) -> bool:
        return self.project.tree.kind(path) != "missing"

    def is_there(self, inside: str) -> bool:
        """Whether something is at a path below the top."""
        if inside in self.locator.files or inside in self.locator.folders:
            return True
        return not inside.startswith("../") and self._is_at(self.project.absolute(inside))

    def find_bases(self, document: TruthDocument, claim: Claim) -> tuple[str, ...]:
        """The folders from which a path may be meant, the likeliest first."""
        above = [document.folder, *(each.lstrip("/") for each in folders_above(f"/{document.folder}"))]
        bases = list(dict.fromkeys(above))
        if claim.command is not None and claim.command.folder:
            bases = [join(base, claim.command.folder) for base in bases] + bases
        return tuple(bases)

    def resolves(self, document: TruthDocument, claim: Claim) -> bool | None:
        """Whether a path is there; None if it is not of this repository."""
        key = document.folder, claim.text, claim.command.folder if claim.command else ""
        if key not in self._resolved:
            self._resolved[key] = self._resolve(document, claim)
        return self._resolved[key]

    def _resolve(self, document: TruthDocument, claim: Claim) -> bool | None:
        text = claim.text.rstrip("/")
        if text.startswith("~") or not text.strip("./"):
            return None
        if text.startswith("/"):
            first = text[1:].partition("/")[0]
            if first in vocabulary.TOP or first not in self.locator.folders:
                return None
            return self.is_there(text[1:])
        path = text.removeprefix("./")
        if any(self.is_there(join(base, path)) for base in self.find_bases(document, claim)):
            return True
        return bool(self.locator.find(path).state)

    def is_own(self, document: TruthDocument, text: str) -> bool:
        """Whether a path that is there tells that a document is about this repository.

        What is next to a skill came with it, agents' folders are everywhere, and many have a `src/main.tsx`.
        """
        path = text.removeprefix("./").strip("/")
        if document.kind == "main":
            return True
        if AGENTS.match(f"{path}/") or _stem_of(path) in USUAL:
            return False
        return document.kind != "definition" or not self.is_there(join(document.folder, path))

    def find_places(self, document: TruthDocument, claim: Claim) -> tuple[str, ...]:
        """Where a path that is not there may have been, from the top."""
        path = claim.text.strip("/").removeprefix("./")
        found = [join(base, path) for base in self.find_bases(document, claim)]
        if document.kind != "definition" and "/" in path:
            near = self.locator.find_folders(path.partition("/")[0])[:NEAR]
            found += [f"{each.rpartition('/')[0]}/{path}".lstrip("/") for each in near]
        return tuple(dict.fromkeys(place for place in found if not place.startswith("..")))

    def find_parent(self, document: TruthDocument, claim: Claim) -> tuple[str, bool]:
        """Where a path should be: the first place whose folder is there, or, second, the folder above that.

        Empty if there is none; and whether it is one of the second kind.
        """
        path = claim.text.strip("/").removeprefix("./")
        far = ""
        for base in self.find_bases(document, claim):
            if base != document.folder and base.count("/") < 2 and AGENTS.match(f"{base}/"):
                continue  # nobody means `skills/…` from `.agents`
            place = join(base, path)
            folder = posixpath.dirname(place)
            above = posixpath.dirname(folder)
            if folder in self.locator.folders and folder != base:
                return place, False
            if path.count("/") > 1 and above in self.locator.folders and above != base:
                far = far or place
        return far, bool(far)


def join(folder: str, path: str) -> str:
    """A path from the top; one that leads out of it begins with `..`."""
    found = posixpath.normpath(posixpath.join(folder, path))
    return "" if found == "." else found


# -- what is not there


def find_doubtful(book: PathBook, document: TruthDocument, claims: Iterable[Claim], credit: Credit) -> list[Doubtful]:
    """Those of some paths that are not there, and that something speaks for."""
    found: list[Doubtful] = []
    missing: set[str] = set()
    english: bool | None = None
    for claim in claims:
        if any(char in claim.text for char in "*?[]{}()$"):
            continue
        resolved = book.resolves(document, claim)
        if resolved and "/" in claim.text.strip("./") and book.is_own(document, claim.text):
            credit.holding.add(claim.text)
        if resolved is not False or LOCAL.search(claim.text):
            continue
        missing.add(claim.text)
        credit.missing |= {claim.text} if "/" in claim.text.strip("./") else set()
        if len(missing) > MOST_MISSING:
            return []
        english = is_english(document.body) if english is None else english
        hedge = find_strong_hedge(claim, is_english=english)
        is_weak = bool(hedge or find_hedge(claim))
        credit.hedged |= {claim.text} if is_weak else set()
        credit.passing |= {claim.text} if hedge.startswith(OPTIONAL) else set()
        places = book.find_places(document, claim) if not hedge else ()
        is_foreign_folder = not english and claim.text.endswith("/")
        if not places or ((is_weak or is_foreign_folder) and document.kind == "definition"):
            continue
        place, is_far = book.find_parent(document, claim)
        is_strong = english and not is_weak and bool(place) and _is_strong(book, claim)
        if is_strong or _is_askable(claim, is_definition=document.kind == "definition"):
            found.append(Doubtful(document, claim, place or places[0], places, is_strong, is_far=is_far))
    return found


def find_many(document: TruthDocument, found: list[Doubtful], credit: Credit) -> Iterator[CheckFinding]:
    """One finding for an instruction file of which so many paths are not there that `weigh` believes none of them."""
    count = _count_strong(found)
    if document.kind != "main" or credit.is_elsewhere(document) or count <= _find_most(document, credit):
        return
    strong = [each for each in found if each.is_strong]
    names = [*dict.fromkeys(each.claim.text for each in strong)]
    shown = ", ".join(names[:SHOWN]) + (f" and {count - SHOWN} more" if count > SHOWN else "")
    said = f"{count} of the {count + len(credit.holding)} paths that it names are not there: {shown}"
    yield CheckFinding(document.path, strong[0].claim.line, "paths-missing", said)


def _count_strong(found: list[Doubtful]) -> int:
    return len({each.claim.text for each in found if each.is_strong})


def _find_most(document: TruthDocument, credit: Credit) -> int:
    """How many paths of a document may be missing before it seems to be about another tree."""
    holding = len(credit.holding)
    return max(1, holding // 2) if document.kind == "definition" else max(2, 2 * holding)


def weigh(document: TruthDocument, found: list[Doubtful], credit: Credit) -> list[Doubtful]:
    """Paths that are not there, in the light of all claims of their document.

    A thing that is optional in one sentence is so in all. Skills, agents and commands are often brought along from
    elsewhere, and rules copied: then most of what they name is not there, and nothing but git is believed, and not
    even that for names that are usual.
    """
    if credit.is_elsewhere(document):
        return [each._replace(is_strong=False) for each in found if _stem_of(each.claim.text) not in USUAL]
    holding, missing = len(credit.holding), _count_strong(found)
    most = _find_most(document, credit)
    return [
        each._replace(
            is_strong=each.is_strong
            and missing <= most
            and each.claim.text not in credit.hedged
            and not (each.is_far and holding < CREDIBLE)
        )
        for each in found
    ]


def _is_strong(book: PathBook, claim: Claim) -> bool:
    """Whether a path must be meant, although git may never have had it."""
    path = claim.text.removeprefix("./").strip("/")
    if "/" not in path or not classify.is_sure(claim.text) or claim.source == "argument":
        return False
    if has_stand_in(path) or BUILT.intersection(path.split("/")) or AGENTS.match(path):
        return False
    return not (claim.text.endswith("/") and _is_elided(book, path))


def _is_elided(book: PathBook, path: str) -> bool:
    """Whether a folder is there with other folders in between: `src/tools` for `src/fastmcp/tools`."""
    parts = path.split("/")
    for place in book.locator.find_folders(parts[-1]):
        rest = iter(place.split("/"))
        if all(part in rest for part in parts):
            return True
    return False


def _is_askable(claim: Claim, *, is_definition: bool) -> bool:
    """Whether a path is worth a question to git."""
    path = claim.text.removeprefix("./").strip("/")
    if "/" not in path or has_stand_in(path):
        return False
    return classify.is_sure(claim.text) or (path.count("/") > 1 and not is_definition)


# -- evidence


def judge_paths(project: Project, book: PathBook, doubtful: list[Doubtful]) -> Iterator[Verdict]:
    """Those paths whose absence is a fault."""
    doubtful = doubtful[: MOST_ASKED * 10]
    if not doubtful:
        return
    git = project.git
    closed = _list_submodules(project)
    doubtful = [each for each in doubtful if not any(is_inside(place, out) for out in closed for place in each.places)]
    asked = list(dict.fromkeys(place for each in doubtful for place in each.places))[:MOST_ASKED]
    commits = min(COMMITS, EFFORT // max(len(project.files), 1))
    fates = trace_paths(git, asked, book.is_there, SECONDS, commits=commits) if git and asked else {}
    ignored = git.ignored(asked) | git.absent(asked) if git and asked else set()
    unknown: list[Doubtful] = []
    for each in doubtful:
        fate = next((fates[place] for place in each.places if place in fates), None)
        if fate is not None and fate.times > 1 and not fate.to:
            continue  # it comes and goes
        if fate is not None and not ignored.intersection(each.places):
            yield Verdict(each, _check_fate(fate, each))
        elif each.is_strong and not ignored.intersection(each.places):
            unknown.append(each)
    mentioned = find_mentioned(project, {_needle(each.path) for each in unknown if not each.is_link})
    for each in unknown:
        if each.is_link or _needle(each.path) not in mentioned:
            yield Verdict(each, None, _find_close(book, each.path))


_SUBMODULE = lazy(r"^[ \t]*path[ \t]*=[ \t]*(\S+)", re.MULTILINE)


def _list_submodules(project: Project) -> list[str]:
    """The folders of other repositories in this one: what is in them may not be checked out."""
    text = project.read(project.absolute(".gitmodules")) if ".gitmodules" in project.file_set else ""
    return _SUBMODULE.findall(text or "")


def _check_fate(fate: PathFate, doubtful: Doubtful) -> PathFate:
    """A fate without a new place that is not surely the same thing."""
    old, new = posixpath.basename(fate.path), posixpath.basename(fate.to)
    is_folder = fate.path not in doubtful.places
    if is_folder:
        is_same = posixpath.basename(doubtful.path.rstrip("/")) == new
    else:
        is_same = old == new or SequenceMatcher(None, old, new).ratio() > 0.5
    return fate if is_same else fate._replace(to="")


#: names that are too usual to be searched for without their folder
USUAL = frozenset(
    """
    index main config utils helpers types constants setup package readme app server client test tests mod lib base
    common core models views urls routes schema settings style styles global init manifest
""".split()
)


def _needle(path: str) -> str:
    """The text by which code would name a path: its name, with its folder if that is a usual one."""
    folder, _, name = path.rstrip("/").rpartition("/")
    is_usual = _stem_of(name) in USUAL or path.endswith("/")
    return f"{posixpath.basename(folder)}/{name}" if folder and is_usual else name


def _stem_of(path: str) -> str:
    """The name of a file or folder without its ending, as `USUAL` has it."""
    return posixpath.basename(path.rstrip("/")).partition(".")[0].lower().strip("_")


def find_mentioned(project: Project, texts: set[str]) -> frozenset[str]:
    """Those texts that code of the project has, or may have."""
    texts = {text for text in texts if "\n" not in text and text}
    few = sorted(texts)[:MOST_SEARCHED]
    found: Collection[str] | None = ()
    if few and project.git is not None:
        found = project.git.mentioned(few, PROSE)
    elif few:
        files = [path for path in project.files if not path.lower().endswith(vocabulary.PROSE)]
        found = [needle.text for needle in search(project.top, files, {(Needle(text, "text"),) for text in few}).hits]
    return frozenset(texts.difference(few)).union(few if found is None else found)


def _find_close(book: PathBook, path: str) -> str:
    """What is there instead: the one file of that name, or one next to it with nearly that name."""
    others = book.locator.namesakes(path)
    if len(others) == 1:
        return others[0]
    folder, _, name = path.rpartition("/")
    names = [each.rpartition("/")[2] for each in book.locator.list_folder(folder)]
    near = [each for each in names if each[:1] == name[:1] and abs(len(each) - len(name)) <= len(name) // 3]
    close = get_close_matches(name, near[:MOST_NAMES], 1, 0.75)
    return join(folder, close[0]) if close else ""


def report(verdict: Verdict) -> CheckFinding:
    """The finding about a path or a link."""
    code, message, hint, meant = _describe(verdict)
    document, claim = verdict.doubtful[:2]
    return CheckFinding(document.path, claim.line, code, message, hint, facts=Facts(claim.text, meant))


def _describe(verdict: Verdict) -> tuple[str, str, str, str]:
    """Code, message, hint, and the path that is there."""
    document, claim = verdict.doubtful[:2]
    fate, lost = verdict.fate, "link-dead" if verdict.doubtful.is_link else "path-missing"
    missing = f"{claim.text}: there is no such {'folder' if claim.text.endswith('/') else 'file'}"
    if fate is None:
        return lost, missing + (f"; there is {printable(verdict.close)}" if verdict.close else ""), "", verdict.close
    when = f"git {fate.commit[:7]}, {fate.date}" if fate.commit else "staged in git"
    if not fate.to:
        return lost, f"{missing} any more ({when})", "", ""
    new = rewrite(claim.text, fate.path, fate.to, document.folder)
    moved = "link-dead" if verdict.doubtful.is_link else "path-moved"
    return moved, f"{claim.text}: moved to {new} ({when})", f"write {new}", new


def rewrite(text: str, old: str, new: str, folder: str) -> str:
    """A path as it was written, for its new place: seen from the same folder, if it is still below that."""
    written = text.removeprefix("./").strip("/")
    base = old.removesuffix(written).rstrip("/") if old.endswith(written) else ""
    seen = new[len(base) + 1 :] if base and new.startswith(f"{base}/") else new
    if base and seen == new and not new.startswith(f"{base}/") and folder and base == folder:
        seen = posixpath.relpath(new, folder) if text.startswith(".") else new
    mark = "./" if text.startswith("./") and not seen.startswith(".") else ""
    return f"{mark}{printable(seen)}{'/' if text.endswith('/') else ''}"
