"""foretold in pydantic-ai: a capability that tells and recalls, and a history that lasts.

1. `agent_context` is for `Agent(capabilities=[…])`: what the agent is told are instructions of every run; before a
   prompt stand the memories that it is about; behind the result of a tool stand the instructions that a file brings
   along which the tool touched.
2. What was added stays in the messages of the run, so that a later run that goes on with them has the same first bytes.
   Each conversation of an agent (by its `conversation_id`) is told a thing once.
3. When a text that was added is gone from the history, the history was shortened: everything is read anew, and stands
   behind the last message.
4. `History` keeps the messages of a conversation in a file of ours, for `message_history` of the next run: appended,
   never written anew, several processes at once, nothing lost.
"""

from __future__ import annotations

import asyncio
import os

from foretold.adapters import jsonl_store
from foretold.adapters.conversations import Talks, added, said_again
from foretold.adapters.item_log import file_of
from foretold.extras import missing
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from foretold.adapters.conversation import Conversation


def agent_context(cwd: str | os.PathLike[str] = ".", **options: Any) -> Any:
    """What to put into `Agent(capabilities=[…])`; its `findings` say what was found.

    `options` are those of `Conversation`.
    """
    try:
        from pydantic_ai.capabilities import AbstractCapability
        from pydantic_ai.messages import ModelRequest, ToolReturn, UserPromptPart
    except ImportError as error:
        raise missing("foretold.adapters.pydantic_ai", "pydantic-ai") from error
    talks = Talks(cwd, options)

    class AgentContext(AbstractCapability):
        """What an agent in a folder is told and remembers, for all runs of an agent."""

        def __init__(self, talk: Conversation | None = None, told: str = "") -> None:
            self.findings = talks.findings
            self._talk, self._told = talk, told

        async def for_run(self, ctx: Any) -> Any:
            talk = await asyncio.to_thread(talks.of, ctx.conversation_id)
            return AgentContext(talk, await asyncio.to_thread(talk.start))

        def get_instructions(self) -> Any:
            return self._told or None

        async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
            messages = ctx.messages
            if self._talk is None or not messages or not isinstance(messages[-1], ModelRequest):
                return request_context
            parts = await asyncio.to_thread(self._added, messages)
            if parts is not None:
                changed = messages[-1].__class__(**{**vars(messages[-1]), "parts": parts})
                messages[-1] = changed
                request_context.messages[-1] = changed
            return request_context

        def _added(self, messages: Sequence[Any]) -> list[Any] | None:
            """The parts of the last message with what belongs to them; None if that is nothing."""
            assert self._talk is not None
            before = "\n".join(text for message in messages for text in _texts(message))
            again = said_again(self._talk, before)
            parts = list(messages[-1].parts)
            at = _prompt_at(parts)
            quoted = self._talk.asked(_text(parts[at].content), before=before) if at is not None else ""
            if quoted and at is not None:
                parts.insert(at, UserPromptPart(quoted))
            if again:
                parts.append(UserPromptPart(again))
            return parts if quoted or again else None

        async def after_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, result: Any) -> Any:  # noqa: ARG002
            if self._talk is None or not isinstance(args, dict):
                return result
            text = await asyncio.to_thread(self._talk.called, args)
            if not text:
                return result
            added(self._talk, text)
            if isinstance(result, ToolReturn):
                said = [result.content] if isinstance(result.content, str) else list(result.content or ())
                return result.__class__(**{**vars(result), "content": [*said, text]})
            return ToolReturn(return_value=result, content=text)

    return AgentContext()


def _prompt_at(parts: Sequence[Any]) -> int | None:
    """Where a prompt of the user stands that nothing belongs to yet: not behind results of tools."""
    if any(part.part_kind in ("tool-return", "retry-prompt") for part in parts):
        return None
    return next((at for at, part in enumerate(parts) if part.part_kind == "user-prompt"), None)


def _texts(message: Any) -> list[str]:
    return [_text(part.content) for part in message.parts if part.part_kind in ("user-prompt", "tool-return")]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    pieces = content if isinstance(content, (list, tuple)) else ()
    return "\n".join(piece for piece in pieces if isinstance(piece, str))


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
        try:
            from pydantic_ai.messages import ModelMessagesTypeAdapter
        except ImportError as error:
            raise missing("foretold.adapters.pydantic_ai", "pydantic-ai") from error
        self._form = ModelMessagesTypeAdapter
        self.findings: list[Finding] = []
        own = os.path.abspath(folder) if folder is not None else jsonl_store.folder_for("pydantic-ai", home, env)
        self.path = f"{own}/{file_of(conversation_id)}"

    def load(self) -> list[Any]:
        """All messages that were saved; none of a conversation that is new."""
        found = jsonl_store.values_of(self.path, self.findings)
        messages = [message for value in (found[0] if found else []) for message in _listed(value.get("add"))]
        loaded: list[Any] = self._form.validate_python(messages)
        return loaded

    def save(self, messages: Sequence[Any]) -> None:
        """Add messages, all of them or none: those of a run, `result.new_messages()`. Raises for anything else."""
        given = self._form.validate_python(list(messages))
        if given:
            jsonl_store.append(self.path, [{"add": self._form.dump_python(given, mode="json")}], self.findings)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
