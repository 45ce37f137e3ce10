"""`ReadState`: which files a model knows, as Claude Code tracks it, for anyone who builds an agent.

1. Per path as it is spelled (`.`, `..` and `~` resolved, links not): the text, the file's time, the range.
2. `read`, `write` and `edit` do what the agent's tools do, and answer what they answer. A failure is an `Outcome`.
3. `shell`, `mention`, `attached` and `inject` report other ways in which a file reaches the model.
4. `changed` returns the notices due before each request; `clear` belongs to a compaction, `clone` to a fork.
   (Subagents of Claude Code begin with an empty state; only forks begin with a clone.)
5. `resume` restores the state from a transcript. A Read counts (in older versions only without offset and limit) with
   the text of its result, without numbers and reminders, and the time of its record; a Write with the text that was
   written; an Edit with what is on the disk now. Failures, shells, mentions and subagents do not count.
6. `LocalDisk` never waits: a FIFO or a device is not opened for its content.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping

from foretold.dialects.claude_code.files import rules_of
from foretold.files.read_state.edit import edit_file, write_file
from foretold.files.read_state.encoded import decode_for_editing, decode_for_reading, is_wide
from foretold.files.read_state.matching import repair_text
from foretold.files.read_state.notice import Notice, changed_files
from foretold.files.read_state.reading import read_file
from foretold.files.read_state.values import KnownFile, Outcome, Recent
from foretold.sessions.formats.fields import list_at, object_at, parse_time, text_at
from foretold.storage.atomic import replace_file
from foretold.storage.kernel import KERNEL
from foretold.storage.tree import kind_of, read_regular
from foretold.text.frontmatter import trim
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
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
        disk: LocalDisk | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`version`: of Claude Code; empty: the newest known, with which most models need not read first.

        `repairs`: whether texts of the model are repaired as the agent does (`matching.py`). `count_tokens` bounds
        what a read shows; without it only bytes do.
        """
        self.cwd = os.path.abspath(cwd)
        self.rules = rules_of(version)
        self.model = model or self.rules.model
        self.home = os.fspath(home)
        self.repairs, self.count_tokens = repairs, count_tokens
        self.disk, self.clock = disk if disk is not None else LocalDisk(), clock
        self.entries: dict[str, KnownFile] = {}

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
        text = decode_for_reading(raw.encode("utf-8", "surrogatepass"), wide=False)
        self.know(path, KnownFile(text, self.disk.see(path).mtime, self.clock(), shown=same, partial=not same))

    def changed(self) -> list[Notice]:
        """Notices for the model about files that another program has changed; each once."""
        return changed_files(self)

    def clone(self) -> ReadState:
        """An independent state that begins with what is known here."""
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
        """Know what the agent knows when it resumes a conversation with these records."""
        self.entries.clear()
        calls: dict[str, tuple[str, Mapping[str, object]]] = {}
        for record in records:
            for block in () if record.get("isSidechain") else list_at(record.get("message"), "content"):
                if text_at(block, "type") == "tool_use":
                    calls[text_at(block, "id")] = text_at(block, "name"), object_at(block, "input")
                elif isinstance(block, dict) and block.get("type") == "tool_result" and not block.get("is_error"):
                    name, given = calls.get(text_at(block, "tool_use_id"), ("", {}))
                    time = round((parse_time(record.get("timestamp")) or 0) * 1000)
                    _learn(self, name, given, block.get("content"), time)

    def __contains__(self, path: str) -> bool:
        """Whether anything is known of a file, even a partial view."""
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
        """The same with the slash that was typed after it."""
        slash = given.strip().endswith("/") and len(given.strip()) > 1
        return self.path_of(given) + ("/" if slash else "")

    def know(self, path: str, entry: KnownFile) -> None:
        """Keep what is known of a file, as the last of all."""
        self.entries.pop(path, None)
        self.entries[path] = entry

    def forget(self, path: str) -> None:
        self.entries.pop(path, None)

    def missing(self, path: str) -> str:
        """The message about a file that is not there."""
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
        """Know what a shell has shown of a file; its path, empty if there is no such file."""
        path = os.path.normpath(os.path.join(base, read.path))
        seen = self.disk.see(path)
        if seen.kind != "file" or path in self.entries:
            return ""
        try:
            data = self.disk.read(path)
        except OSError:
            return ""
        sees_texts = self.rules.sees_texts
        text = decode_for_reading(data, wide=True) if sees_texts else data.decode("utf-8", "replace")
        lines = text.split("\n")
        is_whole = read.most is None
        if self.rules.covers and read.first == 1 and not read.from_end and read.most is not None:
            is_whole = read.most > len(lines)
        entry = KnownFile(text, seen.mtime, self.clock(), shown=is_whole and not read.searches and not is_wide(data))
        if not is_whole:
            first = max(len(lines) - (read.most or 0), 1) if read.from_end else read.first
            part = "\n".join(lines[first - 1 : first - 1 + (read.most or 0)])
            if sees_texts and not trim(part):
                return ""
            entry = entry._replace(content=part, offset=first, limit=read.most, whole=False)
        self.know(path, entry)
        return path


MOST = 1 << 30  #: bytes of a file that is read; Claude Code itself cannot hold a text above 512 MB


class PathState(NamedTuple):
    """What is at a path, links followed."""

    kind: str  #: file, folder, other, missing, under-a-file, unreadable
    mtime: int = 0  #: milliseconds
    size: int = 0
    said: str = ""


class LocalDisk:
    """The real file system. A test may pass another."""

    syncs = True  #: whether a file is synced before it takes its place
    kernel = KERNEL

    def see(self, path: str) -> PathState:
        try:
            about = os.stat(path)
        except NotADirectoryError:
            return PathState("under-a-file")
        except FileNotFoundError:
            return PathState("missing")
        except (OSError, ValueError) as error:
            return PathState("unreadable", said=getattr(error, "strerror", None) or str(error))
        return PathState(kind_of(about.st_mode), about.st_mtime_ns // 1_000_000, about.st_size)

    def read(self, path: str) -> bytes:
        """The bytes of a file. OSError if it is not one, or is too large to be held in memory."""
        return read_regular(path, MOST)

    def target(self, path: str) -> str:
        """Where a link leads; empty if it is not a link."""
        return os.path.realpath(path) if os.path.islink(path) else ""

    def names(self, folder: str) -> list[str]:
        """The names in a folder, in the file system's own order."""
        try:
            return os.listdir(folder)
        except OSError:
            return []

    def write(self, path: str, data: bytes) -> None:
        """Replace a file, or create it and the folders above it. OSError if that fails: the old one stays."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, data, mode=None, keep_mode=True, sync=self.syncs, kernel=self.kernel)


_REMINDER = lazy(r"<system-reminder>[\s\S]*?</system-reminder>")
_NUMBER = lazy(r"^\s*\d+\t", re.MULTILINE)


def _learn(state: ReadState, name: str, given: Mapping[str, object], result: object, time: int) -> None:
    if not isinstance(spelled := given.get("file_path"), str):
        return
    path, rules = state.path_of(spelled), state.rules
    if name == "Read" and isinstance(result, str) and not (rules.stub and result == rules.stub):
        offset, limit = given.get("offset"), given.get("limit")
        is_range = offset is not None or limit is not None
        if is_range and not rules.resumes_ranges:
            return
        whole = limit is None and offset in (None, 0, 1)
        first = offset if isinstance(offset, int) else 1
        count = limit if isinstance(limit, int) else None
        state.know(path, KnownFile(_content(result), time, time / 1000, first, count, whole, whole))
    elif name == "Write" and isinstance(content := given.get("content"), str):
        if state.repairs:
            content = repair_text(content, path, keeps_controls=rules.keeps_controls)
        state.know(path, KnownFile(content, time, time / 1000))
    elif name == "Edit" and (seen := state.disk.see(path)).kind == "file":
        try:
            text = decode_for_editing(state.disk.read(path)).text
        except OSError:
            return
        state.know(path, KnownFile(text, seen.mtime, time / 1000, shown=False))


def _content(result: str) -> str:
    """The text of a file, from the result of a Read."""
    return trim(_NUMBER.sub("", _REMINDER.sub("", result)))
