"""The memories of a project as files of a deepagents backend.

1. Routed under `/memories/` of a `CompositeBackend`, or used alone: a path is then `/name.md`.
2. Reading, listing, searching and changing are those of `memory_files`: nothing leads out of the store, every change is
   in the history, a deletion can be taken back, credentials are refused, and under the policy `confirm` a change waits
   in the inbox. What is refused is an error that the model reads.
3. Files are texts. Anything else is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from foretold.adapters.memory_files import ROOT, MemoryFiles
from foretold.errors import ForetoldError
from foretold.extras import missing
from foretold.memory.project import open as open_memories
from foretold.text.globs.picomatch import Glob
from foretold.types import TYPE_CHECKING

try:
    from deepagents.backends import protocol
    from deepagents.backends.utils import slice_read_response
except ImportError as error:
    raise missing("foretold.adapters.deepagents", "deepagents") from error

if TYPE_CHECKING:
    import os
    from typing import Any

    from foretold.memory.project import Memories


def memory_backend(
    cwd: str | os.PathLike[str] = ".", *, memories: Memories | None = None, **options: Any
) -> MemoryBackend:
    """A backend whose files are the memories of a folder's project; `options` are those of `foretold.memory.open`."""
    return MemoryBackend(MemoryFiles(memories if memories is not None else open_memories(cwd, **options)))


class MemoryBackend(protocol.BackendProtocol):
    """The files of `/memories`."""

    def __init__(self, files: MemoryFiles) -> None:
        self._files = files

    def ls(self, path: str) -> Any:
        entries, error = self._attempt(lambda: self._files.entries(_inside(path)))
        if error:
            return protocol.LsResult(error=error)
        infos = [
            {"path": f"{path.rstrip('/')}/{name}", "is_dir": name.endswith("/"), "size": size} for name, size in entries
        ]
        return protocol.LsResult(entries=infos)

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> Any:
        text, error = self._attempt(lambda: self._files.raw(_inside(file_path)))
        if error:
            return protocol.ReadResult(error=error)
        return slice_read_response({"content": text, "encoding": "utf-8"}, offset, limit)

    def write(self, file_path: str, content: str) -> Any:
        _, error = self._attempt(lambda: self._files.write(_inside(file_path), content))
        return protocol.WriteResult(error=error) if error else protocol.WriteResult(path=file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> Any:  # noqa: FBT001, FBT002
        count, error = self._attempt(
            lambda: self._files.replace(_inside(file_path), old_string, new_string, everywhere=replace_all)
        )
        return protocol.EditResult(error=error) if error else protocol.EditResult(path=file_path, occurrences=count)

    def delete(self, file_path: str) -> Any:
        _, error = self._attempt(lambda: self._files.delete(_inside(file_path)))
        return protocol.DeleteResult(error=error) if error else protocol.DeleteResult(path=file_path)

    def glob(self, pattern: str, path: str | None = None) -> Any:
        found, error = self._attempt(lambda: self._match(pattern, path or "/"))
        if error:
            return protocol.GlobResult(error=error)
        return protocol.GlobResult(matches=[{"path": name, "is_dir": False} for name in found])

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> Any:
        found, error = self._attempt(lambda: self._search(pattern, self._match(glob or "**", path or "/")))
        if error:
            return protocol.GrepResult(error=error)
        cut = found if max_count is None else found[:max_count]
        return protocol.GrepResult(matches=cut, truncated=len(cut) < len(found))

    async def agrep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> Any:
        return await asyncio.to_thread(self.grep, pattern, path, glob, max_count=max_count)

    def upload_files(self, files: list[tuple[str, bytes]]) -> Any:
        return [protocol.FileUploadResponse(path, self._upload(path, data)) for path, data in files]

    def _upload(self, path: str, data: bytes) -> str | None:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return "a memory is a text in UTF-8"
        error: str | None = self.write(path, text).error
        return error

    def download_files(self, paths: list[str]) -> Any:
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> Any:
        text, error = self._attempt(lambda: self._files.raw(_inside(path)))
        return protocol.FileDownloadResponse(path, None if error else text.encode(), error or None)

    def _attempt(self, action: Callable[[], Any]) -> tuple[Any, str]:
        """What an action gives, or the message with which it is refused."""
        try:
            return action(), ""
        except ForetoldError as error:
            return None, self._files.describe_error(error)

    def _match(self, pattern: str, path: str) -> list[str]:
        """Files below a folder whose names match; a pattern without a slash holds at every depth."""
        folder = path.strip("/")
        glob = Glob(pattern.lstrip("/") if "/" in pattern else f"**/{pattern}")
        start = f"{folder}/" if folder else ""
        names = self._files.names()
        return [f"/{name}" for name in names if name.startswith(start) and glob.matches(name[len(start) :])]

    def _search(self, pattern: str, names: list[str]) -> list[dict[str, object]]:
        return [
            {"path": name, "line": number, "text": line}
            for name in names
            for number, line in enumerate(self._files.raw(_inside(name)).split("\n"), 1)
            if pattern in line
        ]


def _inside(path: str) -> str:
    return f"{ROOT}/{path.lstrip('/')}" if path.strip("/") else ROOT
