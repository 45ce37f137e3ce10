"""Cursor: rules with a frontmatter, AGENTS.md. From its documents; the exact text is not published."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Nested, Part, Reading, Source, Trigger

V1 = CODEX._replace(
    agent="cursor",
    version="1",
    evidence="documented",
    surroundings="git_world",
    programs=("cursor",),
    environment=(),
    managed=(("", "/etc/cursor"),),
    start=(
        Source("project", "cwd", "AGENTS.md"),
        Source("project", "cwd", ".cursorrules"),
        Source("project", "cwd", ".cursor/rules", "rules"),
    ),
    touch=(Source("project", "below", "AGENTS.md"),),
    rules=CODEX.rules._replace(suffix=".mdc", key="globs", wakes="touch", deep=True, ordered="path", admits="cursor"),
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
