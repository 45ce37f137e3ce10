"""How Claude Code compacts a conversation, a value per version (recorded on 2.1.197 and 2.1.325).

The texts around the summary are functional: a resumed session must have them. The request for the summary is not
here; `foretold.context.compaction.compactor` has its own.
"""

from __future__ import annotations

from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.types import NamedTuple


class CompactionRules(NamedTuple):
    """What one release does."""

    reserve: int = 33_000  #: tokens below the window at which it compacts by itself
    least_groups: int = 3  #: a group is an answer and what follows it; the last is kept, so there must be others
    few: str = "refuses"  #: what a command does with fewer: refuses, or summarises all and keeps none
    refilled: str = "keeps"  #: or `drops` the last group, if a turn's first answer since the last time is too much
    files: int = 5  #: how many files are attached again
    file_tokens: int = 5_000  #: a longer file is only named
    asked_above: int = 1_250  #: the estimate from which on the model's own count is asked for
    all_tokens: int = 50_000
    measured: str = "record"  #: what the files are measured by: their records, or the attachments in them
    framed: bool = False  #: whether an attached file says how it is framed
    renders: bool = False  #: whether the record of an attachment has the text that the model reads
    nested_stamp: str = "loaded"  #: the time that orders an instruction file that came with another: when it was loaded
    names_tools: bool = False  #: whether the summary names the tools that were used
    says_kept: bool = False  #: whether the summary mentions the messages after it
    expands_dollars: bool = True  #: whether `$&` and the like in a summary are taken for patterns of a replacement


OPENING = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary below covers the earlier portion of the conversation.\n\n"
)
TOOLS = "<system-reminder>\n<tools-used-before-summary>{tools}</tools-used-before-summary>\n</system-reminder>\n"
TRANSCRIPT = (
    "\n\nIf you need specific details from before compaction (like exact code snippets, error messages, or content you "
    "generated), read the full transcript at: {path}"
)
GO_ON = (
    "\nContinue the conversation from where it left off without asking the user any further questions. Resume directly "
    '— do not acknowledge the summary, do not recap what was happening, do not preface with "I\'ll continue" or '
    "similar. Pick up the last task as if the break never happened."
)
KEPT = (
    "\n\nThe messages after this summary are the most recent messages from before compaction, kept verbatim. The "
    "summary was written without seeing them, so something it says has not happened yet may already have happened in "
    "them."
)
#: what the model gets for a file that is too long to be attached
NAMED = (
    "Note: {path} was read before the last conversation was summarized, but the contents are too large to include. "
    "Use Read tool if you need to access it."
)
#: how the model is given a file that is attached: the call that would have read it, and what that gave
CALLED = ("Called the Read tool with the following input: {input}", "Result of calling the Read tool:\n{lines}")
REMINDER = "<system-reminder>\n{text}\n</system-reminder>"
CONTENT = "Conversation compacted"  #: what the boundary says
#: extensions whose text is counted as two characters a token; all others have four
DENSE = (".json", ".jsonl", ".jsonc")

CHANGES = (
    DatedChange(
        "2.1.325",
        "2.1.197",
        "A conversation with few turns can be compacted, and the summary names the tools that were used.",
        {
            "few": "summarises",
            "refilled": "drops",
            "measured": "attachment",
            "framed": True,
            "renders": True,
            "nested_stamp": "changed",
            "names_tools": True,
            "says_kept": True,
            "expands_dollars": False,
        },
        topic="compaction",
    ),
)
HISTORY = ReleaseHistory(CompactionRules(), CHANGES)


def compaction_rules(version: str) -> CompactionRules:
    """What a release does; of what is not a version, the newest."""
    return HISTORY.at(version)
