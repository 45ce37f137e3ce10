"""The folder that a session belongs to, also after a project has moved: one rule, for every command.

1. The folder that a session was held in counts as long as it is there.
2. If it is gone, and the agent keeps sessions by the name of their folder, the folder that it is kept for counts: a
   project that has moved, and its sessions with it. A transcript that was moved still names the old one.
3. A name is not undone: `/a/b-c` and `/a/b/c` have the same one. So folders are tried: the one that was asked for, the
   one this process is in and those above it, the one that `relocate` noted (`moves.py`); then, for a session that is
   kept under another name than that of the folder it was held in, what is on the disk under that name, if it is one
   folder; then those that it names itself.
4. An agent that keeps sessions by no folder takes over the one that a session is resumed in: the last one counts.
5. If none is found, the folder that it was held in stays, and is gone.
"""

from __future__ import annotations

import os
import re

from foretold.dialects.claude_code.settings import slug
from foretold.sessions.formats.jsonl_ends import bytes_of, made_out
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foretold.sessions.model import Homes, StoredSession


def _digest(folder: str) -> str:
    import hashlib

    return hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest()


#: agent -> the name of the folder in which it keeps the sessions of a project
KEPT_BY: dict[str, Callable[[str], str]] = {"claude-code": slug, "gemini-cli": _digest}
READABLE = ("claude-code",)  #: agents whose names of folders tell where to look for them
TURNS = {"codex": b'"type":"turn_context"'}  #: agent -> what a record has in it that names the folder of a turn
MOST_LOOKED = 400  #: folders that are looked into for one name
_CUT = 200  #: letters of a name that are those of the path; a longer one ends with a number
_CWD = re.compile(rb'(?<!\\)"cwd":\s?"(?:[^"\\]|\\.)*"')


class Homing:
    """What finds the folder of session after session: each name is looked for once."""

    def __init__(self, homes: Homes | None = None, asked: str = "") -> None:
        self._homes = homes
        near = ([asked] if asked else []) + _here()
        self._near = {agent: {name(folder): folder for folder in reversed(near)} for agent, name in KEPT_BY.items()}
        self._found: dict[str, tuple[str, ...]] = {}

    def at_home(self, card: StoredSession) -> StoredSession:
        """A session with the folder that it belongs to."""
        if os.path.isdir(card.cwd):
            return card
        folder = self._near_by(card) or self._noted(card) or self._elsewhere(card) or _last_turn(card)
        return card._replace(cwd=folder) if folder else card

    def _near_by(self, card: StoredSession) -> str:
        near = self._near.get(card.agent, {})
        folder = next((near[part] for part in card.path.split("/") if part in near), "")
        return folder if os.path.isdir(folder) else ""

    def _noted(self, card: StoredSession) -> str:
        """Where we brought its project ourselves, if it is kept for that."""
        if self._homes is None or card.agent not in KEPT_BY or not card.cwd:
            return ""
        from foretold.sessions.relocate.moves import moved_to

        folder = moved_to(self._homes, card.cwd)
        is_kept = bool(folder) and KEPT_BY[card.agent](folder) in card.path.split("/")
        return folder if is_kept and os.path.isdir(folder) else ""

    def _elsewhere(self, card: StoredSession) -> str:
        name = kept_in(card)
        if card.agent not in READABLE or slug(card.cwd.rstrip("/")) == name:
            return ""  # it was not moved: what is called alike is another folder
        if name not in self._found:
            self._found[name] = folders_named(name, card.cwd)
        if len(self._found[name]) == 1:
            return self._found[name][0]
        return next((cwd for cwd in _named_in(card.path) if slug(cwd) == name and os.path.isdir(cwd)), "")


def at_home(card: StoredSession, homes: Homes | None = None, asked: str = "") -> StoredSession:
    """A session with the folder that it belongs to; `homes` is where moves are noted, `asked` a folder to try first.

    >>> import tempfile
    >>> from foretold.sessions.model import StoredSession
    >>> new = os.path.realpath(tempfile.mkdtemp())
    >>> moved = StoredSession("claude-code", "1", f"/home/me/.claude/projects/{slug(new)}/1.jsonl", cwd=f"{new}/old")
    >>> at_home(moved).cwd == new
    True
    """
    return Homing(homes, asked).at_home(card)


def kept_in(stored: StoredSession) -> str:
    """The name of the folder in which a session of Claude Code is kept.

    >>> from foretold.sessions.model import StoredSession
    >>> path = "/p/-w/12/subagents/agent-a.jsonl"
    >>> kept_in(StoredSession("claude-code", "agent-a", path, kind="subagent", parent="12"))
    '-w'
    """
    if stored.kind == "subagent" and stored.parent:
        return os.path.basename(stored.path.partition(f"/{stored.parent}/subagents/")[0])
    return os.path.basename(os.path.dirname(stored.path))


def is_below(name: str, above: str) -> bool:
    """Whether a name may be that of a folder, or of one below it, by the name of that folder.

    >>> is_below("-w-shop", "-w-shop"), is_below("-w-shop-api", "-w-shop"), is_below("-w-shopping", "-w-shop")
    (True, True, False)
    """
    start = above[:_CUT]
    after = name[len(start) : len(start) + 1]
    return name[:_CUT].startswith(start) and (name == above or start == "-" or after == "-" or len(start) == _CUT)


def folders_named(name: str, near: str = "") -> tuple[str, ...]:
    """The folders on the disk whose name for Claude Code is this; none if there are too many to look into.

    `near` is a path above which is looked too: a folder of others cannot be listed, but may be gone through.
    """
    todo = {above for above in ("/", *_above(near)) if is_below(name, slug(above)) and os.path.isdir(above)}
    looked, found = set[str](), set[str]()
    while todo:
        folder = todo.pop()
        looked.add(folder)
        if slug(folder) == name:
            found.add(folder)
            continue
        if len(looked) > MOST_LOOKED:
            return ()
        todo |= {path for path in _folders_in(folder) if is_below(name, slug(path))} - looked
    return tuple(sorted(found))


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _here() -> list[str]:
    """The folder of this process, and those above it."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        return []  # it was deleted
    return [here, *_above(here)]


def _above(path: str) -> Iterator[str]:
    while path.startswith("/") and (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _named_in(path: str) -> Iterator[str]:
    """The folders that a transcript names at its ends, the last first."""
    head, tail, _ = bytes_of(path)
    texts = dict.fromkeys(reversed([*_CWD.findall(head), *_CWD.findall(tail)]))
    return (made_out(text, "cwd") for text in texts)


def _last_turn(card: StoredSession) -> str:
    """The folder in which a session went on at last, if that is there."""
    if card.agent not in TURNS or not card.cwd:
        return ""
    head, tail, _ = bytes_of(card.path)
    _, found, turn = (head + tail).rpartition(TURNS[card.agent])
    folder = made_out(turn, "cwd") if found else ""
    return folder if os.path.isdir(folder) else ""


class Moved(NamedTuple):
    """A folder that was moved, from where to where."""

    old: str
    new: str

    def path(self, path: str) -> str:
        """Where a file is now.

        >>> Moved("/w/old", "/w/new").path("/w/old/a.txt"), Moved("/w/old", "/w/new").path("/w/older")
        ('/w/new/a.txt', '/w/older')
        """
        is_in = bool(self.old) and (path == self.old or path.startswith(self.old + "/"))
        return self.new + path[len(self.old) :] if is_in else path


def moved(old: str, new: str) -> Moved:
    """What was moved, if a session that was held in one folder belongs to another: the folder itself, or one above it
    that is gone too. Nothing if the old one is there, or is not known.

    >>> moved("/gone/shop/api", "/srv/store/api"), moved("/", "/srv")
    (Moved(old='/gone/shop', new='/srv/store'), Moved(old='', new=''))
    """
    old, new = old.rstrip("/"), new.rstrip("/")
    if not old or old == new or os.path.isdir(old):
        return Moved("", "")
    while os.path.basename(old) == os.path.basename(new):
        above, there = os.path.dirname(old), os.path.dirname(new)
        if above in ("", "/") or there in ("", "/") or above == there or os.path.isdir(above):
            break
        old, new = above, there
    return Moved(old, new)
