"""Why Codex refuses a rollout, and how to make one acceptable.

1. Codex refuses a file if a byte of it is not UTF-8 (including a tail that is torn within a character), if it begins
   with a byte order mark, or if its first record is not a `session_meta`.
2. In a newer file (`history_mode: paginated`) the last record must have an `ordinal`.
3. A repaired copy begins with the first `session_meta` that can be read; if there is none, one is made. Records without
   an `ordinal` get the next one.

Recorded on 0.166.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from foretold.sessions.formats.codex.records import unwrapped
from foretold.sessions.formats.fields import text_at
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.sessions.repair.salvage import SalvagedLine

    Json = dict[str, object]
    Rows = Iterator[tuple[SalvagedLine, Json]]

_MARK = b"\xef\xbb\xbf"


class RolloutCheck:
    """What Codex checks before it resumes a file."""

    def __init__(self, head: bytes) -> None:
        self.first: Json | None = None
        self.last: Json = {}
        self.is_marked = head.startswith(_MARK)
        self.not_utf8 = 0  #: the first line with such a byte

    def add(self, found: SalvagedLine) -> None:
        """Check a line."""
        if not self.not_utf8 and found.line.data.decode("utf-8", "ignore").encode() != found.line.data:
            self.not_utf8 = found.line.number
        if found.saved.damage in ("", "not-utf8"):  # of a line that two records share, Codex reads none
            for record in found.saved.records:
                self.first = record if self.first is None else self.first
                self.last = record

    def refusal(self) -> str:
        """Why Codex does not resume it; empty if it does."""
        if self.first is None or unwrapped(self.first)[0] != "session_meta":
            return "the first record is not a session_meta"
        if self.is_marked:
            return "it begins with a byte order mark"
        if self.not_utf8:
            return f"a byte of line {self.not_utf8:,} is not UTF-8, so Codex reads nothing of the file"
        if _is_newer(self.first) and not isinstance(self.last.get("ordinal"), int):
            return "the last record has no ordinal"
        return ""


def _is_newer(record: Json) -> bool:
    return text_at(record.get("payload"), "history_mode") == "paginated"


def make_acceptable(rows: Rows, name: str, folder: str) -> Iterator[tuple[SalvagedLine | None, Json]]:
    """The records of a rollout, so that Codex resumes it."""
    waiting: list[tuple[SalvagedLine, Json]] = []
    for row in rows:
        if unwrapped(row[1])[0] == "session_meta":
            break
        waiting.append(row)
    else:
        yield None, _make_meta(name, folder, waiting)
        yield from waiting
        return
    is_newer, number = _is_newer(row[1]), -1
    for found, record in chain((row,), waiting, rows):
        given = record.get("ordinal")
        if is_newer and (not isinstance(given, int) or (waiting and given <= number)):
            given = number + 1
            record = {**record, "ordinal": given}
        number = given if isinstance(given, int) else number
        yield found, record


def _make_meta(name: str, folder: str, rows: list[tuple[SalvagedLine, Json]]) -> Json:
    time = next((text_at(record, "timestamp") for _, record in rows), "") or "1970-01-01T00:00:00.000Z"
    about = {"originator": "foretold", "cli_version": "0.166.0", "source": "cli"}
    payload = {"id": name, "timestamp": time, "cwd": folder or "/", **about}
    return {"timestamp": time, "type": "session_meta", "payload": payload}
