"""Whether what memories claim still holds. Every claim is checked against the repository, without a model.

1. A claim is `valid` (the thing is there), `moved` (git knows where it went), `missing` (it is not there) or `unknown`
   (that is not known). Every verdict says what it is based on.
2. A memory is as good as its worst claim: missing, else moved, else unknown, else valid. A memory that claims nothing
   is unknown.
3. A hedged claim (see `claims`) is never moved or missing: what a memory says is gone, forbidden, planned, an example
   or elsewhere need not be there. It is `unknown` then, with what was found; and `valid` if the thing is there.
4. A path that is not there is `unknown` if git would ignore it, or if no commit had it and code names it: programs make
   such files. A text with a slash that may be a branch or a route is `missing` only if its first folder is there.
5. A symbol or flag that only documents mention is `unknown`: change logs go on mentioning what is gone.
6. A commit is valid if a ref reaches it, missing if none does or git has never seen it, unknown in a shallow clone.
7. All memories are checked in one pass: files are listed once, and symbols, flags, code and missing paths are looked
   for once in their contents, first in the files that memories name. Git is asked about missing paths and commits.
   Nothing of the repository is run (see `git.runner`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable

from foretold.git.moves import SECONDS, PathFate, trace_paths
from foretold.git.runner import Commit, GitRepository
from foretold.memory.drift import classify
from foretold.memory.drift.claims import KINDS, NO_COMMIT, DriftClaim, find_claims
from foretold.memory.drift.locate import FileLocator, Listing, PathMatch, list_files, printable
from foretold.memory.drift.search import Group, Needle, Occurrence, OwnFiles, SearchResult, search
from foretold.memory.note import Memory
from foretold.types import NamedTuple

Progress = Callable[[str, int, int], None]
#: how languages and libraries that make a flag from a name write it
_SPELLED = ('"{dashed}"', "'{dashed}'", "{dashed}: bool", "{snake}: bool")
STATES = ("valid", "unknown", "moved", "missing")  #: from good to bad


class CheckedClaim(NamedTuple):
    """A claim and what became of it."""

    claim: DriftClaim
    state: str  #: one of STATES
    evidence: str  #: a sentence
    where: str = ""  #: the path, perhaps with a line, at which the thing is now


class MemoryVerdict(NamedTuple):
    """A memory and what became of its claims."""

    file: str
    state: str  #: the worst of its claims
    claims: tuple[CheckedClaim, ...]


def verify(
    memories: Iterable[Memory],
    root: str,
    *,
    outside: bool = False,
    kinds: Collection[str] = KINDS,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> tuple[MemoryVerdict, ...]:
    """Check all claims of all memories against the repository at `root`, in one pass.

    Only claims of some `kinds`, if these are given. Paths outside of the repository are looked at only if `outside` is
    true. A pass over its history takes at most so many `seconds`. `progress` is called with stage, done and total.
    """
    memories = tuple(memories)
    names = {name for memory in memories for name in (memory.name, memory.file, memory.file.rpartition("/")[2])}
    claimed = [
        tuple(claim for claim in find_claims(memory) if claim.kind in kinds and claim.text not in names)
        for memory in memories
    ]
    claims = [claim for each in claimed for claim in each]
    if not claims:
        return tuple(MemoryVerdict(memory.file, "unknown", ()) for memory in memories)
    facts = gather_evidence(
        claims, memories, os.path.abspath(root), outside=outside, progress=progress, seconds=seconds
    )
    judged = {(claim.kind, claim.text): _JUDGES[claim.kind](claim, facts) for claim in claims}
    verdicts = []
    for memory, each in zip(memories, claimed, strict=True):
        checked = [_apply_hedge(judged[claim.kind, claim.text]._replace(claim=claim), facts) for claim in each]
        state = max((one.state for one in checked), key=STATES.index, default="unknown")
        verdicts.append(MemoryVerdict(memory.file, state, tuple(checked)))
    return tuple(verdicts)


def _apply_hedge(checked: CheckedClaim, facts: Evidence) -> CheckedClaim:
    """A claim in the light of its hedge, by rule 3."""
    hedge = checked.claim.hedge
    if hedge == NO_COMMIT and facts.commits.get(checked.claim.text, ("", ""))[1] == "commit":
        return checked
    if hedge and checked.state in ("moved", "missing"):
        return checked._replace(state="unknown", evidence=f"{checked.evidence}; not taken for drift ({hedge})")
    if checked.claim.is_gone and checked.state == "valid":
        return checked._replace(evidence=f"{checked.evidence}, though the memory says otherwise ({hedge})")
    return checked


# What a repository shows


class Evidence(NamedTuple):
    """What is known about every claim."""

    git: GitRepository | None
    listing: Listing
    places: FileLocator
    found: dict[str, PathMatch]  #: by the text of the path
    searched: SearchResult
    fates: dict[str, PathFate]  #: by path from the root, for those that are not there
    ignored: frozenset[str]
    commits: dict[str, Commit]


def gather_evidence(
    claims: Collection[DriftClaim],
    memories: Collection[Memory],
    root: str,
    *,
    outside: bool,
    progress: Progress | None,
    seconds: float = SECONDS,
) -> Evidence:
    """Examine a repository once, for all claims."""
    report = progress or (lambda *_: None)
    report("list", 0, 0)
    git = GitRepository.of(root)
    listing = list_files(root, git)
    paths = {claim.text for claim in claims if claim.kind == "path"}
    places = FileLocator(root, listing, paths, outside=outside)
    found = {text: places.find(text) for text in paths}
    lost = {text: places.relative(text) for text, place in found.items() if not place.state}
    groups = {group for claim in claims for group in _groups(claim, places)}
    groups |= {(Needle(path, "text"),) for path in lost.values() if path}
    names = {os.path.basename(memory.file) for memory in memories}
    named = {place.where for place in found.values()}
    searched = search(
        root,
        sorted(listing.files, key=lambda path: path not in named),
        groups,
        own=OwnFiles(frozenset(names), frozenset(memory.digest for memory in memories)),
        narrow=git.narrow if git and not listing.walked else None,  # git does not know the files of submodules
        progress=lambda done: report("search", done, len(listing.files)),
    )
    report("history", 0, len(lost))
    plain = {path for path in lost.values() if path and not any(char in path for char in "*?{\n\0")}
    fates = trace_paths(git, plain, places.exists, seconds) if git and plain else {}
    ignored = frozenset(git.ignored(plain - fates.keys())) if git else frozenset()
    hashes = {claim.text for claim in claims if claim.kind == "commit"}
    commits = git.commits(sorted(hashes)) if git and hashes else {}
    return Evidence(git, listing, places, found, searched, fates, ignored, commits)


def needles_of(claim: DriftClaim) -> Group:
    """The texts to look for: all parts of a dotted name, all spellings of a flag."""
    text = claim.text
    if claim.kind == "code":
        return (Needle(text, "loose"),)
    if claim.kind == "symbol":
        return tuple(map(Needle, text.split(".")))
    if claim.kind != "flag":
        return ()
    return (Needle(text, "text"), *_spellings(text)) if text.startswith("--") else (Needle(text),)


def _groups(claim: DriftClaim, places: FileLocator) -> list[Group]:
    """Needles of which one is enough. Parts of a dotted name that are names of files need no search."""
    needles = needles_of(claim)
    if claim.kind != "symbol":
        return [needles] if needles else []
    return [(needle,) for needle in needles if len(needles) == 1 or not places.has_name(needle.text)]


def _spellings(flag: str) -> tuple[Needle, ...]:
    """How else a program may spell its flag."""
    dashed = flag.lstrip("-").lower()
    words = dashed.replace("_", "-").split("-")
    snake, camel = "_".join(words), words[0] + "".join(word.title() for word in words[1:])
    texts = [Needle(form.format(dashed=dashed, snake=snake), "text") for form in _SPELLED]
    names = [Needle(snake), Needle(camel)] if len(words) > 1 and classify.is_distinct(snake) else []
    positive = [Needle("--" + dashed.removeprefix("no-"), "text")] if dashed.startswith("no-") else []
    return (*texts, *names, *positive)


# Paths


def _path(claim: DriftClaim, facts: Evidence) -> CheckedClaim:
    place = facts.found[claim.text]
    if place.state:
        return CheckedClaim(claim, place.state, place.evidence, printable(place.where))
    path = facts.places.relative(claim.text)
    fate = facts.fates.get(path)
    if fate:
        name = "it" if fate.path == path else printable(fate.path)
        when = f"in {fate.commit[:7]} ({fate.date})" if fate.commit else "in the index, not committed yet"
        if fate.to:
            return CheckedClaim(claim, "moved", f"git moved {name} to {printable(fate.to)} {when}", printable(fate.to))
        return CheckedClaim(claim, "missing", f"git deleted {name} {when}")
    doubt = _doubt(claim.text, path, facts)
    return CheckedClaim(claim, "unknown" if doubt else "missing", doubt or _absence(claim.text, path, facts))


def _doubt(text: str, path: str, facts: Evidence) -> str:
    """Why a path that is not there, and that git never had, may be meant all the same."""
    if path in facts.ignored:
        return "it is not there, and git would ignore it: a program may make it"
    outer = (*facts.listing.empty, *facts.listing.unread)
    closed = next((folder for folder in outer if path.startswith(f"{folder}/")), None)
    if closed is not None:
        return f"{printable(closed)} cannot be read"
    hit = facts.searched.hits.get(Needle(path, "text"))
    if hit and not hit.is_prose:
        return f"there is no such file, but {_at(hit)} names it: a program may make it"
    if "[" in path or (not classify.is_sure(text) and path.partition("/")[0] not in facts.places.folders):
        return "nothing has that name; it may not be a path"
    return ""


def _absence(text: str, path: str, facts: Evidence) -> str:
    if any(char in path for char in "*?{"):
        return f"no file of {len(facts.listing.files):,} matches"
    if path in facts.places.files:
        return "it is deleted in the working tree, not committed yet"
    others = facts.places.namesakes(path)
    hint = f"; {printable(others[0])} has that name" if len(others) == 1 else ""
    what = "folder" if text.endswith("/") else "file"
    known = ", and git knows of none" if facts.git and not facts.git.is_shallow else ""
    return f"there is no such {what}{known}{hint}"


# Contents


def _at(hit: Occurrence) -> str:
    return f"{printable(hit.path)}:{hit.line}"


def _symbol(claim: DriftClaim, facts: Evidence) -> CheckedClaim:
    """A name is there if code has it; a dotted one if code has its last part, and every other is there at all."""
    *before, last = needles_of(claim)
    if not before:
        return _content(claim, facts)
    hits, is_name = facts.searched.hits, facts.places.has_name
    nowhere = [part.text for part in before if part not in hits and not is_name(part.text)]
    hit = hits.get(last)
    if hit is None and not nowhere and is_name(last.text):
        return CheckedClaim(claim, "valid", f"a file or folder is named {last.text}")
    if hit is None or hit.is_prose or not nowhere:
        return _content(claim, facts, (last,))
    return _nowhere(claim, f"{last.text} is in {_at(hit)}, but nothing contains {', '.join(nowhere)}", facts)


def _content(claim: DriftClaim, facts: Evidence, needles: Iterable[Needle] = ()) -> CheckedClaim:
    """The first needle that code contains; else what documents say, which is enough for code; else nothing."""
    found = [(each, facts.searched.hits.get(each)) for each in needles or needles_of(claim)]
    hits = [(needle, hit) for needle, hit in found if hit]
    for needle, hit in hits:
        if claim.kind == "code" or not hit.is_prose:
            as_what = "it" if needle.text == claim.text else needle.text
            return CheckedClaim(claim, "valid", f"{as_what} is in {_at(hit)}", _at(hit))
    if hits:
        return CheckedClaim(claim, "unknown", f"only documents mention it: {_at(hits[0][1])}", _at(hits[0][1]))
    return _nowhere(claim, f"no file of {facts.searched.files:,} contains it", facts)


def _nowhere(claim: DriftClaim, evidence: str, facts: Evidence) -> CheckedClaim:
    """Nothing contains it; what was not searched is named. Without files, or in a sparse checkout, that is unknown."""
    searched, listing = facts.searched, facts.listing
    unsearched = (
        (searched.binary, f"{searched.binary:,} binary"),
        (searched.large, f"{len(searched.large):,} large ({', '.join(map(printable, searched.large[:2]))})"),
        (searched.unread, f"{searched.unread:,} links or unreadable"),
        (listing.absent, f"{len(listing.absent):,} not checked out"),
        (listing.empty, f"submodule {', '.join(map(printable, listing.empty[:2]))}"),
        (listing.unread, f"folder {', '.join(map(printable, listing.unread[:2]))}"),
    )
    names = [name for is_any, name in unsearched if is_any]
    evidence += f" (not searched: {', '.join(names)})" if names else ""
    return CheckedClaim(claim, "missing" if searched.files and not listing.absent else "unknown", evidence)


# Commits


def _commit(claim: DriftClaim, facts: Evidence) -> CheckedClaim:
    if facts.git is None:
        return CheckedClaim(claim, "unknown", "there is no git repository to ask")
    known = facts.commits.get(claim.text)
    if known is None or known.type == "ambiguous":
        return CheckedClaim(claim, "unknown", "several objects have that name" if known else "git gives no answer")
    if known.type == "commit" and known.reachable:
        return CheckedClaim(claim, "valid", f"commit {known.id[:7]} is reachable from a ref", known.id)
    if known.type == "commit":
        return CheckedClaim(claim, "missing", "commit is not reachable from any ref")
    if known.type != "missing":
        return CheckedClaim(claim, "unknown", f"it names a {known.type}, not a commit")
    if facts.git.is_shallow:
        return CheckedClaim(claim, "unknown", "it is not in this shallow clone")
    return CheckedClaim(claim, "missing", "git has no such commit")


_JUDGES = {"path": _path, "symbol": _symbol, "flag": _content, "code": _content, "commit": _commit}
