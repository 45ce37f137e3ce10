"""Kiro: steering files, AGENTS.md. From its documents; the exact text is not published."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Nested, Part, Reading, Source, Trigger

V1 = CODEX._replace(
    agent="kiro",
    version="1",
    evidence="documented",
    surroundings="git_world",
    programs=("kiro",),
    environment=(),
    managed=(("", "/etc/kiro"),),
    start=(
        Source("user", "home", ".kiro/steering", "rules"),
        Source("project", "cwd", ".kiro/steering", "rules"),
        Source("project", "cwd", "AGENTS.md"),
    ),
    rules=CODEX.rules._replace(
        suffix=".md", key="fileMatchPattern", wakes="touch", deep=False, ordered="path", admits="kiro"
    ),
    identity="real",
    reading=Reading(frontmatter="rules", markdown=False, drops_bom=True),
    unordered=("project",),
    parts=(Part("system", "system", (Group(("file", "rule"), "{text}", "\n\n"),)),),
    nested=Nested("user", "text", "{text}", "\n\n", before="", after=""),
    triggers=(Trigger("Read", "file_path"),),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
