"""Zed: the first of many names in the folder that is open. From its source."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Part, Reading, Source

NAMES = (
    *(".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md"),
    *("AGENTS.md", "CLAUDE.md", "GEMINI.md"),
)

V1 = CODEX._replace(
    agent="zed",
    version="1",
    evidence="source",
    surroundings="git_world",
    programs=("zed",),
    environment=(),
    managed=(("", "/etc/zed"),),
    start=(
        Source("user", "home", ".config/zed/AGENTS.md"),
        Source("project", "cwd", NAMES[0], others=NAMES[1:], pick="file"),
    ),
    reading=Reading(frontmatter="none", markdown=False, trims=("user", "project", "local")),
    parts=(
        Part(
            "system",
            "system",
            (
                Group(("user file",), "{text}", "\n\n", "### Personal `AGENTS.md`\n\n"),
                Group(("project file",), "`{relative}`:\n``````\n{text}\n``````", "\n\n", "### Project Rules\n\n"),
            ),
            before="## User's Custom Instructions\n\n",
            join="\n\n",
        ),
    ),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
