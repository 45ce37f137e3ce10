"""Copilot Chat in VS Code, its local agent. From its documents; they give no order and no exact text."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Nested, Part, Reading, Source, Trigger

V1 = CODEX._replace(
    agent="vscode-copilot",
    version="1",
    evidence="documented",
    surroundings="git_world",
    programs=("code",),
    environment=(),
    managed=(("", "/etc/vscode-copilot"),),
    start=(
        Source("project", "cwd", ".github/copilot-instructions.md"),
        Source("project", "cwd", "AGENTS.md"),
        Source("project", "cwd", ".github/instructions", "rules"),
    ),
    rules=CODEX.rules._replace(suffix=".instructions.md", key="applyTo", wakes="touch", deep=True, admits="vscode"),
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
