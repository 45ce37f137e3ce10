"""Where files for an agent are put by mistake, and where the agent looks: one table.

From the documentation of each agent: the right places are those of the tables of its dialect.
"""

from __future__ import annotations

from foretold.types import NamedTuple


class Misplaced(NamedTuple):
    """A place that an agent does not look at. It ends with a slash for every page in a folder, else it is a file."""

    place: str  #: the end of a path, from one of its folders on
    right: str  #: where the agent looks
    agent: str
    what: str  #: what was meant to be there


#: the settings in which a project names instruction files of its own, by agent
SETTINGS = {"gemini-cli": ".gemini/settings.json", "qwen-code": ".qwen/settings.json"}

MISPLACED = (
    Misplaced(".claude/rule/", ".claude/rules/", "claude-code", "a rule"),
    Misplaced(".claude/agent/", ".claude/agents/", "claude-code", "an agent"),
    Misplaced(".claude/command/", ".claude/commands/", "claude-code", "a command"),
    Misplaced(".claude/skill/", ".claude/skills/", "claude-code", "a skill"),
    Misplaced(".claude/CLAUDE.local.md", "CLAUDE.local.md", "claude-code", "instructions"),
    Misplaced(".claude/rules.md", ".claude/rules/", "claude-code", "rules"),
    Misplaced(".claude/claude.json", ".claude/settings.json", "claude-code", "settings"),
    Misplaced(".claude/setting.json", ".claude/settings.json", "claude-code", "settings"),
    Misplaced(".claude/mcp.json", ".mcp.json", "claude-code", "servers"),
    Misplaced(".claude/.mcp.json", ".mcp.json", "claude-code", "servers"),
    Misplaced(".claude/hooks.json", ".claude/settings.json, under the key `hooks`", "claude-code", "hooks"),
    Misplaced("CLAUDE.txt", "CLAUDE.md", "claude-code", "instructions"),
    Misplaced("CLAUDE.markdown", "CLAUDE.md", "claude-code", "instructions"),
    Misplaced("CLAUDE.mdx", "CLAUDE.md", "claude-code", "instructions"),
    Misplaced("CLAUDE.MD", "CLAUDE.md", "claude-code", "instructions"),
    Misplaced(".codex/AGENTS.md", "AGENTS.md", "codex", "instructions"),
    Misplaced("AGENTS.txt", "AGENTS.md", "codex", "instructions"),
    Misplaced("AGENTS.markdown", "AGENTS.md", "codex", "instructions"),
    Misplaced(".cursor/rule/", ".cursor/rules/", "cursor", "a rule"),
    Misplaced(".github/instruction/", ".github/instructions/", "copilot-cli", "instructions"),
    Misplaced(".github/copilot-instruction.md", ".github/copilot-instructions.md", "copilot-cli", "instructions"),
    Misplaced(".github/copilot_instructions.md", ".github/copilot-instructions.md", "copilot-cli", "instructions"),
    Misplaced(
        ".github/copilot/copilot-instructions.md", ".github/copilot-instructions.md", "copilot-cli", "instructions"
    ),
    Misplaced(".gemini/GEMINI.md", "GEMINI.md", "gemini-cli", "instructions"),
)
