"""Continue CLI, recorded on 1.5.47 (`tests/conformance/continue.jsonl`). Read in `continue_world`."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Part, Reading, Rules, Source

NAMES = ("AGENTS.md", "AGENT.md", "CLAUDE.md", "CODEX.md")

V1_5_47 = CODEX._replace(
    agent="continue",
    version="1.5.47",
    surroundings="continue_world",
    programs=("cn",),
    environment=(),
    managed=(("", "/etc/continue"),),
    start=(
        Source("project", "cwd", NAMES[0], others=NAMES[1:], pick="file"),
        Source("project", "cwd", ".continue/rules", "rules"),
        Source("user", "home", ".continue/rules", "rules"),
    ),
    rules=Rules(
        ".md",
        "",
        links="anywhere",
        excluded_by=(),
        free=("user",),
        ordered="files-first",
        admits="continue",
    ),
    identity="none",
    budget="",
    reading=Reading(frontmatter="rules", markdown=False, trims=("fronted",), blank="empty"),
    parts=(
        Part(
            "system",
            "system",
            (Group(("file", "setting", "rule"), "{text}", "\n\n"),),
            before='\n\n<context name="userRules">\n',
            after="\n</context>",
        ),
    ),
    resumed=("", ""),
    user=".continue",
)

DIALECTS = (V1_5_47,)
