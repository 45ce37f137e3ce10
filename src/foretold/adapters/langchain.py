"""foretold in langchain and deepagents: middleware that tells and recalls.

1. `context_middleware` is for `middleware=[…]` of `create_agent` and `create_deep_agent`: what the agent is told is
   added to its system message; behind a prompt stand the memories that it is about; in the result of a tool stand the
   instructions that a file brings along which the tool touched.
2. What was added stays in the state, so that the next request has the same first bytes. Each conversation, by its
   thread, else by its first message, is told a thing once.
3. When a text that was added is gone from the messages, the history was shortened: everything is read anew, and stands
   behind the last message.

Memories as files of a deepagents backend: `foretold.adapters.deepagents`.
"""

from __future__ import annotations

import asyncio

from foretold.adapters.conversations import Talks, added, said_again
from foretold.extras import missing
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Any

    from foretold.adapters.conversation import Conversation

OURS = "foretold"  #: the name of messages that we add


def context_middleware(cwd: str | os.PathLike[str] = ".", **options: Any) -> Any:
    """Middleware for an agent in a folder; its `findings` say what was found. `options` are those of `Conversation`."""
    try:
        from langchain.agents.middleware import AgentMiddleware
        from langchain_core.messages import HumanMessage, SystemMessage
    except ImportError as error:
        raise missing("foretold.adapters.langchain", "langchain") from error
    talks = Talks(cwd, options)

    class ContextMiddleware(AgentMiddleware):
        """What an agent in a folder is told and remembers."""

        def __init__(self) -> None:
            super().__init__()
            self.findings = talks.findings

        def before_model(self, state: Any, runtime: Any) -> Any:
            messages = state["messages"]
            talk = self._talk(messages, runtime)
            texts = [said_again(talk, "\n".join(map(_text, messages)))]
            if messages and messages[-1].type == "human" and messages[-1].name != OURS:
                texts.append(talk.asked(_text(messages[-1]), before="\n".join(map(_text, messages[:-1]))))
            more = [HumanMessage(text, name=OURS) for text in texts if text]
            return {"messages": more} if more else None

        async def abefore_model(self, state: Any, runtime: Any) -> Any:
            return await asyncio.to_thread(self.before_model, state, runtime)

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(self._told(request))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(await asyncio.to_thread(self._told, request))

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return self._brought(request, handler(request))

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return await asyncio.to_thread(self._brought, request, await handler(request))

        def _told(self, request: Any) -> Any:
            text = self._talk(request.messages, request.runtime).start()
            if not text:
                return request
            before = request.system_message
            if before is None:
                return request.override(system_message=SystemMessage(text))
            content = before.content
            if isinstance(content, str):
                return request.override(system_message=SystemMessage(f"{content}\n\n{text}" if content else text))
            return request.override(system_message=SystemMessage([*content, {"type": "text", "text": text}]))

        def _brought(self, request: Any, result: Any) -> Any:
            talk = self._talk(request.state["messages"], request.runtime)
            given = request.tool_call.get("args")
            text = talk.called(given) if isinstance(given, dict) and hasattr(result, "content") else ""
            if not text:
                return result
            added(talk, text)
            said = result.content
            more = f"{said}\n\n{text}" if isinstance(said, str) else [*said, {"type": "text", "text": text}]
            return result.model_copy(update={"content": more})

        def _talk(self, messages: Sequence[Any], runtime: Any) -> Conversation:
            info = getattr(runtime, "execution_info", None)
            return talks.of(getattr(info, "thread_id", None) or (messages[0].id if messages else ""))

    return ContextMiddleware()


def _text(message: Any) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) if isinstance(block, dict) else str(block) for block in content)
