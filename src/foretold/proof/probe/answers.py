"""What a model answers, before any wire format: parts, each a text or the use of a tool that the request offers.

1. An answer has an id of its own, and so has each of its parts: ids of two answers never meet, nor do those of two
   servers, because an agent that resumes a session sends old ids again.
2. Tokens are counted as a quarter of the characters, and never as none.
3. What a request holds is of any type: what is not of the expected one is read as empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

Json = dict[str, object]

DEFAULT_MODEL = "probe-model"


class Offer(NamedTuple):
    """A tool that a request offers and its client runs. A `custom` one takes a text instead of an object."""

    name: str
    kind: str = "function"
    namespace: str = ""

    @property
    def label(self) -> str:
        """The name with its namespace.

        >>> Offer("read").label, Offer("read", namespace="disk").label
        ('read', 'disk.read')
        """
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


class Text(NamedTuple):
    """A part that is said."""

    id: str
    text: str


class Use(NamedTuple):
    """A part that uses a tool."""

    id: str
    offer: Offer
    input: Mapping[str, object]

    @property
    def text(self) -> str:
        """What the tool receives, as text: a custom tool has what its input holds as `input`.

        >>> Use("1", Offer("read"), {"path": "a"}).text, Use("2", Offer("patch", "custom"), {"input": "+a"}).text
        ('{"path":"a"}', '+a')
        """
        free = self.input.get("input") if self.offer.kind == "custom" else None
        return free if isinstance(free, str) else dump(self.input)


class Answer(NamedTuple):
    """A whole answer, and what the wire formats repeat of the request."""

    id: str
    created: int
    model: str
    parts: tuple[Text | Use, ...]
    input_tokens: int
    usage_asked: bool = False

    @property
    def uses(self) -> list[Use]:
        return [part for part in self.parts if isinstance(part, Use)]

    @property
    def said(self) -> str:
        """All its texts, a paragraph each."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def output_tokens(self) -> int:
        return estimate_tokens(sum(len(part.text) for part in self.parts))


def estimate_tokens(characters: int) -> int:
    """How many tokens so many characters may be.

    >>> estimate_tokens(0), estimate_tokens(400)
    (1, 101)
    """
    return characters // 4 + 1


def dump(value: object) -> str:
    """JSON without spaces, in ASCII: half a surrogate pair survives it."""
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, separators=(",", ":"))


def objects(value: object) -> list[Json]:
    """The objects of a list; of anything else, none.

    >>> objects([{"name": "a"}, 1]), objects({"name": "a"})
    ([{'name': 'a'}], [])
    """
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: object) -> str:
    """A text; anything else is the empty one."""
    return value if isinstance(value, str) else ""
