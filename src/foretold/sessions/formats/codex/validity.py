"""Why Codex refuses a rollout, found while its lines go by; and the records of one that it does not refuse.

1. Codex reads no byte of a file if one of it is no UTF-8 (also a tail that is torn within a character), if a byte order
   mark stands before it, or if the first record does not tell about the session (`session_meta`).
2. In a newer file (`history_mode: paginated`) the last record must have its number (`ordinal`).
3. A copy begins with the first `session_meta` that can be read; if there is none, with one of our own. Records that
   lost their number get the next one.

Recorded on 0.166.0.
"""

from __future__ import annotations

from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.formats.codex.records import unwrapped
from foretold.sessions.repair.salvage import Found
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, object]
    Rows = Iterator[tuple[Found, Json]]

_MARK = b"\xef\xbb\xbf"


class Rollout:
    """What Codex looks at before it resumes a file."""

    def __init__(self, head: bytes) -> None:
        self.first: Json | None = None
        self.last: Json = {}
        self.is_marked = head.startswith(_MARK)
        self.not_utf8 = 0  #: the first line with such a byte

    def add(self, found: Found) -> None:
        """Learn a line."""
        if not self.not_utf8 and not _is_utf8(found.line.data):
            self.not_utf8 = found.line.number
        if found.saved.why in ("", "not-utf8"):  # of a line that two records share, Codex reads none
            for record in found.saved.records:
                self.first = record if self.first is None else self.first
                self.last = record

    def refused(self) -> str:
        """Why Codex does not resume it; empty if it does."""
        if self.first is None or unwrapped(self.first)[0] != "session_meta":
            return "the first record does not tell about the session (session_meta)"
        if self.is_marked:
            return "a byte order mark stands before the first record"
        if self.not_utf8:
            return f"a byte of line {self.not_utf8:,} is no UTF-8, and Codex then reads nothing of the file"
        if _is_newer(self.first) and not isinstance(self.last.get("ordinal"), int):
            return "the last record has no number (ordinal)"
        return ""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_newer(record: Json) -> bool:
    return text_at(record.get("payload"), "history_mode") == "paginated"


def acceptable(rows: Rows, name: str, folder: str) -> Iterator[tuple[Found | None, Json]]:
    """The records of a rollout that Codex resumes."""
    waiting: list[tuple[Found, Json]] = []
    for row in rows:
        if unwrapped(row[1])[0] == "session_meta":
            yield from _numbered(row, waiting, rows)
            return
        waiting.append(row)
    made = _about_session(name, folder, waiting)
    yield None, made
    yield from waiting


def _numbered(meta: tuple[Found, Json], waiting: list[tuple[Found, Json]], rows: Rows) -> Rows:
    is_newer, number = _is_newer(meta[1]), -1
    for source in ((meta,), waiting, rows):
        for found, record in source:
            given = record.get("ordinal")
            if is_newer and (not isinstance(given, int) or (waiting and given <= number)):
                record = {**record, "ordinal": number + 1}
                given = number + 1
            number = given if isinstance(given, int) else number
            yield found, record


def _about_session(name: str, folder: str, rows: list[tuple[Found, Json]]) -> Json:
    time = next((text_at(record, "timestamp") for _, record in rows), "") or "1970-01-01T00:00:00.000Z"
    payload = {
        "id": name,
        "timestamp": time,
        "cwd": folder or "/",
        "originator": "foretold",
        "cli_version": "0.166.0",
        "source": "cli",
    }
    return {"timestamp": time, "type": "session_meta", "payload": payload}
