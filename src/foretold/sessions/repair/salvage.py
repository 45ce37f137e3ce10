"""What can be saved of a damaged line.

1. A line that is a JSON object is a record. Bytes that are not UTF-8 are read as U+FFFD, as Claude Code does; NUL
   bytes, which a power cut leaves, are removed.
2. Two records on one line (their newline was lost), and a record after the beginning of a torn one, are separated, as
   `jsonl.py` reads them. Claude Code reads one that begins a line, and no other.
3. JSON that is not an object (`null`, a number, a list) is not a record. What is left over is lost, and is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from foretold.sessions.formats.jsonl import JsonlLine, lines_of, rescue_records
from foretold.types import Finding, NamedTuple

_BOM = "\ufeff"
#: kind of damage -> code and message of its finding
DAMAGE = {
    "glued": ("record-glued", "records share a line; Claude Code reads the first, other agents none"),
    "torn": ("record-torn", "a record is incomplete"),
    "damaged": ("record-damaged", "a record is damaged, and nothing of it can be saved"),
    "null": ("record-strange", "the line is `null`: some versions refuse to resume the session"),
    "strange": ("record-strange", "JSON that is not a record; it is skipped"),
    "nul": ("record-nul", "NUL bytes before a record: the agent does not read it"),
    "not-utf8": ("not-utf8", "bytes that are not UTF-8 are read as U+FFFD"),
    "long": ("record-long", "a record is too long to be read"),
}


class Salvaged(NamedTuple):
    """What could be read of a line."""

    records: tuple[dict[str, object], ...]
    lost: int = 0  #: bytes that are not part of a record
    damage: str = ""  #: a key of `DAMAGE`; empty = the line is sound
    read: int = 0  #: how many of the records, from the first on, Claude Code reads


class SalvagedLine(NamedTuple):
    """A line of a file and what could be read of it."""

    line: JsonlLine
    saved: Salvaged


def salvage(data: bytes) -> Salvaged:
    """The records of a line, given without its end."""
    damage, reads_first = "", False
    if b"\0" in data:
        reads_first = any(place == 0 for place, _, _ in rescue_records(data))
        data, damage = data.replace(b"\0", b""), "nul"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text, damage = data.decode("utf-8", "replace"), damage or "not-utf8"
    if not text.strip():
        return Salvaged((), 0, damage)
    try:
        value = json.loads(text.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return _separate(data, is_read=damage != "nul" or reads_first)
    if isinstance(value, dict):
        return Salvaged((value,), 0, damage, int(damage != "nul" or reads_first))
    return Salvaged((), len(data), "null" if value is None else "strange")


def _separate(data: bytes, *, is_read: bool) -> Salvaged:
    """The records of a line that is not JSON."""
    found = list(rescue_records(data))
    records = tuple(record for _, record, _ in found)
    lost = len(data) if not records else max(0, len(data) - sum(size for _, _, size in found))
    damage = ("torn" if lost else "glued") if records else "damaged"
    return Salvaged(records, lost, damage, int(is_read and bool(found) and found[0][0] == 0))


def salvage_lines(path: str) -> Iterator[SalvagedLine]:
    """Every line of a file that is not blank, with what can be saved of it."""
    for line in lines_of(path):
        if line.is_long:
            yield SalvagedLine(line, Salvaged((), line.end - line.start, "long"))
        elif line.data.strip():
            saved = salvage(line.data)
            if not line.is_ended and saved.damage == "damaged":
                saved = saved._replace(damage="torn")
            yield SalvagedLine(line, saved)


def finding_of(path: str, found: SalvagedLine) -> Finding | None:
    """The finding about a line; None if it is sound."""
    if not found.saved.damage:
        return None
    code, message = DAMAGE[found.saved.damage]
    if found.saved.lost and found.saved.records:
        message += f"; {found.saved.lost:,} bytes of it are lost, what comes after them is saved"
    return Finding(path, found.line.number, code, message)
