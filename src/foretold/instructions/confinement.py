"""Which instruction text may be shown to a model that is not the one it was written for.

A repository can name any file as an instruction of some agent (`instructions` of opencode.json, an `@import`, `read` of
Aider, a link). That agent's user decided to trust the repository; a model that asks what the agent is told did not.
So a `ConfinedTree` gives the text of a file, by its real path, if it is

1. in the project: the working directory and the repository around it, without `.git`; where that is the home folder or
   above it, without the hidden folders of the home;
2. in a folder of an agent in the home, or of the organisation: what the agent's own table names, and Markdown, but not
   what agents keep there about other projects;
3. above the project, in the main work tree or in the home: what the agent's own table names.

Of another file, it gives one line with the path and the size in place of the text. Settings are read as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from foretold.dialects.registry import EVIDENCE
from foretold.dialects.schema import Dialect
from foretold.dialects.surroundings import LoadRequest, Surroundings, find_git
from foretold.storage.tree import Disk, Fault, is_inside
from foretold.types import Entry

WITHHELD = "[not returned: outside the project and the agents' folders: "
MARKDOWN = (".md", ".mdc", ".markdown")
#: folders in an agent's own folder that hold conversations and memories of all projects
PRIVATE = frozenset("projects sessions archived_sessions history todos tmp chats memories file-history".split())


class ConfinedTree(Disk):
    """The file system, in which instruction files that may not be shown have one line in place of their text."""

    __slots__ = ("_bounds", "sizes")

    def __init__(self) -> None:
        super().__init__()
        self._bounds: _Bounds | None = None
        self.sizes: dict[str, int] = {}  #: by the line in place of the text

    def confine(self, request: LoadRequest, surroundings: Surroundings) -> Surroundings:
        """From now on, what is read is instructions. Text that settings brought from a file is confined too."""
        self._bounds = _Bounds(request, surroundings)
        texts = {key: (path, self._confined(path, text)) for key, (path, text) in surroundings.texts.items()}
        return surroundings._replace(texts=texts)

    def read(self, path: str, limit: int) -> bytes | Fault:
        data = super().read(path, limit)
        if isinstance(data, Fault) or self._bounds is None or self._bounds.holds(path):
            return data
        return self._withhold(path, len(data)).encode("utf-8", "replace")

    def _confined(self, path: str, text: str) -> str:
        if not path.startswith("/") or self._bounds is None or self._bounds.holds(path):
            return text
        return self._withhold(path, len(text.encode("utf-8", "replace")))

    def _withhold(self, path: str, size: int) -> str:
        real = os.path.realpath(path)
        leads = f", a link to {real}" if real != path else ""
        line = f"{WITHHELD}{path}{leads}, {size:,} bytes]".replace("\n", " ").replace("\r", " ")
        self.sizes[line] = size
        return line

    def measure(self, entry: Entry) -> Entry:
        """An entry with the size of its file, also if its text is not given."""
        size = self.sizes.get(entry.raw)
        return entry if size is None else entry._replace(size=size)


class _Bounds:
    """The folders and names whose text may be shown."""

    def __init__(self, request: LoadRequest, surroundings: Surroundings) -> None:
        git = surroundings.git or find_git(Disk(), request.cwd)
        home, cwd = os.path.realpath(request.home), os.path.realpath(request.cwd)
        top = os.path.realpath(git.top) if git else cwd
        self.home = home
        self.project = [cwd] if is_inside(home, top) else [cwd, top]
        own = [f"{request.home}/{name}" for _, names, _ in EVIDENCE.values() for name in names]
        own += [surroundings.user, *([request.managed] if request.managed else [])]
        self.own = [folder for each in own if (folder := os.path.realpath(each)) not in ("/", home)]
        self.memory = [os.path.realpath(each) for each in (surroundings.memory, surroundings.store) if each]
        places = {
            "home": [request.home],
            "user": [surroundings.user],
            "managed": [request.managed],
            # settings of a repository can move the memory anywhere
            "memory": [each for each in self.memory if any(is_inside(each, folder) for folder in self.own)],
            "": [*surroundings.walk, *([git.top, git.main] if git else [])],
        }
        self.files, self.folders = _named(request.dialect, places)

    def holds(self, path: str) -> bool:
        """Whether the text of a file may be shown."""
        real = os.path.realpath(path)
        if real in self.files or any(is_inside(real, folder) for folder in self.folders):
            return True
        if any(is_inside(real, root) and not self._is_hidden(real, root) for root in self.project):
            return True
        inside = next((real[len(each) :] for each in self.own if is_inside(real, each)), "")
        if not inside.lower().endswith(MARKDOWN):
            return False
        return PRIVATE.isdisjoint(inside.split("/")) or any(is_inside(real, each) for each in self.memory)

    def _is_hidden(self, real: str, root: str) -> bool:
        if ".git" in real[len(root) :].split("/"):
            return True
        return is_inside(self.home, root) and is_inside(real, self.home) and real[len(self.home) + 1 :].startswith(".")


def _named(dialect: Dialect, places: Mapping[str, list[str]]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The files, and the folders of rules, that the table of an agent names: where a source is looked for, or in ""."""
    files, folders = dict[str, None](), dict[str, None]()
    for source in (*dialect.start, *dialect.touch):
        bases = () if source.base in ("path", "settings") else places.get(source.base, places[""])
        for base in (os.path.realpath(each).rstrip("/") for each in bases if each):
            if source.kind in ("rules", "either"):
                folders[f"{base}/{source.name}"] = None
            if source.kind != "rules":
                files.update(dict.fromkeys(f"{base}/{name}" for name in (source.name, *source.others)))
    return frozenset(files), tuple(folders)
