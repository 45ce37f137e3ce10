"""Gemini CLI, recorded on 0.61.0 (`tests/conformance/gemini-cli.jsonl`). Its settings are read in `gemini_world`."""

from __future__ import annotations

from foretold.dialects.codex import V0_166_0 as CODEX
from foretold.dialects.schema import Group, Imports, Inline, Nested, Part, Reading, Source, Trigger

FORM = "--- Context from: {path} ---\n{text}\n--- End of Context from: {path} ---"
OUTSIDE = ("outside-project", "<!-- Import failed: {path} - Path traversal attempt -->")
FOLDER = ("folder", "<!-- Import failed: {path} - EISDIR: illegal operation on a directory, read -->")
MISSING = (
    "missing",
    "<!-- Import failed: {path} - ENOENT: no such file or directory, access '{target}' -->",
)
INLINE = Inline(
    form="gemini",
    regions="backticks",
    found="<!-- Imported from: {path} -->\n{text}\n<!-- End of import from: {path} -->",
    again="<!-- File already processed: {path} -->",
    once="chain",
    top_counts=False,
    failed=(OUTSIDE, FOLDER, MISSING),
    comments=False,
    within="project",
)
IMPORTS = Imports(depth=5, extensions=frozenset(), free=(), contain=(), mode="inline", inline=INLINE)

V0_61_0 = CODEX._replace(
    agent="gemini-cli",
    version="0.61.0",
    surroundings="gemini_world",
    programs=("gemini",),
    environment=("GEMINI_CLI_HOME", "GEMINI_CLI_TRUST_WORKSPACE"),
    managed=(("darwin", "/Library/Application Support/GeminiCli"), ("", "/etc/gemini-cli")),
    start=(
        Source("user", "user", "GEMINI.md"),
        Source("memory", "memory", "MEMORY.md", others=("GEMINI.md",), pick="file"),
        Source("project", "walk", "GEMINI.md", switch="project"),
        Source("project", "added", "GEMINI.md", switch="project"),
    ),
    touch=(Source("project", "reach", "GEMINI.md"),),
    imports=IMPORTS,
    identity="inode",
    sorts=("project",),
    budget="",
    reading=Reading(frontmatter="none", markdown=False, trims=("user", "memory", "extension", "project")),
    parts=(
        Part(
            "system",
            "system",
            (
                Group(("user file",), FORM, "\n\n", "<global_context>\n", "\n</global_context>", beside="memory"),
                Group(
                    ("memory file",),
                    FORM,
                    "\n\n",
                    "<user_project_memory>\n--- Private Project Memory Index (private, not committed to repo) ---\n",
                    "\n--- End Private Project Memory Index ---\n</user_project_memory>",
                ),
            ),
            before="<loaded_context>\n",
            after="\n</loaded_context>",
            join="\n",
        ),
        Part(
            "session-context",
            "user",
            (
                Group(("extension file",), FORM, "\n\n", "<extension_context>\n", "\n</extension_context>"),
                Group(("project file",), FORM, "\n\n", "<project_context>\n", "\n</project_context>"),
            ),
            before="<loaded_context>\n",
            after="\n</loaded_context>",
            join="\n",
        ),
    ),
    nested=Nested(
        "user",
        "tool_result",
        FORM,
        "\n\n",
        before="\n\n--- Newly Discovered Project Context ---\n",
        after="\n--- End Project Context ---",
        itself=True,
    ),
    triggers=(
        Trigger("read_file", "file_path"),
        Trigger("write_file", "file_path"),
        Trigger("replace", "file_path"),
        Trigger("read_many_files", "include"),
        Trigger("list_directory", "dir_path", on="folder"),
    ),
    resumed=("", ""),
    user=".gemini",
)

DIALECTS = (V0_61_0,)
