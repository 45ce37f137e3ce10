"""Which memories name a path: those of the book, and those that were written since it was made.

1. The book is made by another process (`work`), which notes when it began and how many memories there were.
2. If a folder has changed since, which every new name in it does, each of at most FEW files is looked at (one `stat`),
   and those that were written since are read here, at most MOST bytes: so a memory counts from the moment in which it
   was added. Of at most SMALL files each is looked at always: one that was changed in its place shows nowhere else.
3. Where there is more to look at or to read, a process makes the book anew, and until then newer memories may be
   missing: `--explain` says so.
4. A memory of the book counts if its file still has the path; a newer one, if it names the path by the rule by which
   the book is made (`paths_of`).
"""

from __future__ import annotations

import os

from foretold.serve.hooks.path_index import Book
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.memory.note import Memory
    from foretold.serve.hooks.context import Scene

FEW = 1000  #: files of memories that are looked at while the agent waits
SMALL = 200  #: of these, so few that it costs nothing
MOST = 8 * 1024 * 1024  #: bytes of them that are read
LONGEST = 4 * 1024 * 1024  #: bytes of one
_COARSE, _WHOLE = 10**8, 2 * 10**9  #: nanoseconds: how coarse a clock of files is; one that has whole seconds
INDEX = "MEMORY.md"  #: as in `foretold.memory.note`, which takes longer to import than this to run
BEHIND = "the list of the files that memories name is out of date"

Newer = dict[str, tuple[str, str]]  #: the path of a memory: its folder, and its scope


class TooMany(Exception):
    """There is more than can be looked at here."""


class Naming:
    """Who names a path. What is newer than the book is looked for once."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._book = Book(scene.ours.cache, scene.key)
        self._newer: Newer | None = None

    def of(self, path: str) -> list[tuple[str, str]]:
        """The memories that name a path, seen from the top of the repository: file, and description."""
        if self._newer is None:
            self._newer = self._look()
        known = self._book.naming(path)
        found = {file: said for file, said in known if file not in self._newer and _has(file, path)}
        for file, (folder, scope) in self._newer.items():
            if _has(file, path) and (memory := _naming(file, folder, scope, path)):
                from foretold.secrets.masking import masked

                found[file] = masked(memory.description)[0]
        return sorted(found.items())

    def _look(self) -> Newer:
        """The memories that are newer than the book. If the book is behind, have it made anew."""
        scene = self._scene
        made = scene.recalled("book-made", anyway=True)
        began, count = made if isinstance(made, tuple) else (0, 0)
        if count > SMALL and scene.recalled("book-made") is not None:
            return {}
        try:
            if count > FEW:
                raise TooMany
            newer, last = _written_since(scene, began)
        except TooMany:
            scene.refresh(f"{BEHIND}, and newer memories may be missing")
            return {}
        if newer and last >= began:
            scene.refresh(f"{BEHIND}; what is newer was read now")
        return newer


def _written_since(scene: Scene, moment: int) -> tuple[Newer, int]:
    """The memories that were written since a moment, and when the last one was. TooMany if that takes too long."""
    newer: Newer = {}
    last, seen, size = 0, 0, 0
    for folder, scope in scene.where.stores:
        for path, about in _files(folder):
            seen += 1
            changed = about.st_ctime_ns
            if changed >= moment - (_COARSE if changed % 10**9 else _WHOLE) and path not in newer:
                newer[path] = folder, scope
                last, size = max(last, changed), size + about.st_size
            if seen > FEW or size > MOST:
                raise TooMany
    return newer, last


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files of memories below a folder. No link is followed."""
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as items:
                for item in items:
                    name = item.name
                    if name[0] == ".":
                        continue
                    if item.is_dir(follow_symlinks=False):
                        waiting.append(item.path)
                    elif name[-3:] == ".md" and name != INDEX and item.is_file(follow_symlinks=False):
                        yield item.path, item.stat(follow_symlinks=False)
        except OSError:
            continue


def _has(file: str, path: str) -> bool:
    """Whether the text of a memory has a path."""
    try:
        with open(file, "rb") as opened:
            return path.encode("utf-8", "surrogateescape") in opened.read(LONGEST)
    except OSError:
        return False


def _naming(file: str, folder: str, scope: str, path: str) -> Memory | None:
    """A memory, if it names a path."""
    from foretold.memory.recall.file_stamps import read_memory

    memory = read_memory(folder, os.path.relpath(file, folder), 0.0, scope)
    return memory if memory and any(each == path for _, each in paths_of(memory)) else None


def paths_of(memory: Memory) -> list[tuple[str, str]]:
    """The paths that a memory names: as it writes them, and as they are looked for; empty if that is not ours to do."""
    from foretold.memory.drift.claims import claims_of

    if "/" not in memory.text and "." not in memory.text:
        return []
    named = [claim.text for claim in claims_of(memory) if claim.kind == "path" and not claim.hedge]
    return [(text, looked_for(text)) for text in named]


def looked_for(text: str) -> str:
    """A path of a claim as it is looked for in the repository.

    >>> looked_for("src/a.py:12"), looked_for("lib/"), looked_for("src/*.py"), looked_for("/etc/hosts")
    ('src/a.py', 'lib', '', '')
    """
    plain = text.partition(":")[0].rstrip("/")
    if any(char in plain for char in "*?[{") or plain.startswith(("/", "~")) or ".." in plain.split("/"):
        return ""
    return plain.removeprefix("./")
