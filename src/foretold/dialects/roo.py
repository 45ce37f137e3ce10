"""Roo Code: rules of its folders, then AGENTS.md. From its source."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Part, Reading, Source

V1 = CODEX._replace(
    agent="roo",
    version="1",
    evidence="source",
    surroundings="git_world",
    programs=(),
    environment=(),
    managed=(("", "/etc/roo"),),
    start=(
        Source("project", "cwd", "AGENTS.md", others=("AGENT.md",)),
        Source("local", "cwd", "AGENTS.local.md"),
        Source("user", "home", ".roo/rules", "rules"),
        Source("project", "cwd", ".roo/rules", "rules"),
        Source("legacy", "cwd", ".roorules", others=(".clinerules",)),
    ),
    rules=CODEX.rules._replace(suffix="", key="", wakes="touch", deep=True, ordered="base-name"),
    identity="real",
    reading=Reading(frontmatter="none", markdown=False, trims=("user", "project", "local", "legacy")),
    parts=(
        Part(
            "system",
            "system",
            (
                Group(("project file",), "# Agent Rules Standard (AGENTS.md):\n{text}", "\n\n"),
                Group(("local file",), "# Agent Rules Local (AGENTS.local.md):\n{text}", "\n\n"),
                Group(("rule",), "# Rules from {relative}:\n{text}", "\n\n", "# Rules from .roo directories:\n\n"),
                Group(("legacy file",), "# Rules from {relative}:\n{text}", "\n\n"),
            ),
            before="Rules:\n\n",
            join="\n\n",
        ),
    ),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
