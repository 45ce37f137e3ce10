"""The tools of an extraction: Read, Write, Edit, Glob and Grep, on the memory directories and on nothing else.

1. A call names a file by its whole path, or below the private directory. The path is taken as it is written: what does
   not begin with a memory directory, or has `..`, `~` or an odd character after it, is refused (`outside`), and the
   store itself follows no links.
2. Tools run here, not as the conversation's own do: the definitions are the same bytes, so that a provider's cache is
   hit, and what they may do is decided when they are called.
3. Grep searches for its pattern literally, `|` separates several: so no pattern of a model costs much time.
4. With `into`, a new private memory that names no folder goes into that one.
5. Every call has an answer, also an invalid one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase

from foretold.errors import BadName, ForetoldError
from foretold.memory.extraction.writer import MemoryWriter
from foretold.memory.note import INDEX, safe_file
from foretold.memory.store.team import team_index
from foretold.storage.names import same_name
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.project import Memories

TOOLS = ("Read", "Write", "Edit", "Glob", "Grep")
NEEDED = ("Write", "Edit")  #: without which a conversation's own tools are of no use
MOST_LINES, MOST_TEXT = 200, 30_000


class MemoryTools:
    """Runs the calls of a model."""

    def __init__(self, memories: Memories, writer: MemoryWriter, *, team: bool = False, into: str = "") -> None:
        self.memories, self.writer, self.into = memories, writer, into
        self.folders = {memories.own.path: "private"}
        if team and memories.team is not None:
            self.folders[memories.team.path] = "team"

    def run(self, call: Mapping[str, object]) -> dict[str, object]:
        """Run a call; returns its result as a block."""
        given = call.get("input")
        block: dict[str, object] = {"type": "tool_result", "tool_use_id": call.get("id", "")}
        try:
            return {**block, "content": self._call(str(call.get("name", "")), given if isinstance(given, dict) else {})}
        except ForetoldError as error:
            return {**block, "content": str(error), "is_error": True}

    @property
    def allowed(self) -> str:
        """What may be touched, as text."""
        return f"only files below {' and '.join(self.folders)} can be read and written here"

    def _call(self, name: str, given: Mapping[str, object]) -> str:
        if name in ("Glob", "Grep"):
            return self._search(name, str(given.get("pattern", "*" if name == "Glob" else "")))
        if name not in TOOLS:
            raise self.writer.refuse(name, "outside", f"{name or 'this'} cannot be used: {self.allowed}")
        place, content = self.place(given.get("file_path")), given.get("content")
        if name == "Read":
            return self._read(*place)
        if name == "Edit":
            return self._edit(*place, given)
        if not isinstance(content, str):
            raise ForetoldError("content is missing")
        return self.writer.write(*place, content)

    def place(self, path: object) -> tuple[str, str]:
        """The scope and the file that a path names."""
        if not isinstance(path, str) or not path:
            raise ForetoldError(f"file_path is missing: {self.allowed}")
        known = {root: scope for folder, scope in self.folders.items() for root in (folder, os.path.realpath(folder))}
        root = max((root for root in known if path.startswith(f"{root}/")), key=len, default="")
        if not root and path.startswith(("/", "~")):
            raise self.writer.refuse(path, "outside", self.allowed)
        file = path[len(root) + 1 :] if root else path
        try:
            safe_file(file)
        except BadName as error:
            raise self.writer.refuse(path, "outside", f"{error}; {self.allowed}") from None
        scope = known.get(root, "private")
        if self.into and scope == "private" and "/" not in file and same_name(file) != same_name(INDEX):
            file = file if self.writer.existing(scope, file) else f"{self.into}/{file}"
        return scope, file

    # Tools

    def _read(self, scope: str, file: str) -> str:
        if file == INDEX:
            team = self.memories.team if scope == "team" else None
            text = team_index(team) if team is not None else self.memories.own.index()
        else:
            memory = self.writer.existing(scope, file)
            if memory is None:
                raise ForetoldError(f"{file} does not exist")
            self.writer.known[scope, file], text = memory.digest, memory.text
        lines = text[:MOST_TEXT].split("\n")
        return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))

    def _edit(self, scope: str, file: str, given: Mapping[str, object]) -> str:
        old, new = given.get("old_string"), given.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str) or not old or old == new:
            raise ForetoldError("old_string and new_string are required, and must differ")
        if file == INDEX:
            return self.writer.write(scope, file, new)
        before = self.writer.existing(scope, file)
        if before is None:
            raise ForetoldError(f"{file} does not exist")
        count = before.text.count(old)
        if count == 0:
            raise ForetoldError(f"old_string is not in {file}; read it again")
        if count > 1 and given.get("replace_all") is not True:
            raise ForetoldError(f"old_string occurs {count} times in {file}; give more context")
        return self.writer.write(scope, file, before.text.replace(old, new))

    def _search(self, name: str, pattern: str) -> str:
        """The paths (Glob) or the lines (Grep) of every memory that is visible here."""
        folders = {scope: folder for folder, scope in self.folders.items()}
        notes = [note for note in self.memories.memories() if note.scope in folders]
        named = [(f"{folders[note.scope]}/{note.file}", note) for note in notes]
        if name == "Glob":
            glob = pattern.replace("**/", "*").replace("**", "*")
            found = [path for path, note in named if fnmatchcase(note.file, glob) or fnmatchcase(path, glob)]
            return "\n".join(found[:MOST_LINES]) or "No files found"
        wanted = [each.lower() for each in pattern.split("|") if each.strip()]
        found = [
            f"{path}:{number}:{line}"
            for path, note in named
            for number, line in enumerate(note.text.split("\n"), 1)
            if any(each in line.lower() for each in wanted)
        ]
        return "\n".join(found[:MOST_LINES])[:MOST_TEXT] or "No matches found"
