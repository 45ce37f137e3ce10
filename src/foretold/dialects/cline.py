"""Cline CLI, recorded on 3.0.65 (`tests/conformance/cline.jsonl`).

It looks only at its working directory and at the home, and has no settings about instructions.
"""

from __future__ import annotations

from foretold.dialects.schema import Dialect, EntryGroup, FileSource, ProgramOptions, RequestPart, Rules, TextRules

V3_0_65 = Dialect(
    agent="cline",
    version="3.0.65",
    surroundings="surroundings",
    start=(
        FileSource("project", "cwd", "AGENTS.md", label="Workspace AGENTS.md"),
        FileSource("project", "cwd", ".clinerules", "either", label=".clinerules"),
        FileSource("project", "cwd", ".cline/rules", "rules"),
        FileSource("user", "home", ".agents/AGENTS.md", label="Global AGENTS.md"),
        FileSource("user", "home", ".cline/rules", "rules"),
        FileSource("user", "home", "Documents/Cline/Rules", "rules"),
        FileSource("user", "home", "Cline/Rules", "rules"),
    ),
    after_bom=True,
    rules=Rules((".md", ".markdown", ".txt"), "", deep=False, ordered="locale", admits="cline", named=True),
    identity="name",
    sorts=("name",),
    reading=TextRules(frontmatter="all", markdown=False, drops_bom=True, trims=("user", "project")),
    parts=(RequestPart((EntryGroup(("file", "rule"), "## {name}\n{text}", "\n\n"),), before="# Rules\n"),),
    walk="cwd",
    user=".cline",
)

DIALECTS = (V3_0_65,)
COMMAND_LINE = ProgramOptions(
    "cline",
    flags=("--acp -h --help -i --json --kanban -p --plan --tui --update -V -v --verbose --version --worktree -z --zen"),
    one=(
        "--auto-approve -c --compaction --config --cwd --data-dir --hooks-dir --id -k --key -m --model -P "
        "--provider -s --system -t --thinking --timeout"
    ),
    maybe="--retries",
)
