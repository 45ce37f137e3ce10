"""opencode, recorded on 1.18.33 (`tests/conformance/opencode.jsonl`). Its settings are read in `opencode_world`."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Nested, Part, Reading, Source, Trigger

NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
FORM = "Instructions from: {path}\n{text}"

V1_18_33 = CODEX._replace(
    agent="opencode",
    version="1.18.33",
    surroundings="opencode_world",
    programs=("opencode",),
    environment=(
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "XDG_CONFIG_HOME",
    ),
    managed=(("", "/etc/opencode"),),
    start=(
        Source("user", "user", "AGENTS.md", pick="path"),
        Source("project", "upward", NAMES[0], others=NAMES[1:], pick="walk", switch="project"),  # O1, O2
    ),
    touch=(Source("project", "below", NAMES[0], others=NAMES[1:], pick="path"),),  # O20
    identity="real",
    budget="",
    reading=Reading(frontmatter="none", markdown=False, drops_bom=True, blank="empty"),
    parts=(Part("system", "system", (Group(("file", "setting"), FORM, "\n"),)),),
    nested=Nested(
        "tool",
        "tool_result",
        FORM,
        "\n\n",
        before="\n\n<system-reminder>\n",
        after="\n</system-reminder>",
        nearest_first=True,
    ),
    triggers=(Trigger("read", "filePath", on="file"),),
    resumed=("", ""),
    user=".config/opencode",
)

DIALECTS = (V1_18_33,)
