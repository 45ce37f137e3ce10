"""Aider: nothing is looked for; files are given with --read. From its documents."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Part, Reading

V1 = CODEX._replace(
    agent="aider",
    version="1",
    evidence="documented",
    programs=("aider",),
    environment=(),
    managed=(("", "/etc/aider"),),
    start=(),
    surroundings="aider_world",
    identity="real",
    reading=Reading(frontmatter="none", markdown=False),
    parts=(Part("system", "system", (Group(("file",), "{relative}\n{text}", "\n\n"),)),),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
