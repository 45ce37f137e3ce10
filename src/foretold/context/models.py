"""What an agent calls a model.

1. An alias (`opus`, `sonnet[1m]`) stands for an id; ids of models that were retired for the agent's own `opus`.
2. A model is known by a part of its id, so also under the names of cloud providers.
3. `[1m]` asks for a context of a million tokens. It is named where that is a choice; else the agent keeps it in the id,
   or (later version) drops it.
4. A model without a name is called by its id, and its commits are signed with the agent's own name.
"""

from __future__ import annotations

from foretold.dialects.claude_code.context import Model, TurnContext
from foretold.types import NamedTuple

WIDE = "[1m]"


class ModelIdentity(NamedTuple):
    """A model as its agent speaks of it."""

    id: str
    name: str  #: empty if the agent has none for it
    cutoff: str  #: of its knowledge; empty if the agent names none
    author: str  #: as a commit's trailer names it

    @property
    def sentence(self) -> str:
        """How the model is told what it is."""
        if not self.name:
            return f"You are powered by the model {self.id}."
        return f"You are powered by the model named {self.name}. The exact model ID is {self.id}."


def identify_model(model: str, around: TurnContext) -> ModelIdentity:
    """What an agent calls a model; an empty one is the agent's default.

    >>> from foretold.dialects.claude_code.context import V2_1_197, V2_1_325
    >>> identify_model("sonnet", V2_1_197).author, identify_model("opus[1m]", V2_1_197).name
    ('Claude Sonnet 5', 'Opus 4.8 (1M context)')
    >>> identify_model("opus[1m]", V2_1_325).id
    'claude-opus-5-5'
    >>> identify_model("my-model", V2_1_325)
    ModelIdentity(id='my-model', name='', cutoff='', author='Claude Code')
    """
    found = id_of(model, around)
    known = next((each for each in around.models if each.part in found), None)
    if known is None:
        family = "Claude" if "claude-3" in found else around.unnamed_author
        return ModelIdentity(found, "", "", family)
    wide = found.endswith(WIDE)
    shown = found.removesuffix(WIDE) if known.wide == "dropped" else found
    suffix = " (1M context)" if wide and known.wide == "named" else ""
    return ModelIdentity(shown, known.name + suffix, known.cutoff, _author(known) + suffix)


def _author(model: Model) -> str:
    return model.author or f"Claude {model.name}"


def id_of(model: str, around: TurnContext) -> str:
    """The id that an alias stands for."""
    bare, wide = model.removesuffix(WIDE) or "default", WIDE if model.endswith(WIDE) else ""
    if any(bare.startswith(name) for name in around.retired):
        return around.aliases["opus"]
    if bare not in around.aliases:
        return bare + wide
    return around.aliases[bare].removesuffix(WIDE) + wide if wide else around.aliases[bare]
