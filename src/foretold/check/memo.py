"""Values that were computed from files, kept as long as nothing that they came from has changed.

1. A value has a key. While it is computed, what it reads is noted: files, through `TrackedTree`, and other values. What
   the function that computes it brings along (`partial(find, text)`) counts, too: with another, it does not hold.
2. When files change, the values that read them are stale, and those that were computed from these are in doubt.
3. A value in doubt is asked for again: if all values that it came from turn out equal to what they were, it holds. So
   a change that makes no difference a step further costs nothing there.
4. Only texts are noted. Whoever notices that a file came or went, or that a link leads elsewhere, begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial

from foretold.storage.tree import Fault, Item, Tree
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeVar

    Value = TypeVar("Value")


class _Kept:
    """A value, what it was computed from, and when it last became another."""

    __slots__ = ("changed", "compute", "given", "keys", "paths", "value")

    def __init__(self, compute: Callable[[], object], value: object, changed: int, frame: _Frame) -> None:
        self.compute, self.value, self.changed = compute, value, changed
        self.given = _given(compute)
        self.paths, self.keys = frame.paths, frame.keys


def _given(compute: Callable[[], object]) -> tuple[object, ...]:
    """What a function brings along: arguments, defaults, and the variables of the function around it."""
    if isinstance(compute, partial):
        return (compute.func, *compute.args, *compute.keywords.items())
    cells = [cell.cell_contents for cell in getattr(compute, "__closure__", None) or ()]
    return (*(getattr(compute, "__defaults__", None) or ()), *cells)


class _Frame:
    """What a computation that is under way has read."""

    __slots__ = ("keys", "paths")

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.keys: dict[Hashable, int] = {}  #: the values that were used, and when they last became others


class Memo:
    """Values by their keys."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Kept] = {}
        self._readers: dict[str, set[Hashable]] = {}  #: path -> keys of values that read it
        self._users: dict[Hashable, set[Hashable]] = {}  #: key -> keys of values that were computed from it
        self._doubtful: set[Hashable] = set()
        self._stale: set[Hashable] = set()
        self._frames: list[_Frame] = []
        self._revision = 0

    def note(self, path: str) -> None:
        """Note that the computation that is under way depends on the text of a file."""
        if self._frames:
            self._frames[-1].paths.add(path)

    def remember(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of a key: the one that is kept, if it holds; else computed."""
        kept = self._kept.get(key)
        if kept is not None and kept.given != _given(compute):
            self._stale.add(key)
            self._doubtful.add(key)
        self._refresh(key, compute)
        kept = self._kept[key]
        if self._frames:
            self._frames[-1].keys[key] = kept.changed
        return kept.value  # type: ignore[return-value]  # what `compute` of this key gave

    def remember_each(self, name: str, paths: Iterable[str], judge: Callable[[str], Value]) -> Iterator[Value]:
        """What is computed from each of some files, in their order; `judge` reads the file itself."""
        for path in paths:
            key = name, path
            kept = self._kept.get(key)
            if kept is None or key in self._doubtful:
                yield self.remember(key, partial(judge, path))
            else:
                if self._frames:
                    self._frames[-1].keys[key] = kept.changed
                yield kept.value  # type: ignore[misc]  # what `judge` gave

    def forget(self, paths: Iterable[str]) -> None:
        """Doubt whatever depends on these files."""
        self._revision += 1
        stale = {key for path in paths for key in self._readers.get(path, ())}
        self._stale |= stale
        waiting = [key for key in stale if key not in self._doubtful]
        while waiting:
            key = waiting.pop()
            if key not in self._doubtful:
                self._doubtful.add(key)
                waiting += self._users.get(key, ())

    def _refresh(self, key: Hashable, compute: Callable[[], object] | None = None) -> None:
        kept = self._kept.get(key)
        if kept is not None and self._holds(key, kept):
            return
        if compute is None:
            assert kept is not None, "a value that was used was computed once"
            compute = kept.compute
        self._frames.append(_Frame())
        try:
            value = compute()
        finally:
            frame = self._frames.pop()
        self._keep(key, compute, value, frame)

    def _holds(self, key: Hashable, kept: _Kept) -> bool:
        if key not in self._doubtful:
            return True
        if key in self._stale:
            return False
        doubtful, known = self._doubtful, self._kept
        for used, changed in kept.keys.items():
            if used in doubtful:
                self._refresh(used)
            if known[used].changed != changed:
                return False
        self._doubtful.discard(key)
        return True

    def _keep(self, key: Hashable, compute: Callable[[], object], value: object, frame: _Frame) -> None:
        before = self._kept.get(key)
        if before is not None:
            for path in before.paths - frame.paths:
                self._readers[path].discard(key)
            for used in before.keys.keys() - frame.keys.keys():
                self._users[used].discard(key)
        is_equal = before is not None and before.value == value
        changed = before.changed if before is not None and is_equal else self._revision
        self._kept[key] = _Kept(compute, before.value if before is not None and is_equal else value, changed, frame)
        for path in frame.paths if before is None else frame.paths - before.paths:
            self._readers.setdefault(path, set()).add(key)
        for used in frame.keys:
            self._users.setdefault(used, set()).add(key)
        self._doubtful.discard(key)
        self._stale.discard(key)


class TrackedTree:
    """A tree that notes in a memo which files are read. `below` may be replaced by one with other texts."""

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

    def scan(self, folder: str) -> list[Item] | Fault:
        return self.below.scan(folder)

    def names(self, folder: str) -> tuple[list[str], list[str]] | Fault:
        return self.below.names(folder)

    def real(self, path: str) -> str:
        return self.below.real(path)

    def identity(self, path: str) -> object:
        return self.below.identity(path)

    def kind(self, path: str) -> str:
        return self.below.kind(path)
