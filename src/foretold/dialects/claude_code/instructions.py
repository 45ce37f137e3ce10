"""Claude Code 1.0.0, and the words that its later releases have in common. What changed since is in `changes`."""

from __future__ import annotations

from foretold.dialects.schema import (
    AdvisedSize,
    Continuation,
    Dialect,
    Envelope,
    FileSource,
    Imports,
    IndexLimits,
    Placement,
    Rules,
    Template,
    TextRules,
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

DESCRIPTIONS = (
    ("managed", " (organization-managed policy instructions)"),
    ("user", " (user's private global instructions for all projects)"),
    ("project", " (project instructions, checked into the codebase)"),
    ("local", " (user's private project instructions, not checked in)"),
    ("memory", " (user's auto-memory, persists across conversations)"),
)
TEMPLATE = Template(
    header="Codebase and user instructions are shown below. Be sure to adhere to these instructions. IMPORTANT: "
    "These instructions OVERRIDE any default behavior and you MUST follow them exactly as written.",
    entry="Contents of {path}{description}:\n\n{text}",
    nested="Contents of {path}:\n\n{text}",
    join="\n\n",
    escapes=False,
    descriptions=DESCRIPTIONS,
)

#: the auto-memory index, from the release on that has it
INDEX = IndexLimits(
    lines=200,
    units=25_000,
    warning="> WARNING: MEMORY.md is {size}. Only part of it was loaded. "
    "Keep index entries to one line under ~200 chars; move detail into topic files.",
    cleans=False,
)

OPENING = "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n"
CLOSING = (
    "\n      IMPORTANT: this context may or may not be relevant to your tasks. You should not respond to this context "
    "unless it is highly relevant to your task.\n</system-reminder>\n"
)
EARLY_CLOSING = (
    "\n      IMPORTANT: this context may or may not be relevant to your tasks. You should not respond to this context "
    "or otherwise consider it in your response unless it is highly relevant to your task. Most of the time, it is not "
    "relevant.\n</system-reminder>"
)
REMINDERS = (
    "\n# important-instruction-reminders\nDo what has been asked; nothing more, nothing less.\nNEVER create files"
    " unless they're absolutely necessary for achieving your goal.\nALWAYS prefer editing an existing file to"
    " creating a new one.\nNEVER proactively create documentation files (*.md) or README files. Only create"
    " documentation files if explicitly requested by the User."
)

BASE = Dialect(
    agent="claude-code",
    version="1.0.0",
    surroundings="claude_code.settings",
    environment=("ANTHROPIC_MODEL", "CLAUDE_CONFIG_DIR"),
    managed=MANAGED,
    user=".claude",
    model="claude-sonnet-4-20250514",
    start=(
        FileSource("managed", "managed", "CLAUDE.md"),
        FileSource("user", "user", "CLAUDE.md", switch="user"),
        FileSource("project", "walk", "CLAUDE.md", switch="project"),
        FileSource("local", "walk", "CLAUDE.local.md", switch="local"),
    ),
    max_file=8 * 1024 * 1024,  # 2.1.100: 8,000,000 bytes are loaded, 9,000,000 are not
    identity="spelled",
    again="anything",
    added_undoes_bare=True,
    worktree="all",
    excludes=False,
    reading=TextRules(frontmatter="none", form="lines", strict=True, colons=False),
    imports=Imports(depth=4, contain=("spelled",), linked="link", comments=False, fragments=False),
    # 531 rules and 42 files of fixtures/claude-code-globs.json, the same in 2.1.197 and 2.1.325
    rules=Rules(
        ".md",
        "paths",
        patterns="early-ignore",
        links="anywhere",
        excluded_by=("real",),
        free=("user",),
        ordered="names",
        joins=True,
    ),
    template=TEMPLATE._replace(
        trim="none",
        descriptions=(("managed", dict(DESCRIPTIONS)["user"]), *DESCRIPTIONS[1:]),
        footer=f"{REMINDERS}\nPlease clean up any files that you've created for testing or debugging purposes after "
        "they're no longer needed.",
    ),
    envelope=Envelope(before=f"{OPENING}# claudeMd\n", after=f"\n      {EARLY_CLOSING}"),
    placements=(Placement((), "tool-result", "tool-result", rich="user"),),
    races=True,  # 2.1.197 and 2.1.325, with one large and one small file
    continuation=Continuation(why=""),  # seen by resuming 2.1.197
    sizes=(
        AdvisedSize(200, "lines", ("file",), "the documentation of Claude Code"),
        AdvisedSize(40_000, "characters", ("file", "rule", "import"), "Claude Code", is_warned=True),
    ),
    types=(("managed", "Managed"), ("user", "User"), ("project", "Project"), ("local", "Local"), ("memory", "AutoMem")),
)
