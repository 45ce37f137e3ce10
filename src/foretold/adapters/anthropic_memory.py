"""The memory tool of Anthropic's API on our store (extra `anthropic`).

    client.beta.messages.tool_runner(..., tools=[MemoryTool()])

1. The tool works on the memory of the project, the one that Claude Code reads and `foretold memory` shows, or with
   `folder=` on another one. What the commands do: `memory_files.py`.
2. Whatever is refused is an error that the model sees; it names `/memories` and no other path of the machine.
3. `AsyncMemoryTool` is the same for an asynchronous client; it waits for the disk in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
    from typing import Any

    from foretold.memory.project import Memories


#: what a parameter is; all others are texts
KINDS = {"insert_line": int, "view_range": (list, type(None))}


def _command(name: str, *fields: str) -> Callable[..., str]:
    """The method of a command: it takes what the package passes, and returns the text for the model."""

    def run(self: MemoryTool, command: Any = None) -> str:
        given = {field: getattr(command, field, None) for field in fields}
        for field, value in given.items():
            kind = KINDS.get(field, str)
            if not isinstance(value, kind) or isinstance(value, bool):  # type: ignore[arg-type]
                raise ToolError(f"The `{field}` parameter of {name} is missing, or not of its type.")
        try:
            text: str = getattr(self.files, name)(**given)
        except ForetoldError as error:
            raise ToolError(self.files.describe_error(error)) from error
        return text

    return run


def _async_command(name: str) -> Callable[..., Any]:
    async def run(self: AsyncMemoryTool, *given: object) -> str:
        text: str = await run_sync(getattr(self.tool, name), *given)
        return text

    return run


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

    view = _command("view", "path", "view_range")
    create = _command("create", "path", "file_text")
    str_replace = _command("str_replace", "path", "old_str", "new_str")
    insert = _command("insert", "path", "insert_line", "insert_text")
    delete = _command("delete", "path")
    rename = _command("rename", "old_path", "new_path")
    clear_all_memory = _command("clear")


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for an asynchronous client; it takes what `MemoryTool` takes."""

    def __init__(self, memories: Memories | None = None, **options: Any) -> None:
        super().__init__(cache_control=options.get("cache_control"))
        self.tool = MemoryTool(memories, **options)
        self.files = self.tool.files

    view = _async_command("view")
    create = _async_command("create")
    str_replace = _async_command("str_replace")
    insert = _async_command("insert")
    delete = _async_command("delete")
    rename = _async_command("rename")
    clear_all_memory = _async_command("clear_all_memory")
