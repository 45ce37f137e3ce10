"""Skills: the open standard, and the folders in which agents look for them."""

from __future__ import annotations

import re

from foretold.dialects.extensions.tables import DefinitionTable, spell
from foretold.types import NamedTuple

FILE = "SKILL.md"
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")  #: agentskills.io, specification: `name`
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500

KEYS = {
    **spell("text", "name description license compatibility"),
    "metadata": "table",
    "allowed-tools": "texts",
}

STANDARD = DefinitionTable(
    kind="skill",
    agents=(),
    folders=(),
    keys=KEYS,
    document="agentskills.io: specification",
    suffix=f"/{FILE}",
    needed=("name", "description"),
    needs_head=True,
)


class SkillFolder(NamedTuple):
    """A folder of skills, and who reads it."""

    folder: str
    agents: tuple[str, ...]
    one_level: tuple[str, ...] = ()  #: agents that look for `FOLDER/NAME/SKILL.md`, and for nothing else
    keys: tuple[str, ...] = ()  #: of frontmatter, that only its agents read


#: Claude Code looks one level down (debug-your-config; anthropics/claude-code issues 18192, 28266 and 39138). Codex and
#: opencode look further. The folders that several agents read are those of their documents.
FOLDERS = (
    SkillFolder(".claude/skills", ("claude-code", "opencode", "copilot-cli", "cursor"), one_level=("claude-code",)),
    SkillFolder(".agents/skills", ("codex", "opencode", "gemini-cli", "copilot-cli", "cursor")),
    SkillFolder(".codex/skills", ("codex",)),
    SkillFolder(".opencode/skills", ("opencode",)),
    SkillFolder(".opencode/skill", ("opencode",)),
    SkillFolder(".gemini/skills", ("gemini-cli",)),
    SkillFolder(".github/skills", ("copilot-cli",)),
    SkillFolder(".cursor/skills", ("cursor",)),
    SkillFolder(".qwen/skills", ("qwen-code",), keys=("allowedTools",)),
    SkillFolder(".kiro/skills", ("kiro",)),
)
