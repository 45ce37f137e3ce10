"""`fork`: continue from a point of a session in a new file. The old file is not touched.

1. The copies are the records that a resume would send: each has the one before as its parent, as the agent writes them
   (`--fork-session`), with the same ids and times and a new session id. The title is copied too.
2. Calls without a result, and records that are not in the chain, are not copied; they are listed.
3. Each copy names its source (`forkedFrom`), so that a list can recognize a fork.
4. The new file appears complete, mode 0600, next to the old one (or in a folder of its own, if that has one), or not
   at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from foretold.errors import NoSuchSession, SessionFailed, StoreFailed
from foretold.sessions.formats.claude.reader import session_id, sibling_path
from foretold.sessions.formats.fields import text_at
from foretold.sessions.formats.jsonl import encode_record, records_of
from foretold.sessions.resumption.claude import ERRORS, DroppedRecord, resume
from foretold.sessions.resumption.graph import RecordNode
from foretold.sessions.transcript.writer import WRITES_AS, new_session
from foretold.storage.atomic import create_file
from foretold.storage.kernel import sync_folder
from foretold.types import Finding, NamedTuple


class Forked(NamedTuple):
    """A new session, and the records of the old one that are not in it."""

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
    >>> with Transcript(old, cwd="/home/me/app", sync=False) as transcript:
    ...     first = transcript.user("Hello")
    ...     answer = transcript.assistant({"model": "m", "content": [{"type": "text", "text": "Hi."}]})
    ...     second = transcript.user("And now?")
    >>> forked = fork(old, at=answer[0])
    >>> [message["content"] for message in resume(forked.path).messages]
    ['Hello', [{'type': 'text', 'text': 'Hi.'}]]
    """
    if not os.path.isfile(path):
        raise NoSuchSession(f"{path} does not exist")
    found = resume(path, at=at, version=version)
    if found.error:
        raise SessionFailed(f"{path} cannot be forked: {ERRORS[found.error]}")
    name = session or new_session()
    nodes = [node for node in found.chain if node.line]
    target = sibling_path(path, name)
    try:
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        create_file(target, b"".join(line + b"\n" for line in _copies(path, nodes, name)))
        sync_folder(os.path.dirname(target))
    except OSError as error:
        raise StoreFailed(f"{target} cannot be written: {error.strerror}") from error
    return Forked(target, name, len(nodes), nodes[-1].id, found.dropped, found.findings)


def _copies(path: str, nodes: list[RecordNode], session: str) -> Iterator[bytes]:
    old = session_id(path)
    records = (record.value for record in records_of(path))
    titles = [text_at(value, "customTitle") for value in records if value.get("type") == "custom-title"]
    if titles and titles[-1]:
        yield encode_record({"type": "custom-title", "customTitle": titles[-1], "sessionId": session})
    parent: str | None = None
    for node in nodes:
        value = {**node.value, "parentUuid": parent, "sessionId": session}
        value["forkedFrom"] = {"sessionId": old, "messageUuid": node.id}
        yield encode_record(value)
        parent = node.id
