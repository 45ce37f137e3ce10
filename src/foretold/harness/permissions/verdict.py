"""What a permission answers, and what a model is told of a call that was not permitted.

The words are ours, and say who refused: Claude Code tells its model that the user has not granted it *yet*, also where
nobody was asked, and names itself.
"""

from __future__ import annotations

from foretold.types import NamedTuple

SAID_NO = "The user was asked and said no. It was not done: do not try it in another way, ask what to do instead."
NOBODY = "Nobody can be asked here, so it was not done. Do without it, or tell the user which permission is missing."


class Verdict(NamedTuple):
    """Whether a call is permitted."""

    decision: str  #: allow, deny, ask
    reason: str = ""  #: for the model and for a person
    rule: str = ""  #: the rule that decided

    def refused(self, why: str) -> Verdict:
        """What would be asked, as a refusal that says why.

        >>> Verdict("ask", "This command requires approval").refused("Nobody can be asked here.")
        Verdict(decision='deny', reason='This command requires approval. Nobody can be asked here.', rule='')
        """
        return self._replace(decision="deny", reason=f"{self.reason.rstrip('.')}. {why}")
