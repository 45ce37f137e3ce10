"""Which files belong to a session: its transcript, and what its agent keeps under its id.

1. Each agent has a row in a table. A place has a kind, and a path in which `{root}` is the agent's folder, `{id}` the
   session's id, `{stem}` the transcript without its extension (or its own folder), `{folder}` the folder it is in,
   `{up}` the folder above. A place is a file, or a folder with all that is in it; a `*` at its end stands for anything.
2. A file has the kind of the first place that it is in. Symbolic links are not followed.
3. A file is named by its path in the agent's folder, so that it can be restored into another one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from foretold.sessions.formats.claude.reader import session_stem
from foretold.sessions.formats.fields import list_names
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.model import StoredSession


class AgentFiles(NamedTuple):
    """Where an agent keeps files, in its own folder."""

    transcripts: tuple[str, ...]  #: the folders that transcripts are in
    places: tuple[tuple[str, ...], ...]  #: kind and places of what belongs to a session
    leftovers: tuple[tuple[str, ...], ...]  #: the same of what may belong to none; a `*` at the beginning: any name
    followed: tuple[str, str] | None = None  #: a place whose files lead to others: `{name}` is the stem of each
    has_shared_forks: bool = False  #: a fork begins with bytes of the session it was forked from, which must stay
    has_copied_forks: bool = False  #: a fork repeats records, with their uuids


AGENT_FILES = {
    "claude-code": AgentFiles(
        transcripts=("projects", "sessions"),
        places=(
            ("subagents", "{stem}/subagents"),
            ("tool results", "{stem}/tool-results"),
            ("other", "{stem}"),
            ("file history", "{root}/file-history/{id}"),
            ("todos", "{root}/todos/{id}*", "{root}/tasks/{id}"),
            ("debug logs", "{root}/debug/{id}*"),
            ("other", "{root}/session-env/{id}"),
        ),
        leftovers=(
            ("file history", "file-history"),
            ("todos", "todos", "tasks"),
            ("debug logs", "debug"),
            ("shell snapshots", "shell-snapshots"),
            ("other", "session-env", "paste-cache", "backups", "history.jsonl", "sessions"),
            ("memories and rest", "projects"),
        ),
        has_copied_forks=True,
    ),
    "codex": AgentFiles(
        transcripts=("sessions", "archived_sessions"),
        places=(("shell snapshots", "{root}/shell_snapshots/{id}*"),),
        leftovers=(
            ("shell snapshots", "shell_snapshots"),
            ("debug logs", "log"),
            ("databases", "*.sqlite", "*.sqlite-wal"),
            ("other", "history.jsonl"),
            ("transcripts", "sessions", "archived_sessions"),
        ),
        has_shared_forks=True,
    ),
    "gemini-cli": AgentFiles(
        transcripts=("tmp",),
        places=(
            ("subagents", "{folder}/{id}"),
            ("tool results", "{up}/tool-outputs/session-{id}"),
            ("other", "{up}/{id}"),
        ),
        leftovers=(("other", "tmp"), ("file history", "history")),
    ),
    "opencode": AgentFiles(
        transcripts=("storage",),
        places=(
            ("transcripts", "{root}/storage/message/{id}"),
            ("other", "{root}/storage/session_diff/{id}.json"),
            ("todos", "{root}/storage/todo/{id}.json"),
        ),
        leftovers=(
            ("debug logs", "log"),
            ("file history", "snapshot"),
            ("tool results", "tool-output"),
            ("databases", "*.db", "*.db-wal"),
            ("transcripts", "storage"),
        ),
        followed=("{root}/storage/message/{id}", "{root}/storage/part/{name}"),
    ),
}
NOTHING = AgentFiles((), (), ())


class SessionFile(NamedTuple):
    """A file of a session."""

    kind: str
    path: str
    name: str  #: in the agent's folder


def root_of(stored: StoredSession) -> str:
    """The agent's folder that a session is in."""
    parts = stored.path.split("/")
    for at in range(len(parts) - 2, 0, -1):
        if parts[at] in agent_files(stored.agent).transcripts:
            return "/".join(parts[:at]) or "/"
    return os.path.dirname(stored.path)


def list_session_files(stored: StoredSession) -> list[SessionFile]:
    """Every file of a session, its transcript first. A database is not a file of one session."""
    root, known = root_of(stored), agent_files(stored.agent)
    found = [] if is_shared(stored) else [("transcripts", stored.path)]
    for kind, *places in known.places:
        found += [(kind, path) for place in places for path in _files_at(_fill(place, stored, root))]
    if known.followed and not is_shared(stored):
        first, then = (_fill(place, stored, root) for place in known.followed)
        names = [os.path.splitext(os.path.basename(path))[0] for path in _files_at(first)]
        found += [("transcripts", path) for name in names for path in _files_at(then.replace("{name}", name))]
    kinds = dict(reversed([(path, kind) for kind, path in found]))  # the first counts
    top = root.rstrip("/") + "/"
    return [
        SessionFile(kinds[path], path, path.removeprefix(top) if path.startswith(top) else os.path.basename(path))
        for path in dict.fromkeys(path for _, path in found)
    ]


def agent_files(agent: str) -> AgentFiles:
    return AGENT_FILES.get(agent, NOTHING)


def is_shared(stored: StoredSession) -> bool:
    """Whether a session shares its file with others."""
    return stored.path.endswith((".db", ".sqlite"))


def _fill(place: str, stored: StoredSession, root: str) -> str:
    stem, folder = session_stem(stored.path), os.path.dirname(stored.path)
    return place.format(root=root, id=stored.id, stem=stem, folder=folder, up=os.path.dirname(folder), name="{name}")


def _files_at(place: str) -> Iterator[str]:
    """The files at a place, in the order of their names."""
    if not place.endswith("*"):
        yield from files_below(place)
        return
    folder, _, start = place[:-1].rpartition("/")
    for name in list_names(folder):
        if start and name.startswith(start):
            yield from files_below(f"{folder}/{name}")


def files_below(path: str) -> Iterator[str]:
    """A file, or every file below a folder."""
    if os.path.islink(path):
        return
    if os.path.isfile(path):
        yield path
        return
    for name in list_names(path):
        yield from files_below(f"{path}/{name}")


def status_of(path: str) -> os.stat_result | None:
    """What `lstat` says; None if there is nothing at a path."""
    try:
        return os.lstat(path)
    except OSError:
        return None
