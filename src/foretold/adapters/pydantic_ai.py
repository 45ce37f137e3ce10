"""foretold in pydantic-ai: a capability that adds instructions and memories, and a history that lasts.

1. `agent_context` is for `Agent(capabilities=[…])`: the start is part of the instructions of every run; before a prompt
   come the memories that it is about; after the result of a tool come the instructions of a file that the tool touched.
2. What was added stays in the messages of the run, so that a later run that continues them has the same first bytes.
   Each conversation of an agent (by its `conversation_id`) gets a thing once.
3. When a text that was added is missing in the history, the history was shortened: everything is read again, and
   follows the last message.
4. `History` keeps the messages of a conversation in a file of ours, for `message_history` of the next run: appended,
   never rewritten, by several processes at once, nothing lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from foretold.adapters import jsonl_store
from foretold.adapters.conversation import Conversation, Conversations, note_added, restore_added
from foretold.adapters.plain import text_of
from foretold.extras import missing
from foretold.types import TYPE_CHECKING, Finding

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ToolReturn, UserPromptPart
except ImportError as error:
    raise missing("foretold.adapters.pydantic_ai", "pydantic-ai") from error

if TYPE_CHECKING:
    import os
    from typing import Any


def agent_context(cwd: str | os.PathLike[str] = ".", **options: Any) -> AgentContext:
    """What to put into `Agent(capabilities=[…])`. `options` are those of `Conversation`."""
    return AgentContext(Conversations(cwd, options))


class AgentContext(AbstractCapability):
    """The instructions and memories of an agent in a folder, for all its runs; `findings` says what was found."""

    def __init__(self, conversations: Conversations, talk: Conversation | None = None, start: str = "") -> None:
        self.findings = conversations.findings
        self._conversations, self._talk, self._start = conversations, talk, start

    async def for_run(self, ctx: Any) -> Any:
        talk = await asyncio.to_thread(self._conversations.get, ctx.conversation_id)
        return AgentContext(self._conversations, talk, await asyncio.to_thread(talk.start))

    def get_instructions(self) -> Any:
        return self._start or None

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        messages = ctx.messages
        if self._talk is None or not messages or not isinstance(messages[-1], ModelRequest):
            return request_context
        parts = await asyncio.to_thread(_extend_parts, self._talk, messages)
        if parts is not None:
            changed = messages[-1].__class__(**{**vars(messages[-1]), "parts": parts})
            messages[-1] = changed
            request_context.messages[-1] = changed
        return request_context

    async def after_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, result: Any) -> Any:  # noqa: ARG002
        if self._talk is None or not isinstance(args, dict):
            return result
        text = await asyncio.to_thread(self._talk.use_tool, args)
        if not text:
            return result
        note_added(self._talk, text)
        if isinstance(result, ToolReturn):
            said = [result.content] if isinstance(result.content, str) else list(result.content or ())
            return result.__class__(**{**vars(result), "content": [*said, text]})
        return ToolReturn(return_value=result, content=text)


def _extend_parts(talk: Conversation, messages: Sequence[Any]) -> list[Any] | None:
    """The parts of the last message with what belongs to them; None if nothing does."""
    said = [part for message in messages for part in message.parts]
    before = "\n".join(text_of(part) for part in said if part.part_kind in ("user-prompt", "tool-return"))
    again = restore_added(talk, before)
    parts = list(messages[-1].parts)
    at = _prompt_at(parts)
    quoted = talk.recall(text_of(parts[at]), before=before) if at is not None else ""
    if quoted and at is not None:
        parts.insert(at, UserPromptPart(quoted))
    if again:
        parts.append(UserPromptPart(again))
    return parts if quoted or again else None


def _prompt_at(parts: Sequence[Any]) -> int | None:
    """Where a prompt of the user is that nothing belongs to yet: not after results of tools."""
    if any(part.part_kind in ("tool-return", "retry-prompt") for part in parts):
        return None
    return next((at for at, part in enumerate(parts) if part.part_kind == "user-prompt"), None)


class History:
    """The messages of a conversation, kept between runs.

    history = History("my talk")
    result = agent.run_sync("Go on", message_history=history.load())
    history.save(result.new_messages())
    """

    def __init__(
        self,
        conversation_id: str,
        *,
        folder: str | os.PathLike[str] | None = None,
        home: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.findings: list[Finding] = []
        own = jsonl_store.folder_for("pydantic-ai", home, env, folder)
        self.path = f"{own}/{jsonl_store.unique_name(conversation_id)}{jsonl_store.ENDING}"

    def load(self) -> list[Any]:
        """All messages that were saved; none for a new conversation."""
        found = jsonl_store.values_of(self.path, self.findings)
        added = [value.get("add") for value in (found[0] if found else [])]
        messages = [message for each in added if isinstance(each, list) for message in each]
        loaded: list[Any] = ModelMessagesTypeAdapter.validate_python(messages)
        return loaded

    def save(self, messages: Sequence[Any]) -> None:
        """Add messages, all of them or none: those of a run, `result.new_messages()`. Raises for anything else."""
        given = ModelMessagesTypeAdapter.validate_python(list(messages))
        if given:
            added = ModelMessagesTypeAdapter.dump_python(given, mode="json")
            jsonl_store.append(self.path, [{"add": added}], self.findings)
