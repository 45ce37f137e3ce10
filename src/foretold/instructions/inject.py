"""`foretold.inject`: put a view into a list of messages, for people who build agents.

1. The text is a separate message between `<foretold …>` and `</foretold>`, by default after the leading system
   messages.
2. Injecting again replaces the message; injecting the same view again changes nothing.
3. The list and the messages that were given are not changed.
4. Text that contains our tags cannot end the message early: there, `<` is written as `&lt;`.
5. Messages of other systems that carry instructions, by their sentinel or by their name, are pinned too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foretold.errors import ForetoldError
from foretold.instructions.render.escape import escape_tag
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.instructions.view import View

    Message = Mapping[str, object]


class Sentinel(NamedTuple):
    """How a message that carries instructions begins and ends."""

    openings: tuple[str, ...]
    close: str


OPEN, CLOSE = "<foretold", "</foretold>"
OURS = Sentinel((OPEN + ">\n", OPEN + " agent="), "\n" + CLOSE)
MINK = Sentinel(('<memory source="CLAUDE.md">\n',), "</memory>")
TAG = "memory"  #: the name of a message of ExAthena that carries instructions
ALL = (OURS, MINK)
SYSTEM = ("system", "developer")
PLACES = ("after-system", "first", "before-last-user", "system")


def inject(
    messages: Sequence[Message], view: View | str, *, place: str = "after-system", role: str = "user"
) -> list[Message]:
    """Messages with a view's instructions in them.

    `place` is `after-system`, `first`, `before-last-user`, or `system`: a system message after the others. Content is
    a list of blocks if the other messages have such lists, else a text; Anthropic and OpenAI take both.

    >>> inject([{"role": "user", "content": "hi"}], "Use tabs.")[0]["content"]
    '<foretold>\\nUse tabs.\\n</foretold>'
    """
    if place not in PLACES:
        raise ForetoldError(f"unknown place {place!r}; choose one of: {', '.join(PLACES)}")
    others = [message for message in messages if not is_marked(message, OURS)]
    text = view if isinstance(view, str) else view.text
    if not text:
        return others
    agent = "" if isinstance(view, str) else f' agent="{view.dialect.name}"'
    body = f"{OPEN}{agent}>\n{escape_tag(text, 'foretold', end='')}\n{CLOSE}"
    in_blocks = any(isinstance(field_of(message, "content"), list) for message in others)
    content: object = [{"type": "text", "text": body}] if in_blocks else body
    message = make_message(others, "system" if place == "system" else role, content)
    others.insert(position(others, place), message)
    return others


def make_message(others: Sequence[Message], role: str, content: object) -> Message:
    """A message of the kind of the others: a dictionary, or an object of a class that they have.

    It is the class of a message with the same role, if there is one, and is called with `role` and `content`; if it
    does not take them, the message is a dictionary.

    >>> from types import SimpleNamespace
    >>> make_message([SimpleNamespace(role="user", content="hi")], "user", "Use tabs.")
    namespace(role='user', content='Use tabs.')
    """
    fields: Message = {"role": role, "content": content}
    if not others or any(isinstance(message, Mapping) for message in others):
        return fields
    model = next((message for message in others if field_of(message, "role") == role), others[0])
    try:
        made: Message = type(model)(**fields)
    except (TypeError, ValueError):
        return fields
    is_alike = field_of(made, "role") == role and field_of(made, "content") == content
    return made if is_alike else fields


def position(messages: Sequence[Message], place: str) -> int:
    """Where in a list a message belongs."""
    roles = [field_of(message, "role") for message in messages]
    if place == "before-last-user":
        return max((at for at, role in enumerate(roles) if role == "user"), default=len(roles))
    leading = next((at for at, role in enumerate(roles) if role not in SYSTEM), len(roles))
    return 0 if place == "first" else leading


def is_memory_message(message: Message) -> bool:
    """Whether a message carries instructions, ours or those of mink or ExAthena: a compactor keeps it as it is.

    >>> is_memory_message({"role": "user", "content": "<foretold>\\nUse tabs.\\n</foretold>"})
    True
    """
    return is_tagged(message) or any(is_marked(message, each) for each in ALL)


def is_marked(message: object, sentinel: Sentinel) -> bool:
    """Whether a message begins and ends with a sentinel."""
    if field_of(message, "role") not in ("user", *SYSTEM):
        return False
    content = field_of(message, "content")
    if isinstance(content, list):
        first = content[0] if len(content) == 1 else None
        content = first.get("text") if isinstance(first, dict) else None
    return isinstance(content, str) and content.endswith(sentinel.close) and content.startswith(sentinel.openings)


def is_tagged(message: object) -> bool:
    """Whether a message of the user has the name of those that carry instructions."""
    return field_of(message, "role") == "user" and field_of(message, "name") == TAG


def field_of(message: object, name: str) -> object:
    """A field of a message, which is a mapping for most and an object for some."""
    get = getattr(message, "get", None)
    return get(name) if callable(get) else getattr(message, name, None)


def pinned_prefix(messages: Sequence[Message]) -> int:
    """How many messages at the front a compactor must keep: system messages, and those that carry instructions.

    >>> pinned_prefix([{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}])
    1
    """
    pinned = (field_of(message, "role") in SYSTEM or is_memory_message(message) for message in messages)
    return next((at for at, is_pinned in enumerate(pinned) if not is_pinned), len(messages))
