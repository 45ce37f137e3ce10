"""The tools of an extraction: Read, Write, Edit, Glob and Grep, on the memory directories and on nothing else.

1. A call names a file by its whole path, or below the private directory. The path is taken as it is written: what does
   not begin with a memory directory, or has `..`, `~` or an odd character after it, is refused (`outside`), and the
   store itself follows no links.
2. Tools run here, not as the conversation's own do: the definitions are the same bytes, so that a provider's cache is
   hit, and what they may do is decided when they are called.
3. Grep searches for its pattern literally, `|` separates several: so no pattern of a model costs much time.
4. Every call has an answer, also an invalid one.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from foretold.errors import BadName, ForetoldError
from foretold.memory.extraction.writer import MemoryWriter, ToolAnswer
from foretold.memory.note import INDEX, Memory, safe_file
from foretold.memory.store.team import team_index
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foretold.memory.project import Memories

TOOLS = ("Read", "Write", "Edit", "Glob", "Grep")
NEEDED = ("Write", "Edit")  #: without which a conversation's own tools are of no use
MOST_LINES, MOST_TEXT = 200, 30_000


class MemoryTools:
    """Runs the calls of a model."""

    def __init__(self, memories: Memories, writer: MemoryWriter, *, team: bool = False) -> None:
        self.memories, self.writer = memories, writer
        self.folders = {memories.own.path: "private"}
        if team and memories.team is not None:
            self.folders[memories.team.path] = "team"

    def run(self, call: Mapping[str, object]) -> dict[str, object]:
        """Run a call; returns its result as a block."""
        given = call.get("input")
        try:
            answer = self._call(str(call.get("name", "")), given if isinstance(given, dict) else {})
        except ForetoldError as error:
            answer = ToolAnswer(str(error), failed=True)
        block: dict[str, object] = {"type": "tool_result", "tool_use_id": call.get("id", ""), "content": answer.text}
        return {**block, "is_error": True} if answer.failed else block

    @property
    def allowed(self) -> str:
        """What may be touched, as text."""
        return f"only files below {' and '.join(self.folders)} can be read and written here"

    def _call(self, name: str, given: Mapping[str, object]) -> ToolAnswer:
        searches: dict[str, Callable[[Mapping[str, object]], ToolAnswer]] = {"Glob": self._glob, "Grep": self._grep}
        if name in searches:
            return searches[name](given)
        tools: dict[str, Callable[[str, str, Mapping[str, object]], ToolAnswer]] = {
            "Read": self._read,
            "Write": self._write,
            "Edit": self._edit,
        }
        if name not in tools:
            return self.writer.refuse(name, "outside", f"{name or 'this'} cannot be used: {self.allowed}")
        place = self.place(given.get("file_path"))
        return place if isinstance(place, ToolAnswer) else tools[name](*place, given)

    def place(self, path: object) -> tuple[str, str] | ToolAnswer:
        """The scope and the file that a path names."""
        if not isinstance(path, str) or not path:
            return ToolAnswer(f"file_path is missing: {self.allowed}", failed=True)
        for folder, scope in sorted(self.folders.items(), key=lambda each: -len(each[0])):
            for root in (folder, os.path.realpath(folder)):
                if path.startswith(f"{root}/"):
                    return self._safe(scope, path[len(root) + 1 :], path)
        if path.startswith(("/", "~")):
            return self.writer.refuse(path, "outside", self.allowed)
        return self._safe("private", path, path)

    def _safe(self, scope: str, file: str, path: str) -> tuple[str, str] | ToolAnswer:
        try:
            safe_file(file)
        except BadName as error:
            return self.writer.refuse(path, "outside", f"{error}; {self.allowed}")
        return scope, file

    # Tools

    def _text(self, scope: str, file: str) -> str | None:
        if file == INDEX:
            team = self.memories.team if scope == "team" else None
            return team_index(team) if team is not None else self.memories.own.index()
        memory = self.writer.existing(scope, file)
        if memory is not None:
            self.writer.known[scope, file] = memory.digest
        return None if memory is None else memory.text

    def _read(self, scope: str, file: str, given: Mapping[str, object]) -> ToolAnswer:  # noqa: ARG002
        text = self._text(scope, file)
        if text is None:
            return ToolAnswer(f"{file} does not exist", failed=True)
        lines = text[:MOST_TEXT].split("\n")
        return ToolAnswer("\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1)))

    def _write(self, scope: str, file: str, given: Mapping[str, object]) -> ToolAnswer:
        content = given.get("content")
        if not isinstance(content, str):
            return ToolAnswer("content is missing", failed=True)
        return self.writer.write(scope, file, content)

    def _edit(self, scope: str, file: str, given: Mapping[str, object]) -> ToolAnswer:
        old, new = given.get("old_string"), given.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str) or not old or old == new:
            return ToolAnswer("old_string and new_string are required, and must differ", failed=True)
        if file == INDEX:
            return self.writer.write(scope, file, new)
        before = self.writer.existing(scope, file)
        if before is None:
            return ToolAnswer(f"{file} does not exist", failed=True)
        count = before.text.count(old)
        if count == 0:
            return ToolAnswer(f"old_string is not in {file}; read it again", failed=True)
        if count > 1 and given.get("replace_all") is not True:
            return ToolAnswer(f"old_string occurs {count} times in {file}; give more context", failed=True)
        return self.writer.write(scope, file, before.text.replace(old, new))

    def _notes(self) -> list[tuple[str, Memory]]:
        """Every memory that is visible here, with its whole path."""
        folders = {scope: folder for folder, scope in self.folders.items()}
        notes = [note for note in self.memories.memories() if note.scope in folders]
        return [(f"{folders[note.scope]}/{note.file}", note) for note in notes]

    def _glob(self, given: Mapping[str, object]) -> ToolAnswer:
        pattern = str(given.get("pattern", "*")).replace("**/", "*").replace("**", "*")
        found = [path for path, note in self._notes() if fnmatchcase(note.file, pattern) or fnmatchcase(path, pattern)]
        return ToolAnswer("\n".join(found[:MOST_LINES]) or "No files found")

    def _grep(self, given: Mapping[str, object]) -> ToolAnswer:
        wanted = [each.lower() for each in str(given.get("pattern", "")).split("|") if each.strip()]
        found = [
            f"{path}:{number}:{line}"
            for path, note in self._notes()
            for number, line in enumerate(note.text.split("\n"), 1)
            if any(each in line.lower() for each in wanted)
        ]
        return ToolAnswer("\n".join(found[:MOST_LINES])[:MOST_TEXT] or "No matches found")
