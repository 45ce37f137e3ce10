"""The memory tool of Anthropic's API on our store (extra `anthropic`).

    client.beta.messages.tool_runner(..., tools=[MemoryTool()])

1. The tool works on the memory of the project, the one that Claude Code reads and `foretold memory` shows, or with
   `folder=` on another one. What the commands do: `memory_files.py`.
2. Whatever is refused is an error that the model sees; it names `/memories` and no other path of the machine.
3. `AsyncMemoryTool` is the same for an asynchronous client; it waits for the disk in a thread.
"""

from __future__ import annotations

from foretold.adapters.memory_files import MemoryFiles
from foretold.errors import ForetoldError
from foretold.extras import missing
from foretold.memory import project
from foretold.types import TYPE_CHECKING

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError as ToolError
    from anyio.to_thread import run_sync
except ImportError as error:
    raise missing("the memory tool", "anthropic") from error

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any

    from foretold.memory.project import Memories


class MemoryTool(BetaAbstractMemoryTool):
    """`/memories` of a model, kept in the memory of a project.

    `memories` is what `foretold.memory.open` gives; without it, that of the project around `cwd`. `session` is noted
    in the history with every change.
    """

    def __init__(
        self,
        memories: Memories | None = None,
        *,
        cwd: str | os.PathLike[str] = ".",
        home: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        policy: str = "",
        session: str = "",
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        opened = memories or project.open(cwd, home=home, env=env, folder=folder, policy=policy)
        self.files = MemoryFiles(opened, session=session)

    def view(self, command: Any) -> str:
        return _run(self.files, "view", command, "path", "view_range")

    def create(self, command: Any) -> str:
        return _run(self.files, "create", command, "path", "file_text")

    def str_replace(self, command: Any) -> str:
        return _run(self.files, "str_replace", command, "path", "old_str", "new_str")

    def insert(self, command: Any) -> str:
        return _run(self.files, "insert", command, "path", "insert_line", "insert_text")

    def delete(self, command: Any) -> str:
        return _run(self.files, "delete", command, "path")

    def rename(self, command: Any) -> str:
        return _run(self.files, "rename", command, "old_path", "new_path")

    def clear_all_memory(self) -> str:
        """Delete all files. They stay in the history."""
        return _run(self.files, "clear", None)


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for an asynchronous client; it takes what `MemoryTool` takes."""

    def __init__(self, memories: Memories | None = None, **options: Any) -> None:
        super().__init__(cache_control=options.get("cache_control"))
        self.tool = MemoryTool(memories, **options)
        self.files = self.tool.files

    async def view(self, command: Any) -> str:
        return await self._in_thread("view", command)

    async def create(self, command: Any) -> str:
        return await self._in_thread("create", command)

    async def str_replace(self, command: Any) -> str:
        return await self._in_thread("str_replace", command)

    async def insert(self, command: Any) -> str:
        return await self._in_thread("insert", command)

    async def delete(self, command: Any) -> str:
        return await self._in_thread("delete", command)

    async def rename(self, command: Any) -> str:
        return await self._in_thread("rename", command)

    async def clear_all_memory(self) -> str:
        """Delete all files. They stay in the history."""
        return await self._in_thread("clear_all_memory")

    async def _in_thread(self, name: str, *given: object) -> str:
        text: str = await run_sync(getattr(self.tool, name), *given)
        return text


#: what a parameter is; all others are texts
KINDS = {"insert_line": int, "view_range": (list, type(None))}


def _run(files: MemoryFiles, name: str, command: Any, *fields: str) -> str:
    """Run a command; returns its text, or raises an error for the model if it was refused."""
    given = {field: getattr(command, field, None) for field in fields}
    for field, value in given.items():
        kind = KINDS.get(field, str)
        if not isinstance(value, kind) or isinstance(value, bool):  # type: ignore[arg-type]
            raise ToolError(f"The `{field}` parameter of {name} is missing, or not of its type.")
    try:
        text: str = getattr(files, name)(**given)
    except ForetoldError as error:
        raise ToolError(files.describe_error(error)) from error
    return text
