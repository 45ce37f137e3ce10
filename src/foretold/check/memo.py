"""Values that were computed from files, kept as long as nothing that they came from has changed.

1. A value has a key. While it is computed, what it reads is noted: files, through `TrackedTree`, and other values. What
   the function that computes it brings along (`partial(find, text)`) counts, too: with another, it does not hold.
2. When files change, the values that read them are stale, and those that were computed from these are in doubt.
3. A value in doubt is asked for again: if all values that it came from turn out equal to what they were, it holds. So
   a change that makes no difference a step further costs nothing there.
4. Only texts, and whether a file may be executed, are noted. Whoever notices that a file came or went, or that a link
   leads elsewhere, begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial

from foretold.storage.tree import Fault, Item as FolderItem, Tree
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeVar

    Value = TypeVar("Value")
    Item = TypeVar("Item", bound=Hashable)


class _Node:
    """A value, what it was computed from, what was computed from it, and when it last became another.

    Nodes refer to each other, not to keys: keys are tuples, whose hashes are computed again at every look.
    """

    __slots__ = (
        "changed",
        "compute",
        "given",
        "is_doubtful",
        "is_stale",
        "is_there",
        "paths",
        "users",
        "uses",
        "value",
    )

    def __init__(self, compute: Callable[[], object]) -> None:
        self.compute, self.given = compute, _given(compute)
        self.value: object = None
        self.changed = 0
        self.paths: set[str] = set()
        self.uses: dict[_Node, int] = {}  #: the values that it was computed from, and when they last became others
        self.users: set[_Node] = set()
        self.is_there = False
        self.is_stale = self.is_doubtful = True


def _given(compute: Callable[[], object]) -> tuple[object, ...]:
    """What a function brings along: arguments, defaults, and the variables of the function around it."""
    if isinstance(compute, partial):
        return (compute.func, *compute.args, *compute.keywords.items())
    cells = [cell.cell_contents for cell in getattr(compute, "__closure__", None) or ()]
    return (*(getattr(compute, "__defaults__", None) or ()), *cells)


class _Frame:
    """What a computation that is under way has read."""

    __slots__ = ("paths", "uses")

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.uses: dict[_Node, int] = {}


class Memo:
    """Values by their keys."""

    def __init__(self) -> None:
        self._nodes: dict[Hashable, _Node] = {}
        self._readers: dict[str, set[_Node]] = {}  #: path -> values that read it
        self._frames: list[_Frame] = []
        self._revision = 0

    def note(self, path: str) -> None:
        """Note that the computation that is under way depends on the text of a file."""
        if self._frames:
            self._frames[-1].paths.add(path)

    def remember(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of a key: the one that is kept, if it holds; else computed."""
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = _Node(compute)
        elif node.given != _given(compute):
            node.is_stale = node.is_doubtful = True
        if node.is_doubtful:
            self._refresh(node, compute)
        if self._frames:
            self._frames[-1].uses[node] = node.changed
        return node.value  # type: ignore[return-value]  # what `compute` of this key gave

    def remember_each(self, name: str, items: Iterable[Item], judge: Callable[[Item], Value]) -> Iterator[Value]:
        """What is computed from each of some items, mostly paths, in their order; `judge` reads the files itself."""
        get, frames = self._nodes.get, self._frames
        for item in items:
            node = get((name, item))
            if node is None or node.is_doubtful:
                yield self.remember((name, item), partial(judge, item))
                continue
            if frames:  # as in `remember_fixed`, but not by a call: this is done for every file of a family
                frames[-1].uses[node] = node.changed
            yield node.value  # type: ignore[misc]  # what `judge` of this item gave

    def remember_fixed(self, key: Hashable, compute: Callable[..., Value], *arguments: object) -> Value:
        """As `remember`, for what always brings the same along: nothing is compared."""
        node = self._nodes.get(key)
        if node is None or node.is_doubtful:
            return self.remember(key, partial(compute, *arguments))
        if self._frames:
            self._frames[-1].uses[node] = node.changed
        return node.value  # type: ignore[return-value]  # what `compute` of this key gave

    def forget(self, paths: Iterable[str]) -> None:
        """Doubt whatever depends on these files."""
        self._revision += 1
        stale = [node for path in paths for node in self._readers.get(path, ())]
        for node in stale:
            node.is_stale = True
        waiting = stale
        while waiting:
            node = waiting.pop()
            if not node.is_doubtful:
                node.is_doubtful = True
                waiting += node.users

    def _refresh(self, node: _Node, compute: Callable[[], object]) -> None:
        if not node.is_stale and self._holds(node):
            node.is_doubtful = False
            return
        self._frames.append(_Frame())
        try:
            value = compute()
        finally:
            frame = self._frames.pop()
        self._keep(node, compute, value, frame)

    def _holds(self, node: _Node) -> bool:
        """Whether the values that a value was computed from are what they were."""
        for used, changed in node.uses.items():
            if used.is_doubtful:
                self._refresh(used, used.compute)
            if used.changed != changed:
                return False
        return True

    def _keep(self, node: _Node, compute: Callable[[], object], value: object, frame: _Frame) -> None:
        for path in node.paths - frame.paths:
            self._readers[path].discard(node)
        for path in frame.paths - node.paths:
            self._readers.setdefault(path, set()).add(node)
        for used in node.uses.keys() - frame.uses.keys():
            used.users.discard(node)
        for used in frame.uses.keys() - node.uses.keys():
            used.users.add(node)
        if not node.is_there or node.value != value:
            node.value, node.changed = value, self._revision
        node.compute, node.given, node.paths, node.uses = compute, _given(compute), frame.paths, frame.uses
        node.is_there = True
        node.is_stale = node.is_doubtful = False


class TrackedTree:
    """A tree that notes in a memo which files a value depends on. `below` may be replaced by one with other texts."""

    def __init__(self, memo: Memo, below: Tree) -> None:
        self.memo, self.below = memo, below
        self.understood: dict[object, object] = {}  #: what `read_text` made of a text: it holds for the same bytes

    def read(self, path: str, limit: int) -> bytes | Fault:
        self.note(path)
        return self.below.read(path, limit)

    def note(self, path: str) -> None:
        """Note that the text of a file is read: by its path, and by the path that this leads to."""
        self.memo.note(path)
        real = self.below.real(path)
        if real != path:
            self.memo.note(real)

    def scan(self, folder: str) -> list[FolderItem] | Fault:
        return self.below.scan(folder)

    def names(self, folder: str) -> tuple[list[str], list[str]] | Fault:
        return self.below.names(folder)

    def real(self, path: str) -> str:
        return self.below.real(path)

    def identity(self, path: str) -> object:
        return self.below.identity(path)

    def kind(self, path: str) -> str:
        return self.below.kind(path)

    def is_executable(self, path: str) -> bool:
        self.note(path)
        return self.below.is_executable(path)
