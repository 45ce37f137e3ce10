"""Claude Code, recorded on 2.1.197 and 2.1.325 (`tests/conformance/claude-code@*.jsonl`).

The later version is the earlier one with what changed: own block for the text, links contained, AGENTS.md,
more tools that attach nested files, and nothing attached twice.
"""

from __future__ import annotations

from foretold.dialects.schema import (
    AdvisedSize,
    Continuation,
    Dialect,
    Envelope,
    Fallback,
    FileSource,
    Imports,
    IndexLimits,
    Placement,
    Rules,
    Template,
    Trigger,
)

# claude-code: imp-ext, imp-ext2, imp-ext3, imp-ext4; a file without extension is always text
EXTENSIONS = frozenset(
    "adoc asciidoc astro bash bat c cc cfg cjs clj cljc cljs cmake cmd conf config cpp cs css csv cts cxx dart"
    " diff edn ejs elm env erb erl ex exs f f90 f95 fish for go gql gradle graphql h hbs hpp hrl hs htm html hxx"
    " ini jade java js json jsx kt kts latex less lhs lock log lua make makefile md mjs ml mli mts org patch php"
    " pl pm properties proto ps1 pug py pyi pyw r rake rb rs rst sass sbt scala scss sh sql svelte swift tex text"
    " toml ts tsx txt vue xml yaml yml zsh".split()
)

MANAGED = (("darwin", "/Library/Application Support/ClaudeCode"), ("", "/etc/claude-code"))

#: models that take no system messages in the middle of a conversation
OLDER_MODELS = ("claude-3-", "haiku-4-", "sonnet-4-", "opus-4-5", "opus-4-6", "opus-4-7")

START = (
    FileSource("managed", "managed", "CLAUDE.md"),
    FileSource("managed", "settings", "claudeMd", "setting"),
    FileSource("managed", "managed", ".claude/rules", "rules"),
    FileSource("user", "user", "CLAUDE.md", switch="user"),
    FileSource("user", "user", "rules", "rules", switch="user"),
    FileSource("project", "walk", "CLAUDE.md", switch="project"),
    FileSource("project", "walk", ".claude/CLAUDE.md", switch="project"),
    FileSource("project", "walk", ".claude/rules", "rules", switch="project"),
    FileSource("local", "walk", "CLAUDE.local.md", switch="local"),
    # claude-code: cli-add-dir-env-sources: project files of added folders have no switch
    FileSource("project", "added", "CLAUDE.md"),
    FileSource("project", "added", ".claude/CLAUDE.md"),
    FileSource("project", "added", ".claude/rules", "rules"),
    FileSource("local", "added", "CLAUDE.local.md", switch="local"),
    FileSource("memory", "memory", "MEMORY.md", "index"),
)

# claude-code: rule-nested-dup, nest-read-deep: here the local file comes before the rules
TOUCH = (
    FileSource("managed", "managed", ".claude/rules", "rules", "matching"),
    FileSource("user", "user", "rules", "rules", "matching", switch="user"),
    FileSource("project", "below", "CLAUDE.md", switch="project"),
    FileSource("project", "below", ".claude/CLAUDE.md", switch="project"),
    FileSource("local", "below", "CLAUDE.local.md", switch="local"),
    FileSource("project", "below", ".claude/rules", "rules", "always", switch="project"),
    FileSource("project", "below", ".claude/rules", "rules", "matching", switch="project"),
    FileSource("project", "walk", ".claude/rules", "rules", "matching", switch="project"),
)

TEMPLATE = Template(
    header="Codebase and user instructions are shown below. Be sure to adhere to these instructions. IMPORTANT: "
    "These instructions OVERRIDE any default behavior and you MUST follow them exactly as written.",
    entry="Contents of {path}{description}:\n\n{text}",
    nested="Contents of {path}:\n\n{text}",
    join="\n\n",
    escapes=False,
    descriptions=(
        ("managed", " (organization-managed policy instructions)"),
        ("user", " (user's private global instructions for all projects)"),
        ("project", " (project instructions, checked into the codebase)"),
        ("local", " (user's private project instructions, not checked in)"),
        ("memory", " (user's auto-memory, persists across conversations)"),
    ),
)

V2_1_197 = Dialect(
    agent="claude-code",
    version="2.1.197",
    surroundings="claude_code.settings",
    environment=(
        "ANTHROPIC_MODEL",
        "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS",
        "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS",
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CONFIG_DIR",
    ),
    managed=MANAGED,
    user=".claude",
    model="claude-opus-4-8",
    start=START,
    touch=TOUCH,
    again="anything",
    added_undoes_bare=True,
    worktree_rules=True,
    imports=Imports(depth=4, extensions=EXTENSIONS, free=("user",), contain=("spelled",)),
    # 531 rules and 42 files of fixtures/claude-code-globs.json, the same in both versions
    rules=Rules(".md", "paths", patterns="early-ignore", links="anywhere", excluded_by=("real",), free=("user",)),
    memory_index=IndexLimits(
        lines=200,
        units=25_000,
        warning="> WARNING: MEMORY.md is {size}. Only part of it was loaded. "
        "Keep index entries to one line under ~200 chars; move detail into topic files.",
        cleans=False,
    ),
    template=TEMPLATE,
    envelope=Envelope(
        before="<system-reminder>\nAs you answer the user's questions, you can use the following context:\n"
        "# claudeMd\n",
        after="\n# currentDate\nToday's date is {date}.\n\n      IMPORTANT: this context may or may not be relevant to "
        "your tasks. You should not respond to this context unless it is highly relevant to your task.\n"
        "</system-reminder>\n\n",
        without="<system-reminder>\nAs you answer the user's questions, you can use the following context:\n",
    ),
    placements=(
        Placement((*OLDER_MODELS, "=haiku"), "tool-result", "tool-result", 2),
        Placement((), "system", "system", 0),
    ),
    triggers=(Trigger("Read", "file_path"),),
    races=True,  # both versions, with one large and one small file
    subagents_without=("Explore", "Plan"),
    continuation=Continuation(why=""),  # seen by resuming 2.1.197
    sizes=(
        AdvisedSize(200, "lines", ("file",), "the documentation of Claude Code"),
        AdvisedSize(40_000, "characters", ("file", "rule", "import"), "Claude Code", is_warned=True),
    ),
    types=(("managed", "Managed"), ("user", "User"), ("project", "Project"), ("local", "Local"), ("memory", "AutoMem")),
)

V2_1_325 = V2_1_197._replace(
    version="2.1.325",
    model="claude-opus-5-5",
    after_bom=True,
    again="new",
    added_undoes_bare=False,
    local_settings="repository",
    worktree_rules=False,
    imports=V2_1_197.imports._replace(contain=("spelled", "real")),
    rules=V2_1_197.rules._replace(links="inside", excluded_by=("real", "spelled")),
    fallback=Fallback(
        names=("AGENTS.md", ".claude/AGENTS.md"),
        unless=("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
        hidden_unread_by="local",
        layer="project",
        switch="project",
        tools=("Read",),
        through_links=True,
    ),
    memory_index=IndexLimits(
        lines=200,
        units=25_000,
        warning="> WARNING: MEMORY.md is {size}. Only part of it was loaded: {cut}. "
        "Keep index entries to one line under ~200 chars; move detail into topic files.",
        cleans=True,
    ),
    template=TEMPLATE._replace(escapes=True),
    envelope=Envelope(before="<system-reminder>\n", after="\n</system-reminder>", after_last="\n"),
    placements=(
        Placement(("claude-3-",), "tool-result", "tool-result", 5, date_follows=True),
        Placement(OLDER_MODELS, "tool-result", "tool-result", 6, date_follows=True),
        Placement(("sonnet-5",), "user-blocks", "system-tagged", 0),
        Placement((), "user-blocks", "system", 0),
    ),
    triggers=(
        Trigger("Read", "file_path", despite=("missing", "is-a-folder")),
        Trigger("Write", "file_path"),
        Trigger("Edit", "file_path"),
        Trigger("NotebookEdit", "notebook_path"),
        Trigger("Bash", "command"),
    ),
    mention_missing=True,
    continuation=Continuation(  # seen by resuming 2.1.325
        start="files",
        replaces="Instruction files were re-read when this session started; these differ from their earlier copies — "
        "each replaces its earlier copy, and the instructions preamble above still applies:",
        withdraws="Instruction files were re-read when this session started.",
        gone="Instructions no longer present: {path}",
        nested="changed",
        why="",
    ),
)

DIALECTS = (V2_1_197, V2_1_325)
