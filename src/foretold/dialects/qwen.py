"""Qwen Code, a fork of Gemini CLI, recorded on 0.24.4 (`tests/conformance/qwen-code.jsonl`). Read in `qwen_world`."""

from __future__ import annotations

from foretold.dialects.gemini import FOLDER, IMPORTS, INLINE, OUTSIDE, V0_61_0 as GEMINI
from foretold.dialects.schema import Group, Nested, Part, Reading, Rules, Source, Trigger

RELATIVE = "--- Context from: {relative} ---\n{text}\n--- End of Context from: {relative} ---"
RULE = "--- Rule from: {project} ---\n{text}\n--- End of Rule from: {project} ---"

V0_24_4 = GEMINI._replace(
    agent="qwen-code",
    version="0.24.4",
    surroundings="qwen_world",
    programs=("qwen",),
    environment=(),
    managed=(("", "/etc/qwen-code"),),
    start=(
        Source("user", "user", "QWEN.md"),
        Source("project", "walk", "QWEN.md", switch="project"),
        Source("user", "user", "AGENTS.md"),
        Source("project", "walk", "AGENTS.md", switch="project"),
        Source("user", "user", "output-language.md"),
        Source("local", "project", ".qwen/QWEN.local.md", switch="project"),
        Source("user", "user", "rules", "rules"),
        Source("project", "project", ".qwen/rules", "rules", switch="project"),
    ),
    touch=(
        Source("user", "user", "rules", "rules", "matching"),
        Source("project", "project", ".qwen/rules", "rules", "matching"),
    ),
    imports=IMPORTS._replace(inline=INLINE._replace(regions="markdown", failed=(OUTSIDE, FOLDER), top_counts=True)),
    rules=Rules(".md", "paths", links="anywhere", excluded_by=(), free=("user",), ordered="path"),
    identity="real",
    sorts=(),
    reading=Reading(
        frontmatter="rules", markdown=False, trims=("user", "project", "local", "rule"), cuts_comments=("rule",)
    ),
    parts=(
        Part(
            "system",
            "system",
            (Group(("file",), RELATIVE, "\n\n"), Group(("rule",), RULE, "\n\n")),
            join="\n\n",
        ),
        Part("system", "system", (Group(("setting",), "## {path}\n\n{text}", "\n\n"),)),
    ),
    nested=Nested(
        "tool",
        "tool_result",
        RULE,
        "\n\n",
        before="\n\n<system-reminder>\n",
        after="\n</system-reminder>",
    ),
    triggers=(Trigger("read_file", "file_path"), Trigger("read_file", "absolute_path")),
    user=".qwen",
)

DIALECTS = (V0_24_4,)
