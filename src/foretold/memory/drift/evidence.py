"""What a repository shows about every claim of every memory, examined once.

1. Files are listed once. Symbols, flags, code and missing paths are looked for once in their contents, first in the
   files that memories name. Change logs and release notes are not searched: they name what is gone.
2. Git is asked what became of paths that are not there, and of those that only resolve by their end, for another file
   may have been meant; and about commits.
3. Git is asked which definitions it once had, only of names that nothing defines now, or that are not in the file in
   which a memory says they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

from foretold.git.definitions import RemovedDefinition, find_removed
from foretold.git.moves import SECONDS, PathFate, trace_paths
from foretold.git.runner import Commit, GitRepository
from foretold.memory.drift import classify, vocabulary
from foretold.memory.drift.claims import DriftClaim
from foretold.memory.drift.definitions import DEFINITION, LIVE, NameEvidence, rank_name
from foretold.memory.drift.locate import FileLocator, Listing, PathMatch, list_files, printable
from foretold.memory.drift.search import (
    LARGEST,
    Group,
    Needle,
    Occurrence,
    OwnFiles,
    SearchResult,
    is_secondary,
    search,
)
from foretold.memory.drift.values import FoundValue, read_values
from foretold.memory.note import Memory
from foretold.storage.tree import read_regular
from foretold.types import NamedTuple

Progress = Callable[[str, int, int], None]
EVER = 1 << 30  #: commits: all of them
MOST_VALUES = 200  #: of one key
MOST_BELOW = 400  #: files of a folder that are read for a name
#: how languages and libraries that make a flag from a name write it
_SPELLED = ('"{dashed}"', "'{dashed}'", "{dashed}: bool", "{snake}: bool")


class CheckedClaim(NamedTuple):
    """A claim and what became of it."""

    claim: DriftClaim
    state: str  #: one of `verify.STATES`
    evidence: str  #: a sentence
    where: str = ""  #: the path, perhaps with a line, at which the thing is now


class Evidence(NamedTuple):
    """What is known about every claim."""

    root: str
    git: GitRepository | None
    listing: Listing
    places: FileLocator
    found: dict[str, PathMatch]  #: by the text of the path
    searched: SearchResult
    fates: dict[str, PathFate]  #: by path from the root, for those that are not there
    replaced: dict[str, PathFate]  #: the same, for those that now only resolve by their end, and for modules
    ignored: frozenset[str]
    commits: dict[str, Commit]
    removed: dict[str, list[RemovedDefinition]]  #: definitions that git had, by name; flags, too
    notes: int  #: change logs and release notes, which are not searched
    values: dict[str, list[tuple[str, FoundValue]]]  #: files and values of keys that are in no file in particular

    def files_of(self, place: str) -> tuple[str, ...]:
        """The files that a place, as a memory writes it, is now: one, or those of a folder."""
        match = self.found.get(place)
        path = match.where if match and match.state == "valid" else ""
        if not path:
            fate = self.fates.get(self.places.relative(place))
            path = fate.to if fate else ""
        if path in self.places.folders:
            return tuple(self.places.list_below(path))[:MOST_BELOW]
        return (path,) if path in self.places.files else ()

    def rank_in(self, name: str, files: Iterable[str]) -> tuple[NameEvidence, str]:
        """The best occurrence of a name in some files, and the file; a document counts as any other."""
        best, where = NameEvidence(), ""
        for path in files:
            data = read_text(self.root, path)
            found = rank_name(name.encode(), data, path.rpartition(".")[2].lower())
            if found.rank > best.rank:
                line = data.count(b"\n", 0, found.at) + 1
                best, where = found, f"{printable(path)}:{line}"
            if best.rank == DEFINITION:
                break
        return best, where


@lru_cache(64)
def read_text(root: str, path: str) -> bytes:
    """The bytes of a file of the repository; nothing if it is not a text, or too large."""
    try:
        data = read_regular(os.path.join(root, path), LARGEST)
    except OSError:
        return b""
    return data if b"\0" not in data[:8000] else b""


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
    read_text.cache_clear()
    git = GitRepository.of(root)
    listing = list_files(root, git)
    paths = {claim.text for claim in claims if claim.kind == "path"} | {claim.place for claim in claims if claim.place}
    places = FileLocator(root, listing, paths, outside=outside)
    found = {text: places.find(text) for text in paths}
    lost = {text: places.relative(text) for text, place in found.items() if not place.state}
    searched = _search(claims, memories, git, listing=listing, places=places, found=found, report=report)
    report("history", 0, len(lost))
    plain = {path for path in lost.values() if is_plain(path)}
    fates = trace_paths(git, plain, places.exists, seconds) if git and plain else {}
    ends = {path for text, place in found.items() if place.state and is_plain(path := places.relative(text))}
    ends = {path for path in ends if not places.exists(path)}
    ends |= {path for claim in claims for path in module_paths(claim, places)}
    replaced = trace_paths(git, ends, places.exists, seconds, commits=EVER) if git and ends else {}
    ignored = frozenset(git.ignored(plain - fates.keys())) if git else frozenset()
    hashes = {claim.text for claim in claims if claim.kind == "commit"}
    commits = git.commits(sorted(hashes)) if git and hashes else {}
    values = _find_values(claims, root, listing, searched)
    notes = sum(map(vocabulary.is_release_notes, listing.files))
    facts = Evidence(root, git, listing, places, found, searched, fates, replaced, ignored, commits, {}, notes, values)
    return facts._replace(removed=_find_removed(claims, facts, seconds))


def _find_values(
    claims: Collection[DriftClaim], root: str, listing: Listing, searched: SearchResult
) -> dict[str, list[tuple[str, FoundValue]]]:
    """Every value of the keys of claims without a file, in all files but documents."""
    keys = {key_of(claim) for claim in claims if claim.kind == "value" and not claim.place and not claim.language}
    words = {key: key.encode() for key in keys if Needle(key, "name") in searched.hits}
    found: dict[str, list[tuple[str, FoundValue]]] = {key: [] for key in words}
    for path in listing.files if words else ():
        if path.lower().endswith(vocabulary.PROSE) and not vocabulary.REQUIREMENTS.search(path):
            continue
        data = read_text(root, path)
        for key, word in words.items():
            if word in data and len(found[key]) < MOST_VALUES:
                found[key] += [(path, each) for each in read_values(data.decode("utf-8", "replace"), key)]
    return found


def is_plain(path: str) -> bool:
    """Whether git can be asked about a path as it is."""
    return bool(path) and not any(char in path for char in "*?{\n\0")


def _search(
    claims: Collection[DriftClaim],
    memories: Collection[Memory],
    git: GitRepository | None,
    *,
    listing: Listing,
    places: FileLocator,
    found: dict[str, PathMatch],
    report: Progress,
) -> SearchResult:
    """Look for everything that claims name, and for paths that are not there, in all files but release notes."""
    groups = {group for claim in claims for group in _groups(claim, places)}
    lost = (places.relative(text) for text, place in found.items() if not place.state)
    groups |= {(Needle(path, "text"),) for path in lost if path}
    names = {os.path.basename(memory.file) for memory in memories}
    named = {place.where for place in found.values()}
    files = [path for path in listing.files if not vocabulary.is_release_notes(path)]
    return search(
        places.root,
        sorted(files, key=lambda path: path not in named),
        groups,
        own=OwnFiles(frozenset(names), frozenset(memory.digest for memory in memories)),
        narrow=git.narrow if git and not listing.walked else None,  # git does not know the files of submodules
        progress=lambda done: report("search", done, len(files)),
    )


def _find_removed(
    claims: Collection[DriftClaim], facts: Evidence, seconds: float
) -> dict[str, list[RemovedDefinition]]:
    """The definitions that git had, of names that nothing defines now, or not where a memory says."""
    if facts.git is None:
        return {}
    doubtful: dict[str, set[str]] = {}  #: names, and the files in which they are said to be
    for claim in claims:
        for needle in _doubtful(claim, facts) if claim.kind == "symbol" else ():
            doubtful.setdefault(needle.text, set()).update(facts.files_of(claim.place) if claim.place else ())
    flags = {claim.text for claim in claims if claim.kind == "flag" and is_weak_flag(claim, facts)}
    weak = {name for name in doubtful if not is_defined(facts.searched.hits.get(Needle(name, "name")))} | flags

    def is_enough(each: RemovedDefinition) -> bool:
        asked = doubtful.get(each.name, set())
        is_asked = each.path in asked
        asked.discard(each.path)
        return not asked and (is_asked or (each.name in weak and not is_secondary(each.path)))

    return find_removed(facts.git, doubtful, flags=flags, seconds=seconds, is_enough=is_enough)


def is_weak_flag(claim: DriftClaim, facts: Evidence) -> bool:
    """Whether code has only the word of a flag of one word, in quotes, as it may have for any reason."""
    hits = facts.searched.hits
    found = [needle for needle in needles_of(claim) if needle in hits and not hits[needle].is_prose]
    return claim.text.startswith("--") and bool(found) and all(each.text[:1] in "\"'" for each in found)


def _doubtful(claim: DriftClaim, facts: Evidence) -> tuple[Needle, ...]:
    """The names of a claim that git is asked about."""
    needles = needles_of(claim)
    if claim.place and len(needles) == 1:
        files = facts.files_of(claim.place)
        if files and facts.rank_in(needles[0].text, files)[0].rank < DEFINITION:
            return needles
    last = facts.searched.hits.get(needles[-1])
    if last is None:
        return ()
    if len(needles) > 1:
        return needles[-1:] if not is_defined(last) or not is_with(needles, facts) else ()
    is_sure = last.rank == DEFINITION or (last.rank == LIVE and not is_secondary(last.path))
    return () if is_sure else needles


def is_defined(hit: Occurrence | None) -> bool:
    """Whether a name is defined, and not only in a test or an example."""
    return hit is not None and hit.rank == DEFINITION and not is_secondary(hit.path)


def is_with(needles: Group, facts: Evidence) -> bool:
    """Whether the file that defines the first part of a dotted name has its last part, too."""
    owner = facts.searched.hits.get(needles[-2])
    if owner is None or owner.rank != DEFINITION:
        return True
    return facts.rank_in(needles[-1].text, (owner.path,))[0].rank > 0


def needles_of(claim: DriftClaim) -> Group:
    """The texts to look for: all parts of a dotted name, all spellings of a flag."""
    text = claim.text
    if claim.kind == "code":
        return (Needle(text, "loose"),)
    if claim.kind == "symbol":
        return tuple(Needle(part, "name") for part in text.split("."))
    if claim.kind != "flag":
        return ()
    return (Needle(text, "text"), *_spellings(text)) if text.startswith("--") else (Needle(text),)


def _groups(claim: DriftClaim, places: FileLocator) -> list[Group]:
    """Needles of which one is enough. Parts of a dotted name that are names of files need no search."""
    if claim.kind == "value":
        return [(Needle(name, "name"),)] if (name := key_of(claim)) and not claim.place else []
    needles = needles_of(claim)
    if claim.kind != "symbol":
        return [needles] if needles else []
    return [(needle,) for needle in needles if len(needles) == 1 or not places.has_name(needle.text)]


def module_paths(claim: DriftClaim, places: FileLocator) -> list[str]:
    """The paths of modules of Python that a dotted name names and that are not there: they may have been."""
    parts = claim.text.split(".")
    if claim.kind != "symbol" or len(parts) < 2:
        return []
    tops = [top for top in ("", "src/", "lib/") if f"{top}{parts[0]}" in places.folders]
    found: list[str] = []
    for count in range(len(parts), 1, -1):
        for top in tops:
            path = top + "/".join(parts[:count])
            if path in places.folders or f"{path}.py" in places.files:
                return found
            found += [f"{path}.py", path]
    return found


def key_of(claim: DriftClaim) -> str:
    """The key of a value."""
    return claim.text.partition(" = ")[0]


def _spellings(flag: str) -> tuple[Needle, ...]:
    """How else a program may spell its flag."""
    dashed = flag.lstrip("-").lower()
    words = dashed.replace("_", "-").split("-")
    snake, camel = "_".join(words), words[0] + "".join(word.title() for word in words[1:])
    texts = [Needle(form.format(dashed=dashed, snake=snake), "text") for form in _SPELLED]
    names = [Needle(snake), Needle(camel)] if len(words) > 1 and classify.is_distinct(snake) else []
    positive = [Needle("--" + dashed.removeprefix("no-"), "text")] if dashed.startswith("no-") else []
    return (*texts, *names, *positive)


def at(hit: Occurrence) -> str:
    """Where an occurrence is, for people."""
    return f"{printable(hit.path)}:{hit.line}"
