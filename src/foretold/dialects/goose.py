"""Goose: hints and AGENTS.md from the top of the repository down, imports in place. From its source."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Imports, Inline, Nested, Part, Reading, Source, Trigger

INLINE = Inline(
    found="--- Content from {path} ---\n{text}\n--- End of {path} ---", comments=False, within="project", absolute=False
)

V1 = CODEX._replace(
    agent="goose",
    version="1",
    evidence="source",
    surroundings="git_world",
    programs=("goose",),
    environment=(),
    managed=(("", "/etc/goose"),),
    start=(
        Source("user", "home", ".config/goose/.goosehints"),
        Source("user", "home", ".config/goose/AGENTS.md"),
        Source("project", "walk", ".goosehints"),
        Source("project", "walk", "AGENTS.md"),
    ),
    touch=(Source("project", "below", ".goosehints"), Source("project", "below", "AGENTS.md")),
    imports=Imports(depth=3, extensions=frozenset(), free=(), contain=(), mode="inline", inline=INLINE),
    identity="real",
    reading=Reading(frontmatter="none", markdown=False),
    parts=(
        Part(
            "system",
            "system",
            (
                Group(("user file",), "{text}", "\n", "\n### Global Hints\nThese are my global goose hints.\n"),
                Group(
                    ("project file",),
                    "{text}",
                    "\n",
                    "\n\n### Project Hints\nThese are hints for working on the project in this directory.\n",
                ),
            ),
        ),
    ),
    nested=Nested("user", "text", "### Subdirectory Hints ({path})\n{text}", "\n", before="", after=""),
    triggers=(Trigger("text_editor", "path"), Trigger("shell", "path")),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
