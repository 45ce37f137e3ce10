"""A plain function for litellm and for everything that takes a list of messages.

1. `with_context` returns the messages with two more: the instructions, after the leading system messages, and the
   memories that the last prompt is about, right before it. The messages that were given are not changed.
2. It is idempotent, and the same messages give the same bytes. Instructions are replaced if they have changed; memories
   that an earlier message quotes are not quoted again.
3. A compactor can keep the instructions: `foretold.pinned_prefix` counts them.
4. Messages may have either API's form. A message with the result of a tool is not a prompt, and nothing is put between
   a call and its result.
5. `litellm_context` does the same for every asynchronous call of litellm, and in its proxy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foretold.adapters.conversation import Conversation
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.extras import missing
from foretold.instructions.inject import field_of, inject, is_memory_message
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from typing import Any

    Message = Mapping[str, object]

RESULTS = ("tool_result", "function_call_output")  #: blocks that are not a prompt


def with_context(
    messages: Sequence[Message],
    cwd: str | os.PathLike[str] = ".",
    *,
    agent: str = DEFAULT_AGENT,
    files: Iterable[str] = (),
    **options: Any,
) -> list[Message]:
    """Messages with the instructions of an agent in a folder, and its memories about the last prompt.

    `files` are those that the agent has read or written: instructions that come with them are added, too. `options`
    are those of `Conversation`: `recall`, `team`, `budget`, `findings`, `home`, …

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with open(os.path.join(folder, "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Use tabs.\\n")
    >>> given = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    >>> made = with_context(given, folder, home=folder, env={})
    >>> [message["role"] for message in made], with_context(made, folder, home=folder, env={}) == made
    (['system', 'user', 'user'], True)
    """
    talk = Conversation(cwd, agent=agent, **options)
    added = [talk.start(), *(talk.touch(path) for path in files)]
    return _add_memories(inject(messages, "\n\n".join(text for text in added if text)), talk)


def _add_memories(messages: list[Message], talk: Conversation) -> list[Message]:
    """With the memories that the last prompt is about."""
    at = next((at for at in reversed(range(len(messages))) if _is_prompt(messages[at])), -1)
    if at < 0 or (at > 0 and _is_recalled(messages[at - 1])):
        return messages
    text = talk.recall(text_of(messages[at]), before="\n".join(text_of(each) for each in messages[:at]))
    if not text:
        return messages
    in_blocks = any(isinstance(field_of(message, "content"), list) for message in messages)
    content: object = [{"type": "text", "text": text}] if in_blocks else text
    return [*messages[:at], {"role": "user", "content": content}, *messages[at:]]


def _is_prompt(message: Message) -> bool:
    """Whether it is a user's prompt, not a tool's result and not a text of ours."""
    if field_of(message, "role") != "user" or not text_of(message):
        return False
    content = field_of(message, "content")
    blocks = content if isinstance(content, list) else []
    if any(field_of(block, "type") in RESULTS for block in blocks):
        return False
    return not (_is_recalled(message) or is_memory_message(message))


def _is_recalled(message: Message) -> bool:
    from foretold.memory.recall.render import recalled_spans

    text = text_of(message) if field_of(message, "role") == "user" else ""
    return text.startswith("<recalled-memories ") and recalled_spans(text) == [(0, len(text))]


def text_of(message: object) -> str:
    """The text of a message, in the form of either API or of a framework.

    >>> text_of({"content": "hi"}), text_of({"content": [{"type": "input_text", "text": "hi"}, {"type": "image"}]})
    ('hi', 'hi')
    """
    content = field_of(message, "content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list | tuple) else []
    texts = (block if isinstance(block, str) else field_of(block, "text") for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


def litellm_context(cwd: str | os.PathLike[str] = ".", **options: Any) -> Any:
    """What to put into `litellm.callbacks`: `acompletion`, a Router and the proxy then send messages with context.

    The blocking `litellm.completion` calls no callback; use `with_context` there. Its `findings` say what was found.
    """
    try:
        from litellm.integrations.custom_logger import CustomLogger
    except ImportError as error:
        raise missing("litellm_context", "litellm") from error
    options["findings"] = [] if options.get("findings") is None else options["findings"]
    Conversation(cwd, **options)  # the caller's mistakes, at once

    class LiteLLMContext(CustomLogger):
        """Adds instructions and memories to requests."""

        def __init__(self) -> None:
            super().__init__()
            self.findings = options["findings"]

        async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:  # noqa: ARG002
            return await self._with_context(kwargs)

        async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:  # noqa: ARG002
            return await self._with_context(data)

        async def _with_context(self, asked: Any) -> Any:
            import asyncio

            if not isinstance(asked.get("messages"), list):
                return asked
            return {**asked, "messages": await asyncio.to_thread(with_context, asked["messages"], cwd, **options)}

    return LiteLLMContext()
