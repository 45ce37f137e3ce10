"""Kinds of subagents: what a definition says, and those that Claude Code has by itself.

A definition is a Markdown file: frontmatter (`name`, `description`, `tools`, `disallowedTools`, `model`, `maxTurns`),
then the prompt. Names, and which tools are taken away, are those of the program (2.1.197 and 2.1.325); the words are
ours. To which kinds no instructions are sent is in the dialect (`subagents_without`).
"""

from __future__ import annotations

from foretold.types import NamedTuple

GENERAL = "general-purpose"  #: the kind that is started if none is named
FOLDER = "agents"  #: below the folder of settings
SKILLS = "skills"
SKILL_FILE = "SKILL.md"


class AgentType(NamedTuple):
    """A kind of subagent."""

    name: str
    description: str  #: when to start one, for the model that decides
    prompt: str = ""  #: who it is: its system prompt
    tools: tuple[str, ...] | None = None  #: names of those it has; None: all that its parent has
    without: tuple[str, ...] = ()  #: names of those it does not have
    model: str = ""  #: by a name that `Harness(models=…)` has; empty or `inherit`: that of its parent
    max_turns: int = 0  #: requests; 0: as many as `Harness(agent_turns=…)` says
    instructions: bool | None = None  #: whether it gets the instructions; None: as the dialect says for its name
    path: str = ""  #: the file that defines it

    @property
    def tools_text(self) -> str:
        """Its tools, as a list of agents names them.

        >>> AgentType("x", "", without=("Edit", "Write")).tools_text, AgentType("x", "", tools=("Read",)).tools_text
        ('All tools except Edit, Write', 'Read')
        """
        if self.tools is not None:
            return ", ".join(name for name in self.tools if name not in self.without) or "none"
        return f"All tools except {', '.join(self.without)}" if self.without else "All tools"


_CHANGES = ("Agent", "Edit", "Write", "NotebookEdit")
BUILT_IN = (
    AgentType(
        GENERAL,
        "Works on a task of several steps by itself: research across many files, a search that may need several tries,"
        " a change that can be described completely.",
        "You work on one task, for another agent. Do all of it, and nothing else.",
    ),
    AgentType(
        "Explore",
        "Searches the project without changing anything, and reports where things are. Say how thorough it should be.",
        "You search a project for another agent. You change nothing: you look for files and text, read what is needed,"
        " and report what you found and where.",
        without=_CHANGES,
    ),
    AgentType(
        "Plan",
        "Designs how to implement something, without changing anything: the steps, which files matter, what to weigh.",
        "You plan a change of a project for another agent. You change nothing: you read what the plan depends on, and"
        " report the steps, the files that matter most, and what was weighed.",
        without=_CHANGES,
    ),
)
