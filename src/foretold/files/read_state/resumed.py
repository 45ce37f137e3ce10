r"""What is known of files after a conversation is taken up again, from the records of its transcript.

1. A Read without offset and limit counts (in newer versions any), with the text of its result: numbers and reminders
   are taken away, and white space at both ends. Its time is that of the record.
2. A Write counts with the text that was written, and the time of the record.
3. An Edit counts with what is on the disk now.
4. What failed does not count, nor do shells, mentions and subagents.
"""

from __future__ import annotations

import re

from foretold.files.read_state.encoded import for_editing
from foretold.files.read_state.entries import Entry
from foretold.files.read_state.matching import repaired
from foretold.text.frontmatter import trim
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from foretold.files.read_state.state import ReadState

_REMINDER = lazy(r"<system-reminder>[\s\S]*?</system-reminder>")
_NUMBER = lazy(r"^\s*\d+\t", re.MULTILINE)


def resume_from(state: ReadState, records: Iterable[Mapping[str, object]]) -> None:
    """Forget everything, and learn what the records tell."""
    state.entries.clear()
    calls: dict[str, tuple[str, Mapping[str, object]]] = {}
    for record in records:
        if record.get("isSidechain"):
            continue
        for block in _blocks(record):
            if block.get("type") == "tool_use" and isinstance(given := block.get("input"), dict):
                calls[str(block.get("id"))] = (str(block.get("name")), given)
            elif block.get("type") == "tool_result" and not block.get("is_error"):
                name, given = calls.get(str(block.get("tool_use_id")), ("", {}))
                _learn(state, name, given, block.get("content"), _time_of(record))


def _blocks(record: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return (block for block in content if isinstance(block, dict)) if isinstance(content, list) else iter(())


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
        state.know(path, Entry(_content(result), time, time / 1000, first, count, whole, whole))
    elif name == "Write" and isinstance(content := given.get("content"), str):
        if state.repairs:
            content = repaired(content, path, keeps_controls=rules.keeps_controls)
        state.know(path, Entry(content, time, time / 1000))
    elif name == "Edit" and (seen := state.disk.see(path)).kind == "file":
        try:
            text = for_editing(state.disk.read(path)).text
        except OSError:
            return
        state.know(path, Entry(text, seen.mtime, time / 1000, shown=False))


def _content(result: str) -> str:
    r"""The text of a file, from what Read has said of it.

    >>> _content("1\ta\n2\t b\n3\t\n\n<system-reminder>x</system-reminder>")
    'a\n b'
    """
    return trim(_NUMBER.sub("", _REMINDER.sub("", result)))


def _time_of(record: Mapping[str, object]) -> int:
    """The milliseconds of a record; 0 if it does not say."""
    from datetime import datetime

    try:
        return round(datetime.fromisoformat(str(record.get("timestamp")).replace("Z", "+00:00")).timestamp() * 1000)
    except ValueError:
        return 0
