"""The agents that are known from their documents or their source, and were not recorded: one table.

1. Each row is `BASE` with what the agent does otherwise: entries as plain text in the system prompt, no frontmatter,
   no imports. Rows on `TOUCHING` also load something when a file is read.
2. The walk starts at the top of the repository, or at the home for an agent whose `walk` says so.
3. Aider looks for nothing: it reads the files of `--read FILE`, else those of `read:` in its configuration, where the
   nearest file wins.
4. Where the documents do not publish the exact text or the order, that is assumed; `unordered` layers say so.
"""

from __future__ import annotations

from foretold.dialects.schema import (
    AdvisedSize,
    Dialect,
    EntryGroup,
    FileSource,
    Nested,
    RequestPart,
    Rules,
    TextRules,
    Trigger,
)
from foretold.dialects.settings_files import MAX_SETTINGS, parse_args, texts_of
from foretold.dialects.surroundings import LoadRequest, Surroundings, find_git, join, plain_surroundings
from foretold.storage.tree import Fault, Tree
from foretold.text.frontmatter import parse

AIDER_SETTINGS = ".aider.conf.yml"


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of Aider."""
    git = find_git(tree, request.cwd)
    wanted = parse_args(request.args, {"--read": "one"}).get("--read", [])
    for folder in (request.cwd, git.top if git else request.cwd, request.home):
        data = tree.read(f"{folder.rstrip('/')}/{AIDER_SETTINGS}", MAX_SETTINGS) if not wanted else Fault("missing")
        if not isinstance(data, Fault):
            wanted = texts_of(parse(data.decode("utf-8", "replace")).values.get("read"))
    files = tuple(FileSource("project", "path", join(request.cwd, path)[1:]) for path in wanted)
    return plain_surroundings(request, git=git, start=files)


TEXT = TextRules(frontmatter="none", markdown=False)
FRONTED = TextRules(frontmatter="rules", markdown=False, drops_bom=True)

BASE = Dialect(
    agent="",
    version="1",
    surroundings="surroundings",
    evidence="documented",
    reading=TEXT,
    parts=(RequestPart((EntryGroup(("file", "rule")),)),),
)
TOUCHING = BASE._replace(nested=Nested(), triggers=(Trigger("Read", "file_path"),))

AIDER = BASE._replace(
    agent="aider",
    surroundings="documented",
    parts=(RequestPart((EntryGroup(("file",), "{relative}\n{text}", "\n\n"),)),),
)

#: AGENTS.md of the folders up to the home; its documents, as others quote them
AMP = TOUCHING._replace(
    agent="amp",
    start=(
        FileSource("user", "home", ".config/amp/AGENTS.md"),
        FileSource("user", "home", ".config/AGENTS.md"),
        FileSource("project", "walk", "AGENTS.md", others=("AGENT.md", "CLAUDE.md"), pick="file"),
    ),
    touch=(FileSource("project", "below", "AGENTS.md", others=("AGENT.md", "CLAUDE.md"), pick="file"),),
    walk="home",
)

#: names that are equal in lower case count once, as the first in byte order: `agents.md` alone is not read
CRUSH_NAMES = (
    *(".cursorrules", ".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.local.md", "CLAUDE.md"),
    *("CRUSH.local.md", "CRUSH.md", "GEMINI.md"),
)
CRUSH_FILE = '\n<file path="{path}">\n{text}\n</file>\n'
#: every name it knows, in the working directory; the order is random from run to run
CRUSH = BASE._replace(
    agent="crush",
    evidence="source",
    start=(
        FileSource("user", "home", ".config/crush/CRUSH.md"),
        FileSource("user", "home", ".config/AGENTS.md"),
        *(FileSource("project", "cwd", name) for name in CRUSH_NAMES),
        FileSource("project", "cwd", ".cursor/rules", "rules"),
    ),
    rules=Rules(ordered="path"),
    reading=TEXT._replace(blank="empty"),
    unordered=("project",),
    parts=(
        RequestPart(
            (EntryGroup(("project file", "project rule"), CRUSH_FILE, ""),),
            before="# Project-Specific Context\nMake sure to follow the instructions in the context below.\n"
            "<project_context>\n",
            after="\n</project_context>",
        ),
        RequestPart(
            (EntryGroup(("user file",), CRUSH_FILE, ""),), before="<user_preferences>\n", after="\n</user_preferences>"
        ),
    ),
)

#: rules with a frontmatter, AGENTS.md; the exact text is not published
CURSOR = TOUCHING._replace(
    agent="cursor",
    start=(
        FileSource("project", "cwd", "AGENTS.md"),
        FileSource("project", "cwd", ".cursorrules"),
        FileSource("project", "cwd", ".cursor/rules", "rules"),
    ),
    touch=(FileSource("project", "below", "AGENTS.md"),),
    rules=Rules(".mdc", "globs", ordered="path", admits="cursor"),
    reading=FRONTED,
    unordered=("project",),
    sizes=(AdvisedSize(500, "lines", ("rule",), "the documentation of Cursor"),),
)

#: the coding command of LangChain deepagents
DEEPAGENTS = BASE._replace(
    agent="deepagents",
    evidence="source",
    start=(
        FileSource("user", "home", ".deepagents/agent/AGENTS.md"),
        FileSource("project", "project", ".deepagents/AGENTS.md"),
        FileSource("project", "project", "AGENTS.md"),
    ),
    identity="none",
    reading=TEXT._replace(cuts_comments=("file",)),
    parts=(
        RequestPart(
            (EntryGroup(("file",), "{path}\n\n{text}", "\n\n"),), before="<agent_memory>\n", after="\n\n</agent_memory>"
        ),
    ),
)

#: hints and AGENTS.md from the top of the repository down, imports in place
GOOSE = BASE._replace(
    agent="goose",
    evidence="source",
    start=(
        FileSource("user", "home", ".config/goose/.goosehints"),
        FileSource("user", "home", ".config/goose/AGENTS.md"),
        FileSource("project", "walk", ".goosehints"),
        FileSource("project", "walk", "AGENTS.md"),
    ),
    touch=(FileSource("project", "below", ".goosehints"), FileSource("project", "below", "AGENTS.md")),
    imports=BASE.imports._replace(
        depth=3,
        mode="inline",
        found="--- Content from {path} ---\n{text}\n--- End of {path} ---",
        comments=False,
        within="project",
        absolute=False,
    ),
    parts=(
        RequestPart(
            (
                EntryGroup(("user file",), "{text}", "\n", "\n### Global Hints\nThese are my global goose hints.\n"),
                EntryGroup(
                    ("project file",),
                    "{text}",
                    "\n",
                    "\n\n### Project Hints\nThese are hints for working on the project in this directory.\n",
                ),
            )
        ),
    ),
    nested=Nested(entry="### Subdirectory Hints ({path})\n{text}", join="\n"),
    triggers=(Trigger("text_editor", "path"), Trigger("shell", "path")),
)

JUNIE = BASE._replace(
    agent="junie",
    start=(
        FileSource("project", "cwd", ".junie/AGENTS.md", others=("AGENTS.md", ".junie/guidelines.md"), pick="file"),
    ),
)

#: steering files, AGENTS.md; the exact text is not published
KIRO = TOUCHING._replace(
    agent="kiro",
    start=(
        FileSource("user", "home", ".kiro/steering", "rules"),
        FileSource("project", "cwd", ".kiro/steering", "rules"),
        FileSource("project", "cwd", "AGENTS.md"),
    ),
    rules=Rules(".md", "fileMatchPattern", deep=False, ordered="path", admits="kiro"),
    reading=FRONTED,
    unordered=("project",),
)

#: the rules of its folders, then AGENTS.md
ROO = BASE._replace(
    agent="roo",
    evidence="source",
    start=(
        FileSource("project", "cwd", "AGENTS.md", others=("AGENT.md",)),
        FileSource("local", "cwd", "AGENTS.local.md"),
        FileSource("user", "home", ".roo/rules", "rules"),
        FileSource("project", "cwd", ".roo/rules", "rules"),
        FileSource("legacy", "cwd", ".roorules", others=(".clinerules",)),
    ),
    rules=Rules(ordered="base-name"),
    reading=TEXT._replace(trims=("user", "project", "local", "legacy")),
    parts=(
        RequestPart(
            (
                EntryGroup(("project file",), "# Agent Rules Standard (AGENTS.md):\n{text}", "\n\n"),
                EntryGroup(("local file",), "# Agent Rules Local (AGENTS.local.md):\n{text}", "\n\n"),
                EntryGroup(("rule",), "# Rules from {relative}:\n{text}", "\n\n", "# Rules from .roo directories:\n\n"),
                EntryGroup(("legacy file",), "# Rules from {relative}:\n{text}", "\n\n"),
            ),
            before="Rules:\n\n",
            join="\n\n",
        ),
    ),
)

#: the local agent of Copilot Chat in VS Code; its documents give neither the order nor the exact text
VSCODE_COPILOT = TOUCHING._replace(
    agent="vscode-copilot",
    start=(
        FileSource("project", "cwd", ".github/copilot-instructions.md"),
        FileSource("project", "cwd", "AGENTS.md"),
        FileSource("project", "cwd", ".github/instructions", "rules"),
    ),
    rules=Rules(".instructions.md", "applyTo", ordered="path", admits="vscode"),
    reading=FRONTED,
    unordered=("project",),
)

#: WARP.md or AGENTS.md of the top of the repository and of the working directory
WARP = TOUCHING._replace(
    agent="warp",
    start=(FileSource("project", "edges", "WARP.md", others=("AGENTS.md",), pick="file"),),
    touch=(FileSource("project", "below", "WARP.md", others=("AGENTS.md",), pick="file"),),
)

#: rules with a trigger, AGENTS.md; the exact text is not published
WINDSURF = TOUCHING._replace(
    agent="windsurf",
    start=(
        FileSource("user", "home", ".codeium/windsurf/memories/global_rules.md"),
        FileSource("project", "walk", ".windsurf/rules", "rules"),
        FileSource("project", "cwd", ".windsurfrules"),
        FileSource("project", "cwd", "AGENTS.md"),
    ),
    touch=(FileSource("project", "below", "AGENTS.md"),),
    rules=Rules(".md", "globs", deep=False, ordered="path", admits="windsurf"),
    max_file=12_000,
    reading=FRONTED,
    unordered=("project",),
    sizes=(AdvisedSize(12_000, "characters", ("file", "rule"), "the documentation of Windsurf"),),
)

ZED_NAMES = (
    *(".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md"),
    *("AGENTS.md", "CLAUDE.md", "GEMINI.md"),
)
#: the first of many names in the folder that is open
ZED = BASE._replace(
    agent="zed",
    evidence="source",
    start=(
        FileSource("user", "home", ".config/zed/AGENTS.md"),
        FileSource("project", "cwd", ZED_NAMES[0], others=ZED_NAMES[1:], pick="file"),
    ),
    identity="none",
    reading=TEXT._replace(trims=("user", "project", "local")),
    parts=(
        RequestPart(
            (
                EntryGroup(("user file",), "{text}", "\n\n", "### Personal `AGENTS.md`\n\n"),
                EntryGroup(("project file",), "`{relative}`:\n``````\n{text}\n``````", "\n\n", "### Project Rules\n\n"),
            ),
            before="## User's Custom Instructions\n\n",
            join="\n\n",
        ),
    ),
)

DIALECTS = (AIDER, AMP, CRUSH, CURSOR, DEEPAGENTS, GOOSE, JUNIE, KIRO, ROO, VSCODE_COPILOT, WARP, WINDSURF, ZED)
