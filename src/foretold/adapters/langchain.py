"""foretold in langchain and deepagents: middleware that adds instructions and memories.

1. `context_middleware` is for `middleware=[…]` of `create_agent` and `create_deep_agent`: the start is added to the
   system message; after a prompt come the memories that it is about; the result of a tool ends with the instructions
   that come with a file which the tool touched.
2. What was added stays in the state, so that the next request has the same first bytes. Each conversation, by its
   thread, else by its first message, gets a thing once.
3. When a text that was added is missing in the messages, the history was shortened: everything is read again, and
   follows the last message.

Memories as files of a deepagents backend: `foretold.adapters.deepagents`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from foretold.adapters.conversation import Conversations, note_added, restore_added
from foretold.adapters.plain import text_of
from foretold.extras import missing
from foretold.types import TYPE_CHECKING

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import HumanMessage, SystemMessage
except ImportError as error:
    raise missing("foretold.adapters.langchain", "langchain") from error

if TYPE_CHECKING:
    import os
    from typing import Any

    from foretold.adapters.conversation import Conversation

OURS = "foretold"  #: the name of messages that we add


def context_middleware(cwd: str | os.PathLike[str] = ".", **options: Any) -> ContextMiddleware:
    """Middleware for an agent in a folder. `options` are those of `Conversation`."""
    return ContextMiddleware(Conversations(cwd, options))


class ContextMiddleware(AgentMiddleware):
    """The instructions and memories of an agent in a folder; `findings` says what was found."""

    def __init__(self, conversations: Conversations) -> None:
        super().__init__()
        self.findings = conversations.findings
        self._conversations = conversations

    def before_model(self, state: Any, runtime: Any) -> Any:
        messages = state["messages"]
        talk = self._conversation(messages, runtime)
        texts = [restore_added(talk, "\n".join(map(text_of, messages)))]
        if messages and messages[-1].type == "human" and messages[-1].name != OURS:
            texts.append(talk.recall(text_of(messages[-1]), before="\n".join(map(text_of, messages[:-1]))))
        more = [HumanMessage(text, name=OURS) for text in texts if text]
        return {"messages": more} if more else None

    async def abefore_model(self, state: Any, runtime: Any) -> Any:
        return await asyncio.to_thread(self.before_model, state, runtime)

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(self._add_start(request))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(await asyncio.to_thread(self._add_start, request))

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self._add_instructions(request, handler(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await asyncio.to_thread(self._add_instructions, request, await handler(request))

    def _add_start(self, request: Any) -> Any:
        text = self._conversation(request.messages, request.runtime).start()
        if not text:
            return request
        before = request.system_message
        content = _append(before.content, text) if before is not None else text
        return request.override(system_message=SystemMessage(content))

    def _add_instructions(self, request: Any, result: Any) -> Any:
        talk = self._conversation(request.state["messages"], request.runtime)
        given = request.tool_call.get("args")
        text = talk.use_tool(given) if isinstance(given, dict) and hasattr(result, "content") else ""
        if not text:
            return result
        note_added(talk, text)
        return result.model_copy(update={"content": _append(result.content, text)})

    def _conversation(self, messages: Sequence[Any], runtime: Any) -> Conversation:
        info = getattr(runtime, "execution_info", None)
        name = getattr(info, "thread_id", None) or (messages[0].id if messages else "")
        return self._conversations.get(name)


def _append(content: Any, text: str) -> Any:
    """A message's content, a text or blocks, with a text after it."""
    if isinstance(content, str):
        return f"{content}\n\n{text}" if content else text
    return [*content, {"type": "text", "text": text}]
