"""Amp: AGENTS.md of the folders up to the home. From its documents, as others quote them."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Nested, Part, Reading, Source, Trigger

V1 = CODEX._replace(
    agent="amp",
    version="1",
    evidence="documented",
    surroundings="git_world",
    programs=("amp",),
    environment=(),
    managed=(("", "/etc/amp"),),
    start=(
        Source("user", "home", ".config/amp/AGENTS.md"),
        Source("user", "home", ".config/AGENTS.md"),
        Source("project", "walk", "AGENTS.md", others=("AGENT.md", "CLAUDE.md"), pick="file"),
    ),
    touch=(Source("project", "below", "AGENTS.md", others=("AGENT.md", "CLAUDE.md"), pick="file"),),
    identity="real",
    reading=Reading(frontmatter="none", markdown=False),
    walk="home",
    parts=(Part("system", "system", (Group(("file", "rule"), "{text}", "\n\n"),)),),
    nested=Nested("user", "text", "{text}", "\n\n", before="", after=""),
    triggers=(Trigger("Read", "file_path"),),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
