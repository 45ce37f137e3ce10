"""Whether a name of code is still there.

1. A name that a memory puts into a file is looked for in that file. It is there if the file defines it. If it is
   defined elsewhere and git says that the file once defined it, it has *moved*; without such a commit the file need
   only have the name, unless the memory says plainly that it is in there.
2. Else it is there if a file defines it, or if code needs it (an import, a call, a base class).
3. A name that is only in an attribute, a string, a comment or a document is `missing` if git once had a
   definition of it and has none now. If git never had one, code and strings are enough, comments and documents are not.
4. Of a dotted name the last part counts, if every other is there at all. A prefix that is a module, or was one, is a
   path: `a.b.c` was `a/b/c.py`.
"""

from __future__ import annotations

from foretold.git.definitions import RemovedDefinition
from foretold.memory.drift.claims import DriftClaim
from foretold.memory.drift.definitions import COMMENT, DEFINITION, LIVE, NameEvidence
from foretold.memory.drift.evidence import CheckedClaim, Evidence, at, is_defined, is_with, needles_of
from foretold.memory.drift.locate import printable
from foretold.memory.drift.search import Needle, Occurrence, is_secondary


def judge_symbol(claim: DriftClaim, facts: Evidence) -> CheckedClaim | None:
    """The verdict about a name; None if a word next to a file turns out not to be one."""
    *before, last = needles_of(claim)
    if before:
        return _judge_dotted(claim, facts)
    files = facts.files_of(claim.place) if claim.place else ()
    if files:
        checked = _judge_placed(claim, last, files, facts)
        if checked is not None or claim.is_word:
            return checked
    return None if claim.is_word else _judge_name(claim, last, facts)


def _judge_placed(claim: DriftClaim, needle: Needle, files: tuple[str, ...], facts: Evidence) -> CheckedClaim | None:
    """A name in its file, by rule 1; None if the file does not decide."""
    here, where = facts.rank_in(needle.text, files)
    if here.rank == DEFINITION:
        return CheckedClaim(claim, "valid", f"it is in {where}", where)
    hit = facts.searched.hits.get(needle)
    removed = [each for each in facts.removed.get(needle.text, ()) if each.path in files]
    if removed and is_defined(hit) and hit is not None:
        return CheckedClaim(claim, "moved", f"it is in {at(hit)} now; {describe_removal(removed[0])}", at(hit))
    if removed and (here.rank < LIVE or (hit is None and not here.rank)):
        return CheckedClaim(
            claim, "missing", f"{printable(files[0])} does not define it any more; {describe_removal(removed[0])}"
        )
    if here.rank:
        return None if here.rank == COMMENT else CheckedClaim(claim, "valid", f"it is in {where}", where)
    if claim.is_near or claim.is_word or not is_defined(hit) or hit is None or len(files) > 1:
        return None
    return CheckedClaim(claim, "moved", f"it is in {at(hit)}, not in {printable(files[0])}", at(hit))


def describe_removal(removed: RemovedDefinition) -> str:
    """Which commit took a definition away, for people."""
    return f"git removed it from {printable(removed.path)} in {removed.commit[:7]} ({removed.date})"


def _judge_name(claim: DriftClaim, needle: Needle, facts: Evidence, *, what: str = "it") -> CheckedClaim:
    """A name anywhere, by rules 2 and 3."""
    hit = facts.searched.hits.get(needle)
    if hit is None:
        return nowhere(claim, f"no file of {facts.searched.files:,} contains {what}", facts)
    is_sure = hit.rank == DEFINITION or (hit.rank == LIVE and not is_secondary(hit.path))
    lost = [each for each in facts.removed.get(needle.text, ()) if not is_secondary(each.path)]
    if not is_sure and lost:
        return CheckedClaim(claim, "missing", f"nothing defines {what} any more; {describe_removal(lost[0])}")
    if hit.is_prose:
        return CheckedClaim(claim, "unknown", f"only documents mention {what}: {at(hit)}", at(hit))
    if hit.rank == COMMENT:
        return CheckedClaim(claim, "unknown", f"only comments mention {what}: {at(hit)}", at(hit))
    return CheckedClaim(claim, "valid", f"{what} is in {at(hit)}", at(hit))


# Dotted names


def _judge_dotted(claim: DriftClaim, facts: Evidence) -> CheckedClaim:
    """A name with dots, by rule 4."""
    *before, last = needles_of(claim)
    hits, is_name = facts.searched.hits, facts.places.has_name
    module = _judge_module(claim, facts)
    if module is not None:
        return module
    nowhere_at_all = [part.text for part in before if part not in hits and not is_name(part.text)]
    hit = hits.get(last)
    if hit is None and not nowhere_at_all and is_name(last.text):
        return CheckedClaim(claim, "valid", f"a file or folder is named {last.text}")
    if hit is None or hit.is_prose or not nowhere_at_all:
        what = "it" if hit is None else last.text
        lost = _judge_member(claim, facts)
        return lost or _judge_name(claim, last, facts, what=what)
    return nowhere(claim, f"{last.text} is in {at(hit)}, but nothing contains {', '.join(nowhere_at_all)}", facts)


def _judge_member(claim: DriftClaim, facts: Evidence) -> CheckedClaim | None:
    """A member that the file of its class had, and has no more, though other classes have one of that name."""
    needles = needles_of(claim)
    owner = facts.searched.hits.get(needles[-2])
    if owner is None or is_with(needles, facts):
        return None
    lost = [each for each in facts.removed.get(needles[-1].text, ()) if each.path == owner.path]
    if not lost:
        return None
    said = (
        f"{at(owner)} defines {needles[-2].text}, but its file has no {needles[-1].text}; {describe_removal(lost[0])}"
    )
    return CheckedClaim(claim, "missing", said)


def _judge_module(claim: DriftClaim, facts: Evidence) -> CheckedClaim | None:
    """A dotted name that begins with modules of Python; None if it does not, or if that decides nothing."""
    parts = claim.text.split(".")
    for count in range(len(parts), 0, -1):
        path = "/".join(parts[:count])
        file = _resolve(f"{path}.py", facts) or _resolve(f"{path}/__init__.py", facts)
        if file:
            return _judge_in_module(claim, parts[count:], file, facts)
        names = (f"{top}{path}{end}" for top in ("", "src/", "lib/") for end in (".py", ""))
        fate = next((facts.replaced[name] for name in names if name in facts.replaced), None)
        if fate and count > 1:
            when = f"in {fate.commit[:7]} ({fate.date})"
            if fate.to:
                return CheckedClaim(claim, "moved", f"git moved {path} to {printable(fate.to)} {when}", fate.to)
            return CheckedClaim(claim, "missing", f"git deleted {path} {when}")
    return None


def _judge_in_module(claim: DriftClaim, rest: list[str], file: str, facts: Evidence) -> CheckedClaim | None:
    if not rest:
        return CheckedClaim(claim, "valid", f"it is {printable(file)}", file)
    folder = file.removesuffix("/__init__.py")
    files = facts.places.list_folder(folder) if folder != file else [file]
    here, where = facts.rank_in(rest[0], files) if len(rest) == 1 else (NameEvidence(), "")
    if here.rank >= LIVE:
        return CheckedClaim(claim, "valid", f"{rest[0]} is in {where}", where)
    lost = [each for each in facts.removed.get(rest[0], ()) if each.path in files] if len(rest) == 1 else []
    hit: Occurrence | None = facts.searched.hits.get(Needle(rest[-1], "name"))
    if lost and hit is not None and is_defined(hit):
        return CheckedClaim(claim, "moved", f"{rest[0]} is in {at(hit)} now; {describe_removal(lost[0])}", at(hit))
    return CheckedClaim(claim, "missing", f"{printable(file)} does not define {rest[0]} any more") if lost else None


def _resolve(path: str, facts: Evidence) -> str:
    """A module's file: from the root, or below a folder for sources."""
    for each in (path, f"src/{path}", f"lib/{path}"):
        if each in facts.places.files:
            return each
    return ""


def nowhere(claim: DriftClaim, evidence: str, facts: Evidence) -> CheckedClaim:
    """Nothing contains it; what was not searched is named. Without files, or in a sparse checkout, that is unknown."""
    searched, listing = facts.searched, facts.listing
    unsearched = (
        (searched.binary, f"{searched.binary:,} binary"),
        (searched.large, f"{len(searched.large):,} large ({', '.join(map(printable, searched.large[:2]))})"),
        (searched.unread, f"{searched.unread:,} links or unreadable"),
        (facts.notes, f"{facts.notes:,} of release notes"),
        (listing.absent, f"{len(listing.absent):,} not checked out"),
        (listing.empty, f"submodule {', '.join(map(printable, listing.empty[:2]))}"),
        (listing.unread, f"folder {', '.join(map(printable, listing.unread[:2]))}"),
    )
    names = [name for is_any, name in unsearched if is_any]
    evidence += f" (not searched: {', '.join(names)})" if names else ""
    return CheckedClaim(claim, "missing" if searched.files and not listing.absent else "unknown", evidence)
