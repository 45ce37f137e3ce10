"""`fork`: go on from a point of a session in a file of its own. The old file is not touched.

1. The copies are the records that a resume would send, one behind the other: each has the one before as parent, as the
   agent writes them (`--fork-session`), with the same ids and times and a new session id. Its title comes along.
2. Calls without a result, and what the chain does not reach, are not copied; they are named.
3. Each copy says what it was copied from (`forkedFrom`), so that a list can tell a fork.
4. The new file appears whole, mode 0600, beside the old one, or not at all.
"""

from __future__ import annotations

import os

from foretold.errors import NoSuchSession, SessionFailed, StoreFailed
from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.resumption.claude import ERRORS, DroppedRecord, resume
from foretold.sessions.resumption.nodes import Link
from foretold.sessions.transcript.writer import WRITES_AS, line_of, new_session
from foretold.storage.atomic import create_file
from foretold.storage.kernel import sync_folder
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Forked(NamedTuple):
    """A new session, and what of the old one is not in it."""

    path: str
    session: str
    records: int
    leaf: str
    dropped: tuple[DroppedRecord, ...]
    findings: tuple[Finding, ...]


def fork(path: str, *, at: str | None = None, session: str | None = None, version: str = WRITES_AS) -> Forked:
    """Copy a session, up to a message if one is given, into a new file in the same folder.

    >>> import tempfile
    >>> from foretold.sessions.transcript.writer import Transcript
    >>> old = os.path.join(tempfile.mkdtemp(), new_session() + ".jsonl")
    >>> with Transcript(old, cwd="/home/me/app", sync=False) as said:
    ...     first = said.user("Hello")
    ...     answer = said.assistant({"model": "m", "content": [{"type": "text", "text": "Hi."}]})
    ...     second = said.user("And now?")
    >>> forked = fork(old, at=answer[0])
    >>> [message["content"] for message in resume(forked.path).messages]
    ['Hello', [{'type': 'text', 'text': 'Hi.'}]]
    """
    if not os.path.isfile(path):
        raise NoSuchSession(f"{path} is not there")
    found = resume(path, at=at, version=version)
    if found.error:
        raise SessionFailed(f"{path} cannot be forked: {ERRORS[found.error]}")
    name = session or new_session()
    links = [link for link in found.chain if link.line]
    target = os.path.join(os.path.dirname(path), f"{name}.jsonl")
    _put(target, b"".join(line + b"\n" for line in _copies(path, links, name)))
    return Forked(target, name, len(links), links[-1].id, found.dropped, found.findings)


def _copies(path: str, links: list[Link], session: str) -> Iterator[bytes]:
    old = os.path.splitext(os.path.basename(path))[0]
    title = _title(path)
    if title:
        yield line_of({"type": "custom-title", "customTitle": title, "sessionId": session})
    parent: str | None = None
    for link in links:
        value = {**link.value, "parentUuid": parent, "sessionId": session}
        value["forkedFrom"] = {"sessionId": old, "messageUuid": link.id}
        yield line_of(value)
        parent = link.id


def _title(path: str) -> str:
    title = ""
    for record in records_of(path):
        if record.value.get("type") == "custom-title":
            title = text_at(record.value, "customTitle")
    return title


def _put(target: str, data: bytes) -> None:
    """Write a new file as a whole; one that is there already stays."""
    try:
        create_file(target, data)
        sync_folder(os.path.dirname(target))
    except OSError as error:
        raise StoreFailed(f"{target} cannot be written: {error.strerror}") from error
