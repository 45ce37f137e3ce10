"""A model by its name in settings and commands: `anthropic:claude-…`, `openai:gpt-…`."""

from __future__ import annotations

from foretold.errors import UnknownModel
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from foretold.models.protocol import Model

#: vendor -> module and class
VENDORS = {
    "anthropic": ("anthropic", "AnthropicModel"),
    "openai": ("openai", "OpenAIModel"),
}


def from_name(name: str, **options: Any) -> Model:
    """The model that a name stands for; `options` are those of its client.

    >>> from_name("claude")
    Traceback (most recent call last):
        ...
    foretold.errors.UnknownModel: 'claude' names no model; write vendor:model, with one of the vendors anthropic, openai
    """
    vendor, _, model = name.partition(":")
    if vendor not in VENDORS or not model.strip():
        said = f"{name!r} names no model; write vendor:model, with one of the vendors {', '.join(VENDORS)}"
        raise UnknownModel(said)
    module, kind = VENDORS[vendor]
    made: Model = getattr(__import__(f"foretold.models.{module}", fromlist=[kind]), kind)(model.strip(), **options)
    return made
