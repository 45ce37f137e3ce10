"""The values that the readers of all agents return.

A `StoredSession` is a conversation on disk, summarized as a list shows it; a `Message` is one record of it that a
person or a model would call a message, made of `Part`s. What an agent wrote stays in `raw`, unchanged, even if unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.types import NamedTuple


class Homes(NamedTuple):
    """Where agents store their sessions: a home folder, and the environment that may move them."""

    home: str
    env: Mapping[str, str]


class Part(NamedTuple):
    """A piece of a message."""

    kind: str  #: text, thinking, call, result, image, other
    text: str = ""  #: of a result the output of the tool; of a call empty
    tool: str = ""  #: of a call, and of a result where it is known
    id: str = ""  #: joins a call and its result
    input: Mapping[str, object] | None = None  #: of a call
    failed: bool = False  #: of a result
    raw: object = None  #: as the agent wrote it


class Message(NamedTuple):
    """One message of a conversation, and its place in the file."""

    id: str  #: as the agent wrote it, or `byte N`: where its record begins
    role: str  #: user, assistant, system
    parts: tuple[Part, ...]
    time: float | None = None  #: seconds since 1970
    model: str = ""
    parent: str = ""  #: the message it follows
    kind: str = ""  #: empty = a message of the conversation; else context, attachment, summary, meta, notice, sidechain
    line: int = 0  #: from 1; in a database 0
    start: int = 0  #: where its record begins: a byte of the file, a key of the database
    end: int = 0  #: where to continue reading after it

    @property
    def text(self) -> str:
        """Its text, without calls, results and thinking.

        >>> Message("1", "user", (Part("text", "a"), Part("call", tool="Read"), Part("text", "b"))).text
        'a\\nb'
        """
        return "\n".join(part.text for part in self.parts if part.kind == "text")


class StoredSession(NamedTuple):
    """A conversation on disk. What only reading all of it would show is left empty."""

    agent: str
    id: str
    path: str  #: its file; several sessions may share one (a database)
    cwd: str = ""  #: its folder
    title: str = ""  #: its name, else its first prompt
    started: float | None = None
    changed: float = 0.0  #: of the last record, else of the file
    size: int = 0  #: bytes
    branch: str = ""
    version: str = ""  #: of the agent
    model: str = ""
    kind: str = "main"  #: main, subagent, fork, archived
    parent: str = ""  #: of a subagent or a fork: the session it belongs to
