"""Which instruction text may be shown to a model that is not the one it was written for.

A repository can name any file as an instruction of some agent (`instructions` of opencode.json, an `@import`, `read` of
Aider, a link). That agent's user decided to trust the repository; a model that asks what the agent is told did not.
So a `ConfinedTree` gives the text of a file, by its real path, if it is

1. in the project: the working directory and the repository around it, without `.git`; where that is the home folder or
   above it, without the hidden folders of the home;
2. in the agent's folder in the home, or of the organisation: what the agent's own table names, where no project has a
   say, and the memory index of this project. Agents keep plans, pastes, logs and memories of all projects there;
3. above the project, in the main work tree or in the home: what the agent's own table names. A `.git` file alone makes
   no main work tree: the repository that it names must name it back.

Of another file, it gives one line with the path and the size in place of the text. Settings are read as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from foretold.dialects.registry import EVIDENCE, read_surroundings
from foretold.dialects.schema import FileSource
from foretold.dialects.surroundings import LoadRequest, Surroundings, check_link, find_git
from foretold.storage.tree import Disk, Fault, is_inside
from foretold.types import Entry

WITHHELD = "[not returned: outside the project and the agent's own files: "
INDEX = "MEMORY.md"  #: of a folder with one memory per file


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
        claimed = surroundings.git or find_git(Disk(), request.cwd)
        git = check_link(Disk(), claimed) if claimed else None
        home, cwd = os.path.realpath(request.home), os.path.realpath(request.cwd)
        top = os.path.realpath(git.top) if git else cwd
        self.home = home
        self.project = [cwd] if is_inside(home, top) else [cwd, top]
        own = [f"{request.home}/{name}" for _, names, _ in EVIDENCE.values() for name in names]
        own += [surroundings.user, *([request.managed] if request.managed else [])]
        self.own = [folder for each in own if (folder := os.path.realpath(each)) not in ("/", home)]
        alone = read_surroundings(Disk(), request._replace(cwd="/"))  # where no project has a say
        folders = [request.cwd, *([git.main] if git else [])]
        memory = self._memory(surroundings, alone, folders) if git == claimed else []
        places = {
            "home": [request.home],
            "user": [surroundings.user],
            "managed": [request.managed],
            "memory": memory,
            "": [*surroundings.walk, *([git.top, git.main] if git else [])],
        }
        self.files, self.folders = _named((*request.dialect.start, *request.dialect.touch), places)
        files, _ = _named(self._chosen(alone), {"user": [surroundings.user], "path": ["/"], "": []})
        self.files |= files | {f"{each}/{INDEX}" for each in memory}

    def _memory(self, surroundings: Surroundings, alone: Surroundings, folders: Iterable[str]) -> list[str]:
        """The folders of this project's memory. Settings of a repository can name any: those of others do not count."""
        from foretold.dialects.claude_code.settings import slug

        known = {f"{surroundings.user}/projects/{slug(each)}/memory" for each in folders} | {alone.memory, alone.store}
        found = {each for each in (surroundings.memory, surroundings.store) if each}
        kept = [os.path.realpath(each) for each in (found & known if surroundings.store else found)]
        return [each for each in kept if any(is_inside(each, folder) for folder in self.own)]

    def _chosen(self, alone: Surroundings) -> list[FileSource]:
        """The user's files that settings of the user name."""
        files = [source for source in alone.start if source.layer in ("user", "extension") and source.kind == "file"]
        return [
            source
            for source in files
            if source.base == "user"
            or (source.base == "path" and any(is_inside(f"/{source.name}", folder) for folder in self.own))
        ]

    def holds(self, path: str) -> bool:
        """Whether the text of a file may be shown."""
        real = os.path.realpath(path)
        if real in self.files or any(is_inside(real, folder) for folder in self.folders):
            return True
        return any(is_inside(real, root) and not self._is_hidden(real, root) for root in self.project)

    def _is_hidden(self, real: str, root: str) -> bool:
        if ".git" in real[len(root) :].split("/"):
            return True
        return is_inside(self.home, root) and is_inside(real, self.home) and real[len(self.home) + 1 :].startswith(".")


def _named(sources: Iterable[FileSource], places: Mapping[str, list[str]]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The files, and the folders of rules, that a table of an agent names: where a source is looked for, or in ""."""
    files, folders = dict[str, None](), dict[str, None]()
    for source in sources:
        known = source.base in places or source.base not in ("path", "settings")
        bases = places.get(source.base, places[""]) if known else ()
        for base in (os.path.realpath(each).rstrip("/") for each in bases if each):
            if source.kind in ("rules", "either"):
                folders[f"{base}/{source.name}"] = None
            if source.kind != "rules":
                files.update(dict.fromkeys(f"{base}/{name}" for name in (source.name, *source.others)))
    return frozenset(files), tuple(folders)
