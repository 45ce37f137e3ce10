"""Whether what memories claim still holds. Every claim is checked against the repository, without a model.

1. A claim is `valid` (the thing is there), `moved` (git knows where it went), `changed` (a value is another now),
   `missing` (it is not there) or `unknown` (that is not known). Every verdict says what it is based on.
2. A memory is as good as its worst claim: missing, else changed, else moved, else unknown, else valid. A memory that
   claims nothing is unknown.
3. A hedged claim (see `claims`) is never moved, changed or missing: what a memory says is gone, forbidden, planned, an
   example or elsewhere need not be there. It is `unknown` then, with what was found; and `valid` if the thing is there.
4. A path that is not there is `unknown` if git would ignore it, or if no commit had it and code names it: programs
   make such files. A text with a slash that may be a branch or a route is `missing` only if its first folder is there.
   A path that git moved or deleted is not the other file whose path ends with it, if both were there at the time.
5. `symbols` has the rules for names, `values` those for values. A flag that only documents mention is `unknown`.
6. A commit is valid if a ref reaches it, missing if none does or git has never seen it, unknown in a shallow clone.
7. All memories are checked in one pass (`evidence`). Nothing of the repository is run (see `git.runner`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from foretold.git.moves import SECONDS, PathFate
from foretold.memory.drift import classify
from foretold.memory.drift.claims import KINDS, NO_COMMIT, DriftClaim, find_claims
from foretold.memory.drift.evidence import (
    CheckedClaim as CheckedClaim,
    Evidence,
    Progress as Progress,
    at,
    gather_evidence,
    is_weak_flag,
    needles_of as needles_of,
    read_text,
)
from foretold.memory.drift.locate import printable
from foretold.memory.drift.search import Needle, is_secondary
from foretold.memory.drift.symbols import describe_removal, judge_symbol, nowhere
from foretold.memory.drift.values import LANGUAGES, FoundValue, holds, is_literal, read_values
from foretold.memory.note import Memory
from foretold.types import NamedTuple

STATES = ("valid", "unknown", "moved", "changed", "missing")  #: from good to bad
DRIFT = ("moved", "changed", "missing")


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
        tuple(claim for claim in find_claims(memory, places=True) if claim.kind in kinds and claim.text not in names)
        for memory in memories
    ]
    claims = [claim for each in claimed for claim in each]
    if not claims:
        return tuple(MemoryVerdict(memory.file, "unknown", ()) for memory in memories)
    facts = gather_evidence(
        claims, memories, os.path.abspath(root), outside=outside, progress=progress, seconds=seconds
    )
    judged = {claim._replace(line=0): _JUDGES[claim.kind](claim, facts) for claim in claims}
    verdicts = []
    for memory, each in zip(memories, claimed, strict=True):
        found = ((claim, judged[claim._replace(line=0)]) for claim in each)
        checked = [_apply_hedge(one._replace(claim=claim), facts) for claim, one in found if one is not None]
        state = max((one.state for one in checked), key=STATES.index, default="unknown")
        verdicts.append(MemoryVerdict(memory.file, state, tuple(checked)))
    return tuple(verdicts)


def _apply_hedge(checked: CheckedClaim, facts: Evidence) -> CheckedClaim:
    """A claim in the light of its hedge, by rule 3."""
    hedge = checked.claim.hedge
    if hedge == NO_COMMIT and facts.commits.get(checked.claim.text, ("", ""))[1] == "commit":
        return checked
    if hedge and checked.state in DRIFT:
        return checked._replace(state="unknown", evidence=f"{checked.evidence}; not taken for drift ({hedge})")
    if checked.claim.is_gone and checked.state == "valid":
        return checked._replace(evidence=f"{checked.evidence}, though the memory says otherwise ({hedge})")
    return checked


# Paths


def _path(claim: DriftClaim, facts: Evidence) -> CheckedClaim:
    place, path = facts.found[claim.text], facts.places.relative(claim.text)
    if place.state:
        return _replaced(claim, path, facts) or CheckedClaim(claim, place.state, place.evidence, printable(place.where))
    fate = facts.fates.get(path)
    if fate:
        return _of_fate(claim, path, fate)
    doubt = _doubt(claim.text, path, facts)
    return CheckedClaim(claim, "unknown" if doubt else "missing", doubt or _absence(claim.text, path, facts))


def _of_fate(claim: DriftClaim, path: str, fate: PathFate) -> CheckedClaim:
    name = "it" if fate.path == path else printable(fate.path)
    when = f"in {fate.commit[:7]} ({fate.date})" if fate.commit else "in the index, not committed yet"
    if fate.to:
        return CheckedClaim(claim, "moved", f"git moved {name} to {printable(fate.to)} {when}", printable(fate.to))
    return CheckedClaim(claim, "missing", f"git deleted {name} {when}")


def _replaced(claim: DriftClaim, path: str, facts: Evidence) -> CheckedClaim | None:
    """A path that was there, if another file whose path ends with it was there at the same time: that is not meant."""
    fate, now = facts.replaced.get(path), facts.found[claim.text].where
    if fate is None or facts.git is None or fate.to == now or (fate.to and f"/{fate.to}".endswith(f"/{path}")):
        return None
    if not now:
        return _of_fate(claim, path, fate) if fate.to else None
    parent = f"{fate.commit}~1:{facts.git.prefix}{now}"
    known = facts.git.commits([parent])
    return _of_fate(claim, path, fate) if known.get(parent, ("", ""))[1] in ("blob", "tree") else None


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
        return f"there is no such file, but {at(hit)} names it: a program may make it"
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


def _content(claim: DriftClaim, facts: Evidence) -> CheckedClaim:
    """The first needle that code contains; else what documents say, which is enough for code; else nothing."""
    found = [(each, facts.searched.hits.get(each)) for each in needles_of(claim)]
    hits = [(needle, hit) for needle, hit in found if hit]
    lost = facts.removed.get(claim.text) if claim.kind == "flag" and is_weak_flag(claim, facts) else None
    if lost:
        return CheckedClaim(claim, "missing", f"no code has it any more; {describe_removal(lost[0])}")
    for needle, hit in hits:
        if claim.kind == "code" or not hit.is_prose:
            as_what = "it" if needle.text == claim.text else needle.text
            return CheckedClaim(claim, "valid", f"{as_what} is in {at(hit)}", at(hit))
    if hits:
        return CheckedClaim(claim, "unknown", f"only documents mention it: {at(hits[0][1])}", at(hits[0][1]))
    return nowhere(claim, f"no file of {facts.searched.files:,} contains it", facts)


# Values


def _value(claim: DriftClaim, facts: Evidence) -> CheckedClaim | None:
    """A value, by the rules of `values`; None if it cannot be compared."""
    key, _, stated = claim.text.partition(" = ")
    files = facts.files_of(claim.place)
    if claim.place and len(files) != 1:
        return None
    if claim.language and not files:
        found = _values_of_language(claim.language, facts)
    elif files:
        keys = [key, *(other for _, other in LANGUAGES.get(claim.language, ()))]
        found = [(files[0], each) for name in dict.fromkeys(keys) for each in _read(files[0], name, facts)]
    else:
        found = facts.values.get(key, [])
    required = [one for one in found if one[1].value.startswith(stated[:2])] if stated[:1] in "=><~" else []
    found = required or found  # `x>=1` of a package, not the `x==2` of an environment
    for path, each in found:
        if holds(stated, each.value):
            where = f"{printable(path)}:{each.line}"
            return CheckedClaim(claim, "valid", f"{where} has {each.value}", where)
    found = [(path, each) for path, each in found if files or not is_secondary(path)]
    if not found or not all(is_literal(each.value) for _, each in found):
        return None
    if not claim.place and len({each.value for _, each in found}) > 1:
        return None
    path, each = found[0]
    where = f"{printable(path)}:{each.line}"
    return CheckedClaim(claim, "changed", f"{where} has {each.value}", where)


def _read(path: str, key: str, facts: Evidence) -> list[FoundValue]:
    return read_values(read_text(facts.root, path).decode("utf-8", "replace"), key)


def _values_of_language(language: str, facts: Evidence) -> list[tuple[str, FoundValue]]:
    """What the files at the top require of a language."""
    there = [(file, key) for file, key in LANGUAGES[language] if file in facts.places.files]
    return [(file, each) for file, key in there for each in _read(file, key, facts)]


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


_JUDGES = {
    "path": _path,
    "symbol": judge_symbol,
    "flag": _content,
    "code": _content,
    "commit": _commit,
    "value": _value,
}
