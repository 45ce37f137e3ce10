"""The six commands of a model's memory tool, on a store: view, create, str_replace, insert, delete, rename.

1. The model's `/memories` is the store's own folder, and nothing leads out of it: a path is `/memories` or begins with
   `/memories/`, each part is a name that is safe everywhere, and the store follows no link.
2. The store keeps Markdown. A name without `.md` is stored with it (`todo.txt` as `todo.txt.md`); both names mean the
   file, and listings show the name without it where that has an extension itself. What the model writes is stored byte
   for byte.
3. A folder exists while a file is in it. `MEMORY.md` is the index: it can be viewed and edited, not created or removed.
4. A change is computed from the file's content under the lock, so no insertion of another process is lost; each is in
   the history, and a deletion can be undone.
5. What looks like a credential is refused, unless the file had it before. Under the policy `confirm` a change goes to
   the inbox, and the model reads that it waits.
6. Texts and formats are those of the tool in Anthropic's package, which models know.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from foretold.errors import BadName, MemoryChanged, MemoryExists, NoSuchMemory, WriteRefused
from foretold.memory.note import INDEX, safe_file
from foretold.secrets.forms import credentials_in
from foretold.storage.digest import digest_of
from foretold.storage.names import same_name
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.project import Memories
    from foretold.memory.store.journal import ChangeOrigin


ROOT = "/memories"
TRIES = 20  #: at a file that a program without our lock keeps changing
LEVELS = 2
WIDTH = 6  #: of line numbers
SIZES = "BKMG"
MISSING = "The path {path} does not exist"
WAITS = "Nothing is changed yet: the change was proposed to the user, and waits to be confirmed."


class MemoryPath(NamedTuple):
    """A path of the model: `file` in the store, or the folder `folder`, with `/` at its end unless it is the top."""

    path: str
    file: str = ""
    folder: str = ""


class MemoryFiles:
    """The files that a model sees under `/memories`. Every method returns the text for the model, or raises one."""

    def __init__(self, memories: Memories, *, session: str = "") -> None:
        self.memories = memories
        self.store = memories.own
        self.said: ChangeOrigin = {"by": "agent", "session": session} if session else {"by": "agent"}

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """A file with line numbers, or the content of a folder."""
        spot = self._find(path)
        if not spot.file:
            return self._listing(spot)
        lines = text_of(self._data(spot), path).split("\n")
        first, last = shown_range(view_range, len(lines), path)
        head = f"Here's the content of {path} with line numbers:"
        return "\n".join([head, *numbered(lines, first, last)])

    def create(self, path: str, file_text: str) -> str:
        """Create a file with exactly this text."""
        spot = self._parse_path(path)
        if not spot.file or self._below(spot.file.removesuffix(".md") + "/") or self._has_file(spot.file):
            raise MemoryExists(f"File {path} already exists")
        data = bytes_of(file_text)
        refuse_credentials(path, "", f"{path}\n{file_text}")
        if self._waits:
            return self._propose("create", spot.file, file_text)
        try:
            self.store.put(spot.file, data, **self.said)
        except NoSuchMemory:
            raise BadName(f"The path {path} leads through a file or a link.") from None
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace a text that occurs in a file once."""
        said, before, after = self._replace(path, old_str, new_str)
        line, rows = before[: before.find(old_str)].count("\n") + 1, after.split("\n")
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return said or "\n".join([head, *numbered(rows, max(1, line - 2), min(len(rows), line + 2))])

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Insert lines after a line; 0 is the top."""

        def change(before: str) -> str:
            lines = before.removesuffix("\n").split("\n") if before else []
            if not 0 <= insert_line <= len(lines):
                said = f"Invalid `insert_line` parameter: {insert_line}."
                raise WriteRefused(f"{said} It should be within the range [0, {len(lines)}].")
            lines.insert(insert_line, insert_text.rstrip("\n"))
            return "\n".join(lines) + "\n"

        return self._amend(path, change)[0] or f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Delete a file, or all files of a folder. They stay in the history."""
        spot = self._find_movable(path, "delete")
        for file in [spot.file] if spot.file else self._below(spot.folder):
            if self._waits:
                self._propose("delete", file, "")
            else:
                self.store.delete(file, **self.said)
        return WAITS if self._waits else f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Rename a file or a folder."""
        old, new = self._find_movable(old_path, "rename"), self._parse_path(new_path)
        if self._exists(new) or (not old.file and (new.file + "/").startswith(old.folder)):
            raise MemoryExists(f"The destination {new_path} already exists")
        if old.file:
            moves = {old.file: new.file}
        else:
            into = new_path[len(ROOT) + 1 :].rstrip("/") + "/"
            moves = {file: into + file[len(old.folder) :] for file in self._below(old.folder)}
        refuse_credentials(new_path, old_path, new_path)
        for file, to in moves.items():
            if self._waits:
                self._propose("create", to, text_of(self.store.folder.read(file).data, file))
                self._propose("delete", file, "")
            else:
                self.store.move(file, to, **self.said)
        return WAITS if self._waits else f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        """Delete all files. They stay in the history."""
        for file in self._below(""):
            self.store.delete(file, **self.said)
        return "All memory cleared"

    def describe_error(self, error: Exception) -> str:
        """An error as the model reads it: it names `/memories`, and no other path of the machine."""
        said = str(error)
        for folder in (self.store.path, self.store.state, self.memories.place.state):
            said = said.replace(folder, ROOT if folder == self.store.path else "the history of the memories")
        return said

    # Plain texts, for backends that number lines themselves

    def raw(self, path: str) -> str:
        """The text of a file."""
        return text_of(self._data(self._find_file(path)), path)

    def names(self) -> list[str]:
        """Every file, as the model knows it, the index first."""
        index = [INDEX] if self.store.index() else []
        return [*index, *(shown_name(file) for file in self.store.folder.files())]

    def entries(self, path: str) -> list[tuple[str, int]]:
        """The content of a folder, with sizes; folders end with a slash."""
        spot = self._find(path)
        if spot.file:
            raise NoSuchMemory(f"The path {path} is not a directory.")
        return [(shown_name(name), size) for name, size in levels_of(self._sizes(spot), 1)]

    def replace(self, path: str, old: str, new: str, *, everywhere: bool) -> int:
        """Replace a text in a file; returns how often it occurred."""
        said, before, _ = self._replace(path, old, new, everywhere=everywhere)
        self._demand_done(said)
        return before.count(old)

    def write(self, path: str, text: str) -> None:
        """Write a file, new or not."""
        try:
            said = self.create(path, text)
        except MemoryExists:
            said = self._amend(path, lambda _: text)[0]
        self._demand_done(said)

    @staticmethod
    def _demand_done(said: str) -> None:
        """Raise the text for the model if a change was only proposed."""
        if said == WAITS:
            raise WriteRefused(said)

    # Paths

    def _parse_path(self, path: str) -> MemoryPath:
        if path.rstrip("/") == ROOT:
            return MemoryPath(path)
        if not path.startswith(f"{ROOT}/"):
            raise BadName(f"Path must start with {ROOT}, got: {path}")
        rest = path[len(ROOT) + 1 :]
        name = rest.removesuffix("/")
        file = name if name.endswith(".md") else f"{name}.md"
        safe_file(file)
        safe_file(f"{name}/a.md" if name.count("/") < 7 else file)
        if same_name(file) == same_name(INDEX):
            file = INDEX
        return MemoryPath(path, folder=f"{name}/") if rest != name else MemoryPath(path, file)

    def _find(
        self, path: str, missing: str = "The path {path} does not exist. Please provide a valid path."
    ) -> MemoryPath:
        """The file or folder of a path: a folder before a file that is named without its `.md`."""
        spot = self._parse_path(path)
        folder = spot.folder or f"{path[len(ROOT) + 1 :]}/"
        if path.rstrip("/") == ROOT or self._below(folder):
            return spot._replace(file="", folder="" if path.rstrip("/") == ROOT else folder)
        if not spot.file or not self._has_file(spot.file):
            raise NoSuchMemory(missing.format(path=path))
        return spot

    def _find_file(self, path: str) -> MemoryPath:
        spot = self._find(path)
        if not spot.file:
            raise NoSuchMemory(f"The path {path} is not a file.")
        return spot

    def _find_movable(self, path: str, verb: str) -> MemoryPath:
        spot = self._find(path, MISSING)
        if spot.file == INDEX or path.rstrip("/") == ROOT:
            what = f"{INDEX}, the index of the other files," if spot.file else f"the {ROOT} directory"
            raise WriteRefused(f"Cannot {verb} {what} itself")
        return spot

    def _exists(self, spot: MemoryPath) -> bool:
        if not spot.file:
            return not spot.folder or bool(self._below(spot.folder))
        return self._has_file(spot.file) or bool(self._below(f"{spot.path[len(ROOT) + 1 :]}/"))

    def _has_file(self, file: str) -> bool:
        return bool(self.store.index()) if file == INDEX else file in self.store.folder.files()

    def _below(self, folder: str) -> list[str]:
        return [file for file in self.store.folder.files() if file.startswith(folder)]

    # Reading

    def _data(self, spot: MemoryPath) -> bytes:
        try:
            return self.store.folder.read(spot.file).data
        except NoSuchMemory:
            said = f"The file {spot.path} no longer exists (may have been deleted or renamed concurrently)."
            raise NoSuchMemory(said) from None

    def _sizes(self, spot: MemoryPath, findings: list[Finding] | None = None) -> dict[str, int]:
        """The files below a folder, by their names from there on."""
        sizes = {file: stamp.size for file, stamp in self.store.folder.files(findings).items()}
        if not spot.folder and (index := self.store.index()):
            sizes[INDEX] = len(index.encode())
        return {file[len(spot.folder) :]: size for file, size in sizes.items() if file.startswith(spot.folder)}

    def _listing(self, spot: MemoryPath) -> str:
        findings: list[Finding] = []
        inside = self._sizes(spot, findings)
        top = spot.path.rstrip("/")
        head = f"Here're the files and directories up to 2 levels deep in {spot.path}, excluding hidden items:"
        rows = [f"{shown_size(size)}\t{top}/{shown_name(name)}" for name, size in levels_of(inside, LEVELS)]
        left = [f"Not shown: {finding.path}: {finding.message}" for finding in findings]
        return "\n".join([head, f"{shown_size(sum(inside.values()))}\t{spot.path}", *rows, *left])

    # Changing

    @property
    def _waits(self) -> bool:
        return self.memories.place.policy == "confirm"

    def _replace(self, path: str, old: str, new: str, *, everywhere: bool = False) -> tuple[str, str, str]:
        def change(before: str) -> str:
            if not everywhere or old not in before:
                refuse_other_than_once(before, old, path)
            return before.replace(old, new)

        return self._amend(path, change)

    def _amend(self, path: str, edit: Callable[[str], str]) -> tuple[str, str, str]:
        """Change the text of a file; the text for the model if that was only proposed, and those before and after."""
        spot = self._find_file(path)
        before = after = ""

        def change(data: bytes) -> bytes:
            nonlocal before, after
            before = text_of(data, path)
            made = bytes_of(after := edit(before))
            refuse_credentials(path, before, after)
            return made

        if self._waits:
            data = self._data(spot)
            return self._propose("edit", spot.file, change(data).decode(), digest_of(data)), before, after
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
                self._data(spot)  # raises: it is gone by now
            else:
                break
        return "", before, after

    def _propose(self, op: str, file: str, text: str, expect: str = "") -> str:
        if op == "delete":
            expect = digest_of(self.store.folder.read(file).data)
        self.memories.inbox.propose(op, file, text, expect=expect, session=self.said.get("session", ""))
        return WAITS


def shown_name(name: str) -> str:
    """A name as the model sees it.

    >>> shown_name("todo.txt.md"), shown_name("todo.md"), shown_name("a/"), shown_name("v1.2 notes.md")
    ('todo.txt', 'todo.md', 'a/', 'v1.2 notes.md')
    """
    stem = name.removesuffix(".md")
    ending = os.path.splitext(stem)[1][1:]
    return stem if stem != name and ending.isalnum() and ending.isascii() and len(ending) <= 5 else name


def levels_of(sizes: dict[str, int], levels: int, prefix: str = "") -> list[tuple[str, int]]:
    """Files and folders with their sizes, by name, each folder followed by what is in it.

    >>> levels_of({"b.md": 1, "a/x.md": 2, "a/y/z.md": 3}, 2)
    [('a/', 5), ('a/x.md', 2), ('a/y/', 3), ('b.md', 1)]
    """
    found: list[tuple[str, int]] = []
    for name in sorted({file.partition("/")[0] for file in sizes}):
        below = {file[len(name) + 1 :]: size for file, size in sizes.items() if file.startswith(f"{name}/")}
        if below:
            found.append((f"{prefix}{name}/", sum(below.values())))
            found += levels_of(below, levels - 1, f"{prefix}{name}/") if levels > 1 else []
        if name in sizes:
            found.append((prefix + name, sizes[name]))
    return found


def shown_size(size: int) -> str:
    """A size as the tool of Anthropic's package writes it."""
    step = min(max(size.bit_length() - 1, 0) // 10, len(SIZES) - 1)
    number = size / 1024**step
    return f"{int(number) if number == int(number) else f'{number:.1f}'}{SIZES[step]}"


def numbered(lines: list[str], first: int, last: int) -> list[str]:
    return [f"{number:>{WIDTH}}\t{lines[number - 1]}" for number in range(first, last + 1)]


def shown_range(wanted: Sequence[int] | None, lines: int, path: str) -> tuple[int, int]:
    if not wanted:
        return 1, lines
    good = len(wanted) == 2 and all(isinstance(number, int) for number in wanted)
    first, last = (max(1, wanted[0]), lines if wanted[1] == -1 else min(wanted[1], lines)) if good else (1, 0)
    if last < first:
        said = f"Invalid `view_range` parameter: {list(wanted)}. {path} has {lines} lines;"
        raise BadName(f"{said} give the first and the last line, -1 for the end.")
    return first, last


def text_of(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise WriteRefused(f"The file {path} is not UTF-8: a person has to fix it.") from None


def bytes_of(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise WriteRefused("The text has half of a surrogate pair, which cannot be stored.") from None


def refuse_other_than_once(text: str, old: str, path: str) -> None:
    if not old:
        raise WriteRefused("No replacement was performed, old_str is empty.")
    count = text.count(old)
    if not count:
        raise WriteRefused(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        lines, at = [], text.find(old)
        while at >= 0:
            lines.append(str(text.count("\n", 0, at) + 1))
            at = text.find(old, at + 1)
        said = f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {', '.join(lines)}."
        raise WriteRefused(f"{said} Please ensure it is unique")


def refuse_credentials(path: str, before: str, after: str) -> None:
    found = credentials_in(after)
    known = {each.fingerprint for each in credentials_in(before)} if found else set()
    for each in found:
        if each.fingerprint not in known:
            said = f"{path} is not written: it would hold what looks like a credential ({each.kind})"
            raise WriteRefused(f"{said}. Leave it out, and say where it is kept instead.")
