"""The file state cache of code-assist: what files were when they were last looked at.

1. Of each path the time of its last change, its size and a digest of its content; the 4,096 paths that were used last.
2. code-assist looks at the file after it has read it, so that a change in between is never seen. Here it is looked
   at before.

It forbids nothing: a check that a file was read before it is changed is `foretold.files.ReadState`.
"""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

__all__ = ["FileState", "FileStateCache"]


class FileState(NamedTuple):
    """What a file was."""

    mtime: float
    size: int
    content_hash: str


class FileStateCache:
    """The states of the files that were used last.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b"a")
    >>> cache = FileStateCache()
    >>> cache.is_stale(path), cache.update(path)[:8], cache.is_stale(path), path in cache
    (True, 'ca978112', False, True)
    """

    def __init__(self, max_size: int = 4096) -> None:
        self._most = max_size
        self._states: dict[str, FileState] = {}  #: the one that was used last is last

    def get(self, path: str) -> FileState | None:
        """What is known of a file; it counts as used."""
        if path in self._states:
            self._states[path] = self._states.pop(path)
        return self._states.get(path)

    def is_stale(self, path: str) -> bool:
        """Whether a file is not known, is gone, or was changed."""
        known = self.get(path)
        try:
            status = os.stat(path)
        except OSError:
            return True
        return known is None or (status.st_mtime, status.st_size) != known[:2]

    def update(self, path: str, *, content: bytes | None = None) -> str:
        """Note what a file is, and give the digest of its content. OSError if it cannot be read."""
        status = os.stat(path)
        if content is None:
            with open(path, "rb") as file:
                content = file.read()
        self.invalidate(path)
        self._states[path] = FileState(status.st_mtime, status.st_size, hashlib.sha256(content).hexdigest())
        while len(self._states) > self._most:
            del self._states[next(iter(self._states))]
        return self._states[path].content_hash if path in self._states else hashlib.sha256(content).hexdigest()

    def invalidate(self, path: str) -> None:
        """Forget a file."""
        self._states.pop(path, None)

    def clear(self) -> None:
        """Forget all of them."""
        self._states.clear()

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, path: object) -> bool:
        return path in self._states
