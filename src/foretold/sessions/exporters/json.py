"""A session as JSON (`foretold.export/1`, docs/formats/json.md): one document, a message a line."""

from __future__ import annotations

from collections.abc import Iterator

from foretold.sessions.exporters.formatting import format_json
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.secrets.redactor import Redactor
    from foretold.sessions.exporters.export import Choice
    from foretold.sessions.model import Message, Part, StoredSession


def render_page(
    stored: StoredSession, messages: Iterator[Message], _: Choice, redactor: Redactor | None
) -> Iterator[str]:
    """The pieces of the document."""
    yield '{"schema": "foretold.export/1",\n "session": ' + format_json(dict(stored._asdict())) + ',\n "messages": ['
    for number, message in enumerate(messages):
        yield (",\n" if number else "\n") + format_json({**message._asdict(), "parts": list(map(_part, message.parts))})
    found = redactor.found.items() if redactor else ()
    rows = [{"kind": one.kind, "fingerprint": one.fingerprint, "times": times} for one, times in found]
    yield '\n],\n "redacted": ' + format_json(rows if redactor else None) + "}\n"


def _part(part: Part) -> dict[str, object]:
    """A part without the fields that say nothing."""
    fields = {name: value for name, value in part._asdict().items() if value not in ("", None, False) and name != "raw"}
    return {**fields, "raw": part.raw} if part.kind == "other" else fields
