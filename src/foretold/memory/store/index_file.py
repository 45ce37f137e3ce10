"""The index `MEMORY.md`: which lines are entries, how they follow the files, and how much of it the agent sees.

1. An entry is a list item whose first link leads to a Markdown file of the store: `- [Title](file.md) — hook`. Every
   other line is left alone.
2. A file without an entry gets one after the last entry: title and description, on one line under 150 characters.
3. An entry that reads as we would write it follows its file's description. One in other words (an agent's, or a
   person's) is left as it is.
4. The entry of a file that is known to be deleted goes with it; one of a file that never existed stays: the file may
   be on its way.
5. The agent sees what its own cut leaves: the dialect's limits of lines and of UTF-16 units.
6. An entry is long over 150 characters. A proposal shortens long ones, joins lists that blank lines pull apart, and
   drops entries whose file does not exist; it never touches a line that is not an entry, and it only proposes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from foretold.dialects.registry import choose
from foretold.dialects.schema import IndexLimits
from foretold.instructions.text.markdown import scan
from foretold.instructions.text.memory_index import cut_index, units_of
from foretold.memory.note import Memory
from foretold.text.frontmatter import split, trim
from foretold.types import NamedTuple

MAX_LINE = 150
_ITEM = re.compile(r"[ \t]*[-*+][ \t]+\[((?:[^\[\]\\]|\\.)*)\]\((?:<([^<>\n]*)>|([^()\s]*))\)")


class IndexEntry(NamedTuple):
    """A line of the index that is an entry."""

    number: int  #: from 0
    title: str
    file: str


def entries_of(text: str) -> list[IndexEntry]:
    """The entries of an index."""
    found = []
    for number, line in enumerate(text.split("\n")):
        item = _ITEM.match(line)
        file = item and _file_of(item[2] or item[3])
        if item and file:
            found.append(IndexEntry(number, item[1], file))
    return found


def _file_of(target: str) -> str:
    """The file of the store that a link leads to; empty if it leads elsewhere."""
    file = unquote(target.partition("#")[0]).removeprefix("./")
    inside = file.endswith(".md") and not file.startswith(("/", "~")) and "://" not in file
    return file if inside and ".." not in file.split("/") else ""


def entry_line(memory: Memory) -> str:
    """The entry of a memory, as we write it."""
    title = memory.title.replace("[", "(").replace("]", ")") or memory.file
    target = memory.file if not re.search(r"[\s()<>%]", memory.file) else f"<{memory.file}>"
    line = f"- [{_cut(title, 60)}]({target})"
    hook = " ".join(memory.description.split())
    return f"{line} — {_cut(hook, max(40, MAX_LINE - len(line) - 3))}" if hook else line


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    return (text[: width - 1].rpartition(" ")[0] or text[: width - 1]) + "…"


def line_of(text: str, file: str) -> str:
    """The line of an index that is the entry of a file; empty if there is none."""
    lines = text.split("\n")
    return next((lines[entry.number].rstrip("\r") for entry in entries_of(text) if entry.file == file), "")


class Update(NamedTuple):
    """What an index should say about some files."""

    put: Mapping[str, tuple[Memory | None, Memory]]  #: file -> the memory before, if there was one, and now
    gone: frozenset[str] = frozenset()
    moved: Mapping[str, str] = {}  #: old file -> new file
    lines: Mapping[str, str] = {}  #: file -> its line, if not the usual one


def update_index(text: str, update: Update) -> str:
    """An index that follows its files."""
    lines = text.split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    found = entries_of(text)
    drop: set[int] = set()
    for entry in found:
        file = update.moved.get(entry.file, entry.file)
        if file in update.gone:
            drop.add(entry.number)
        elif file in update.put:
            lines[entry.number] = _update_line(lines[entry.number], entry, *update.put[file])
        elif file != entry.file:
            lines[entry.number] = lines[entry.number].replace(f"({entry.file})", f"({file})", 1)
    drop |= _find_repeated(lines, found, update)
    listed = {update.moved.get(entry.file, entry.file) for entry in found}
    new = [
        update.lines.get(file, entry_line(memory)) + end
        for file, (_, memory) in update.put.items()
        if file not in listed
    ]
    at = max((entry.number for entry in found), default=-1) + 1
    kept = _with_new(lines, new, at, end)
    return "\n".join(line for number, line in kept if number not in drop)


def _find_repeated(lines: list[str], found: list[IndexEntry], update: Update) -> set[int]:
    """Entries of ours whose file has another entry, in other words."""
    files = [entry.file for entry in found]
    return {
        entry.number
        for entry in found
        if files.count(entry.file) > 1
        and entry.file in update.put
        and lines[entry.number].rstrip() == entry_line(update.put[entry.file][1])
        and any(lines[other.number] != lines[entry.number] for other in found if other.file == entry.file)
    }


def _update_line(line: str, entry: IndexEntry, before: Memory | None, now: Memory) -> str:
    """The line of an entry after its memory has changed."""
    end = "\r" if line.endswith("\r") else ""
    if before is not None and line.rstrip() == entry_line(before):
        return entry_line(now) + end
    if entry.file != now.file:
        return line.replace(f"({entry.file})", f"({now.file})", 1)
    return line


def _with_new(lines: list[str], new: list[str], at: int, end: str) -> list[tuple[int, str]]:
    """The lines with their numbers; new ones have -1. After the last entry, else at the end after a blank line."""
    numbered = list(enumerate(lines))
    if not new:
        return numbered
    added = [(-1, line) for line in new]
    if at:
        tail = numbered[at:] or [(-1, "")]
        return [*numbered[:at], *added, *tail]
    while numbered and not numbered[-1][1].strip():
        numbered.pop()
    return [*numbered, *([(-1, end)] if numbered else []), *added, (-1, "")]


def shorten_entry(line: str) -> str:
    """An entry's line, cut to 150 characters at the end of the hook."""
    item = _ITEM.match(line)
    if item is None or len(line) <= MAX_LINE:
        return line
    return line[: item.end()] + _cut(line[item.end() :], max(40, MAX_LINE - item.end()))


#: whose limits count for agents that load no index: memories are written for Claude Code
MODEL = "claude-code"


class LongEntry(NamedTuple):
    """An entry over 150 characters."""

    line: int  #: of the file, from 1
    file: str
    length: int


class Budget:
    """The index measured against the agent's limits."""

    def __init__(self, text: str, agent: str = MODEL, files: frozenset[str] | None = None) -> None:
        self.text = text
        self.limits = limits_of(agent)
        self.shown = trim(scan(split(text, after_bom=choose(agent).dialect.after_bom)[1]).text)
        cut = cut_index(self.shown, self.limits)
        self.lines = self.shown.count("\n") + 1 if self.shown else 0
        self.units = units_of(self.shown)
        self.seen_lines = self.lines - cut.lost_lines
        self.seen_units = self.units - cut.lost_units
        self.cut = [entry for entry in entries_of(self.shown) if entry.number >= self.seen_lines]
        self.entries = entries_of(text)
        self.dangling = [entry for entry in self.entries if files is not None and entry.file not in files]
        self.unlisted = sorted((files or frozenset()) - {entry.file for entry in self.entries})

    @property
    def is_over(self) -> bool:
        """Whether the agent loads only a part of it."""
        return self.seen_lines < self.lines or self.seen_units < self.units

    @property
    def long(self) -> list[LongEntry]:
        """Entries over 150 characters, the longest first."""
        lines = self.text.split("\n")
        found = [
            LongEntry(entry.number + 1, entry.file, len(lines[entry.number].rstrip("\r"))) for entry in self.entries
        ]
        return sorted((each for each in found if each.length > MAX_LINE), key=lambda each: -each.length)

    def compact(self) -> str:
        """A shorter index with the same content: a proposal."""
        dangling = {entry.number for entry in self.dangling}
        entries = {entry.number: entry for entry in self.entries}
        kept: list[str] = []
        for number, line in enumerate(self.text.split("\n")):
            is_idle = not line.strip() and _between(number, entries, self.text)
            if number not in dangling and not is_idle:
                end = "\r" if line.endswith("\r") else ""
                kept.append(shorten_entry(line.removesuffix("\r")) + end if number in entries else line)
        text = "\n".join(kept).rstrip("\n")
        return text + "\n" if text else ""


def _between(number: int, entries: dict[int, IndexEntry], text: str) -> bool:
    """Whether a blank line is between two entries."""
    lines = text.split("\n")
    before, after = number - 1, number + 1
    while before >= 0 and not lines[before].strip():
        before -= 1
    while after < len(lines) and not lines[after].strip():
        after += 1
    return before in entries and after in entries


def limits_of(agent: str) -> IndexLimits:
    """The limits of an agent's index."""
    found = choose(agent).dialect.memory_index or choose(MODEL).dialect.memory_index
    assert found is not None
    return found
