"""`Session` of openai-agents: the items of a conversation in a file of ours, which only grows.

1. A line is a step: items that were added together, the taking of the last item, a clearing, the undoing of one. What
   a session holds is what the steps amount to, in the order of the file.
2. So several processes may write at once: two that take an item take two different ones, and items that were added
   together stand together. A step that was acknowledged survives `kill -9` and a power cut.
3. Items come back exactly as they were given.
4. Nothing is lost: `restore_session` takes the last clearing back, and what was taken stays in the file.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid

from foretold.adapters import jsonl_store
from foretold.errors import NoSuchSession
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Item = Any


class Session:
    """What `Runner.run(…, session=…)` takes; `folder` is ours unless another one is given.

    >>> import asyncio, tempfile
    >>> session = Session("a talk", folder=tempfile.mkdtemp())
    >>> asyncio.run(session.add_items([{"role": "user", "content": "hi"}]))
    >>> asyncio.run(session.clear_session()), asyncio.run(session.get_items())
    (None, [])
    >>> asyncio.run(session.restore_session()), asyncio.run(session.get_items())
    (None, [{'role': 'user', 'content': 'hi'}])
    """

    def __init__(
        self,
        session_id: str,
        *,
        folder: str | os.PathLike[str] | None = None,
        home: str | None = None,
        env: Mapping[str, str] | None = None,
        session_settings: Any = None,
        findings: list[Finding] | None = None,
    ) -> None:
        self.session_id, self.session_settings = session_id, session_settings
        self.findings: list[Finding] = [] if findings is None else findings
        own = os.path.abspath(folder) if folder is not None else jsonl_store.folder_for("openai-agents", home, env)
        self.path = f"{own}/{file_of(session_id)}"

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """All items, or the last ones, in their order."""
        most = limit if limit is not None else getattr(self.session_settings, "limit", None)
        items = await _in_thread(self._items)
        return items if most is None else items[-most:] if most > 0 else []

    async def add_items(self, items: list[Item]) -> None:
        """Keep items, all or none of them."""
        if items:
            await _in_thread(lambda: self._step({"add": list(items)}))

    async def pop_item(self) -> Item | None:
        """Take the last item; None if there is none."""
        name = uuid.uuid4().hex
        if not await _in_thread(self._items):
            return None
        await _in_thread(lambda: self._step({"pop": name}))
        return await _in_thread(lambda: Replay(self._steps()).taken.get(name))

    async def clear_session(self) -> None:
        """Take all items away; `restore_session` brings them back."""
        await _in_thread(lambda: self._step({"clear": uuid.uuid4().hex}))

    async def restore_session(self) -> None:
        """Bring back what the last clearing took, before what was added since."""
        if not (await _in_thread(lambda: Replay(self._steps()))).cleared:
            raise NoSuchSession(f"the session {self.session_id!r} was not cleared")
        await _in_thread(lambda: self._step({"restore": uuid.uuid4().hex}))

    def _items(self) -> list[Item]:
        return Replay(self._steps()).items

    def _steps(self) -> list[dict[str, Any]]:
        found = jsonl_store.values_of(self.path, self.findings)
        return found[0] if found is not None else []

    def _step(self, step: Mapping[str, object]) -> None:
        jsonl_store.append(self.path, [step], self.findings)


class Replay:
    """What steps amount to.

    >>> made = Replay([{"add": ["a", "b"]}, {"pop": "1"}, {"clear": "2"}, {"add": ["c"]}, {"restore": "3"}])
    >>> made.items, made.taken
    (['a', 'c'], {'1': 'b'})
    """

    def __init__(self, steps: Iterable[Mapping[str, Any]]) -> None:
        self.items: list[Item] = []
        self.taken: dict[str, Item] = {}  #: by the id of the step that took it
        self.cleared: list[list[Item]] = []
        for step in steps:
            self._follow(step)

    def _follow(self, step: Mapping[str, Any]) -> None:
        if "add" in step:
            self.items += step["add"]
        elif "pop" in step and self.items:
            self.taken[step["pop"]] = self.items.pop()
        elif "clear" in step and self.items:
            self.cleared.append(self.items)
            self.items = []
        elif "restore" in step and self.cleared:
            self.items = self.cleared.pop() + self.items


def file_of(session_id: str) -> str:
    """The name of a session's file: readable, and no other session's.

    >>> file_of("a talk"), file_of("../a") == file_of("..-a")
    ('a-talk-691950b37714.jsonl', False)
    """
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", session_id)[:60].strip("-") or "session"
    return (
        f"{readable}-{hashlib.sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}{jsonl_store.ENDING}"
    )


async def _in_thread(action: Any) -> Any:
    import asyncio

    return await asyncio.to_thread(action)
