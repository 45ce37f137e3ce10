"""Crush: every name it knows, in the working directory. From its source; the order is random from run to run."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Part, Reading, Source

#: names that are equal in lower case count once, as the first in byte order: `agents.md` alone is not read
NAMES = (
    *(".cursorrules", ".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.local.md", "CLAUDE.md"),
    *("CRUSH.local.md", "CRUSH.md", "GEMINI.md"),
)
FILE = '\n<file path="{path}">\n{text}\n</file>\n'

V1 = CODEX._replace(
    agent="crush",
    version="1",
    evidence="source",
    surroundings="git_world",
    programs=("crush",),
    environment=(),
    managed=(("", "/etc/crush"),),
    start=(
        Source("user", "home", ".config/crush/CRUSH.md"),
        Source("user", "home", ".config/AGENTS.md"),
        *(Source("project", "cwd", name) for name in NAMES),
        Source("project", "cwd", ".cursor/rules", "rules"),
    ),
    rules=CODEX.rules._replace(suffix="", key="", wakes="touch", deep=True),
    identity="real",
    reading=Reading(frontmatter="none", markdown=False, blank="empty"),
    unordered=("project",),
    parts=(
        Part(
            "system",
            "system",
            (Group(("project file", "project rule"), FILE, ""),),
            before="# Project-Specific Context\nMake sure to follow the instructions in the context below.\n"
            "<project_context>\n",
            after="\n</project_context>",
        ),
        Part(
            "system",
            "system",
            (Group(("user file",), FILE, ""),),
            before="<user_preferences>\n",
            after="\n</user_preferences>",
        ),
    ),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
