"""A session as a document to read or to share: Markdown, HTML or JSON, piece by piece.

1. Credentials are removed from everything, unless the caller says otherwise; the end of the page says how many.
2. Everything that was said is there, with the calls of tools and their output. Attachments, notices and the messages of
   subagents are left out unless `full`; `brief` leaves out tools too, and names the files that were changed: for
   another agent that continues the work.
3. Pages for people have commands as they were typed (`/compact`), and what they printed as output; JSON has the tags in
   which an agent recorded them.
4. Hostile content stays where it is: no tag, fence or heading of a session becomes one of the page.
5. Pieces are yielded as they are made: a session of any size needs the memory of one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foretold.errors import ForetoldError
from foretold.secrets.redactor import Redactor
from foretold.sessions.archive.session_files import is_shared
from foretold.sessions.catalog import messages_of
from foretold.sessions.exporters.formatting import DEEP, changed_file, untag_text
from foretold.sessions.model import Message, Part, StoredSession
from foretold.sessions.redacted_summary import without_credentials
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.archive.store_session import Progress
    from foretold.types import Finding

#: form -> the module of `sessions/` that renders it
FORMS = {"markdown": "exporters.markdown", "html": "exporters.html", "json": "exporters.json"}
SAID = ("", "summary")
OUTPUT = "output"  #: the heading of what a command of the terminal printed


class Choice(NamedTuple):
    """What an export has in it."""

    full: bool = False
    brief: bool = False
    thinking: bool = False


USUAL = Choice()


def export(
    stored: StoredSession,
    form: str = "markdown",
    *,
    redactor: Redactor | None,
    choice: Choice = USUAL,
    findings: list[Finding] | None = None,
    progress: Progress | None = None,
) -> Iterator[str]:
    """The pieces of a page. `redactor=None` leaves credentials in; `progress` gets the bytes that were read."""
    if form not in FORMS:
        raise ForetoldError(f"there is no form {form!r}; the forms are: {', '.join(FORMS)}")
    module = __import__(f"foretold.sessions.{FORMS[form]}", fromlist=["render_page"])
    read = _read(stored, findings, progress)
    messages = _choose(read if form == "json" else map(_untag, read), choice, redactor)
    summary = stored if redactor is None else without_credentials(stored, redactor)
    pieces: Iterator[str] = module.render_page(summary, messages, choice, redactor)
    return pieces


def _read(stored: StoredSession, findings: list[Finding] | None, progress: Progress | None) -> Iterator[Message]:
    for message in messages_of(stored, findings):
        yield message
        if progress and not is_shared(stored):
            progress(min(message.end, stored.size), stored.size)


def _untag(message: Message) -> Message:
    """A message with what was typed or printed, without tags."""
    if message.role == "assistant":
        return message
    parts = []
    for part in message.parts:
        if part.kind == "text":
            text, is_output = untag_text(part.text)
            part = Part("result", text, OUTPUT) if is_output else part._replace(text=text)
        parts.append(part)
    return message._replace(parts=tuple(parts))


def _choose(messages: Iterable[Message], choice: Choice, redactor: Redactor | None) -> Iterator[Message]:
    for message in messages:
        if not choice.full and message.kind not in SAID:
            continue
        wanted = [part for part in message.parts if is_wanted(part, choice)]
        if choice.brief:  # of a call that changed a file, only the path
            wanted = [
                Part("call", tool=part.tool, id=part.id, input={"file_path": path}) if path else part
                for part in wanted
                for path in (changed_file(part),)
            ]
        parts = tuple(_redact_part(part, redactor) for part in wanted)
        if parts and redactor:
            name, role, model, parent = map(redactor.text, (message.id, message.role, message.model, message.parent))
            message = message._replace(id=name, role=role, model=model, parent=parent)
        if parts:
            yield message._replace(parts=parts)


def is_wanted(part: Part, choice: Choice) -> bool:
    """Whether a part belongs in an export."""
    if part.kind == "text":
        return bool(part.text.strip())
    if part.kind == "thinking":
        return bool(part.text) and (choice.full or choice.thinking)
    if part.kind == "result":
        return not choice.brief
    if part.kind == "call" and choice.brief:
        return bool(changed_file(part))
    return part.kind in ("image", "call") or choice.full


def _redact_part(part: Part, redactor: Redactor | None) -> Part:
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
