"""Moving memories along with a project: from the store of one path into that of another.

1. The plan comes first: what would be copied, what exists already, what differs.
2. Before anything is changed, both stores are packed into one archive next to the history.
3. A file that differs is not overwritten; it gets a name that says where it came from. The old store is emptied at the
   end, each file by a deletion that its history keeps, and only if all of them arrived: a failure before that leaves
   the old store as it is, and what was copied already counts when it is tried again.
4. What the store does not read (a link, a file too large), or is not UTF-8, stays where it is, and is named.
"""

from __future__ import annotations

import io
import os
import tarfile
from contextlib import suppress

from foretold.errors import MemoryChanged, NoSuchMemory
from foretold.memory.note import INDEX, Memory, slug_of
from foretold.memory.project import Memories
from foretold.memory.store.index_file import entries_of, line_of
from foretold.memory.store.journal import Change
from foretold.memory.store.store import Arrival, Store
from foretold.memory.store.transaction import now
from foretold.storage.atomic import replace_file
from foretold.storage.kernel import failed, token
from foretold.storage.names import same_name
from foretold.types import Finding, NamedTuple


class FileMove(NamedTuple):
    """One file of the old store."""

    file: str
    to: str
    what: str  #: copy, same (it exists already), beside (another file has its name, so it gets another)
    digest: str  #: of the file when the plan was made


class Relocation(NamedTuple):
    """What relocating would do."""

    old: Store
    new: Store
    moves: tuple[FileMove, ...]
    notes: str  #: lines of the old index that are not entries: they are added to the new one
    left: tuple[Finding, ...] = ()  #: what stays in the old store, and why


def plan_relocation(old: Memories, new: Memories) -> Relocation:
    """What moving the memories of one project to another would do. Changes nothing."""
    source, target = old.own, new.own
    if os.path.realpath(source.path) == os.path.realpath(target.path):
        raise NoSuchMemory(f"{old.place.project} and {new.place.project} have the same memories, in {source.path}")
    there = {memory.file: memory.digest for memory in target.memories()}
    left: list[Finding] = []
    taken = {same_name(file) for file in there}
    moves = []
    for memory in source.memories(left):
        if exact_text(source, memory.file, left, "it stays where it is", "relocate") is None:
            continue
        to, what = memory.file, "copy"
        if there.get(memory.file) == memory.digest:
            what = "same"
        elif same_name(memory.file) in taken:
            to, what = _free_name(memory, old.place.project, there, taken)
        taken.add(same_name(to))
        moves.append(FileMove(memory.file, to, what, memory.digest))
    return Relocation(source, target, tuple(moves), find_own_lines(source.index(), target.index()), tuple(left))


def exact_text(store: Store, file: str, findings: list[Finding], effect: str, action: str) -> str | None:
    """The text of a file, with its byte order mark if it has one; None, and a finding, if its bytes are not UTF-8."""
    try:
        return store.folder.read(file).data.decode("utf-8")
    except UnicodeDecodeError:
        message = f"bytes that are not UTF-8 would be lost; {effect}"
        findings.append(Finding(file, None, "not-utf8", message, f"save the file as UTF-8 and {action} again"))
        return None


def _free_name(memory: Memory, project: str, there: dict[str, str], taken: set[str]) -> tuple[str, str]:
    """Another name for a memory whose own is taken; the same as before if it was copied here already."""
    stem = f"{memory.file.removesuffix('.md')}_from_{slug_of(os.path.basename(project) or 'top').replace('-', '_')}"
    name, number = f"{stem}.md", 2
    while same_name(name) in taken and there.get(name) != memory.digest:
        name, number = f"{stem}_{number}.md", number + 1
    return name, "same" if there.get(name) == memory.digest else "beside"


def find_own_lines(old: str, new: str) -> str:
    """The lines of the old index that are not entries, and that the new one does not have."""
    entries = {entry.number for entry in entries_of(old)}
    known = frozenset(new.split("\n"))
    lines = [line for number, line in enumerate(old.split("\n")) if number not in entries]
    return "\n".join(line for line in lines if line not in known or not line.strip()).strip("\n")


def relocate(plan: Relocation) -> str:
    """Do what was planned; the path of the archive made first."""
    archive = _pack(plan)
    why = f"relocated from {plan.old.path}"
    _refuse_changed(plan.old, {move.file: move.digest for move in plan.moves})
    plan.new.bring(_arrivals(plan), _history(plan), why=why)
    if plan.notes:
        plan.new.add_to_index(plan.notes, why=why)
    _refuse_changed(plan.new, {move.to: move.digest for move in plan.moves})
    for move in plan.moves:
        plan.old.delete(move.file, expect=move.digest, why=f"relocated to {plan.new.path}")
    return archive


def _refuse_changed(store: Store, digests: dict[str, str]) -> None:
    for file, digest in digests.items():
        if store.read(file).digest != digest:
            raise MemoryChanged(f"{file} was changed by another program meanwhile; nothing was deleted, try again")


def _arrivals(plan: Relocation) -> list[Arrival]:
    """What is copied, in the order of the old index, each with its line there."""
    index, arrivals = plan.old.index(), []
    order = {entry.file: entry.number for entry in entries_of(index)}
    for move in sorted(plan.moves, key=lambda move: order.get(move.file, len(index))):
        if move.what != "same":
            held = plan.old.folder.read(move.file)
            entry = line_of(index, move.file).replace(f"({move.file})", f"({move.to})")
            arrivals.append(Arrival(move.to, held.data, held.changed, entry))
    return arrivals


def _history(plan: Relocation) -> list[Change]:
    """The changes of the files that are copied, and of those deleted before, unless their name is taken."""
    names = {move.file: move.to for move in plan.moves if move.what != "same"}
    there = plan.new.folder.files().keys() | {INDEX, "leftover.md"}
    known = {change.file for change in plan.new.log()}
    found = []
    for change in plan.old.log():
        to = names.get(change.file, change.file)
        if to not in there and to not in known:
            found.append(change._replace(file=to, listing=""))
    return found


def _pack(plan: Relocation) -> str:
    """An archive of both stores, written whole before it has its name."""
    folder, packed = os.path.join(plan.new.state, "backups"), io.BytesIO()
    path = os.path.join(folder, f"relocate-{now().replace(':', '')}-{token()[-6:]}.tar.gz")
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for label, store in (("old", plan.old), ("new", plan.new)):
            for file in (*store.folder.files(), INDEX):
                with suppress(NoSuchMemory):
                    held = store.folder.read(file)
                    about = tarfile.TarInfo(f"{label}/{file}")
                    about.size, about.mtime, about.mode = len(held.data), int(held.changed), 0o600
                    archive.addfile(about, io.BytesIO(held.data))
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        replace_file(path, packed.getvalue())
    except OSError as error:
        raise failed(f"cannot write an archive into {folder}, so nothing was changed", error) from error
    return path
