"""Cline CLI, recorded on 3.0.65 (`tests/conformance/cline.jsonl`). It has no settings about instructions."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Part, Reading, Rules, Source

V3_0_65 = CODEX._replace(
    agent="cline",
    version="3.0.65",
    surroundings="cwd_world",
    programs=("cline",),
    environment=(),
    managed=(("", "/etc/cline"),),
    start=(
        Source("project", "cwd", "AGENTS.md", label="Workspace AGENTS.md"),
        Source("project", "cwd", ".clinerules", "either", label=".clinerules"),
        Source("project", "cwd", ".cline/rules", "rules"),
        Source("user", "home", ".agents/AGENTS.md", label="Global AGENTS.md"),
        Source("user", "home", ".cline/rules", "rules"),
        Source("user", "home", "Documents/Cline/Rules", "rules"),
        Source("user", "home", "Cline/Rules", "rules"),
    ),
    after_bom=True,
    rules=Rules(
        (".md", ".markdown", ".txt"),
        "",
        links="anywhere",
        excluded_by=(),
        free=("user",),
        deep=False,
        ordered="locale",
        admits="cline",
        named=True,
    ),
    identity="name",
    sorts=("name",),
    budget="",
    reading=Reading(frontmatter="all", markdown=False, drops_bom=True, trims=("user", "project")),
    parts=(Part("system", "system", (Group(("file", "rule"), "## {name}\n{text}", "\n\n"),), before="# Rules\n"),),
    resumed=("", ""),
    user=".cline",
)

DIALECTS = (V3_0_65,)
