"""`headnote.inject`: put a view into a list of messages, for people who build agents.

1. The text stands in a message of its own between `<headnote …>` and `</headnote>`, by default behind the leading
   system messages.
2. Injecting again replaces the message; injecting the same view again changes nothing.
3. The list and the messages that were given are not changed.
4. Text that contains our tags cannot end the message early: there, `<` is written as `&lt;`.
"""

from __future__ import annotations

import re

from headnote.errors import HeadnoteError
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headnote.instructions.view import View

    Message = Mapping[str, object]

OPEN, CLOSE = "<headnote", "</headnote>"
PLACES = ("after-system", "first", "before-last-user", "system")


def inject(
    messages: Sequence[Message], view: View | str, *, place: str = "after-system", role: str = "user"
) -> list[Message]:
    """Messages with a view's instructions in them.

    `place` is `after-system`, `first`, `before-last-user`, or `system`: a system message behind the others. Content is
    a list of blocks if the other messages have such lists, else a text; Anthropic and OpenAI take both.

    >>> inject([{"role": "user", "content": "hi"}], "Use tabs.")[0]["content"]
    '<headnote>\\nUse tabs.\\n</headnote>'
    """
    if place not in PLACES:
        raise HeadnoteError(f"no place is called {place!r}; there are: {', '.join(PLACES)}")
    others = [message for message in messages if not is_memory_message(message)]
    text = view if isinstance(view, str) else view.text
    if not text:
        return others
    agent = "" if isinstance(view, str) else f' agent="{view.dialect.name}"'
    body = f"{OPEN}{agent}>\n{_harmless(text)}\n{CLOSE}"
    in_blocks = any(isinstance(message.get("content"), list) for message in others)
    content: object = [{"type": "text", "text": body}] if in_blocks else body
    message: Message = {"role": "system" if place == "system" else role, "content": content}
    others.insert(_position(others, place), message)
    return others


def _position(messages: Sequence[Message], place: str) -> int:
    if place == "first":
        return 0
    if place == "before-last-user":
        users = [at for at, message in enumerate(messages) if message.get("role") == "user"]
        return users[-1] if users else len(messages)
    return _leading_system(messages)


def _leading_system(messages: Sequence[Message]) -> int:
    count = 0
    while count < len(messages) and messages[count].get("role") in ("system", "developer"):
        count += 1
    return count


def _harmless(text: str) -> str:
    """Text in which neither of our tags can be found, in any case of letters."""
    return re.sub("<(?=/?headnote)", "&lt;", text, flags=re.IGNORECASE)


def is_memory_message(message: Message) -> bool:
    """Whether a message is one of ours: a compactor keeps it as it is.

    >>> is_memory_message({"role": "user", "content": "<headnote>\\nUse tabs.\\n</headnote>"})
    True
    """
    if message.get("role") not in ("user", "system", "developer"):
        return False
    content = message.get("content")
    if isinstance(content, list):
        first = content[0] if len(content) == 1 else None
        content = first.get("text") if isinstance(first, dict) else None
    if not isinstance(content, str) or not content.endswith("\n" + CLOSE):
        return False
    return content.startswith((OPEN + ">\n", OPEN + " agent="))


def pinned_prefix(messages: Sequence[Message]) -> int:
    """How many messages at the front a compactor must keep: system messages and ours.

    >>> pinned_prefix([{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}])
    1
    """
    count = 0
    for message in messages:
        if message.get("role") not in ("system", "developer") and not is_memory_message(message):
            break
        count += 1
    return count
