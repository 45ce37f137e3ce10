"""What is wrong with a project's memories: findings, each with what to do. Looking changes nothing.

1. Files: unreadable, a link, too large, without frontmatter or type, the same content or name twice, a copy made by a
   synchronising program, writable by others, hidden characters, credentials.
2. The index: entries without a file, files without an entry, more than the agent loads.
3. Places: memories of a project that is no longer at its path, of another worktree of this repository, or of this
   repository under its former path.
4. History: damaged records, a log above its bound, versions that were dropped for it.
"""

from __future__ import annotations

import errno
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from shlex import quote

from foretold.dialects.claude_code.settings import slug
from foretold.dialects.surroundings import find_linked_git, join
from foretold.errors import StoreFailed
from foretold.memory.location import identity_of, known_projects
from foretold.memory.note import INDEX, Memory
from foretold.memory.project import Memories
from foretold.memory.store.index_file import MOST_ENTRIES, Budget, has_more
from foretold.memory.store.retention import check_history
from foretold.memory.store.store import Store
from foretold.memory.store.team import credential_findings, team_index
from foretold.secrets.invisible import hidden_in
from foretold.sessions.formats.fields import first_text
from foretold.sessions.formats.jsonl import parse_records, read_ends
from foretold.storage.names import same_name
from foretold.storage.tree import Disk
from foretold.types import Finding

_COPY = re.compile(r"(?i)(?: \(\d+\)| copy(?: \d+)?|[ .(-]+conflict(?:ed copy)?\b.*|\.sync-conflict-.*| - Copy.*)\.md$")
HEAD = 64 * 1024  #: bytes of a transcript that are searched for the folder it was recorded in


def find_problems(memories: Memories, *, history: bool = True) -> list[Finding]:
    """Everything that is wrong. Without `history`, that is not read, and nothing at all is written, no cache either."""
    found = list(memories.place.findings)
    if memories.place.off:
        message = f"the agent does not read its memories here: {memories.place.off}"
        found.append(Finding(memories.place.store, None, "memory-off", message, "switch it on, or use recall"))
    if memories.count_unaccepted():
        found.append(unaccepted_finding(memories))
    for store in memories.stores:
        problems: list[Finding] = []
        notes = store.memories(problems)
        try:
            problems += check_history(store, store.log(findings=problems)) if history else ()
        except StoreFailed as error:
            problems.append(Finding(store.path, None, "unreadable", f"its history cannot be kept: {error}"))
        unseen = {problem.path for problem in problems if problem.code == "unreadable"}
        problems += [*_check_files(store, notes), *_check_index(store, notes, memories.place.dialect, unseen)]
        is_own = store is memories.own
        found += problems if is_own else [each._replace(path=join(store.path, each.path)) for each in problems]
    return [*found, *find_misplaced(memories)]


def unaccepted_finding(memories: Memories) -> Finding:
    """That the repository brings memories of a team which the user has not accepted."""
    count = memories.count_unaccepted()
    brings = "1 memory of a team, which is" if count == 1 else f"{count} memories of a team, which are"
    message = f"this repository brings {brings} not accepted: agents are told their number, and not what they say"
    return Finding(memories.place.team, None, "team-not-accepted", message, "foretold memory trust")


def _check_files(store: Store, notes: list[Memory]) -> Iterator[Finding]:
    for note in notes:
        path = note.file
        yield from note.findings
        yield from hidden_in(path, note.text)
        if not note.text.startswith("---"):
            yield Finding(path, 1, "memory-plain", "it has no frontmatter", "give it a name, description and type")
        elif not note.type:
            message = f"its type is {note.metadata.get('type')!r}" if "type" in note.metadata else "it has no type"
            yield Finding(path, None, "memory-type", message, "user, feedback, project or reference")
        yield from credential_findings(path, note.text, "remove it; it is sent to the model when read")
        if _COPY.search(path):
            message = "its name is one that synchronising programs give copies"
            yield Finding(path, None, "memory-copy", message, "compare the two, and delete one")
    yield from _find_duplicates(notes)
    if store.scope == "private":
        yield from _check_mode(store)


def _find_duplicates(notes: list[Memory]) -> Iterator[Finding]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for note in notes:
        groups["the same text", note.body or note.file].append(note.file)
        groups["the same name", note.name].append(note.file)
        groups["names that some systems treat as equal", same_name(note.file)].append(note.file)
    reported: set[tuple[str, ...]] = set()
    for (what, _), files in groups.items():
        if len(files) > 1 and tuple(files) not in reported:
            reported.add(tuple(files))
            message = f"{len(files)} files have {what}: {', '.join(files)}"
            yield Finding(files[0], None, "memory-twice", message, "keep one, delete the others")


def _check_mode(store: Store) -> Iterator[Finding]:
    try:
        mode = os.stat(store.path).st_mode
    except OSError:
        return
    if mode & 0o022:
        message = f"other users may write to this folder (mode {mode & 0o777:03o})"
        yield Finding(store.path, None, "memory-open", message, f"chmod 700 {quote(store.path)}")


def index_finding(store: Store) -> Finding | None:
    """That the index of a store cannot be read; None if it can, or is made from the files."""
    try:
        store.index() if store.scope != "team" else None
    except StoreFailed as error:
        code = getattr(error.__cause__, "errno", None)
        hint = "put a plain file in its place"
        if code in (errno.EACCES, errno.EPERM):
            hint = f"chmod u+r {quote(f'{store.path}/{INDEX}')}"
        elif code is not None and code != errno.ELOOP:
            hint = "do not replace it: look at the disk first"
        return Finding(INDEX, None, "unreadable", str(error).removesuffix(". Nothing was changed"), hint)
    return None


def _check_index(store: Store, notes: list[Memory], agent: str, unseen: set[str]) -> Iterator[Finding]:
    """The index against the memories; what is `unseen`, or in a folder that is, is not missing."""
    if (unread := index_finding(store)) is not None:
        yield unread
        return
    text = team_index(store) if store.scope == "team" else store.index()
    large = store.folder.large_index() if store.scope != "team" else None
    if large is not None:
        message = f"it has {large.size:,} bytes: new entries are not added to it, and the agent loads only its start"
        yield Finding(INDEX, None, "index-too-large", message, "foretold memory doctor --fix")
        return
    budget = Budget(text, agent, frozenset(note.file for note in notes))
    yield from hidden_in(INDEX, text)
    for entry in budget.dangling:
        if any(entry.file == path or entry.file.startswith(f"{path}/") for path in unseen):
            continue
        message = f"an entry links to {entry.file}, which does not exist"
        action = f"restore {entry.file}" if entry.file in store.journal.heads else "compact"
        yield Finding(INDEX, entry.number + 1, "index-dangling", message, f"foretold memory {action}")
    if not text and store.journal.heads.get(INDEX) and notes:
        message = "it was deleted, so the agent does not know of any memory; the history still has it"
        yield Finding(INDEX, None, "index-missing", message, f"foretold memory restore {INDEX}")
        return
    is_full = has_more(text)
    if budget.unlisted and is_full:
        message = f"{len(budget.unlisted):,} memories have no entry: the index has room for {MOST_ENTRIES:,}"
        yield Finding(INDEX, None, "index-unlisted", message, "recall finds them; merge or delete what is not needed")
    for file in budget.unlisted if not is_full else ():
        message = "the index has no entry for it, so the agent does not know of it"
        yield Finding(file, None, "index-unlisted", message, "foretold memory doctor --fix")
    if budget.is_over:
        message = f"the agent sees {budget.seen_lines} of {budget.lines} lines: {len(budget.cut)} entries are cut off"
        yield Finding(INDEX, budget.seen_lines + 1, "index-cut", message, "foretold memory compact")


def find_misplaced(memories: Memories) -> Iterator[Finding]:
    """Memories elsewhere that belong to this project, or to one that no longer exists."""
    place = memories.place
    here = identity_of(place.project, place.store)
    reported = {place.store, place.under, place.team}
    for known in known_projects(place.state).values():
        if known.store in reported or os.path.isdir(known.project) or not has_memories(known.store):
            continue
        if known.is_same(here):
            reported.add(known.store)
            message = f"this repository was at {known.project}; its memories are still there"
            yield Finding(known.store, None, "memory-moved", message, _relocate(known.project, place.project))
    for folder in _sibling_stores(place.store):
        project = project_of_folder(os.path.dirname(folder)) if folder not in reported else ""
        if not project:
            continue
        if not os.path.isdir(project):
            message = f"its project {project} no longer exists"
            yield Finding(folder, None, "memory-orphan", message, _relocate(project, "NEW"))
        elif _is_split(project, place.project):
            message = f"{project} is a worktree of this repository with its own memories, which the agent does not read"
            yield Finding(folder, None, "memory-split", message, _relocate(project, place.project))


def _relocate(old: str, new: str) -> str:
    return f"foretold memory relocate {quote(old)} {quote(new)}"


def _is_split(project: str, main: str) -> bool:
    git = find_linked_git(Disk(), project)
    return git is not None and git.main == main and project != main


def _sibling_stores(store: str) -> Iterator[str]:
    """The folders with memories of all projects, if this store is one of them."""
    projects = os.path.dirname(os.path.dirname(store))
    if os.path.basename(store) != "memory" or os.path.basename(projects) != "projects":
        return
    try:
        names = sorted(os.listdir(projects))
    except OSError:
        return
    for name in names:
        folder = f"{projects}/{name}/memory"
        if has_memories(folder):
            yield folder


def has_memories(folder: str) -> bool:
    """Whether there is a memory in a folder. An index alone is not one."""
    try:
        return any(file.endswith(".md") and file != INDEX for file in os.listdir(folder))
    except OSError:
        return False


def project_of_folder(folder: str) -> str:
    """The project that a folder of the agent's projects belongs to; empty if nothing there says so.

    Its name alone is not enough: many paths have the same one. The transcripts in it tell.
    """
    name = os.path.basename(folder)
    try:
        with os.scandir(folder) as items:
            transcripts = sorted(item.path for item in items if item.name.endswith(".jsonl"))
    except OSError:
        return ""
    for path in transcripts[:8]:
        cwd = first_text(parse_records(read_ends(path, HEAD)[0])[:50], "cwd")
        while cwd not in ("", "/"):
            if slug(cwd) == name:
                return cwd
            cwd = os.path.dirname(cwd)
    return ""
