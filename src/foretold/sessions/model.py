"""The values that the readers of all agents return.

A `StoredSession` is a conversation on disk, summarized as a list shows it; a `Message` is one record of it that a
person or a model would call a message, made of `Part`s. What an agent wrote stays in `raw`, unchanged, even if unknown.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Homes(NamedTuple):
    """Where agents keep their sessions: a home folder, and the environment that may move them."""

    home: str
    env: Mapping[str, str]


class Part(NamedTuple):
    """A piece of a message."""

    kind: str  #: text, thinking, call, result, image, other
    text: str = ""  #: what it says; of a result what the tool said; of a call nothing
    tool: str = ""  #: of a call, and of a result where it is known
    id: str = ""  #: joins a call and its result
    input: Mapping[str, object] | None = None  #: of a call
    failed: bool = False  #: of a result
    raw: object = None  #: as the agent wrote it


class Message(NamedTuple):
    """One message of a conversation, and where it stands in its file."""

    id: str  #: the agent's own, or `byte N`: where its record begins
    role: str  #: user, assistant, system
    parts: tuple[Part, ...]
    time: float | None = None  #: seconds since 1970
    model: str = ""
    parent: str = ""  #: the message it follows
    kind: str = ""  #: empty = said; else why it is there: context, attachment, summary, meta, notice, sidechain
    line: int = 0  #: from 1; in a database 0
    start: int = 0  #: where its record begins: a byte of the file, a key of the database
    end: int = 0  #: where reading goes on after it

    @property
    def text(self) -> str:
        """What it says, without calls, results and thinking.

        >>> Message("1", "user", (Part("text", "a"), Part("call", tool="Read"), Part("text", "b"))).text
        'a\\nb'
        """
        return "\n".join(part.text for part in self.parts if part.kind == "text")


class StoredSession(NamedTuple):
    """A conversation on disk. What only a full reading would tell is left empty."""

    agent: str
    id: str
    path: str  #: its file; several may share one (a database)
    cwd: str = ""  #: the folder it was held in
    title: str = ""  #: its name, else how it begins
    started: float | None = None
    changed: float = 0.0  #: of the last record, else of the file
    size: int = 0  #: bytes
    branch: str = ""
    version: str = ""  #: of the agent
    model: str = ""
    kind: str = "main"  #: main, subagent, fork, archived
    parent: str = ""  #: of a subagent or a fork: the session it belongs to
