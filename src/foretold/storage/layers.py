"""Trees on top of the disk: one that remembers, and one with changes laid over another.

1. `CachingDisk` asks the disk once for everything: what one agent has looked at, the next one knows.
2. `ChangedTree` is what a tree would be if some files were different. A change is a text, a link, or None: then nothing
   is there. Folders above a new file are there, too; a folder is gone when its last name is.
3. Nothing is written. An editor's unsaved text, a fix that is tried out and an earlier commit are such changes.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Mapping

from foretold.storage.tree import MISSING, Disk, Fault, Item, folders_above
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.storage.tree import Tree

MOST = 64 * 1024 * 1024
LISTS = sys.platform == "linux"
DEPTH = 200  #: folders in folders, up to which their names are listed
MOST_LINKS = 40  #: links that are followed one after another, as the kernel does


class CachingDisk(Disk):
    """A disk that is asked once for everything.

    The names of a folder are listed once, so that what is not there costs nothing more; where upper and
    lower case may be one name, that is left out.
    """

    __slots__ = (
        *("_executable", "_identities", "_kinds", "_listed", "_lists", "_named", "_texts"),
        *("repositories", "understood"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.repositories: dict[str, object] = {}  #: what `find_git` found, by folder
        self.understood: dict[object, object] = {}  #: what `read_text` made of a text, by path and dialect
        self._named: dict[str, frozenset[str] | None] = {}
        self._texts: dict[str, bytes | Fault] = {}
        self._kinds: dict[str, str] = {}
        self._lists: dict[str, list[Item] | Fault] = {}
        self._listed: dict[str, tuple[list[str], list[str]] | Fault] = {}
        self._identities: dict[str, object] = {}
        self._executable: dict[str, bool] = {}

    def read(self, path: str, limit: int) -> bytes | Fault:
        found = self._texts.get(path)
        if found is None:
            found = self._texts[path] = MISSING if self.is_missing(path) else super().read(path, MOST)
        return within(found, limit)

    def kind(self, path: str) -> str:
        found = self._kinds.get(path)
        if found is None:
            found = self._kinds[path] = "missing" if self.is_missing(path) else super().kind(path)
        return found

    def identity(self, path: str) -> object:
        found = self._identities.get(path)
        if found is None:
            found = self._identities[path] = super().identity(path)
        return found

    def is_executable(self, path: str) -> bool:
        found = self._executable.get(path)
        if found is None:
            found = self._executable[path] = super().is_executable(path)
        return found

    def is_missing(self, path: str) -> bool:
        """Whether a folder surely has no such name."""
        folder, _, name = path.rpartition("/")
        if not LISTS or not name or "\0" in path or path.count("/") > DEPTH:
            return False
        folder = folder or "/"
        names = self._named.get(folder, ())
        if names == ():
            nowhere = folder != "/" and self.is_missing(folder)
            names = self._named[folder] = frozenset() if nowhere else self._names_in(folder)
        return names is not None and name not in names

    def _names_in(self, folder: str) -> frozenset[str] | None:
        """The names of a folder; None if they are not known."""
        try:
            return frozenset(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()
        except OSError:
            return None

    def scan(self, folder: str) -> list[Item] | Fault:
        found = self._lists.get(folder)
        if found is None:
            found = self._lists[folder] = super().scan(folder)
        return found

    def names(self, folder: str) -> tuple[list[str], list[str]] | Fault:
        found = self._listed.get(folder)
        if found is None:
            found = self._listed[folder] = super().names(folder)
            if not isinstance(found, Fault):
                self._named[folder] = frozenset(found[0])
        return found


class LinkTo(NamedTuple):
    """A symbolic link, as a change."""

    target: str


class LaterText(NamedTuple):
    """A text, as a change, that is read when it is asked for; MISSING if it cannot be."""

    read: Callable[[], bytes | Fault]


if TYPE_CHECKING:
    FileChange = bytes | LaterText | LinkTo | None


class ChangedTree:
    """Another tree, as it would be with some changes.

    A *place* is a path without links in it. Below a place that changes, nothing of the other tree is left; a folder
    that has lost names is there as long as it has others.
    """

    def __init__(self, below: Tree, changes: Mapping[str, FileChange]) -> None:
        self.below = below
        self.repositories: dict[str, object] = {}
        self._real: dict[str, str] = {"/": "/"}
        self._links: dict[str, str | None] = {}  #: place -> where the link there leads; None: it is not a link
        self._hidden: dict[str, bool] = {}  #: place -> whether something above it is not a folder of the tree below
        self._new: set[str] = set()  #: folders that the tree below does not have
        self._thinned: set[str] = set()  #: folders that may be empty now
        self._empty: dict[str, bool] = {}  #: whether they are
        self._made: dict[str, dict[str, str]] = {}  #: folder -> names that changes put there, with their kinds
        self._lost: dict[str, set[str]] = {}  #: folder -> names that changes take from there
        self.changes = {self._find_place(path, changes): change for path, change in changes.items()}
        for path, change in self.changes.items():
            self._note_change(path, change)

    def _find_place(self, path: str, changes: Mapping[str, FileChange]) -> str:
        """The place of a change: its folder may be named through a link, unless that is what changes."""
        folder, _, name = path.rpartition("/")
        if path in changes and any(each in changes for each in folders_above(path)):
            return path
        return f"{self.below.real(folder or '/').rstrip('/')}/{name}"

    def _note_change(self, path: str, change: FileChange) -> None:
        folder, _, name = path.rpartition("/")
        if change is None:
            self._lost.setdefault(folder or "/", set()).add(name)
            self._thinned.update(folders_above(path))
            return
        self._made.setdefault(folder or "/", {})[name] = "link" if isinstance(change, LinkTo) else "file"
        while folder and folder not in self._new and not self._is_folder_below(folder):
            self._new.add(folder)
            folder, _, name = folder.rpartition("/")
            self._made.setdefault(folder or "/", {})[name] = "folder"

    def _is_folder_below(self, path: str) -> bool:
        is_there = path not in self.changes and self.below.kind(path) == "folder"
        return is_there and self.below.real(path) == path

    # -- what a tree answers

    def read(self, path: str, limit: int) -> bytes | Fault:
        """The bytes of a file, at most `limit` of them; a longer file is a fault."""
        place = self.real(path)
        if self.link_target(place) is not None:
            return Fault("symlink-loop", os.strerror(errno.ELOOP))
        state = self._state(place)
        if state == "below":
            found = self.below.read(place, limit)
            return Fault("missing", "the link is broken") if found == MISSING and self._is_link(path) else found
        if state == "folder":
            return Fault("folder")
        change = self.changes.get(place)
        if isinstance(change, bytes | LaterText):
            return within(change.read() if isinstance(change, LaterText) else change, limit)
        return Fault("missing", "the link is broken") if self._is_link(path) else MISSING

    def kind(self, path: str) -> str:
        """file, folder, other, missing, or unreadable; links are followed."""
        place = self.real(path)
        state = self._state(place)
        return self.below.kind(place) if state == "below" else state

    def scan(self, folder: str) -> list[Item] | Fault:
        """The names in a folder, in the order of the tree below; what changes put there comes last."""
        place = self.real(folder)
        if self.link_target(place) is not None:
            return Fault("symlink-loop", os.strerror(errno.ELOOP))
        state = self._state(place)
        if state == "file":
            return Fault("not-a-file", "a folder should be here")
        if state == "missing":
            return Fault("missing", "the link is broken") if self._is_link(folder) else MISSING
        made = [Item(name, kind) for name, kind in self._made.get(place, {}).items()]
        return made if state == "folder" else self._scan_below(place, made)

    def _scan_below(self, place: str, made: list[Item]) -> list[Item] | Fault:
        """The names of a folder that the tree below has, too."""
        items = self.below.scan(place)
        if isinstance(items, Fault) or not (made or place in self._thinned):
            return items
        gone = self._lost.get(place, set()).union(item.name for item in made)
        base = place.rstrip("/")
        return [*(item for item in items if item.name not in gone and not self._vanishes(f"{base}/{item.name}")), *made]

    def names(self, folder: str) -> tuple[list[str], list[str]] | Fault:
        """The names in a folder, and those of them that are folders, not links."""
        place = self.real(folder)
        if place not in self._made and place not in self._thinned and self._state(place) == "below":
            return self.below.names(place)
        items = self.scan(folder)
        if isinstance(items, Fault):
            return MISSING if items.reason == "not-a-file" else items
        return [item.name for item in items], [item.name for item in items if item.kind == "folder"]

    def identity(self, path: str) -> object:
        """What is the same for two names of one file."""
        place = self.real(path)
        return self.below.identity(place) if self._state(place) == "below" else place

    def is_executable(self, path: str) -> bool:
        """Whether it is a file that may be executed. Another text leaves the rights of a file as they are."""
        place = self.real(path)
        if self.kind(place) != "file" or (place in self.changes and self.below.real(place) != place):
            return False
        return self.below.is_executable(place)

    def real(self, path: str) -> str:
        """The path with every link resolved: those of the changes, and those of the tree below."""
        known = self._real.get(path)
        if known is None:
            known = self._real[path] = self._resolve(path)
        return known

    def is_missing(self, path: str) -> bool:
        """Whether a folder surely has no such name."""
        folder, _, name = path.rpartition("/")
        place = self.real(folder or "/")
        state = self._state(place)
        if name in self._made.get(place, ()):
            return False
        if state != "below" or name in self._lost.get(place, ()):
            return True
        ask: Callable[[str], bool] | None = getattr(self.below, "is_missing", None)
        return ask is not None and ask(f"{place.rstrip('/')}/{name}")

    # -- links, and what is left

    def link_target(self, place: str) -> str | None:
        """Where the link at a place leads; None if there is none."""
        if place not in self._links:
            self._links[place] = self._find_target(place)
        return self._links[place]

    def _find_target(self, place: str) -> str | None:
        if place in self._new or place in self.changes:
            change = self.changes.get(place)
            return change.target if isinstance(change, LinkTo) else None
        if self._is_hidden(place):
            return None
        if isinstance(self.below, ChangedTree):
            return self.below.link_target(place)
        ask: Callable[[str], bool] | None = getattr(self.below, "is_missing", None)
        try:
            return None if ask is not None and ask(place) else os.readlink(place)
        except (OSError, ValueError):
            return None

    def _resolve(self, path: str) -> str:
        """Follow the links of a path, one part after another, as the kernel does."""
        folder, _, name = path.rpartition("/")
        place, waiting, followed = self.real(folder or "/").rstrip("/"), [name], 0
        while waiting:
            part = waiting.pop()
            if part == "..":
                if place and self.kind(place) != "folder":
                    return "/".join((place, part, *reversed(waiting)))  # where nothing is
                place = place.rpartition("/")[0]
            elif part and part != ".":
                place = f"{place}/{part}"
                target = self.link_target(place)
                if target is not None:
                    followed += 1
                    if followed > MOST_LINKS:
                        return place
                    place = "" if target.startswith("/") else place.rpartition("/")[0]
                    waiting += reversed(target.split("/"))
        return place or "/"

    def _is_link(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return self.link_target(f"{self.real(folder or '/').rstrip('/')}/{name}") is not None

    def _is_hidden(self, place: str) -> bool:
        known = self._hidden.get(place)
        if known is None:
            folder = place.rpartition("/")[0] or "/"
            is_changed = folder in self._new or folder in self.changes or self._vanishes(folder)
            known = self._hidden[place] = is_changed or (folder != "/" and self._is_hidden(folder))
        return known

    def _state(self, place: str) -> str:
        """What changes make of a place: file, folder, missing; `below` if they leave it alone."""
        if place in self._new:
            return "folder"
        if place in self.changes:
            return "file" if isinstance(self.changes[place], bytes | LaterText) else "missing"
        return "missing" if self._is_hidden(place) or self._vanishes(place) else "below"

    def _vanishes(self, place: str) -> bool:
        """Whether a folder has lost all its names."""
        if place not in self._thinned or place in self._made or place == "/":
            return False
        known = self._empty.get(place)
        if known is None:
            items, lost, base = self.below.scan(place), self._lost.get(place, ()), place.rstrip("/")
            names = [] if isinstance(items, Fault) else [item.name for item in items]
            known = all(name in lost or self._vanishes(f"{base}/{name}") for name in names) if names else False
            self._empty[place] = known
        return known


def within(data: bytes | Fault, limit: int) -> bytes | Fault:
    """The bytes of a file, or that they are more than a limit."""
    if not isinstance(data, Fault) and len(data) > limit:
        return Fault("too-large", f"{len(data)} bytes, the limit is {limit}")
    return data
