"""The readers: one module per agent, with the same three names.

find_sessions(homes)                   -> Iterator[StoredSession]  every session by path and id; reads folders only
summarize(stored)                      -> StoredSession            with what the head and tail of its file say
read_messages(stored, since, findings) -> Iterator[Message]        in file order; unknown records become `other` parts
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.errors import UnknownAgent
from foretold.sessions.formats.claude.reader import has_own_folder
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    from foretold.sessions.model import Homes, Message, StoredSession
    from foretold.types import Finding

    class Reader(Protocol):
        def find_sessions(self, homes: Homes) -> Iterator[StoredSession]: ...

        def summarize(self, stored: StoredSession) -> StoredSession: ...

        def read_messages(
            self, stored: StoredSession, since: int = 0, findings: list[Finding] | None = None
        ) -> Iterator[Message]: ...


#: agent -> the module of `sessions/` that reads it, and the command that resumes the session whose id follows
READERS = {
    "claude-code": ("formats.claude.reader", ("claude", "--resume")),
    "codex": ("formats.codex.reader", ("codex", "resume")),
    "gemini-cli": ("formats.gemini.reader", ("gemini", "--resume")),
    "opencode": ("formats.opencode.reader", ("opencode", "--session")),
}


def reader_of(agent: str) -> Reader:
    """The reader of an agent's sessions."""
    name = agent.partition("@")[0].lower()
    if name not in READERS:
        raise unknown_reader(name)
    module: Reader = __import__(f"foretold.sessions.{READERS[name][0]}", fromlist=["summarize"])
    return module


def unknown_reader(name: str) -> UnknownAgent:
    """The error for an agent whose sessions cannot be read."""
    from foretold.dialects.registry import AGENTS, unknown_agent

    if name not in AGENTS:
        return unknown_agent(name, READERS)
    return UnknownAgent(f"the sessions of {name} cannot be read; there are readers for: {', '.join(READERS)}")


def resume_command(stored: StoredSession) -> tuple[str, ...]:
    """The command that resumes a session, run in its folder; a subagent is resumed with its session.

    An agent finds by its id only what lies where it stores sessions itself; any other file it takes by its path.
    """
    name = stored.parent if stored.kind == "subagent" and stored.parent else stored.id
    if has_own_folder(stored.path):
        name = stored.path
    return (*READERS[stored.agent.partition("@")[0]][1], name)


def read(stored: StoredSession, since: int = 0, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The messages of a session, in the order in which they were written. What cannot be read is named in `findings`.

    >>> import os, tempfile
    >>> from foretold.sessions.model import StoredSession
    >>> path = os.path.join(tempfile.mkdtemp(), "s.jsonl")
    >>> with open(path, "w", encoding="utf-8") as file:
    ...     _ = file.write('{"type": "user", "uuid": "1", "message": {"role": "user", "content": "hello"}}\\n')
    >>> [(message.role, message.text) for message in read(StoredSession("claude-code", "s", path))]
    [('user', 'hello')]
    """
    return reader_of(stored.agent).read_messages(stored, since, findings)
