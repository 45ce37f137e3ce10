"""`ClaudeSessionStore`: the sessions of claude-agent-sdk, kept in files of ours.

1. A session is a file of JSON lines in the agent's own layout, `projects/PROJECT/SESSION.jsonl`, with the files of its
   subagents in a folder next to it. So with `CLAUDE_CONFIG_DIR` set to the folder, `foretold sessions` reads them.
2. Entries are appended in one write and synced to disk; several processes may append to one session.
3. An entry whose `uuid` was seen before in its session is a retry, and is read once.
4. Deleting sets the session aside with its subagents, and `restore` brings it back.
5. Summaries are folded by the SDK's own function, each file from where it was read last.
6. A name that could lead out of the folder, or be confused with another, is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from glob import glob

from foretold.adapters import jsonl_store
from foretold.errors import NoSuchSession, SessionFailed
from foretold.extras import missing
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from typing import Any, TypeVar

    Given = TypeVar("Given")
    Key = Mapping[str, str]
    Entry = dict[str, Any]

NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,219}")


class ClaudeSessionStore:
    """What `ClaudeAgentOptions(session_store=…)` takes; `folder` is ours unless another one is given."""

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        home: str | None = None,
        env: Mapping[str, str] | None = None,
        findings: list[Finding] | None = None,
    ) -> None:
        sdk_of()
        self.folder = jsonl_store.folder_for("claude-agent-sdk", home, env, folder)
        self.findings: list[Finding] = [] if findings is None else findings
        self._folded: dict[str, tuple[int, int, Any]] = {}  #: path: its inode, how far it was read, its summary

    async def append(self, key: Key, entries: list[Entry]) -> None:
        """Append entries."""
        path = self.path_of(key)
        await in_thread(lambda: jsonl_store.append(path, entries, self.findings))

    async def load(self, key: Key) -> list[Entry] | None:
        """All entries of a session, or of one of its subagents; None if there is none."""
        path = self.path_of(key)
        found = await in_thread(lambda: jsonl_store.values_of(path, self.findings))
        return _once(found[0]) if found is not None else None

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """The sessions of a project, each with the time of its last change in milliseconds."""
        return await in_thread(lambda: [_session_row(path, at) for path, at in self._files(project_key)])

    async def list_session_summaries(self, project_key: str) -> list[dict[str, Any]]:
        """The same, with what the SDK wants to show of each."""
        return await in_thread(lambda: [self._summary(project_key, *found) for found in self._files(project_key)])

    async def delete(self, key: Key) -> None:
        """Set a session aside with all that belongs to it, or one subagent's part of it."""
        aside, paths = self._places(key)
        await in_thread(lambda: [jsonl_store.set_aside(path, aside) for path in paths])

    async def restore(self, key: Key) -> None:
        """Bring back what was deleted last under this key."""
        aside, (path, *others) = self._places(key)
        if not await in_thread(lambda: jsonl_store.restore_last(path, aside)):
            raise NoSuchSession(f"no session {key['session_id']!r} was deleted from {self.folder}")
        await in_thread(lambda: [jsonl_store.restore_last(other, aside) for other in others])

    async def list_subkeys(self, key: Key) -> list[str]:
        """The subagents of a session."""
        own = self.path_of({**key, "subpath": ""}).removesuffix(jsonl_store.ENDING)
        found = await in_thread(lambda: glob(f"**/*{jsonl_store.ENDING}", root_dir=own, recursive=True))
        return sorted(name.removesuffix(jsonl_store.ENDING) for name in found)

    def path_of(self, key: Key) -> str:
        """The file of a key.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> key = {"project_key": "-home-me-app", "session_id": "4d1f", "subpath": "subagents/agent-1"}
        >>> ClaudeSessionStore(folder).path_of(key).removeprefix(folder)
        '/projects/-home-me-app/4d1f/subagents/agent-1.jsonl'
        """
        inside = [part for part in (key.get("subpath") or "").split("/") if key.get("subpath")]
        parts = [key["project_key"], key["session_id"], *inside]
        for part in parts:
            if not NAME.fullmatch(part) or part.endswith(jsonl_store.ENDING):
                raise SessionFailed(f"{part!r} cannot be the name of a session, a project or a part of them")
        return "/".join([self.folder, "projects", *parts]) + jsonl_store.ENDING

    def _places(self, key: Key) -> tuple[str, list[str]]:
        """Where a key is set aside, and what belongs to it: a session with its subagents, or one of these."""
        path, aside = self.path_of(key), f"{self.folder}/deleted/{key['project_key']}"
        if key.get("subpath"):
            return f"{aside}/{key['session_id']}", [path]
        return aside, [path, path.removesuffix(jsonl_store.ENDING)]

    def _files(self, project_key: str) -> list[tuple[str, os.stat_result]]:
        folder = os.path.dirname(self.path_of({"project_key": project_key, "session_id": "any"}))
        found = []
        for name in sorted(jsonl_store.names_of(folder)):
            if name.endswith(jsonl_store.ENDING):
                try:
                    found.append((f"{folder}/{name}", os.stat(f"{folder}/{name}")))
                except FileNotFoundError:
                    continue  # deleted just now
        return found

    def _summary(self, project_key: str, path: str, at: os.stat_result) -> dict[str, Any]:
        """What the SDK folds of a file; only what is new since the last time is read."""
        listed = _session_row(path, at)
        inode, start, before = self._folded.get(path, (at.st_ino, 0, None))
        if inode != at.st_ino or at.st_size < start:
            start, before = 0, None
        values, end = jsonl_store.values_of(path, self.findings, start) or ([], start)
        key = {"project_key": project_key, "session_id": listed["session_id"]}
        summary = {**sdk_of().fold_session_summary(before, key, values), "mtime": listed["mtime"]}
        self._folded[path] = (at.st_ino, end, summary)
        return summary


def _once(entries: list[Entry]) -> list[Entry]:
    found: dict[object, Entry] = {}
    for number, entry in enumerate(entries):
        found.setdefault(entry["uuid"] if isinstance(entry.get("uuid"), str) else number, entry)
    return list(found.values())


def _session_row(path: str, at: os.stat_result) -> dict[str, Any]:
    return {"session_id": os.path.basename(path).removesuffix(jsonl_store.ENDING), "mtime": at.st_mtime_ns // 1_000_000}


def sdk_of() -> Any:
    """The package; ExtraMissing if it is not installed."""
    try:
        import claude_agent_sdk
    except ImportError as error:
        raise missing("foretold.adapters.claude_agent", "claude-agent-sdk") from error
    return claude_agent_sdk


async def in_thread(action: Callable[[], Given]) -> Given:
    """Run what blocks in a thread, under any event loop."""
    from anyio import to_thread

    given: Given = await to_thread.run_sync(action)
    return given
