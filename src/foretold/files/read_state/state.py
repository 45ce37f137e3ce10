"""`ReadState`: which files a model knows, kept as Claude Code keeps it, for whoever builds an agent.

1. Per path as it is spelled (`.`, `..` and `~` resolved, links not): the text, the file's time, the range.
2. `read`, `write` and `edit` do what the agent's tools do, and say what they say. What goes wrong is an `Outcome`.
3. `shell`, `mention`, `attached` and `inject` tell of other ways by which a file comes before the model.
4. `changed` gives what the model is to be told before each request; `clear` belongs to a compaction, `clone` to a fork.
   (Subagents of Claude Code begin with an empty state; only forks begin with a clone.)
"""

from __future__ import annotations

import os
import time

from foretold.dialects.claude_code.files import rules_of
from foretold.files.disk import Disk
from foretold.files.read_state.edit import edit_file, write_file
from foretold.files.read_state.encoded import for_reading, is_wide
from foretold.files.read_state.entries import Entry, Recent
from foretold.files.read_state.notice import Notice, changed_files
from foretold.files.read_state.outcome import Outcome
from foretold.files.read_state.reading import read_file
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from foretold.instructions.discover.shell_reads import ShellRead


class ReadState:
    """What a model knows of the files below a folder.

    >>> import tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> with open(os.path.join(folder, "a.py"), "w", encoding="utf-8") as file:
    ...     _ = file.write("x = 1\\n")
    >>> state = ReadState(folder, version="2.1.197")
    >>> state.edit("a.py", "1", "2").text
    '<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>'
    >>> state.read("a.py").text
    '1\\tx = 1\\n2\\t'
    >>> state.edit("a.py", "1", "2").kind
    'updated'
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] = ".",
        *,
        version: str = "2.1.197",
        model: str = "",
        home: str | os.PathLike[str] = "",
        repairs: bool = True,
        count_tokens: Callable[[str], int] | None = None,
        disk: Disk | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`version`: of Claude Code; empty: the newest that was asked, with which most models need not read before.

        `repairs`: whether texts of the model are put right as the agent does (`matching.py`). `count_tokens` bounds
        what a read shows; without it only bytes do.
        """
        self.cwd = os.path.abspath(cwd)
        self.rules = rules_of(version)
        self.model = model or self.rules.model
        self.home = os.fspath(home)
        self.repairs, self.count_tokens = repairs, count_tokens
        self.disk, self.clock = disk if disk is not None else Disk(), clock
        self.entries: dict[str, Entry] = {}

    @property
    def must_read(self) -> bool:
        """Whether a file must be read before it is changed."""
        return any(part in self.model for part in self.rules.must_read)

    def read(self, path: str, offset: int | None = None, limit: int | None = None) -> Outcome:
        """Read a file, or lines of it."""
        return read_file(self, path, offset, limit, may_stub=True)

    def write(self, path: str, content: str) -> Outcome:
        """Write a whole file, with the folders above it."""
        return write_file(self, path, content)

    def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> Outcome:
        """Replace a text of a file."""
        return edit_file(self, path, old, new, replace_all=replace_all)

    def shell(self, command: str, *, succeeded: bool = True, output: str | None = None, cwd: str = "") -> list[str]:
        """A shell has run a command; the files that are known because of it. The command is not run.

        What fails or prints nothing shows nothing, and what is known already stays as it is known.
        """
        from foretold.instructions.discover.shell_reads import files_read

        is_blank = output is not None and not (trim(output) if self.rules.sees_texts else output)
        found = files_read(command) if succeeded and not is_blank else []
        base = os.path.join(self.cwd, cwd)
        return [path for read in found if (path := self._view(read, base))]

    def mention(self, path: str, first: int | None = None, last: int | None = None) -> Outcome:
        """A file that the user has mentioned, or lines of it: it counts as read."""
        limit = None if first is None else (last or first) - first + 1
        return read_file(self, path, first, limit, may_stub=False)

    def attached(self, path: str) -> Outcome:
        """A file that was attached again after a compaction: it counts as read."""
        return read_file(self, path, None, None, may_stub=False, quiet=True)

    def inject(self, path: str, raw: str, *, shown: str | None = None) -> None:
        """An instruction file that was put before the model, with its text on the disk and the text that was shown.

        Where the two differ it is a partial view: the model is told when it changes, but must still read it.
        """
        path = self.path_of(path)
        same = shown == raw
        text = for_reading(raw.encode("utf-8", "surrogatepass"), wide=False)
        self.know(path, Entry(text, self.disk.see(path).mtime, self.clock(), shown=same, partial=not same))

    def changed(self) -> list[Notice]:
        """What the model is to be told now about files that somebody else has changed; each once."""
        return changed_files(self)

    def clone(self) -> ReadState:
        """A state of its own that begins with what is known here."""
        other = ReadState.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.entries = dict(self.entries)
        return other

    def clear(self) -> None:
        """Forget everything, as a compaction does."""
        self.entries.clear()

    def recent(self) -> list[Recent]:
        """What is known, the last first: what a compaction chooses from before `clear`."""
        return [
            Recent(path, entry.content, entry.mtime, entry.time, not entry.whole)
            for path, entry in reversed(self.entries.items())
        ]

    def resume(self, records: Iterable[Mapping[str, object]]) -> None:
        """Know what the agent knows when it takes up a conversation that has these records."""
        from foretold.files.read_state.resumed import resume_from

        resume_from(self, records)

    def __contains__(self, path: str) -> bool:
        """Whether anything is known of a file, be it a partial view."""
        return self.path_of(path) in self.entries

    def is_read(self, path: str) -> bool:
        """Whether a file counts as read."""
        entry = self.entries.get(self.path_of(path))
        return entry is not None and not entry.partial

    def path_of(self, given: str) -> str:
        """A path as it is known by."""
        given = given.strip()
        if given == "~" or given.startswith("~/"):
            given = (self.home or os.path.expanduser("~")) + given[1:]
        return os.path.normpath(os.path.join(self.cwd, given))

    def spelled(self, given: str) -> str:
        """The same with the slash that was typed behind it."""
        slash = given.strip().endswith("/") and len(given.strip()) > 1
        return self.path_of(given) + ("/" if slash else "")

    def know(self, path: str, entry: Entry) -> None:
        """Keep what is known of a file, as the last of all."""
        self.entries.pop(path, None)
        self.entries[path] = entry

    def forget(self, path: str) -> None:
        self.entries.pop(path, None)

    def missing(self, path: str) -> str:
        """What is said of a file that is not there."""
        said = f"File does not exist. Note: your current working directory is {self.cwd}."
        folder, name = os.path.split(path)
        stem = os.path.splitext(name)[0]
        above = os.path.dirname(self.cwd).rstrip("/") + "/"
        inside = os.path.join(self.cwd, path.removeprefix(above))
        if inside != path and not path.startswith(self.cwd + "/") and self.disk.see(inside).kind == "file":
            return f"{said} Did you mean {inside}?"
        for other in self.disk.names(folder):
            if other != name and os.path.splitext(other)[0] == stem:
                return f"{said} Did you mean {other}?"
        return said

    def _view(self, read: ShellRead, base: str) -> str:
        """Know what a shell has shown of a file; its path, empty if there is none."""
        path = os.path.normpath(os.path.join(base, read.path))
        seen = self.disk.see(path)
        if seen.kind != "file" or path in self.entries:
            return ""
        try:
            data = self.disk.read(path)
        except OSError:
            return ""
        sees_texts = self.rules.sees_texts
        text = for_reading(data, wide=True) if sees_texts else data.decode("utf-8", "replace")
        lines = text.split("\n")
        is_whole = read.most is None
        if self.rules.covers and read.first == 1 and not read.from_end and read.most is not None:
            is_whole = read.most > len(lines)
        entry = Entry(text, seen.mtime, self.clock(), shown=is_whole and not read.searches and not is_wide(data))
        if not is_whole:
            first = max(len(lines) - (read.most or 0), 1) if read.from_end else read.first
            part = "\n".join(lines[first - 1 : first - 1 + (read.most or 0)])
            if sees_texts and not trim(part):
                return ""
            entry = entry._replace(content=part, offset=first, limit=read.most, whole=False)
        self.know(path, entry)
        return path
