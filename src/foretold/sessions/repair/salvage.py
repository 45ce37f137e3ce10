"""What can be saved of a damaged line.

1. A line that is a JSON object is a record. Bytes that are not UTF-8 are read as U+FFFD, as Claude Code reads them; NUL
   bytes, which a power cut leaves, are taken out.
2. Two records on one line (their newline was lost), and a record behind the beginning of another that was torn, are
   taken apart, as `lines.py` reads them. Claude Code reads one that begins a line, and no other.
3. JSON that is no object (`null`, a number, a list) is no record. What is left over is lost, and is counted.
"""

from __future__ import annotations

import json

from foretold.sessions.formats.jsonl import Line, lines_of, rescued
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


_MARK = "\ufeff"


class Saved(NamedTuple):
    """What a line holds."""

    records: tuple[dict[str, object], ...]
    lost: int = 0  #: bytes that are no record
    why: str = ""  #: glued, torn, damaged, strange, null, nul, not-utf8, long; empty = the line is sound
    read: int = 0  #: how many of the records, from the first on, Claude Code reads


class Found(NamedTuple):
    """A line of a file and what was saved of it."""

    line: Line
    saved: Saved


def saved_of(data: bytes) -> Saved:
    """The records of a line without its end.

    >>> saved_of(b'{"type": 1}{"type": 2}')
    Saved(records=({'type': 1}, {'type': 2}), lost=0, why='glued', read=1)
    >>> saved_of(b'{"type": "x{"type": 2}')
    Saved(records=({'type': 2},), lost=11, why='torn', read=0)
    >>> saved_of(b"null").why, saved_of(b"[]").why
    ('null', 'strange')
    """
    why, reads_first = "", False
    if b"\0" in data:
        reads_first = any(place == 0 for place, _, _ in rescued(data))
        data, why = data.replace(b"\0", b""), "nul"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text, why = data.decode("utf-8", "replace"), why or "not-utf8"
    if not text.strip():
        return Saved((), 0, why)
    try:
        value = json.loads(text.removeprefix(_MARK))
    except (ValueError, RecursionError):
        return _apart(data, is_read=why != "nul" or reads_first)
    if isinstance(value, dict):
        return Saved((value,), 0, why, int(why != "nul" or reads_first))
    return Saved((), len(data), "null" if value is None else "strange")


def _apart(data: bytes, *, is_read: bool) -> Saved:
    """Records out of a line that is no JSON."""
    found = list(rescued(data))
    records = tuple(record for _, record, _ in found)
    lost = len(data) if not records else max(0, len(data) - sum(size for _, _, size in found))
    why = ("torn" if lost else "glued") if records else "damaged"
    return Saved(records, lost, why, int(is_read and bool(found) and found[0][0] == 0))


def saved_lines(path: str) -> Iterator[Found]:
    """Every line of a file that is not blank, with what can be saved of it."""
    for line in lines_of(path):
        if line.is_long:
            yield Found(line, Saved((), line.end - line.start, "long"))
        elif line.data.strip():
            saved = saved_of(line.data)
            if not line.is_ended and saved.why == "damaged":
                saved = saved._replace(why="torn")
            yield Found(line, saved)


_WHERE = ""  #: filled in with the file
SAID = {
    "glued": Finding(_WHERE, 0, "record-glued", "records share a line; Claude Code reads the first, other agents none"),
    "torn": Finding(_WHERE, 0, "record-torn", "a record is not whole"),
    "damaged": Finding(_WHERE, 0, "record-damaged", "a record is damaged, and nothing of it can be saved"),
    "null": Finding(_WHERE, 0, "record-strange", "the line is `null`: some versions refuse to resume the session"),
    "strange": Finding(_WHERE, 0, "record-strange", "JSON that is no record; it is passed over"),
    "nul": Finding(_WHERE, 0, "record-nul", "NUL bytes stand before a record, and the agent does not read it"),
    "not-utf8": Finding(_WHERE, 0, "not-utf8", "bytes that are not UTF-8 are read as U+FFFD"),
    "long": Finding(_WHERE, 0, "record-long", "a record is too long to be read"),
}


def told(path: str, found: Found) -> Finding | None:
    """The finding about a line; None if it is sound."""
    if not found.saved.why:
        return None
    finding = SAID[found.saved.why]._replace(path=path, line=found.line.number)
    if found.saved.lost and found.saved.records:
        rest = f"; {found.saved.lost:,} bytes of it are lost, what stands behind them is saved"
        return finding._replace(message=finding.message + rest)
    return finding
