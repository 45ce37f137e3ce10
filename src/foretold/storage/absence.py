"""What is surely not there, for a text that names thousands of files: folders are listed instead of asking for each.

1. The names of a folder are listed once, for one load. What is in a folder that is not there is not there either:
   below a folder that is known to be there, that is seen from the names of the folder above.
2. A name counts as absent only if the folder has it in no capitals: a file system may take them as equal. Names beyond
   ASCII, and those that no file can have, are not judged here: the file system is asked.
3. A folder that cannot be listed, or be entered, tells nothing.
4. The listing leaves the stamp of its folder, so that a view that depends on it is loaded again when a file comes.
"""

from __future__ import annotations

from foretold.storage.tree import MISSING, Fault, Item, Tree

DEPTH = 200  #: folders in folders; for deeper ones, the file system is asked
LONGEST = 255  #: bytes of a name: what is longer is a fault of its own kind
_NOTHING: frozenset[str] = frozenset()
_UNASKED = frozenset(("/",))


class Absences:
    """What is not there in a tree, as it is now."""

    __slots__ = ("_names", "roots", "tree")

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.roots: dict[str, None] = {}  #: folders that are there: only below them, a folder's own folder is listed
        self._names: dict[str, frozenset[str] | None] = {}  #: folder -> its names in lower case; None: not known

    def is_missing(self, path: str) -> bool:
        """Whether there is surely nothing at a path; it is absolute and normalised."""
        folder, _, name = path.rpartition("/")
        names = self._names.get(folder, _UNASKED)
        if names is _UNASKED:
            names = self._names[folder] = self._list(folder)
        if not names or "\0" in name:  # the folder is not there, or it is not known what it has; else it has its `/`
            return names is not None and "\0" not in name
        return name.isascii() and 0 < len(name) <= LONGEST and name.lower() not in names

    def _list(self, folder: str) -> frozenset[str] | None:
        if "\0" in folder or folder.count("/") > DEPTH:
            return None
        if any(folder.startswith(f"{root}/") for root in self.roots) and self.is_missing(folder):
            return _NOTHING
        listed = self.tree.names(folder or "/")
        if isinstance(listed, Fault):
            return _NOTHING if listed == MISSING else None
        is_open = self.tree.kind(f"{folder}/.") == "folder"  # else what is in it cannot be asked for
        return frozenset(("/", *map(str.lower, listed[0]))) if is_open else None


class ListedTree:
    """A tree that is asked only for what may be there."""

    __slots__ = ("_absences", "_items", "tree")

    def __init__(self, absences: Absences) -> None:
        self.tree, self._absences = absences.tree, absences
        self._items: dict[str, list[Item] | Fault] = {}

    def kind(self, path: str) -> str:
        return "missing" if self._absences.is_missing(path) else self.tree.kind(path)

    def scan(self, folder: str) -> list[Item] | Fault:
        """The names in a folder, listed once."""
        found = self._items.get(folder)
        if found is None:
            is_missing = folder != "/" and self._absences.is_missing(folder)
            found = self._items[folder] = MISSING if is_missing else self.tree.scan(folder)
        return found

    def read(self, path: str, limit: int) -> bytes | Fault:
        return self.tree.read(path, limit)

    def names(self, folder: str) -> tuple[list[str], list[str]] | Fault:
        return self.tree.names(folder)

    def real(self, path: str) -> str:
        return self.tree.real(path)

    def identity(self, path: str) -> object:
        return self.tree.identity(path)

    def is_executable(self, path: str) -> bool:
        return self.tree.is_executable(path)
