"""OpenAI Codex CLI, recorded on 0.166.0 (`tests/conformance/codex.jsonl`).

Its settings are read in `codex_world`. Numbers like C17 are those of its page in `docs/agents/codex.md`.
"""

from __future__ import annotations

from foretold.dialects.schema import Group, Imports, Part, Reading, Source
from foretold.dialects.seeds.mink import V1 as PLAIN

NAMES = ("AGENTS.override.md", "AGENTS.md")

V0_166_0 = PLAIN._replace(
    agent="codex",
    version="0.166.0",
    evidence="recorded",
    surroundings="codex_world",
    programs=("codex",),
    environment=("CODEX_HOME",),
    managed=(("", "/etc/codex"),),
    start=(
        Source("memory", "memory", "memory_summary.md", "summary"),
        Source("user", "user", NAMES[0], others=NAMES[1:]),  # C10: the first with text
        Source("project", "walk", NAMES[0], others=NAMES[1:], pick="file", switch="project"),  # C1, C2
    ),
    touch=(),
    after_bom=False,
    imports=Imports(depth=0, extensions=frozenset(), free=(), contain=(), mode="none"),
    identity="none",  # C11
    budget="project",  # C17
    reading=Reading(frontmatter="none", markdown=False, trims=("user", "memory"), space="rust"),
    parts=(
        Part(
            "developer",
            "developer",
            (Group(("memory file",), "{text}", ""),),
            before="========= MEMORY_SUMMARY BEGINS =========\n",
            after="\n========= MEMORY_SUMMARY ENDS =========",
        ),
        Part(
            "before-prompt",
            "user",
            (Group(("user file",), "{text}", "\n\n"), Group(("project file",), "{text}", "\n\n")),
            before="# AGENTS.md instructions{where}\n\n<INSTRUCTIONS>\n",
            after="\n</INSTRUCTIONS>",
            join="\n\n--- project-doc ---\n\n",
            where=("project", " for {cwd}"),
        ),
    ),
    triggers=(),
    resumed=(
        "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n",
        "The previously provided AGENTS.md instructions no longer apply.",
    ),
    user=".codex",
    opt_in=(),
)

DIALECTS = (V0_166_0,)
