"""What can be saved of a damaged line.

1. A line that is a JSON object is a record. Bytes that are not UTF-8 are read as U+FFFD, as Claude Code reads them; NUL
   bytes, which a power cut leaves, are taken out.
2. Two records on one line (their newline was lost), and a record behind the beginning of another that was torn, are
   taken apart: an object counts if it begins where another ends, or if it goes to the end of the line.
3. JSON that is no object (`null`, a number, a list) is no record. What is left over is lost, and is counted.
"""

from __future__ import annotations

import json

from headnote.sessions.lines import Line, lines_of
from headnote.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_TRIES = 200  #: places of one line at which a record is looked for
#: how records of agents begin: where a line is torn, a whole one is looked for there first
STARTS = ('{"parentUuid"', '{"type"', '{"timestamp"', '{"id"', '{"$set"', '{"sessionId"')
_DECODER = json.JSONDecoder()


class Saved(NamedTuple):
    """What a line holds."""

    records: tuple[dict[str, object], ...]
    lost: int = 0  #: bytes that are no record
    why: str = ""  #: glued, torn, damaged, strange, nul, not-utf8, long; empty = the line is sound


class Found(NamedTuple):
    """A line of a file and what was saved of it."""

    line: Line
    saved: Saved


def saved_of(data: bytes) -> Saved:
    """The records of a line without its end.

    >>> saved_of(b'{"a": 1}{"b": 2}')
    Saved(records=({'a': 1}, {'b': 2}), lost=0, why='glued')
    >>> saved_of(b'{"a": "x{"b": 2}')
    Saved(records=({'b': 2},), lost=8, why='torn')
    >>> saved_of(b"null").why
    'strange'
    """
    why = ""
    if b"\0" in data:
        data, why = data.replace(b"\0", b""), "nul"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text, why = data.decode("utf-8", "replace"), why or "not-utf8"
    if not text.strip():
        return Saved((), 0, why)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _apart(text, len(data))
    return Saved((value,), 0, why) if isinstance(value, dict) else Saved((), len(data), "strange")


def _apart(text: str, size: int) -> Saved:
    """Records out of a line that is no JSON."""
    records: list[dict[str, object]] = []
    at, used, is_torn = 0, 0, False
    for _ in range(MOST_TRIES):
        at = _next(text, at) if is_torn else text.find("{", at)
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            is_torn, at = True, at + 1
            continue
        if isinstance(value, dict) and (not is_torn or not text[end:].strip() or _begins(text, end)):
            records.append(value)
            used += len(text[at:end].encode("utf-8", "surrogatepass"))
            is_torn = False
            at = end
        else:
            at += 1
    lost = max(0, size - used) if records else size
    return Saved(tuple(records), lost, ("torn" if lost else "glued") if records else "damaged")


def _next(text: str, at: int) -> int:
    """Where the next record may begin."""
    found = [place for start in STARTS if (place := text.find(start, at)) >= 0]
    return min(found) if found else text.find("{", at)


def _begins(text: str, at: int) -> bool:
    return text[at : at + 1] == "{"


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
    "glued": Finding(_WHERE, 0, "record-glued", "records stand on one line, and the agent reads none of them"),
    "torn": Finding(_WHERE, 0, "record-torn", "a record is not whole"),
    "damaged": Finding(_WHERE, 0, "record-damaged", "a record is damaged, and nothing of it can be saved"),
    "strange": Finding(_WHERE, 0, "record-strange", "JSON that is no record: the agent may refuse to resume"),
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
