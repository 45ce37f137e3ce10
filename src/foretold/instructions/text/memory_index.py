"""The memory index: the text of `MEMORY.md`, cut to the size the agent loads.

1. Over the limit of lines, the first lines stay; over the limit of UTF-16 units, the text is cut at the last line
   end within it, or hard if there is none.
2. A warning follows that says how large the whole text was and, in later versions, what was cut.
3. Later versions also clean the text: line ends become LF, and what cannot be seen, or could pose as the agent's own
   tags, is taken out or escaped.
"""

from __future__ import annotations

from foretold.dialects.schema import IndexLimits
from foretold.instructions.render.escape import escape_reserved
from foretold.text.frontmatter import trim
from foretold.types import NamedTuple

EXCERPT = 80


class Cut(NamedTuple):
    """What is left of an index, and what was lost."""

    text: str
    lost_lines: int
    lost_units: int


def units_of(text: str) -> int:
    """UTF-16 code units, which is how the agent counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_index(text: str, index: IndexLimits) -> Cut:
    """A trimmed index text within the limits, followed by the agent's warning if it was cut."""
    lines = text.split("\n")
    units = units_of(text)
    kept = "\n".join(lines[: index.lines])
    if units_of(kept) > index.units:
        kept = _cut_units(kept, index.units)
    shown = _clean(kept) if index.cleans else kept
    if len(lines) <= index.lines and units <= index.units:
        return Cut(shown, 0, 0)
    warning = index.warning.format(size=_size(len(lines), units, index), cut=_lost(lines, kept, index))
    return Cut(f"{shown}\n\n{warning}", len(lines) - kept.count("\n") - 1, units - units_of(kept))


def _cut_units(text: str, limit: int) -> str:
    units = text.encode("utf-16-le", "surrogatepass")
    at = units.rfind(b"\n\0", 0, limit * 2 + 2)
    while at % 2 and at > 0:  # not a line end, but the halves of two other units
        at = units.rfind(b"\n\0", 0, at + 1)
    return units[: at if at > 0 else limit * 2].decode("utf-16-le", "replace")


def _size(lines: int, units: int, index: IndexLimits) -> str:
    """The size as the agent writes it. # claude-code-memory: memory_index"""
    if units <= index.units:
        return f"{lines} lines (limit: {index.lines})"
    if lines > index.lines:
        return f"{lines} lines and {_kilobytes(units)}"
    return f"{_kilobytes(units)} (limit: {_kilobytes(index.units)}) — index entries are too long"


def _kilobytes(units: int) -> str:
    """A size as the agent writes it."""
    number, unit = (units / 1024, "KB") if units < 1024 * 1024 else (units / 1024 / 1024, "MB")
    return f"{number:.1f}".removesuffix(".0") + unit


def _lost(lines: list[str], kept: str, index: IndexLimits) -> str:
    """What was cut, as later versions say it. # claude-code@2.1.325: cli-automem-long"""
    first = kept.count("\n") + 1
    if first == 1 and kept != lines[0]:
        return f"everything after the first {index.units} characters of line 1 was cut off"
    excerpt = trim(_clean(lines[first])) if first < len(lines) else ""
    if units_of(excerpt) > EXCERPT:
        head = excerpt.encode("utf-16-le", "surrogatepass")[: (EXCERPT - 1) * 2]
        excerpt = head.decode("utf-16-le", "ignore") + "…"
    said = f"{len(lines) - first} of {len(lines)} lines were cut off, starting at line {first + 1}"
    return f'{said} ("{excerpt}")' if excerpt else said


#: characters that are dropped although they are not control or format characters
_IGNORABLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u3164\uffa0") | frozenset(
    map(chr, range(0xFE00, 0xFE0E))
)


def _clean(text: str) -> str:
    """Text with plain line ends, without what cannot be seen, in which no reserved tag is left."""
    if "\r" in text or not text.isascii():
        for end in ("\r\n", "\r", "\u2028", "\u2029"):
            text = text.replace(end, "\n")
    if not (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()):
        text = "".join(char for char in text if _is_seen(char))
    return trim(escape_reserved(text))


def _is_seen(char: str) -> bool:
    if char in "\n\t\u200c\u200d\ufe0e\ufe0f":
        return True
    if char in _IGNORABLE or 0xE0000 <= ord(char) <= 0xE0FFF:
        return False
    import unicodedata  # only for text that is not plain

    return unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cn", "Cs")


def cut_middle(text: str, limit: int) -> str:
    """A text with its middle left out, if it has more bytes than the limit. # codex: codex-079"""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    half = limit // 2
    head, tail = data[:half], data[-half:]
    tokens = (len(data) - 2 * half + 3) // 4
    return f"{head.decode('utf-8', 'ignore')}…{tokens} tokens truncated…{tail.decode('utf-8', 'ignore')}"
