"""The six commands of a model's memory tool, on a store: view, create, str_replace, insert, delete, rename.

1. The model's `/memories` is the store's own folder, and nothing leads out of it: a path is `/memories` or begins with
   `/memories/`, each part is a name that is safe everywhere, and the store follows no link.
2. The store keeps Markdown. A name without `.md` is kept with it (`todo.txt` as `todo.txt.md`); both names mean the
   file, and lists show the name without it where that has an ending of its own. What the model writes is kept byte for
   byte.
3. A folder is there while a file is in it. `MEMORY.md` is the index: it can be viewed and edited, not made or removed.
4. A change is computed from what the file holds under the lock, so no insertion of another process is lost; each is in
   the history, and a deletion can be taken back.
5. What looks like a credential is refused, unless it stood there before. Under the policy `confirm` a change goes to
   the inbox, and the model is told that it waits.
6. Words and forms are those of the tool in Anthropic's package, which models know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foretold.adapters.memory_forms import (
    bytes_of,
    levels_of,
    numbered,
    refuse_credentials,
    refuse_other_than_once,
    shown_name,
    shown_range,
    shown_size,
    text_of,
)
from foretold.errors import BadName, MemoryChanged, MemoryExists, NoSuchMemory, WriteRefused
from foretold.memory.note import INDEX, safe_file
from foretold.storage.digest import digest_of
from foretold.storage.names import same_name
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.project import Memories
    from foretold.memory.store.journal import Said

ROOT = "/memories"
TRIES = 20  #: at a file that a program without our lock keeps changing
LEVELS = 2


class Spot(NamedTuple):
    """What a path means: `file` in the store, or the folder `folder`, with `/` at its end unless it is the top."""

    path: str
    file: str = ""
    folder: str = ""


class MemoryFiles:
    """The files that a model sees under `/memories`. Every method gives the text for the model, or raises one."""

    def __init__(self, memories: Memories, *, session: str = "") -> None:
        self.memories = memories
        self.store = memories.own
        self.said: Said = {"by": "agent", "session": session} if session else {"by": "agent"}

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """A file with numbers of lines, or what is in a folder."""
        spot = self._find(path)
        if not spot.file:
            return self._listing(spot)
        lines = text_of(self._data(spot), path).split("\n")
        first, last = shown_range(view_range, len(lines), path)
        head = f"Here's the content of {path} with line numbers:"
        return "\n".join([head, *numbered(lines, first, last)])

    def create(self, path: str, file_text: str) -> str:
        """A new file with this very text."""
        spot = self._spot(path)
        if not spot.file or self._has_folder(spot.file.removesuffix(".md") + "/") or self._is_there(spot.file):
            raise MemoryExists(f"File {path} already exists")
        data = bytes_of(file_text)
        refuse_credentials(path, "", f"{path}\n{file_text}")
        if self._waits:
            return self._proposed("create", spot.file, file_text)
        try:
            self.store.put(spot.file, data, **self.said)
        except NoSuchMemory:
            raise BadName(f"The path {path} leads through a file or a link.") from None
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Another text for one that stands in a file once."""
        spot = self._find_file(path)
        told = [""]

        def change(data: bytes) -> bytes:
            before = text_of(data, path)
            refuse_other_than_once(before, old_str, path)
            after = before.replace(old_str, new_str)
            line = before[: before.find(old_str)].count("\n") + 1
            rows = after.split("\n")
            told[0] = "\n".join(numbered(rows, max(1, line - 2), min(len(rows), line + 2)))
            return self._checked(path, before, after)

        done = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return self._amend(spot, change) or f"{done}\n{told[0]}"

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """New lines behind a line; 0 is the top."""
        spot = self._find_file(path)

        def change(data: bytes) -> bytes:
            before = text_of(data, path)
            lines = before.removesuffix("\n").split("\n") if before else []
            if not 0 <= insert_line <= len(lines):
                said = f"Invalid `insert_line` parameter: {insert_line}."
                raise WriteRefused(f"{said} It should be within the range [0, {len(lines)}].")
            lines.insert(insert_line, insert_text.rstrip("\n"))
            return self._checked(path, before, "\n".join(lines) + "\n")

        return self._amend(spot, change) or f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Take away a file, or all files of a folder. They stay in the history."""
        spot = self._find(path, "The path {path} does not exist")
        if spot.file == INDEX or path.rstrip("/") == ROOT:
            raise WriteRefused(f"Cannot delete {self._what(spot)} itself")
        for file in [spot.file] if spot.file else self._below(spot.folder):
            if self._waits:
                self._proposed("delete", file, "")
            else:
                self.store.delete(file, **self.said)
        return self._later(f"Successfully deleted {path}")

    def rename(self, old_path: str, new_path: str) -> str:
        """Another name for a file or a folder."""
        old, new = self._find(old_path, "The path {path} does not exist"), self._spot(new_path)
        if old.file == INDEX or old_path.rstrip("/") == ROOT:
            raise WriteRefused(f"Cannot rename {self._what(old)} itself")
        if self._exists(new) or (not old.file and (new.file + "/").startswith(old.folder)):
            raise MemoryExists(f"The destination {new_path} already exists")
        if old.file:
            moves = {old.file: new.file}
        else:
            into = new_path[len(ROOT) + 1 :].rstrip("/") + "/"
            moves = {file: into + file[len(old.folder) :] for file in self._below(old.folder)}
        refuse_credentials(new_path, old_path, new_path)
        for file, to in moves.items():
            self._move(file, to)
        return self._later(f"Successfully renamed {old_path} to {new_path}")

    def clear(self) -> str:
        """Take away all files. They stay in the history."""
        for file in self._below(""):
            self.store.delete(file, **self.said)
        return "All memory cleared"

    def shown(self, error: Exception) -> str:
        """What a model is told of an error: of the machine it knows `/memories`, and no other path."""
        said = str(error)
        for folder in (self.store.path, self.store.shelf.state.path, self.memories.place.state):
            said = said.replace(folder, ROOT if folder == self.store.path else "the history of the memories")
        return said

    # The same as plain texts, for backends that number lines themselves

    def raw(self, path: str) -> str:
        """The text of a file."""
        return text_of(self._data(self._find_file(path)), path)

    def names(self) -> list[str]:
        """Every file, as the model knows it, the index first."""
        index = [INDEX] if self.store.index() else []
        return [*index, *(shown_name(file) for file in self.store.folder.files())]

    def entries(self, path: str) -> list[tuple[str, int]]:
        """What is in a folder, with sizes; folders end with a slash."""
        spot = self._find(path)
        if spot.file:
            raise NoSuchMemory(f"The path {path} is not a directory.")
        sizes = {file: stamp.size for file, stamp in self.store.folder.files().items()}
        if not spot.folder and (index := self.store.index()):
            sizes[INDEX] = len(index.encode())
        inside = {file[len(spot.folder) :]: size for file, size in sizes.items() if file.startswith(spot.folder)}
        return [(shown_name(name), size) for name, size in levels_of(inside, 1)]

    def replace(self, path: str, old: str, new: str, *, everywhere: bool) -> int:
        """Another text for one that stands in a file; how often it stood there."""
        spot, count = self._find_file(path), [0]

        def change(data: bytes) -> bytes:
            before = text_of(data, path)
            count[0] = before.count(old)
            if not everywhere or not count[0]:
                refuse_other_than_once(before, old, path)
            return self._checked(path, before, before.replace(old, new))

        self._made(self._amend(spot, change))
        return count[0]

    def write(self, path: str, text: str) -> None:
        """A file with this text, new or not."""
        try:
            said = self.create(path, text)
            self._made(said if self._waits else "")
        except MemoryExists:
            spot = self._find_file(path)
            self._made(self._amend(spot, lambda data: self._checked(path, text_of(data, path), text)))

    @staticmethod
    def _made(said: str) -> None:
        """Raise what the model is told if a change was only proposed."""
        if said:
            raise WriteRefused(said)

    # What a path means

    def _spot(self, path: str) -> Spot:
        if path.rstrip("/") == ROOT:
            return Spot(path)
        if not path.startswith(f"{ROOT}/"):
            raise BadName(f"Path must start with {ROOT}, got: {path}")
        rest = path[len(ROOT) + 1 :]
        name = rest.removesuffix("/")
        file = name if name.endswith(".md") else f"{name}.md"
        safe_file(file)
        safe_file(f"{name}/a.md" if name.count("/") < 7 else file)
        if same_name(file) == same_name(INDEX):
            file = INDEX
        return Spot(path, folder=f"{name}/") if rest != name else Spot(path, file)

    def _find(self, path: str, missing: str = "The path {path} does not exist. Please provide a valid path.") -> Spot:
        """What is there under a path: a folder before a file that is named without its `.md`."""
        spot = self._spot(path)
        folder = spot.folder or f"{path[len(ROOT) + 1 :]}/"
        if path.rstrip("/") == ROOT or self._has_folder(folder):
            return spot._replace(file="", folder="" if path.rstrip("/") == ROOT else folder)
        if not spot.file or not self._is_there(spot.file):
            raise NoSuchMemory(missing.format(path=path))
        return spot

    def _find_file(self, path: str) -> Spot:
        spot = self._find(path)
        if not spot.file:
            raise NoSuchMemory(f"The path {path} is not a file.")
        return spot

    def _exists(self, spot: Spot) -> bool:
        if not spot.file:
            return not spot.folder or self._has_folder(spot.folder)
        return self._is_there(spot.file) or self._has_folder(f"{spot.path[len(ROOT) + 1 :]}/")

    def _is_there(self, file: str) -> bool:
        return bool(self.store.index()) if file == INDEX else file in self.store.folder.files()

    def _has_folder(self, folder: str) -> bool:
        return any(file.startswith(folder) for file in self.store.folder.files())

    def _below(self, folder: str) -> list[str]:
        return [file for file in self.store.folder.files() if file.startswith(folder)]

    @staticmethod
    def _what(spot: Spot) -> str:
        return f"{INDEX}, the index of the other files," if spot.file else f"the {ROOT} directory"

    # Looking

    def _data(self, spot: Spot) -> bytes:
        try:
            return self.store.folder.read(spot.file).data
        except NoSuchMemory:
            said = f"The file {spot.path} no longer exists (may have been deleted or renamed concurrently)."
            raise NoSuchMemory(said) from None

    def _listing(self, spot: Spot) -> str:
        findings: list[Finding] = []
        sizes = {file: stamp.size for file, stamp in self.store.folder.files(findings).items()}
        if not spot.folder and (index := self.store.index()):
            sizes[INDEX] = len(index.encode())
        inside = {file[len(spot.folder) :]: size for file, size in sizes.items() if file.startswith(spot.folder)}
        top = spot.path.rstrip("/")
        head = f"Here're the files and directories up to 2 levels deep in {spot.path}, excluding hidden items:"
        rows = [f"{shown_size(size)}\t{top}/{shown_name(name)}" for name, size in levels_of(inside, LEVELS)]
        left = [f"Not shown: {finding.path}: {finding.message}" for finding in findings]
        return "\n".join([head, f"{shown_size(sum(inside.values()))}\t{spot.path}", *rows, *left])

    # Changing

    @property
    def _waits(self) -> bool:
        return self.memories.place.policy == "confirm"

    def _amend(self, spot: Spot, change: Callable[[bytes], bytes]) -> str:
        """Make a change; what the model is told if it was only proposed."""
        if self._waits:
            before = self._data(spot)
            return self._proposed("edit", spot.file, change(before).decode(), digest_of(before))
        for left in reversed(range(TRIES)):
            try:
                if spot.file == INDEX:
                    index = self.store.index()
                    self.store.write_index(change(index.encode()).decode(), expect=index, **self.said)
                else:
                    self.store.amend(spot.file, change, **self.said)
            except MemoryChanged:
                if not left:
                    raise
            except NoSuchMemory:
                return self._data(spot).decode()  # raises: it is gone by now
            else:
                break
        return ""

    def _checked(self, path: str, before: str, after: str) -> bytes:
        data = bytes_of(after)
        refuse_credentials(path, before, after)
        return data

    def _move(self, file: str, to: str) -> None:
        if self._waits:
            data = self.store.folder.read(file).data
            self._proposed("create", to, text_of(data, file))
            self._proposed("delete", file, "")
        else:
            self.store.move(file, to, **self.said)

    def _proposed(self, op: str, file: str, text: str, expect: str = "") -> str:
        if op == "delete":
            expect = digest_of(self.store.folder.read(file).data)
        session = self.said.get("session", "")
        self.memories.inbox.propose(op, file, text, expect=expect, session=session)
        return self._later("")

    def _later(self, done: str) -> str:
        if not self._waits:
            return done
        return "Nothing is changed yet: the change was proposed to the user, and waits to be confirmed."
