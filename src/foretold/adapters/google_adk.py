"""foretold in Google's agent development kit: a plugin that tells and recalls, and a memory service.

1. `context_plugin` is for `App(plugins=[…])`: what the agent is told is added to the system instruction of every
   request; before a prompt stand the memories that it is about, in the same message, so that the session keeps them;
   the result of a tool carries the instructions that a file brings along which the tool touched. Each session is told
   a thing once.
2. `memory_service` is for `Runner(memory_service=…)`: `search_memory` recalls, `add_memory` writes, `delete_memory`
   deletes what can be restored. Whoever the user of a session is, it is the project's memory, unless it is asked for
   `per_user`: then every application and user has a store apart.
3. `add_session_to_memory` and `add_events_to_memory` learn from what was said only if there is a `model` to extract
   with; else they write nothing, and a finding says so. What is extracted is judged: see `foretold.extract`.
"""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime

from foretold.adapters.conversations import Talks
from foretold.extras import missing
from foretold.memory.extraction.extractor import Extractor
from foretold.memory.extraction.gate import Gate
from foretold.memory.extraction.transcript import Said, parted
from foretold.memory.project import open as open_memories
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from foretold.memory.project import Memories
    from foretold.models.protocol import Model


def context_plugin(cwd: str | os.PathLike[str] = ".", **options: Any) -> Any:
    """A plugin for agents in a folder; its `findings` say what was found. `options` are those of `Conversation`."""
    try:
        from google.adk.plugins.base_plugin import BasePlugin
        from google.genai import types
    except ImportError as error:
        raise missing("foretold.adapters.google_adk", "google-adk") from error
    talks = Talks(cwd, options)

    class ContextPlugin(BasePlugin):
        """What an agent in a folder is told and remembers."""

        def __init__(self) -> None:
            super().__init__(name="foretold")
            self.findings = talks.findings

        async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
            prompt = "\n".join(part.text for part in user_message.parts or () if part.text)
            text = await asyncio.to_thread(talks.of(invocation_context.session.id).asked, prompt)
            if not text:
                return None
            return types.Content(role="user", parts=[types.Part(text=text), *user_message.parts])

        async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
            text = await asyncio.to_thread(talks.of(callback_context.session.id).start)
            if text:
                llm_request.append_instructions([text])

        async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:  # noqa: ARG002
            text = await asyncio.to_thread(talks.of(tool_context.session.id).called, tool_args)
            if not text:
                return None
            return {**(result if isinstance(result, dict) else {"result": result}), "instructions": text}

    return ContextPlugin()


def memory_service(
    cwd: str | os.PathLike[str] = ".", *, model: Model | None = None, per_user: bool = False, **options: Any
) -> Any:
    """The memories of a folder's project as a memory service; `options` are those of `foretold.memory.open`."""
    try:
        from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
        from google.adk.memory.memory_entry import MemoryEntry
        from google.genai import types
    except ImportError as error:
        raise missing("foretold.adapters.google_adk", "google-adk") from error

    class AdkMemory(BaseMemoryService):
        """What is remembered for a project."""

        def __init__(self) -> None:
            self.findings: list[Finding] = []

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
                text = "\n".join(part.text for part in entry.content.parts or () if part.text)
                about = {**(custom_metadata or {}), **entry.custom_metadata}
                await asyncio.to_thread(_create, store, text, about)

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
            if model is None:
                said = "nothing was learned from a session: there is no model to extract with"
                self._note(Finding(memories.place.store, None, "extraction-off", said, "give memory_service(model=…)"))
                return
            pieces = [piece for event in events for piece in _pieces(event)]
            extractor = Extractor(memories, gate=Gate.always())
            done = await asyncio.to_thread(extractor.run, model, None, pieces, session=session)
            for each in done.refused:
                self._note(Finding(each.file, None, "memory-refused", f"{each.reason}: {each.detail}"))
            if done.stopped:
                said = f"memories could not be extracted: {done.stopped}"
                self._note(Finding(memories.place.store, None, "extraction-failed", said))

        def _note(self, finding: Finding) -> None:
            if finding not in self.findings:
                self.findings.append(finding)

        def _memories(self, app_name: str, user_id: str) -> Memories:
            common = open_memories(cwd, **options)
            if not per_user:
                return common
            folder = f"{os.path.dirname(common.own.shelf.state.path)}/adk/{_safe(app_name)}/{_safe(user_id)}"
            return open_memories(cwd, **{**options, "folder": folder})

    return AdkMemory()


def _create(store: Memories, text: str, about: Mapping[str, object]) -> None:
    """A memory of a text. What looks like a credential, or is there already, is refused by name."""
    from foretold.errors import WriteRefused
    from foretold.secrets.forms import credentials_in

    found = credentials_in(text)
    if found:
        raise WriteRefused(f"the memory has what looks like a credential ({found[0].kind}); nothing was written")
    first = text.strip().split("\n")[0][:100]
    name, kind = str(about.get("name") or first[:40]), str(about.get("type") or "project")
    store.create(name, type=kind, description=str(about.get("description") or first), body=text, by="agent")


def _pieces(event: Any) -> list[Said]:
    """What an event says, and who says it: a person only where the event is of the user, and no result of a tool."""
    parts = (event.content.parts or ()) if event.content else ()
    found = []
    for part in parts:
        if part.function_response is not None:
            found.append(Said(event.id, "user", str(part.function_response.response), "tool"))
        elif part.code_execution_result is not None:
            found.append(Said(event.id, "user", part.code_execution_result.output or "", "tool"))
        elif part.text:
            origin = "user" if event.author == "user" else "assistant"
            found += parted(Said(event.id, origin, part.text, origin))
    return found


def _safe(name: str) -> str:
    """A name as one of a folder: readable, and no other's.

    >>> _safe("ada"), _safe("../a") == _safe("..-a")
    ('ada-fdee430d40bd', False)
    """
    import hashlib
    import re

    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name)[:40].strip('-') or 'user'}-{digest}"
