"""Skill: the text of a skill that the model asks for, by its name in the list.

The text is what the author of a file wrote, maybe of the repository: the result says which file, and no tag of the
agent can be in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from foretold.harness.tools.base import Result, Tool, ToolContext, failure, input_schema
from foretold.instructions.render.escape import escape_reserved
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.context.listings import Skill
    from foretold.harness.tools.base import Input


def make_skill_tool(skills: Callable[[], Mapping[str, Skill]]) -> Tool:
    """The tool of one conversation, given its skills."""

    def run(_: ToolContext, given: Input) -> Result:
        from foretold.context.definitions import call_skill

        name, known = str(given["skill"]), skills()
        if name not in known:
            close = get_close_matches(name, known, 1)
            return failure(f"Unknown skill: {name}." + (f" Did you mean {close[0]}?" if close else ""), is_tagged=True)
        skill = known[name]
        text = escape_reserved(call_skill(skill, str(given.get("args") or "")))
        where = f"Base directory for this skill: {skill.folder}\n\n" if skill.folder else ""
        return Result(f"Launching skill: {name}\n\n{where}{text}", value={"success": True, "commandName": name})

    return Tool(
        "Skill",
        "Read a skill: instructions for one kind of task, which the user or the project has written down. Skills are"
        " listed in a reminder. If one fits the task, read it before you begin, and follow it. Ask for those only.",
        input_schema(
            "skill",
            {
                "skill": {"type": "string", "description": "Its name, as it is listed"},
                "args": {"type": "string", "description": "What it should be about, if it takes that"},
            },
        ),
        run,
    )
