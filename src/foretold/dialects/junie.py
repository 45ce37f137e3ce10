"""Junie: one file of guidelines. From its documents."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Part, Reading, Source

V1 = CODEX._replace(
    agent="junie",
    version="1",
    evidence="documented",
    surroundings="git_world",
    programs=("junie",),
    environment=(),
    managed=(("", "/etc/junie"),),
    start=(Source("project", "cwd", ".junie/AGENTS.md", others=("AGENTS.md", ".junie/guidelines.md"), pick="file"),),
    identity="real",
    reading=Reading(frontmatter="none", markdown=False),
    parts=(Part("system", "system", (Group(("file", "rule"), "{text}", "\n\n"),)),),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
