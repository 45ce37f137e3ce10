"""The index `MEMORY.md`: which lines are entries, how they follow the files, and how much of it the agent sees.

1. An entry is a list item whose first link leads to a Markdown file of the store: `- [Title](file.md) — hook`. Every
   other line is left alone.
2. A file without an entry gets one after the last entry: title and description, on one line under 150 characters.
3. An entry that reads as we would write it follows its file's description. One in other words (an agent's, or a
   person's) is left as it is.
4. The entry of a file that is known to be deleted goes with it; one of a file that never existed stays: the file may
   be on its way.
5. We write at most 1,000 entries and 256 KiB: an agent loads 200 lines. Beyond that, files get no entry of their own,
   and a last line of ours says how many they are. Lines that somebody else wrote stay, however many.
6. The agent sees what its own cut leaves: the dialect's limits of lines and of UTF-16 units.
7. An entry is long over 150 characters. A proposal shortens long ones, joins lists that blank lines pull apart, drops
   entries whose file does not exist and those beyond what we write; it never touches a line that is not an entry, and
   it only proposes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from urllib.parse import unquote

from foretold.dialects.registry import choose
from foretold.dialects.schema import IndexLimits
from foretold.instructions.text.markdown import scan
from foretold.instructions.text.memory_index import cut_index, units_of
from foretold.memory.note import Memory
from foretold.text.frontmatter import split, trim
from foretold.types import NamedTuple

MAX_LINE = 150
MOST_ENTRIES = 1000  #: that we write; five times what Claude Code loads (200 lines)
MOST_WRITTEN = 256 * 1024  #: bytes of an index to which we add entries; ten times what Claude Code loads (25,000 units)
_MORE = re.compile(r"- … and [\d,]+ more: foretold memory list\r?")
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
    total: int = 0  #: memories in the store afterwards
    is_cut: bool = False  #: whether some have no entry and are not in `put`, because there is no room for them


def update_index(text: str, update: Update) -> str:
    """An index that follows its files."""
    lines = text.split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    found = entries_of(text)
    gone: set[int] = set()
    for entry in found:
        file, line = update.moved.get(entry.file, entry.file), lines[entry.number]
        before, now = update.put.get(file, (None, None))
        if file in update.gone:
            gone.add(entry.number)
        elif before is not None and now is not None and line.rstrip() == entry_line(before):
            lines[entry.number] = entry_line(now) + ("\r" if line.endswith("\r") else "")
        elif file != entry.file:
            lines[entry.number] = line.replace(f"({entry.file})", f"({file})", 1)
    gone |= _find_repeated(lines, found, update)
    kept = {update.moved.get(entry.file, entry.file) for entry in found if entry.number not in gone}
    listed = {update.moved.get(entry.file, entry.file) for entry in found}
    fresh = [(file, memory) for file, (_, memory) in update.put.items() if file not in listed]
    new = [update.lines.get(file, entry_line(memory)) + end for file, memory in fresh]
    room = _room(text, len(kept), new)
    is_cut = update.is_cut or len(new) > room or has_more(text)
    more = max(0, update.total - len(kept) - min(room, len(new))) if is_cut else 0
    gone.update(number for number, line in enumerate(lines) if _MORE.fullmatch(line))
    last = [f"- … and {more:,} more: foretold memory list{end}"] if more else []
    return _join(lines, gone, found, new[:room] + last, end)


def _join(lines: list[str], gone: set[int], found: list[IndexEntry], new: list[str], end: str) -> str:
    """The lines that stay, with the new ones after the last entry, or at the end."""
    kept = [line for number, line in enumerate(lines) if number not in gone]
    if new and found:  # after the last entry
        last = found[-1].number
        at = last + 1 - sum(number <= last for number in gone)
        kept = [*kept[:at], *new, *(kept[at:] or [""])]
    elif new:  # at the end, after a blank line
        while kept and not kept[-1].strip():
            kept.pop()
        kept = [*kept, *([end] if kept else []), *new, ""]
    return "\n".join(kept)


def _room(text: str, count: int, new: list[str]) -> int:
    """How many of some new entries an index of so many takes."""
    if not new:
        return 0
    left, room = MOST_WRITTEN - len(text.encode("utf-8", "surrogateescape")), 0
    for line in new[: max(0, MOST_ENTRIES - count)]:
        left -= len(line.encode("utf-8", "surrogateescape")) + 1
        if left < 0:
            break
        room += 1
    return room


def has_more(text: str) -> bool:
    """Whether an index says that not every memory is listed."""
    return "more: foretold memory list" in text and any(_MORE.fullmatch(line) for line in text.split("\n"))


def _find_repeated(lines: list[str], found: list[IndexEntry], update: Update) -> set[int]:
    """Entries of ours whose file has another entry, in other words."""
    counts = Counter(entry.file for entry in found)
    return {
        entry.number
        for entry in found
        if counts[entry.file] > 1
        and entry.file in update.put
        and lines[entry.number].rstrip() == entry_line(update.put[entry.file][1])
        and any(lines[other.number] != lines[entry.number] for other in found if other.file == entry.file)
    }


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
        self.files = files
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
        lines = self.text.split("\n")
        entries = {entry.number for entry in self.entries}
        left_out = {entry.number for entry in self.dangling}
        there = [entry.number for entry in self.entries if entry.number not in left_out]
        left_out.update(there[MOST_ENTRIES:])
        for one, two in pairwise(number for number, line in enumerate(lines) if line.strip()):
            if one in entries and two in entries:
                left_out.update(range(one + 1, two))  # blank lines between two entries
        kept: list[str] = []
        for number, line in enumerate(lines):
            if number not in left_out:
                end = "\r" if line.endswith("\r") else ""
                kept.append(shorten_entry(line.removesuffix("\r")) + end if number in entries else line)
        text = "\n".join(kept).rstrip("\n")
        text = text + "\n" if text else ""
        total = len(there) if self.files is None else len(self.files)
        return update_index(text, Update({}, total=total, is_cut=True)) if there[MOST_ENTRIES:] else text


def limits_of(agent: str) -> IndexLimits:
    """The limits of an agent's index."""
    found = choose(agent).dialect.memory_index or choose(MODEL).dialect.memory_index
    assert found is not None
    return found
