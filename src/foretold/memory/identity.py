"""What a project is, so that its memories are found again after it was moved.

1. Beside the history of a store stands `project.json`: the project's path, the repository's folder by device, inode and
   the time of its `description`, which a move within a file system keeps, and the address of its first remote. An inode
   alone does not tell: the next folder may have that of one that was deleted.
2. A store whose project is no longer at its path, and whose repository is this one, belongs here.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from foretold.dialects.surroundings import find_git
from foretold.storage.kernel import token
from foretold.storage.tree import Disk
from foretold.types import NamedTuple

NAME = "project.json"


class Identity(NamedTuple):
    """A project as it was known."""

    project: str
    store: str
    git: str = ""  #: device, inode and time of the repository's own folder
    remote: str = ""

    def is_same(self, other: Identity) -> bool:
        """Whether two are one project at two places."""
        return bool((self.git and self.git == other.git) or (self.remote and self.remote == other.remote))


def identity_of(project: str, store: str) -> Identity:
    """What a project is now."""
    git = find_git(Disk(), project)
    folder = git.common if git else ""
    return Identity(project, store, _stamp(folder), _remote(folder)) if folder else Identity(project, store)


def _stamp(folder: str) -> str:
    try:
        about, made = os.stat(folder), os.stat(os.path.join(folder, "description"))
    except OSError:
        return ""
    return f"{about.st_dev}:{about.st_ino}:{made.st_mtime_ns}"


def _remote(folder: str) -> str:
    """The address of the first remote, without anything that could be a password."""
    import re

    try:
        with open(os.path.join(folder, "config"), encoding="utf-8", errors="replace") as file:
            found = re.search(r'(?m)\[remote "[^"\n]*"\][^\[]*?^[ \t]*url[ \t]*=[ \t]*(\S+)', file.read(256 * 1024))
    except OSError:
        return ""
    return re.sub(r"//[^/@]*@", "//", found[1]) if found else ""


def remember(state: str, identity: Identity) -> None:
    """Write down what a project is, if that is not known already."""
    if recall_identity(state) == identity:
        return
    beside = os.path.join(state, f".{NAME}.{token()}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(identity._asdict(), file)
        os.replace(beside, os.path.join(state, NAME))
    except OSError:
        return  # it helps later; it is not what was asked for


def follow_move(states: str, state: str, here: Identity) -> None:
    """Take along what belongs to a store that moved with its repository, as the team's does.

    A store of the same repository whose folder is not there any more is this one, if this one has no history yet.
    """
    if os.path.isdir(state) or not os.path.isdir(here.store):
        return
    try:
        names = os.listdir(states)
    except OSError:
        return
    inside = here.store.removeprefix(here.project)
    for name in names:
        known = recall_identity(os.path.join(states, name))
        if known is None or os.path.isdir(known.store) or known.store != known.project + inside:
            continue
        if known.is_same(here):
            with suppress(OSError):  # another process did
                os.rename(os.path.join(states, name), state)
            return


def recall_identity(state: str) -> Identity | None:
    """What is written down beside a store's history."""
    try:
        with open(os.path.join(state, NAME), encoding="utf-8") as file:
            values = json.load(file)
        return Identity(**{name: str(values[name]) for name in Identity._fields})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def author_of(root: str, home: str) -> str:
    """Who writes: as git would sign, without asking git."""
    env = os.environ
    name = env.get("GIT_AUTHOR_NAME") or ""
    git = find_git(Disk(), root)
    own = git.common if git else f"{root}/.git"
    for path in (f"{own}/config", f"{home}/.gitconfig", f"{home}/.config/git/config"):
        name = name or _git_name(path)
    return name or env.get("USER") or env.get("LOGNAME") or "unknown"


def _git_name(path: str) -> str:
    import re

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(r"(?m)^[ \t]*\[user\][^\[]*?^[ \t]*name[ \t]*=[ \t]*(\S.*)$", file.read(256 * 1024))
    except OSError:
        return ""
    return found[1].strip().strip('"') if found else ""
