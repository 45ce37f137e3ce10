"""What belongs to a session beside its transcript: what its agent keeps under its id.

1. Each agent has a table: a kind, and where files of that kind are. `{root}` is the agent's folder, `{id}` the
   session's, `{stem}` the transcript without its ending, `{folder}` where it lies, `{up}` the folder above. A place is
   a file, or a folder with all that is in it; a `*` at its end stands for anything.
2. A file has the kind of the first place that it is in. Links are not followed.
3. A file is named by its path in the agent's folder, so that it can be put back into another one.
"""

from __future__ import annotations

import os

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.sessions.model import StoredSession

#: agent -> the folder of its own folder that transcripts are in
MARKS = {
    "claude-code": ("projects",),
    "codex": ("sessions", "archived_sessions"),
    "gemini-cli": ("tmp",),
    "opencode": ("storage",),
}
PLACES: dict[str, tuple[tuple[str, str], ...]] = {
    "claude-code": (
        ("subagents", "{stem}/subagents"),
        ("tool results", "{stem}/tool-results"),
        ("other", "{stem}"),
        ("file history", "{root}/file-history/{id}"),
        ("todos", "{root}/todos/{id}*"),
        ("todos", "{root}/tasks/{id}"),
        ("debug logs", "{root}/debug/{id}*"),
        ("other", "{root}/session-env/{id}"),
    ),
    "codex": (("shell snapshots", "{root}/shell_snapshots/{id}*"),),
    "gemini-cli": (
        ("subagents", "{folder}/{id}"),
        ("tool results", "{up}/tool-outputs/session-{id}"),
        ("other", "{up}/{id}"),
    ),
    "opencode": (
        ("transcripts", "{root}/storage/message/{id}"),
        ("other", "{root}/storage/session_diff/{id}.json"),
        ("todos", "{root}/storage/todo/{id}.json"),
    ),
}
#: agents whose forks begin with bytes of the session that they are a fork of, so that it must stay
SHARING = frozenset(("codex",))
#: agent -> a place whose files lead to others: `{name}` is the name of each without its ending
FOLLOWED = {"opencode": ("{root}/storage/message/{id}", "{root}/storage/part/{name}")}


class Belonging(NamedTuple):
    """A file of a session."""

    kind: str
    path: str
    name: str  #: in the agent's folder


def root_of(stored: StoredSession) -> str:
    """The agent's folder that a session is in.

    >>> from foretold.sessions.model import StoredSession
    >>> root_of(StoredSession("codex", "1", "/me/.codex/sessions/2026/01/02/rollout-1.jsonl"))
    '/me/.codex'
    """
    parts = stored.path.split("/")
    for at in range(len(parts) - 2, 0, -1):
        if parts[at] in MARKS.get(stored.agent, ()):
            return "/".join(parts[:at]) or "/"
    return os.path.dirname(stored.path)


def belongings_of(stored: StoredSession) -> list[Belonging]:
    """Every file of a session, its transcript first. A database is no file of one session."""
    root = root_of(stored)
    seen: dict[str, Belonging] = {}
    if not is_shared(stored):
        seen[stored.path] = Belonging("transcripts", stored.path, name_in(root, stored.path))
    for kind, place in PLACES.get(stored.agent, ()):
        for path in _files_at(_filled(place, stored, root)):
            seen.setdefault(path, Belonging(kind, path, name_in(root, path)))
    for path in _followed(stored, root):
        seen.setdefault(path, Belonging("transcripts", path, name_in(root, path)))
    return list(seen.values())


def _followed(stored: StoredSession, root: str) -> Iterator[str]:
    if stored.agent in FOLLOWED and not is_shared(stored):
        first, then = FOLLOWED[stored.agent]
        for path in _files_at(_filled(first, stored, root)):
            name = os.path.splitext(os.path.basename(path))[0]
            yield from _files_at(_filled(then, stored, root).replace("{name}", name))


def is_shared(stored: StoredSession) -> bool:
    """Whether a session shares its file with others.

    >>> from foretold.sessions.model import StoredSession
    >>> is_shared(StoredSession("opencode", "ses_1", "/me/opencode.db"))
    True
    """
    return stored.path.endswith((".db", ".sqlite"))


def name_in(root: str, path: str) -> str:
    """A path as it is named in an archive."""
    return path[len(root.rstrip("/")) + 1 :] if path.startswith(root.rstrip("/") + "/") else os.path.basename(path)


def _filled(place: str, stored: StoredSession, root: str) -> str:
    folder = os.path.dirname(stored.path)
    places = {
        "{root}": root,
        "{id}": stored.id,
        "{stem}": os.path.splitext(stored.path)[0],
        "{folder}": folder,
        "{up}": os.path.dirname(folder),
    }
    for name, value in places.items():
        place = place.replace(name, value)
    return place


def _files_at(place: str) -> Iterator[str]:
    """The files at a place, in the order of their names."""
    if not place.endswith("*"):
        yield from files_below(place)
        return
    folder, _, start = place[:-1].rpartition("/")
    for name in _names(folder):
        if start and name.startswith(start):
            yield from files_below(f"{folder}/{name}")


def files_below(path: str) -> Iterator[str]:
    """A file, or every file below a folder."""
    if os.path.islink(path):
        return
    if os.path.isfile(path):
        yield path
        return
    for name in _names(path):
        yield from files_below(f"{path}/{name}")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
