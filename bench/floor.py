"""The floor: what any Python loader must do with the same paths, and nothing else.

1. Each file that our load read: open, fstat, read, close, decode; the text is kept, as a loader must.
2. Each folder that it listed: the names in it.
3. Each path that it found absent: one `open` that fails. Each path that it only looked at: one `stat`.
4. Every path counts once, however often our load asked for it.

The lean floor leaves out what is not an instruction file or a candidate for one (settings, `.git`, AGENTS.md, the
memory index): it is that of a loader which knows nothing of the agent's surroundings. It is told, not judged.
"""

from __future__ import annotations

import os

from foretold.storage.tree import Disk, Fault, Item

CANDIDATES = ("CLAUDE.md", "CLAUDE.local.md", ".claude", "rules")
_FLAGS = os.O_RDONLY | os.O_CLOEXEC


class Watched(Disk):
    """A disk that remembers what was asked of it."""

    __slots__ = ("listed", "read_files")

    def __init__(self) -> None:
        super().__init__()
        self.read_files: dict[str, None] = {}
        self.listed: dict[str, None] = {}

    def read(self, path: str, limit: int) -> bytes | Fault:
        data = super().read(path, limit)
        if not isinstance(data, Fault):
            self.read_files[path] = None
        return data

    def scan(self, folder: str) -> list[Item] | Fault:
        items = super().scan(folder)
        if not isinstance(items, Fault):
            self.listed[folder] = None
        return items


class Floor:
    """The plainest Python that touches the same paths. Call it."""

    __slots__ = ("absent", "files", "folders", "seen")

    def __init__(self, disk: Watched, *, lean: bool = False) -> None:
        done = disk.read_files.keys() | disk.listed.keys()
        rest = [path for path in disk.stamps if path not in done and (not lean or _is_candidate(path))]
        self.files = [path for path in disk.read_files if not lean or not path.endswith(".json")]
        self.folders = list(disk.listed)
        self.absent = [path for path in rest if disk.stamps[path] is None]
        self.seen = [path for path in rest if disk.stamps[path] is not None and not lean]

    def __call__(self) -> list[str]:
        texts = []
        for path in self.files:
            handle = os.open(path, _FLAGS)
            data = os.read(handle, os.fstat(handle).st_size + 1)
            os.close(handle)
            texts.append(data.decode("utf-8", "replace"))
        for path in self.folders:
            with os.scandir(path) as listing:
                texts += [item.name for item in listing]
        for path in self.absent:
            try:  # noqa: SIM105 (`suppress` costs more than the call)
                os.close(os.open(path, _FLAGS))
            except OSError:
                pass
        for path in self.seen:
            os.stat(path)
        return texts


def _is_candidate(path: str) -> bool:
    return path.rpartition("/")[2] in CANDIDATES
