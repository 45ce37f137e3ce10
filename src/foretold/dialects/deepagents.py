"""LangChain deepagents, its coding command. From its source."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Part, Reading, Source

V1 = CODEX._replace(
    agent="deepagents",
    version="1",
    evidence="source",
    surroundings="git_world",
    programs=("deepagents",),
    environment=(),
    managed=(("", "/etc/deepagents"),),
    start=(
        Source("user", "home", ".deepagents/agent/AGENTS.md"),
        Source("project", "project", ".deepagents/AGENTS.md"),
        Source("project", "project", "AGENTS.md"),
    ),
    identity="none",
    reading=Reading(frontmatter="none", markdown=False, cuts_comments=("file",)),
    parts=(
        Part(
            "system",
            "system",
            (Group(("file",), "{path}\n\n{text}", "\n\n"),),
            before="<agent_memory>\n",
            after="\n\n</agent_memory>",
        ),
    ),
    budget="",
    resumed=("", ""),
)

DIALECTS = (V1,)
