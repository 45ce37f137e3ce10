"""An index that answers at a glance: for programs that run at every prompt and have no time to look at every file.

1. An index of at most FEW memories is brought up to date first, as ever: the answer is that of `Cache`.
2. A larger one is asked as it is. If the names in its folders are those that it knows (one `stat` a folder), only a
   file that was written to in its place can differ; whoever asks reads the files that were found anyway, and sees that.
   If not, the answer is that of the last update, and the folder is named in `stale`.
3. Where there is no such index yet and the folder has more than FEW files, nothing is found, and it is `stale` too.
   What is stale is brought up to date by `Cache`, in another process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from foretold.memory.recall.cache import PATIENCE, Cache, index_path, is_sealed
from foretold.memory.recall.file_stamps import folders_stand, is_many
from foretold.memory.recall.index import SCHEMA, Postings
from foretold.types import TYPE_CHECKING, Skip

if TYPE_CHECKING:
    from typing import TypeVar

    Answer = TypeVar("Answer")

FEW = 1000


class Glance(Cache):
    """Indexes of a folder, believed as far as a glance can tell."""

    def __init__(self, home: str, few: int = FEW) -> None:
        super().__init__(home)
        self.few = few
        self.stale: list[str] = []

    def ask(
        self, folder: str, question: Callable[[Postings], Answer], without: frozenset[str] = frozenset()
    ) -> tuple[Answer, tuple[Skip, ...]]:
        """The answer of an index, up to date if that is quick.

        >>> import tempfile
        >>> place = tempfile.mkdtemp()
        >>> Glance(f"{place}/cache").ask(place, lambda index: index.told("count"))
        (0, ())
        """
        try:
            found = self._glanced(index_path(str(self.home), folder, without), folder, question)
        except (sqlite3.Error, OSError):
            found = None
        if found is not None:
            return found[0], ()
        if not is_many(folder, self.few):
            return super().ask(folder, question, without)
        self.stale.append(folder)
        base = sqlite3.connect(":memory:", isolation_level=None)
        try:
            postings = Postings(base)
            postings.create()
            postings.total()
            return question(postings), ()
        finally:
            base.close()

    def _glanced(self, path: str, folder: str, question: Callable[[Postings], Answer]) -> tuple[Answer] | None:
        """The answer of a large index as it is; None if it is small, or no index."""
        if not is_sealed(path):
            return None
        base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            postings = Postings(base)
            base.execute("BEGIN")
            count = postings.told("count")
            if postings.told("schema") != SCHEMA or not isinstance(count, int) or count <= self.few:
                return None
            packed = postings.told("folders")
            if not isinstance(packed, bytes) or not folders_stand(folder, packed):
                self.stale.append(folder)
            found = (question(postings),)
            base.execute("COMMIT")
        finally:
            base.close()
        return found if is_sealed(path) else None
