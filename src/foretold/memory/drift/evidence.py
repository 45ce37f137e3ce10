"""What a repository shows about all claims together: one list of files, one search, a few questions to git.

1. Files are listed once; the paths that are claimed are looked up in that list.
2. Symbols, flags and pieces of code, and the paths that are not there, are looked for in one pass over the contents.
   Files that memories name are read first: what they mention is mostly in them.
3. Only if paths are missing is git asked what became of them, and which of them it would ignore.
4. Only if commits are claimed is git asked for those.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from foretold.git.moves import PathFate, trace_paths
from foretold.git.runner import Commit, GitRepository
from foretold.memory.drift import classify
from foretold.memory.drift.claims import DriftClaim
from foretold.memory.drift.locate import FileLocator, Listing, PathMatch, list_files
from foretold.memory.drift.search import Group, Needle, OwnFiles, SearchResult, search
from foretold.memory.note import Memory
from foretold.types import NamedTuple

Progress = Callable[[str, int, int], None]
#: how languages and libraries that make a flag from a name write it
_SPELLED = ('"{dashed}"', "'{dashed}'", "{dashed}: bool", "{snake}: bool")


class Evidence(NamedTuple):
    """What is known about every claim."""

    root: str
    git: GitRepository | None
    listing: Listing
    places: FileLocator
    found: dict[str, PathMatch]  #: by the text of the path
    searched: SearchResult
    fates: dict[str, PathFate]  #: by path from the root, for those that are not there
    ignored: frozenset[str]
    commits: dict[str, Commit]


def gather_evidence(
    claims: Collection[DriftClaim], memories: Collection[Memory], root: str, *, outside: bool, progress: Progress | None
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
    searched = search(
        root,
        _named_first(listing.files, {place.where for place in found.values()}),
        groups,
        own=_own(memories),
        narrow=git.narrow if git and not listing.walked else None,  # git does not know the files of submodules
        progress=lambda done: report("search", done, len(listing.files)),
    )
    report("history", 0, len(lost))
    plain = {path for path in lost.values() if path and not any(char in path for char in "*?{\n\0")}
    fates = trace_paths(git, plain, places.exists) if git and plain else {}
    ignored = frozenset(git.ignored(plain - fates.keys())) if git else frozenset()
    names = {claim.text for claim in claims if claim.kind == "commit"}
    commits = git.commits(sorted(names)) if git and names else {}
    return Evidence(root, git, listing, places, found, searched, fates, ignored, commits)


def _own(memories: Collection[Memory]) -> OwnFiles:
    names = frozenset(os.path.basename(memory.file) for memory in memories)
    return OwnFiles(names, frozenset(memory.digest for memory in memories))


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


def _named_first(files: list[str], named: set[str]) -> list[str]:
    """The files, those that memories name before the others."""
    first = [path for path in files if path in named]
    return [*first, *(path for path in files if path not in named)] if first else files
