"""Windsurf: rules with a trigger, AGENTS.md. From its documents; the exact text is not published."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Nested, Part, Reading, Source, Trigger

V1 = CODEX._replace(
    agent="windsurf",
    version="1",
    evidence="documented",
    surroundings="git_world",
    programs=("windsurf",),
    environment=(),
    managed=(("", "/etc/windsurf"),),
    start=(
        Source("user", "home", ".codeium/windsurf/memories/global_rules.md"),
        Source("project", "walk", ".windsurf/rules", "rules"),
        Source("project", "cwd", ".windsurfrules"),
        Source("project", "cwd", "AGENTS.md"),
    ),
    touch=(Source("project", "below", "AGENTS.md"),),
    rules=CODEX.rules._replace(suffix=".md", key="globs", wakes="touch", ordered="path", admits="windsurf"),
    max_file=12_000,
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
