"""Warp: WARP.md or AGENTS.md of the top of the repository and of the working directory. From its documents."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Nested, Part, Reading, Source, Trigger

V1 = CODEX._replace(
    agent="warp",
    version="1",
    evidence="documented",
    surroundings="git_world",
    programs=("warp",),
    environment=(),
    managed=(("", "/etc/warp"),),
    start=(Source("project", "edges", "WARP.md", others=("AGENTS.md",), pick="file"),),
    touch=(Source("project", "below", "WARP.md", others=("AGENTS.md",), pick="file"),),
    identity="real",
    reading=Reading(frontmatter="none", markdown=False),
    parts=(Part("system", "system", (Group(("file", "rule"), "{text}", "\n\n"),)),),
    nested=Nested("user", "text", "{text}", "\n\n", before="", after=""),
    triggers=(Trigger("Read", "file_path"),),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
