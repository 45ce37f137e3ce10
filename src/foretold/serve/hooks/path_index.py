"""A book in which a hook looks up one thing: which memories name a path, and whether a memory holds.

1. It is written by another process, which reads every memory (`work`), and read a page at a time: a table of PAGES
   places, then the pages. A page begins with a digest of the rest; one that is not whole counts as empty.
2. Under `d` and the digest of a memory's file stand its last verdict and the paths that it names; under `p` and a path,
   seen from the top of the repository, the memories that name it.
3. It may be behind: whoever tells of an entry looks at the memory first.
"""

from __future__ import annotations

import marshal
import os
import time

from foretold.serve.hooks.cache import MARK, fingerprint, path_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGES = 512
_PLACE = 8  #: bytes of a place: where a page begins, and its length
_HEAD = 64


def _mark() -> bytes:
    return f"book {MARK}".encode()[:_HEAD].ljust(_HEAD)


def _page(key: str) -> int:
    return int.from_bytes(fingerprint(key.encode("utf-8", "surrogateescape"))[:4], "big") % PAGES


class Book:
    """The book of one place. Each page is read once."""

    def __init__(self, cache: str, key: tuple[str, ...]) -> None:
        self.path = path_of(cache, "book", key)
        self._pages: dict[int, dict[str, object]] = {}

    def find(self, key: str) -> object:
        """What stands under a key; None if nothing does."""
        number = _page(key)
        if number not in self._pages:
            self._pages[number] = self._read(number)
        return self._pages[number].get(key)

    def _read(self, number: int) -> dict[str, object]:
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return {}
        try:
            if os.pread(handle, _HEAD, 0) != _mark():
                return {}
            place = os.pread(handle, _PLACE, _HEAD + number * _PLACE)
            data = os.pread(handle, int.from_bytes(place[4:], "big"), int.from_bytes(place[:4], "big"))
        except OSError:
            return {}
        finally:
            os.close(handle)
        if len(data) < 16 or fingerprint(data[16:]) != data[:16]:
            return {}
        found: dict[str, object] = marshal.loads(data[16:])  # noqa: S302 - the digest says it is ours
        return found

    def holds(self, digest: str, root: str, now: float | None = None) -> str | None:
        """Whether a memory holds, in the words of `memory.drift.quick_check`; None if nothing is known about it."""
        known = self.find(f"d{digest}")
        if not isinstance(known, tuple):
            return None
        state, evidence, moment, paths = known
        if state:
            days = int(((time.time() if now is None else now) - moment) // 86400)
            when = "today" if days < 1 else f"{days} days ago" if days > 1 else "yesterday"
            return f"{state}, verified {when}" + (f": {evidence}" if evidence else "")
        absent = [text for text, path in paths if path and not os.path.lexists(os.path.join(root, path))]
        if absent:
            return f"unknown: {absent[0]} is not at that path"
        return "the paths it names exist" if paths else ""

    def naming(self, path: str) -> list[tuple[str, str]]:
        """The memories that name a path: file, and description."""
        found = self.find(f"p{path}")
        return list(found) if isinstance(found, list) else []

    def write(self, entries: Mapping[str, object]) -> None:
        """Write the whole book. OSError if that is not possible."""
        pages: list[dict[str, object]] = [{} for _ in range(PAGES)]
        for key, value in entries.items():
            pages[_page(key)][key] = value
        table, body, at = b"", [], _HEAD + PAGES * _PLACE
        for page in pages:
            data = marshal.dumps(page)
            data = fingerprint(data) + data
            table += at.to_bytes(4, "big") + len(data).to_bytes(4, "big")
            body.append(data)
            at += len(data)
        from foretold.storage.atomic import replace_file

        os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
        replace_file(self.path, _mark() + table + b"".join(body), sync=False)
