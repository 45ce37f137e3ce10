"""A session as something to read or to give away: Markdown, HTML or JSON, piece by piece.

1. Credentials are taken out of everything, unless the caller says otherwise; what was taken out is told at the end.
2. What was said is there whole, with the calls of tools and what they said. Attachments, notices and what subagents
   said in between are left out unless `full`; `brief` leaves out tools too, and names the files that were changed: for
   another agent that goes on with the work.
3. Hostile content cannot leave its place: no tag, no fence and no heading of a session is one of the page.
4. Pieces are given as they are made: a session of any size needs the memory of one message.
"""

from __future__ import annotations

from headnote.errors import HeadnoteError
from headnote.sessions.digest import DEEP
from headnote.sessions.listing import messages_of
from headnote.sessions.model import Stored
from headnote.sessions.redact import Redactor
from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headnote.sessions.model import Message, Part
    from headnote.types import Finding

#: form -> the module of `sessions/` that writes it
FORMS = {"markdown": "page_markdown", "html": "page_html", "json": "page_json"}
SAID = ("", "summary")


class Choice(NamedTuple):
    """What an export has in it."""

    full: bool = False
    brief: bool = False
    thinking: bool = False


USUAL = Choice()


def export(
    stored: Stored,
    form: str = "markdown",
    *,
    redactor: Redactor | None,
    choice: Choice = USUAL,
    findings: list[Finding] | None = None,
) -> Iterator[str]:
    """The pieces of a page. `redactor=None` leaves credentials in."""
    if form not in FORMS:
        raise HeadnoteError(f"there is no form {form!r}; there are: {', '.join(FORMS)}")
    module = __import__(f"headnote.sessions.{FORMS[form]}", fromlist=["page"])
    messages = _messages(stored, choice, redactor, findings if findings is not None else [])
    pieces: Iterator[str] = module.page(_clean(stored, redactor), messages, choice, redactor)
    return pieces


def _clean(stored: Stored, redactor: Redactor | None) -> Stored:
    """A session whose card has no credentials in it either."""
    return Stored(*map(redactor.value, stored)) if redactor else stored  # type: ignore[arg-type]


def _messages(stored: Stored, choice: Choice, redactor: Redactor | None, findings: list[Finding]) -> Iterator[Message]:
    for message in messages_of(stored, findings):
        if not choice.full and message.kind not in SAID:
            continue
        parts = tuple(_part(part, redactor) for part in message.parts if is_wanted(part, choice))
        if parts and redactor:
            name, role, model, parent = map(redactor.text, (message.id, message.role, message.model, message.parent))
            message = message._replace(id=name, role=role, model=model, parent=parent)
        if parts:
            yield message._replace(parts=parts)


def is_wanted(part: Part, choice: Choice) -> bool:
    """Whether a part belongs in an export."""
    if part.kind in ("text", "image"):
        return part.kind == "image" or bool(part.text.strip())
    if part.kind == "thinking":
        return bool(part.text) and (choice.full or choice.thinking)
    if part.kind in ("call", "result"):
        return part.kind == "call" or not choice.brief
    return choice.full


def _part(part: Part, redactor: Redactor | None) -> Part:
    if redactor is None:
        return part
    try:
        given = redactor.value(part.input) if part.input else part.input
        raw = redactor.value(part.raw) if part.kind == "other" else None
    except RecursionError:
        given, raw = ({"": DEEP} if part.input else None), DEEP
    assert given is None or isinstance(given, dict)
    text, tool, name = redactor.text(part.text), redactor.text(part.tool), redactor.text(part.id)
    return part._replace(text=text, tool=tool, id=name, input=given, raw=raw)
