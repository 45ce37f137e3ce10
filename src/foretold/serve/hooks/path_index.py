"""An index in which a hook looks up which memories name a path, and whether a memory is still true.

1. It is written by another process, which reads every memory (`jobs`), and read a page at a time: a table of
   PAGES places, then the pages. A page begins with a digest of the rest; a page that is not whole counts as empty.
   It is not SQLite, because importing `sqlite3` alone takes a quarter of the time of a hook.
2. The key `d` + digest of a memory's file has its last verdict and the paths that it names; `p` + path, relative to the
   top of the repository, has the memories that name it.
3. It may be out of date: a memory of the index counts if its file still contains the path, a newer one if it names the
   path by the rule by which the index is written (`claimed_paths`).
4. The index records when its writing began and how many memories there were. If a folder has changed since, as any new
   name in it does, each of at most FEW files is checked (one `stat`), and those written since are read here, at most
   MOST bytes: so a memory counts from the moment it was added. Up to SMALL files, each is always checked: a change in
   place shows nowhere else.
5. If there is more to check or to read, a process writes the index again, and until then newer memories may be missing:
   `--explain` says so.
"""

from __future__ import annotations

import marshal
import os
import time
from collections.abc import Iterator, Mapping

from foretold.serve.hooks.cache import MARK, fingerprint, path_of, write_file
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.note import Memory
    from foretold.serve.hooks.context import HookContext


PAGES = 512
_PLACE = 8  #: bytes of an entry of the table: where a page begins, and its length
_HEAD = 64


def _mark() -> bytes:
    return f"paths {MARK}".encode()[:_HEAD].ljust(_HEAD)


def page_of(key: str) -> int:
    return int.from_bytes(fingerprint(key.encode("utf-8", "surrogateescape"))[:4], "big") % PAGES


class PathIndex:
    """The index of one place. Each page is read once."""

    def __init__(self, cache: str, key: tuple[str, ...]) -> None:
        self.path = path_of(cache, "paths", key)
        self._pages: dict[int, dict[str, object]] = {}

    def find(self, key: str) -> object:
        """The value of a key; None if there is none."""
        number = page_of(key)
        if number not in self._pages:
            self._pages[number] = self._read(number)
        return self._pages[number].get(key)

    def _read(self, number: int) -> dict[str, object]:
        try:
            handle = open_regular(self.path)
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
        """Whether a memory is still true, as `memory.drift.quick_check` puts it; None if nothing is known about it."""
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
            return f"not found here: {absent[0]} (run foretold memory verify)"
        return "the paths it names exist" if paths else ""

    def memories_naming(self, path: str) -> list[tuple[str, str]]:
        """The memories that name a path: file and description."""
        found = self.find(f"p{path}")
        return list(found) if isinstance(found, list) else []

    def write(self, entries: Mapping[str, object]) -> None:
        """Write the whole index. OSError if that is not possible."""
        pages: list[dict[str, object]] = [{} for _ in range(PAGES)]
        for key, value in entries.items():
            pages[page_of(key)][key] = value
        table, body, at = b"", [], _HEAD + PAGES * _PLACE
        for page in pages:
            data = marshal.dumps(page)
            data = fingerprint(data) + data
            table += at.to_bytes(4, "big") + len(data).to_bytes(4, "big")
            body.append(data)
            at += len(data)
        write_file(self.path, _mark() + table + b"".join(body))


FEW = 1000  #: memory files that are checked while the agent waits
SMALL = 200  #: so few that checking each always costs nothing
MOST = 8 * 1024 * 1024  #: bytes of them that are read
LONGEST = 4 * 1024 * 1024  #: bytes of one
_COARSE, _WHOLE = 10**8, 2 * 10**9  #: nanoseconds: the resolution of file times; of one with whole seconds
INDEX = "MEMORY.md"  #: as in `foretold.memory.note`, which takes longer to import than this to run
OUT_OF_DATE = "the list of the files that memories name is out of date"

Newer = dict[str, tuple[str, str]]  #: the path of a memory: its folder, and its scope


class MemoryLookup:
    """Finds the memories that name a path. Those newer than the index are looked for once."""

    def __init__(self, context: HookContext) -> None:
        self._context = context
        self._index = PathIndex(context.ours.cache, context.key)
        self._newer: Newer | None = None

    def find(self, path: str) -> list[tuple[str, str]]:
        """The memories that name a path relative to the top of the repository: file and description."""
        if self._newer is None:
            self._newer = self._find_newer()
        known = self._index.memories_naming(path)
        found = {file: said for file, said in known if file not in self._newer and _contains(file, path)}
        for file, (folder, scope) in self._newer.items():
            if _contains(file, path) and (memory := _read_if_naming(file, folder, scope, path)):
                from foretold.secrets.masking import mask_credentials

                found[file] = mask_credentials(memory.description)[0]
        return sorted(found.items())

    def _find_newer(self) -> Newer:
        """The memories newer than the index. If the index is out of date, have it written again."""
        context = self._context
        made = context.cached("paths-made", anyway=True)
        began, count = made if isinstance(made, tuple) else (0, 0)
        if count > SMALL and context.cached("paths-made") is not None:
            return {}
        written = _written_since(context, began) if count <= FEW else None
        if written is None:
            context.refresh(f"{OUT_OF_DATE}, and newer memories may be missing")
            return {}
        newer, last = written
        if newer and last >= began:
            context.refresh(f"{OUT_OF_DATE}; what is newer was read now")
        return newer


def _written_since(context: HookContext, moment: int) -> tuple[Newer, int] | None:
    """The memories that were written since a moment, and when the last one was. None if there are too many to check."""
    newer: Newer = {}
    last, seen, size = 0, 0, 0
    for folder, scope in context.place.readable:
        for path, about in _files(folder):
            seen += 1
            changed = about.st_ctime_ns
            if changed >= moment - (_COARSE if changed % 10**9 else _WHOLE) and path not in newer:
                newer[path] = folder, scope
                last, size = max(last, changed), size + about.st_size
            if seen > FEW or size > MOST:
                return None
    return newer, last


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The memory files below a folder. Symbolic links are not followed."""
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


def _contains(file: str, path: str) -> bool:
    """Whether the text of a memory contains a path."""
    try:
        with open(file, "rb", opener=open_regular) as opened:
            return path.encode("utf-8", "surrogateescape") in opened.read(LONGEST)
    except OSError:
        return False


def _read_if_naming(file: str, folder: str, scope: str, path: str) -> Memory | None:
    """A memory, if it names a path."""
    from foretold.memory.recall.file_stamps import read_memory

    memory = read_memory(folder, os.path.relpath(file, folder), 0.0, scope)
    return memory if memory and any(each == path for _, each in claimed_paths(memory)) else None


def claimed_paths(memory: Memory) -> list[tuple[str, str]]:
    """The paths that a memory names: as written, and as looked up; the second is empty if it cannot be looked up."""
    from foretold.memory.drift.claims import find_claims

    if "/" not in memory.text and "." not in memory.text:
        return []
    named = [claim.text for claim in find_claims(memory) if claim.kind == "path" and not claim.hedge]
    return [(text, lookup_path(text)) for text in named]


def lookup_path(text: str) -> str:
    """The path of a claim as it is looked up in the repository.

    >>> lookup_path("src/a.py:12"), lookup_path("lib/"), lookup_path("src/*.py"), lookup_path("/etc/hosts")
    ('src/a.py', 'lib', '', '')
    """
    plain = text.partition(":")[0].rstrip("/")
    if any(char in plain for char in "*?[{") or plain.startswith(("/", "~")) or ".." in plain.split("/"):
        return ""
    return plain.removeprefix("./")
