"""Which tool a result is of, where only its own record was read.

The call stands before its result, nearly always a few records before. It is looked for backwards, by its id, in the
bytes of the file; only the record that holds the id is parsed. Further back than `FAR` nothing is looked for.
"""

from __future__ import annotations

from foretold.sessions.formats.readers import reader_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.sessions.model import Message, Part, StoredSession

STEP = 256 * 1024
FAR = 4 * 1024 * 1024


def with_tools(stored: StoredSession, message: Message) -> Message:
    """A message whose results say of which tool they are."""
    if not stored.path.endswith(".jsonl"):
        return message
    parts = tuple(_named(stored, message, part) for part in message.parts)
    return message._replace(parts=parts)


def _named(stored: StoredSession, message: Message, part: Part) -> Part:
    if part.kind != "result" or part.tool or not part.id:
        return part
    for start in _lines_with(stored.path, part.id.encode("utf-8", "replace"), message.start):
        before = next(reader_of(stored.agent).read_messages(stored, start), None)
        for call in before.parts if before is not None and before.start == start else ():
            if call.kind == "call" and call.id == part.id:
                return part._replace(tool=call.tool)
    return part


def _lines_with(path: str, name: bytes, end: int) -> Iterator[int]:
    """Where the lines before a byte begin that hold a name, from the last to the first."""
    try:
        with open(path, "rb") as file:
            data, start, upto = b"", end, end
            while start > 0 and end - start < FAR:
                step = min(STEP, start)
                start -= step
                file.seek(start)
                data = file.read(step) + data[: upto - start - step]
                while (at := data.rfind(name, 0, upto - start)) >= 0:
                    line = data.rfind(b"\n", 0, at) + 1
                    if line == 0 and start > 0:
                        break  # it begins before what has been read
                    yield start + line
                    upto = start + line
    except OSError:
        return
