"""The readers: one module per agent, with the same five functions.

found(homes)                     -> Iterator[Stored]   every session by path and id; only folders are read
card(stored)                     -> Stored             with what its head and its tail tell (bounded bytes)
messages(stored, since, findings)-> Iterator[Message]  in the order of the file; unknown records are `other` parts
command(stored)                  -> tuple[str, ...]    what resumes it, typed in its folder
FORMAT                           the page of docs/formats/ that describes what it reads
"""

from __future__ import annotations

from foretold.errors import UnknownAgent
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from foretold.sessions.model import Homes, Message, Stored
    from foretold.types import Finding

    class Reader(Protocol):
        FORMAT: str

        def found(self, homes: Homes) -> Iterator[Stored]: ...

        def card(self, stored: Stored) -> Stored: ...

        def messages(
            self, stored: Stored, since: int = 0, findings: list[Finding] | None = None
        ) -> Iterator[Message]: ...

        def command(self, stored: Stored) -> tuple[str, ...]: ...


#: agent -> the module of `sessions/` that reads it
READERS = {
    "claude-code": "formats.claude.reader",
    "codex": "formats.codex.reader",
    "gemini-cli": "formats.gemini.reader",
    "opencode": "formats.opencode.reader",
}


def reader_of(agent: str) -> Reader:
    """The reader of an agent's sessions."""
    name = agent.partition("@")[0]
    if name not in READERS:
        raise UnknownAgent(f"the sessions of {name} cannot be read; there are readers for: {', '.join(READERS)}")
    module: Reader = __import__(f"foretold.sessions.{READERS[name]}", fromlist=["found"])
    return module


def read(stored: Stored, since: int = 0, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The messages of a session, in the order in which they were written. What cannot be read is named in `findings`.

    >>> import os, tempfile
    >>> from foretold.sessions.model import Stored
    >>> path = os.path.join(tempfile.mkdtemp(), "s.jsonl")
    >>> with open(path, "w", encoding="utf-8") as file:
    ...     _ = file.write('{"type": "user", "uuid": "1", "message": {"role": "user", "content": "hello"}}\\n')
    >>> [(message.role, message.text) for message in read(Stored("claude-code", "s", path))]
    [('user', 'hello')]
    """
    return reader_of(stored.agent).messages(stored, since, findings)
