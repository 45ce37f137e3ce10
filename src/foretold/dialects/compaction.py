"""What becomes of instructions when an agent compacts or clears a conversation, a value per agent.

Claude Code was recorded (`claude_code.compaction`); so were Codex 0.166.0 and opencode 1.18.33, with a file of the
start that changed in the meantime and, where the agent has them, a nested one. The others are assumed, and reports
say so.
"""

from __future__ import annotations

from foretold.types import NamedTuple


class CompactionEffect(NamedTuple):
    """`start` is what the agent does with the files of the start: it reads them `again`, or has `kept` their text."""

    start: str = "again"
    restores: bool = False  #: whether files that were read are attached again
    reason: str = "session_start"  #: how the agent itself calls the loading
    recorded: bool = False
    why: str = ""


DESCRIBED = "not recorded; as its document describes it"
OTHER = CompactionEffect(why="not recorded; assumed to load the instructions again, as for a new conversation")
STAYS = CompactionEffect("kept", why="not recorded; the text of the start is assumed to stay as it was")
AFTER_COMPACTION = {
    "claude-code": CompactionEffect("again", restores=True, reason="compact", recorded=True),
    "codex": CompactionEffect("kept", recorded=True),  # sent again as it was, with the prompts, before the summary
    "opencode": CompactionEffect("again", recorded=True),  # as for every request
    "gemini-cli": STAYS,
    "qwen-code": STAYS,
    "notes": CompactionEffect("again", restores=True, reason="compact", why=DESCRIBED),
}
AFTER_CLEAR = {
    "claude-code": CompactionEffect("again", recorded=True),
    "notes": CompactionEffect("again", why=DESCRIBED),
}


def effect_of(event: str, agent: str) -> CompactionEffect:
    """What an agent does after `compact` or `clear`."""
    return (AFTER_COMPACTION if event == "compact" else AFTER_CLEAR).get(agent, OTHER)
