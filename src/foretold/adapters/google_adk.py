"""foretold in Google's agent development kit: a plugin that adds instructions and memories, and a memory service.

1. `context_plugin` is for `App(plugins=[…])`: the start is added to the system instruction of every request; before a
   prompt come the memories that it is about, in the same message, so that the session keeps them; the result of a tool
   carries the instructions of a file that the tool touched. Each session gets a thing once.
2. `memory_service` is for `Runner(memory_service=…)`: `search_memory` recalls, `add_memory` writes, `delete_memory`
   deletes what can be restored. All users of a session share the project's memory, unless it is made `per_user`: then
   every application and user has a separate store.
3. `add_session_to_memory` and `add_events_to_memory` extract memories only if there is a `model` to extract with; else
   they write nothing, and a finding says so. What is extracted is judged: see `foretold.memory.extraction`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from foretold.adapters.conversation import Conversations
from foretold.adapters.jsonl_store import unique_name
from foretold.extras import missing
from foretold.memory.extraction.extractor import Extractor
from foretold.memory.extraction.gate import Gate
from foretold.memory.extraction.transcript import TranscriptPiece, split_recalled
from foretold.memory.project import open as open_memories
from foretold.types import TYPE_CHECKING, Finding

try:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types
except ImportError as error:
    raise missing("foretold.adapters.google_adk", "google-adk") from error

if TYPE_CHECKING:
    from typing import Any

    from foretold.memory.project import Memories
    from foretold.models.protocol import Model


def context_plugin(cwd: str | os.PathLike[str] = ".", **options: Any) -> ContextPlugin:
    """A plugin for agents in a folder. `options` are those of `Conversation`."""
    return ContextPlugin(Conversations(cwd, options))


class ContextPlugin(BasePlugin):
    """The instructions and memories of an agent in a folder; `findings` says what was found."""

    def __init__(self, conversations: Conversations) -> None:
        super().__init__(name="foretold")
        self.findings = conversations.findings
        self._conversations = conversations

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        talk = self._conversations.get(invocation_context.session.id)
        text = await asyncio.to_thread(talk.recall, _text(user_message))
        if not text:
            return None
        return types.Content(role="user", parts=[types.Part(text=text), *user_message.parts])

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        text = await asyncio.to_thread(self._conversations.get(callback_context.session.id).start)
        if text:
            llm_request.append_instructions([text])

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:  # noqa: ARG002
        text = await asyncio.to_thread(self._conversations.get(tool_context.session.id).use_tool, tool_args)
        if not text:
            return None
        return {**(result if isinstance(result, dict) else {"result": result}), "instructions": text}


def memory_service(
    cwd: str | os.PathLike[str] = ".", *, model: Model | None = None, per_user: bool = False, **options: Any
) -> MemoryService:
    """The memories of a folder's project as a memory service; `options` are those of `foretold.memory.open`."""
    return MemoryService(cwd, options, model, per_user=per_user)


class MemoryService(BaseMemoryService):
    """The memories of a project; `findings` says what was not learned, and why."""

    def __init__(
        self, cwd: str | os.PathLike[str], options: dict[str, Any], model: Model | None, *, per_user: bool
    ) -> None:
        self.findings: list[Finding] = []
        self._cwd, self._options, self._model, self._per_user = cwd, options, model, per_user

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> Any:
        memories = self._memories(app_name, user_id)
        found = await asyncio.to_thread(memories.recall, query)
        entries = [
            MemoryEntry(
                content=types.Content(role="user", parts=[types.Part(text=hit.excerpt)]),
                custom_metadata={"name": hit.memory.name, "type": hit.memory.type, "note": hit.note},
                id=hit.memory.file,
                timestamp=datetime.fromtimestamp(hit.memory.changed, UTC).isoformat(),
            )
            for hit in found.hits
        ]
        return SearchMemoryResponse(memories=entries)

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[Any], custom_metadata: Any = None
    ) -> None:
        store = self._memories(app_name, user_id)
        for entry in memories:
            about = {**(custom_metadata or {}), **entry.custom_metadata}
            await asyncio.to_thread(_create, store, _text(entry.content), about)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        if memory_id:
            await asyncio.to_thread(self._memories(app_name, user_id).delete, memory_id, by="agent")

    async def add_session_to_memory(self, session: Any) -> None:
        await self._learn(session.app_name, session.user_id, session.events, session.id)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Any = None,  # noqa: ARG002
    ) -> None:
        await self._learn(app_name, user_id, events, session_id or "adk")

    async def _learn(self, app_name: str, user_id: str, events: Iterable[Any], session: str) -> None:
        memories = self._memories(app_name, user_id)
        store = memories.place.store
        if self._model is None:
            said = "nothing was learned from a session: there is no model to extract with"
            self._note(Finding(store, None, "extraction-off", said, "give memory_service(model=…)"))
            return
        pieces = [piece for event in events for piece in _pieces(event)]
        extractor = Extractor(memories, gate=Gate.always())
        done = await asyncio.to_thread(extractor.run, self._model, None, pieces, session=session)
        for finding in done.findings(store):
            self._note(finding)

    def _note(self, finding: Finding) -> None:
        if finding not in self.findings:
            self.findings.append(finding)

    def _memories(self, app_name: str, user_id: str) -> Memories:
        common = open_memories(self._cwd, **self._options)
        if not self._per_user:
            return common
        names = (unique_name(name, 40, "user") for name in (app_name, user_id))
        folder = "/".join((os.path.dirname(common.own.state), "adk", *names))
        return open_memories(self._cwd, **{**self._options, "folder": folder})


def _text(content: Any) -> str:
    return "\n".join(part.text for part in content.parts or () if part.text)


def _create(store: Memories, text: str, about: Mapping[str, object]) -> None:
    """Create a memory of a text. What looks like a credential, or exists already, is refused by name."""
    from foretold.errors import WriteRefused
    from foretold.secrets.forms import credentials_in

    found = credentials_in(text)
    if found:
        raise WriteRefused(f"the memory has what looks like a credential ({found[0].kind}); nothing was written")
    first = text.strip().split("\n")[0][:100]
    name, kind = str(about.get("name") or first[:40]), str(about.get("type") or "project")
    store.create(name, type=kind, description=str(about.get("description") or first), body=text, by="agent")


def _pieces(event: Any) -> list[TranscriptPiece]:
    """The texts of an event, and who said them: a person only where the event is the user's and not a tool's result."""
    parts = (event.content.parts or ()) if event.content else ()
    found = []
    for part in parts:
        if part.function_response is not None:
            found.append(TranscriptPiece(event.id, "user", str(part.function_response.response), "tool"))
        elif part.code_execution_result is not None:
            found.append(TranscriptPiece(event.id, "user", part.code_execution_result.output or "", "tool"))
        elif part.text:
            origin = "user" if event.author == "user" else "assistant"
            found += split_recalled(TranscriptPiece(event.id, origin, part.text, origin))
    return found
