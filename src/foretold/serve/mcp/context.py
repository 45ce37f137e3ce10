"""The context of a call: the project, its agent, the client, and how progress is reported.

1. The folder is the one the server was given, else the first one that the client says it works in, else the one that
   the server was started in.
2. Instructions are explained for the agent that asks, where its name is known (`CLIENTS`); memories are those that
   `foretold memory` shows, for every client, so that agents of one project remember the same.
3. Long work reports its progress, and stops when the client no longer waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from foretold.dialects.registry import DEFAULT_AGENT
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.project import Memories
    from foretold.sessions.model import Homes

#: how a client's name begins -> the agent that it is; the longest that fits counts
CLIENTS = {
    "claude-code": "claude-code",
    "codex": "codex",
    "gemini-cli": "gemini-cli",
    "qwen": "qwen-code",
    "opencode": "opencode",
    "github-copilot": "copilot-cli",
    "copilot": "copilot-cli",
    "cline": "cline",
    "continue": "continue",
    "cursor": "cursor",
    "zed": "zed",
    "goose": "goose",
    "amp": "amp",
    "crush": "crush",
    "visual studio code": "vscode-copilot",
    "windsurf": "windsurf",
}
#: variables in which agents tell the programs they start which session it is; recorded on 2.1.197 and 0.24.4
SESSIONS = ("CLAUDE_CODE_SESSION_ID", "QWEN_CODE_SESSION_ID")
#: where a request itself tells it: an object in its `_meta`, and a field there; recorded on Codex 0.166.0
TURN = ("x-codex-turn-metadata", "session_id")


class Cancelled(Exception):
    """The client no longer waits for the answer."""


def no_progress(_done: float, _total: float, _doing: str) -> None:
    """For clients that do not ask for progress."""


class CallContext(NamedTuple):
    """The context of one call."""

    folder: str
    home: str | None = None  #: None: of this process
    client: str = ""  #: name and version of who asks
    agent: str = DEFAULT_AGENT  #: whose instructions are explained
    keeper: str = DEFAULT_AGENT  #: whose memory it is
    session: str = ""  #: that asks, where it says which it is
    env: Mapping[str, str] | None = None  #: None: of this process
    progress: Callable[[float, float, str], None] = no_progress

    @property
    def homes(self) -> Homes:
        from foretold.sessions.catalog import find_homes

        return find_homes(self.home, self.env)

    def memories(self) -> Memories:
        """The project's memories, opened for each call: nothing is shared between threads."""
        return self.all_memories().for_models()

    def all_memories(self) -> Memories:
        """The same, with those of a team that the user has not accepted: to count, never to quote."""
        from foretold.memory.project import open as opened

        return opened(self.folder, agent=self.keeper, home=self.home, env=self.env)

    def unaccepted(self) -> list[str]:
        """What is said of a team's memories that the user has not accepted."""
        memories = self.all_memories()
        count = memories.count_unaccepted()
        named = f"{memories.place.team}: {count:,} of the team, which the user has not accepted (foretold memory trust)"
        return [named] if count else []

    def progress_of(self, doing: str) -> Callable[[int, int], None]:
        """Reports the progress of one step."""
        return lambda done, total: self.progress(done, total, doing)

    def short_path(self, path: str) -> str:
        """A path relative to the folder, if it is in it."""
        folder = self.folder.rstrip("/") + "/"
        return path[len(folder) :] if path.startswith(folder) else path


def session_of(meta: object, env: Mapping[str, str]) -> str:
    """The id of the session that a request comes from; empty if it is not known.

    >>> session_of({"x-codex-turn-metadata": {"session_id": "01a"}}, {}), session_of(None, {SESSIONS[0]: "5e7"})
    ('01a', '5e7')
    """
    turn = meta.get(TURN[0]) if isinstance(meta, dict) else None
    found = turn.get(TURN[1]) if isinstance(turn, dict) else None
    given = next((env[name] for name in SESSIONS if env.get(name)), "")
    return (found if isinstance(found, str) else given)[:100]


def agent_of(client: str) -> str:
    """The agent that a client is.

    >>> agent_of("codex-mcp-client"), agent_of("Gemini-CLI-mcp-client-x"), agent_of("inspector")
    ('codex', 'gemini-cli', 'claude-code')
    """
    name = client.lower().replace("_", "-")
    fits = [start for start in CLIENTS if name.startswith(start)]
    return CLIENTS[max(fits, key=len)] if fits else DEFAULT_AGENT
