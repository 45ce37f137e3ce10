"""How versions of Claude Code differ in what they make of a transcript when they resume it.

Recorded by resuming some 450 damaged and undamaged transcripts with each version; those that distinguish rules are in
tests/sessions/resumption/resume_more.jsonl.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.types import NamedTuple

INTERRUPTED = (
    "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown."
    " Check whether it took effect before relying on it or running it again.]"
)


class SessionRules(NamedTuple):
    """What one version does where versions differ; 2.1.197, if nothing else is said."""

    #: what the chain ends with: `last` = the last record of the file, `tip` = and then its newest descendant
    leaf: str = "last"
    gathers: bool = False  #: whether all blocks of an answer, and then all their results, are put together
    joins_unnamed: bool = True  #: whether answers without a message id count as one
    strips_calls: bool = True  #: whether calls lose fields that the API does not take
    #: tools that were renamed since, and what they are called now
    renamed: Mapping[str, str] = {"Task": "Agent", "KillShell": "TaskStop"}
    tool_loaded: str = ""  #: what follows a result that loads a tool; empty = the reference is taken out
    folds_lists: bool = False  #: whether an attachment joins also a result that is a list
    keeps_empty: bool = True  #: whether a message without any block is kept
    refuses_damage: bool = True  #: whether a record without its message, or the line `null`, makes the resume fail
    #: what a turn that was broken off is asked to do; empty = nothing
    continues: str = "Continue from where you left off."
    open_call: str = ""  #: what a call without a result is answered with; empty = such a call is dropped
    is_rendered: bool = False  #: whether a transcript keeps the text of its attachments, and it is sent again
    tags_system: tuple[str, ...] = ()  #: models whose system messages have tags around each attachment
    has_context: bool = True  #: whether the context block is built again, before the first message


CHANGES = (
    DatedChange(
        "2.1.325",
        "2.1.197",
        "A damaged transcript is resumed with more of its messages.",
        {
            "leaf": "tip",
            "gathers": True,
            "joins_unnamed": False,
            "strips_calls": False,
            "renamed": {"Task": "Agent"},
            "tool_loaded": "Tool loaded.",
            "folds_lists": True,
            "keeps_empty": False,
            "refuses_damage": False,
            "continues": "",
            "open_call": INTERRUPTED,
            "is_rendered": True,
            "tags_system": ("sonnet-5",),
            "has_context": False,
        },
        topic="sessions",
    ),
)
HISTORY = ReleaseHistory(SessionRules(), CHANGES)
OLDEST, NEWEST = HISTORY.base, HISTORY.at("")


def rules_of(version: str) -> SessionRules:
    """The rules of a release; of what is not a version, the newest."""
    return HISTORY.at(version)
