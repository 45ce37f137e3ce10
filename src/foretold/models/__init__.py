"""Models: the protocol that a harness needs, a scripted model for tests, and clients of two vendors.

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.models.anthropic import AnthropicModel as AnthropicModel
    from foretold.models.client import from_name as from_name
    from foretold.models.openai import OpenAIModel as OpenAIModel
    from foretold.models.protocol import Model as Model, ModelRequest as ModelRequest, Reply as Reply, Usage as Usage
    from foretold.models.scripted import Scripted as Scripted

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.models.anthropic": "AnthropicModel",
        "foretold.models.client": "from_name",
        "foretold.models.openai": "OpenAIModel",
        "foretold.models.protocol": "Reply ModelRequest Usage",
        "foretold.models.scripted": "Scripted",
    },
)
