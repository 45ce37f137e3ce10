"""What a permission answers."""

from __future__ import annotations

from headnote.types import NamedTuple


class Verdict(NamedTuple):
    """Whether a call is permitted."""

    decision: str  #: allow, deny, ask
    reason: str = ""  #: for the model and for a person
    rule: str = ""  #: the rule that decided
