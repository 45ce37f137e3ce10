"""The folder that a session belongs to, also after a project has moved: one rule for every command.

1. The folder that a session was held in counts as long as it exists.
2. If it is gone, and the agent stores sessions by the name of their folder, the folder of that name counts: the project
   has moved, and its sessions with it. A transcript that was moved still names the old one.
3. A name cannot be decoded: `/a/b-c` and `/a/b/c` have the same one. So folders are tried: the one that was asked for,
   the one this process is in and those above it, the one that `relocate` noted (moves.py); then, for a session that is
   stored under another name than that of the folder it was held in, the folder on disk with that name, if there is
   exactly one; then those that the transcript names.
4. Codex, which does not store sessions by folder, adopts the folder that a session is resumed in: the last one counts.
5. If none is found, the folder that it was held in stays, although it is gone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from foretold.dialects.claude_code.settings import slug
from foretold.sessions.formats.fields import list_folder
from foretold.sessions.formats.jsonl import field_in, read_ends
from foretold.sessions.model import Homes, StoredSession
from foretold.storage.tree import folders_above


def _digest(folder: str) -> str:
    import hashlib

    return hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest()


#: agent -> the name of the folder in which it stores the sessions of a project
FOLDER_NAMES: dict[str, Callable[[str], str]] = {"claude-code": slug, "gemini-cli": _digest}
READABLE = ("claude-code",)  #: agents whose folder names resemble the path
TURNS = {"codex": b'"type":"turn_context"'}  #: agent -> what is in a record that names the folder of a turn
MOST_LISTED = 400  #: folders that are listed for one name
_CUT = 200  #: characters of a name that come from the path; a longer name ends with a number
_CWD = re.compile(rb'(?<!\\)"cwd":\s?"(?:[^"\\]|\\.)*"')


class FolderResolver:
    """Finds the folders of many sessions: each name is searched for once."""

    def __init__(self, homes: Homes | None = None, asked: str = "") -> None:
        self._homes = homes
        near = ([asked] if asked else []) + _here()
        self._near = {
            agent: {name(folder): folder for folder in reversed(near)} for agent, name in FOLDER_NAMES.items()
        }
        self._found: dict[str, tuple[str, ...]] = {}

    def resolve_folder(self, summary: StoredSession) -> StoredSession:
        """A session with the folder that it belongs to."""
        if os.path.isdir(summary.cwd):
            return summary
        near = self._near.get(summary.agent, {})
        folder = next((near[part] for part in summary.path.split("/") if part in near), "")
        if not os.path.isdir(folder):
            folder = self._find_noted(summary) or self._find_by_name(summary) or _last_turn(summary)
        return summary._replace(cwd=folder) if folder else summary

    def _find_noted(self, summary: StoredSession) -> str:
        """Where `relocate` moved its project, if it is stored under that name."""
        if self._homes is None or summary.agent not in FOLDER_NAMES or not summary.cwd:
            return ""
        from foretold.sessions.relocate.moves import moved_to

        folder = moved_to(self._homes, summary.cwd)
        is_stored = bool(folder) and FOLDER_NAMES[summary.agent](folder) in summary.path.split("/")
        return folder if is_stored and os.path.isdir(folder) else ""

    def _find_by_name(self, summary: StoredSession) -> str:
        name = folder_name_of(summary)
        if summary.agent not in READABLE or slug(summary.cwd.rstrip("/")) == name:
            return ""  # it was not moved: a folder of that name is another one
        if name not in self._found:
            self._found[name] = find_folders_named(name, summary.cwd)
        if len(self._found[name]) == 1:
            return self._found[name][0]
        head, tail, _ = read_ends(summary.path)
        texts = dict.fromkeys(reversed([*_CWD.findall(head), *_CWD.findall(tail)]))  # the last first
        folders = (field_in(text, "cwd") for text in texts)
        return next((cwd for cwd in folders if slug(cwd) == name and os.path.isdir(cwd)), "")


def resolve_folder(summary: StoredSession, homes: Homes | None = None, asked: str = "") -> StoredSession:
    """A session with the folder that it belongs to; `homes` is where moves are noted, `asked` a folder to try first."""
    return FolderResolver(homes, asked).resolve_folder(summary)


def folder_name_of(stored: StoredSession) -> str:
    """The name of the folder in which a session of Claude Code is stored."""
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


def find_folders_named(name: str, near: str = "") -> tuple[str, ...]:
    """The folders on disk that Claude Code gives this name; none if there are too many to search.

    The folders above `near` are searched too: one that cannot be listed may still be passed through.
    """
    todo = {above for above in ("/", *folders_above(near)) if is_below(name, slug(above)) and os.path.isdir(above)}
    seen, found = set[str](), set[str]()
    while todo:
        folder = todo.pop()
        seen.add(folder)
        if slug(folder) == name:
            found.add(folder)
            continue
        if len(seen) > MOST_LISTED:
            return ()
        inside = (entry.path for entry in list_folder(folder) if entry.is_dir(follow_symlinks=False))
        todo |= {path for path in inside if is_below(name, slug(path))} - seen
    return tuple(sorted(found))


def _here() -> list[str]:
    """The folder of this process, and those above it."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        return []  # it was deleted
    return [here, *folders_above(here)]


def _last_turn(summary: StoredSession) -> str:
    """The folder in which a session was last resumed, if that exists."""
    if summary.agent not in TURNS or not summary.cwd:
        return ""
    head, tail, _ = read_ends(summary.path)
    _, found, turn = (head + tail).rpartition(TURNS[summary.agent])
    folder = field_in(turn, "cwd") if found else ""
    return folder if os.path.isdir(folder) else ""
