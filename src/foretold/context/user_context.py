"""The user context: facts that stand before the first prompt, in one message of the user.

1. It is a dictionary, flattened: `# key`, then its value, in the order of the keys.
2. The earlier version has `claudeMd` and `currentDate` in it. With `--exclude-dynamic-system-prompt-sections` the git
   status comes before them, the environment (without what is said to everybody) and the memory prompt behind them.
3. The later version has only `gitStatus` in it; instructions and the memory prompt have blocks of their own, the date
   and the environment are attachments.
4. It is made anew for every request and is in no transcript (earlier version); in the later version the records
   `session_context` and `context_sections` hold it.
"""

from __future__ import annotations

from foretold.context.environment import HEADING
from foretold.dialects.claude_code.context import CONTEXT_BEFORE, TurnContext, turn_context_of
from foretold.instructions.render.blocks import CLOSE, OPEN
from foretold.types import TYPE_CHECKING, Block

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foretold.instructions.view import View


def user_context(
    view: View, *, git: str = "", environment: str = "", memory: str = "", exclude_dynamic: bool = False
) -> dict[str, str]:
    """The user context of a view, as a dictionary.

    `git` and `memory` are the texts of the git status and of the memory prompt; `environment` is that of
    `environment_section(..., dynamic_only=True)`. They are left out unless they travel outside of the system prompt.

    >>> import foretold
    >>> import tempfile
    >>> view = foretold.load(tempfile.mkdtemp(), agent="claude-code@2.1.197", home="/none", env={}, now="2026-01-02")
    >>> user_context(view)
    {'currentDate': "Today's date is 2026-01-02."}
    """
    keys = turn_context_of(view.dialect.name).context_keys
    found = {"gitStatus": git if exclude_dynamic or "claudeMd" not in keys else "", "claudeMd": view.text or ""}
    found["currentDate"] = f"Today's date is {view.surroundings.date}."
    if exclude_dynamic:
        found["Environment"] = environment.removeprefix(f"{HEADING}\n")
        heading, _, text = memory.partition("\n")
        found[heading.removeprefix("# ") or "Memory"] = text
    return {key: text for key, text in found.items() if text and key in keys}


def flatten_context(context: Mapping[str, object], around: TurnContext) -> str:
    """The block of a user context; empty if there is none."""
    if not context:
        return ""
    return CONTEXT_BEFORE + "\n".join(f"# {key}\n{text}" for key, text in context.items()) + around.context_after


def context_blocks(
    view: View, *, git: str = "", environment: str = "", memory: str = "", exclude_dynamic: bool = False
) -> tuple[Block, ...]:
    """The blocks that stand before the first prompt: instructions, context, sections that left the system prompt.

    >>> import foretold
    >>> import tempfile
    >>> view = foretold.load(tempfile.mkdtemp(), agent="claude-code@2.1.197", home="/none", env={}, now="2026-01-02")
    >>> context_blocks(view)[0].text == view.messages[0]["content"][0]["text"]
    True
    """
    around = turn_context_of(view.dialect.name)
    context = user_context(view, git=git, environment=environment, memory=memory, exclude_dynamic=exclude_dynamic)
    own = () if "claudeMd" in around.context_keys else tuple(slot.block for slot in view.slots)
    sections = []
    if exclude_dynamic and memory and around.section_after:
        sections.append(OPEN + memory + around.section_after + CLOSE)
    texts = [text for text in (flatten_context(context, around), *sections) if text]
    return (*own, *(Block("user", "text", text) for text in texts))
