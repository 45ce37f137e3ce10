"""How much of the index the agent sees, and what to shorten.

1. What is seen is what the agent's own cut leaves: the dialect's limits of lines and of UTF-16 units.
2. An entry is long over 150 characters. A proposal shortens long ones, joins lists that blank lines pull apart, and
   drops entries whose file is not there; it never touches text that is not an entry, and it only proposes.
"""

from __future__ import annotations

from foretold.dialects.registry import choose
from foretold.dialects.schema import Index
from foretold.instructions.text.markdown import scan
from foretold.instructions.text.memory_index import cut_index, units_of
from foretold.memory.store.index_file import MAX_LINE, Line, entries_of, shortened
from foretold.text.frontmatter import split, trim
from foretold.types import NamedTuple

#: for agents that load no index: what Claude Code does is what memories are written for
MODEL = "claude-code"


class Long(NamedTuple):
    """An entry that takes more room than it should."""

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
        """Whether the agent loads only a part."""
        return self.seen_lines < self.lines or self.seen_units < self.units

    @property
    def long(self) -> list[Long]:
        """Entries over 150 characters, the longest first."""
        lines = self.text.split("\n")
        found = [Long(entry.number + 1, entry.file, len(lines[entry.number].rstrip("\r"))) for entry in self.entries]
        return sorted((each for each in found if each.length > MAX_LINE), key=lambda each: -each.length)

    def compacted(self) -> str:
        """A shorter index that says the same: a proposal."""
        dangling = {entry.number for entry in self.dangling}
        entries = {entry.number: entry for entry in self.entries}
        kept: list[str] = []
        for number, line in enumerate(self.text.split("\n")):
            is_idle = not line.strip() and _between(number, entries, self.text)
            if number not in dangling and not is_idle:
                end = "\r" if line.endswith("\r") else ""
                kept.append(shortened(line.removesuffix("\r")) + end if number in entries else line)
        text = "\n".join(kept).rstrip("\n")
        return text + "\n" if text else ""


def _between(number: int, entries: dict[int, Line], text: str) -> bool:
    """Whether a blank line stands between two entries."""
    lines = text.split("\n")
    before, after = number - 1, number + 1
    while before >= 0 and not lines[before].strip():
        before -= 1
    while after < len(lines) and not lines[after].strip():
        after += 1
    return before in entries and after in entries


def limits_of(agent: str) -> Index:
    """The limits of an agent's index."""
    found = choose(agent).dialect.memory_index or choose(MODEL).dialect.memory_index
    assert found is not None
    return found
