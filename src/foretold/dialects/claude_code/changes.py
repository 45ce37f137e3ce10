"""What changed in Claude Code from 1.0.0 on, release by release: which instructions are loaded, and how they are sent.

Every change was dated by playing the same case to the two releases that it names, which are neighbours on npm unless
other releases lie between them there. What changed elsewhere is in `context`, `files`, `sessions`, `compaction` and
`file_history`, next to the tables that it changes.
"""

from __future__ import annotations

import sys

from foretold.dialects.claude_code.instructions import (
    BASE,
    CLOSING,
    DESCRIPTIONS,
    EARLY_CLOSING,
    EXTENSIONS,
    INDEX,
    OLDER_MODELS,
    OPENING,
    REMINDERS,
    START,
    TOUCH,
)
from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.dialects.releases.played import PLAYED
from foretold.dialects.schema import Continuation, Envelope, Fallback, IndexLimits, Placement, Trigger

_KINDS = [(source, {source.base, source.kind, f"{source.layer} {source.base}"}) for source in START]


def _sources(*without: str) -> tuple[object, ...]:
    """What is looked for at the start, but for some places, kinds, or kinds in places."""
    return tuple([source for source, kinds in _KINDS if kinds.isdisjoint(without)])


_READ = Trigger("Read", "file_path")
_READ_ANYWAY = Trigger("Read", "file_path", despite=("missing", "is-a-folder"))
_WRITING = (Trigger("Write", "file_path"), Trigger("Edit", "file_path"), Trigger("NotebookEdit", "notebook_path"))
_SHELL = Trigger("Bash", "command")
_IN_RESULTS = Placement((*OLDER_MODELS, "=haiku"), "tool-result", "tool-result", rich="user", block=2)
_SYSTEM = Placement((), "system", "system")
_OLDER_PLACEMENTS = (
    Placement(("claude-3-",), "tool-result", "tool-result", rich="items", block=5, date_follows=True),
    Placement(OLDER_MODELS, "tool-result", "tool-result", rich="items", block=6, date_follows=True),
)
_EARLY_INDEX = IndexLimits(
    lines=INDEX.lines,
    units=sys.maxsize,
    warning="> WARNING: MEMORY.md is {size}. Only the first 200 lines were loaded. Move detailed content into separate "
    "topic files and keep MEMORY.md as a concise index.",
    cleans=False,
    trims=False,
)
_DATE = "# currentDate\nToday's date is {date}.\n"

CHANGES = (
    DatedChange(
        "1.0.3",
        "1.0.1",
        "The reminders after the instruction files no longer ask to clean up files made for testing.",
        {"template.footer": REMINDERS, "envelope.after": f"\n\n      {EARLY_CLOSING}"},
        ("disc-basic",),
    ),
    DatedChange(
        "1.0.4",
        "1.0.3",
        "The block of instructions ends with a line end.",
        {"envelope.after": f"\n\n      {EARLY_CLOSING}\n"},
        ("disc-basic",),
    ),
    DatedChange(
        "1.0.30",
        "1.0.27",
        "Files of the user may import from anywhere.",
        {"imports.free": ("user",)},
        ("imp-home-user", "imp-external-user"),
    ),
    DatedChange(
        "1.0.59",
        "1.0.58",
        "The closing sentence no longer says that instructions are mostly not relevant.",
        {"envelope.after": f"\n\n      {CLOSING}"},
        ("disc-basic",),
    ),
    DatedChange(
        "1.0.98",
        "1.0.96",
        "A project's .claude/CLAUDE.md is loaded.",
        {"start": _sources("rules", "added", "settings", "index")},
        ("disc-level-order", "disc-walkup"),
    ),
    DatedChange(
        "1.0.119",
        "1.0.117",
        "What a linked file imports is looked for next to the target of the link; before, next to the link.",
        {"imports.linked": "target"},
        ("disc-symlink-import", "disc-symlink-outside"),
    ),
    DatedChange(
        "1.0.128",
        "1.0.67",
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS turns instruction files off.",
        {"environment+": ("CLAUDE_CODE_DISABLE_CLAUDE_MDS",)},
        ("cli-disable-env",),
    ),
    DatedChange(
        "2.0.0",
        "1.0.128",
        "The model is Sonnet 4.5, if none is named.",
        {"model": "claude-sonnet-4-5-20250929"},
        ("disc-basic",),
    ),
    DatedChange(
        "2.0.2",
        "2.0.1",
        "The reminders after the instruction files, which ask for no more than what was asked, are gone.",
        {"template.footer": "", "envelope.after": f"\n{CLOSING}"},
        ("disc-basic",),
    ),
    DatedChange(
        "2.0.42",
        "2.0.37",
        "Frontmatter is cut from instruction files.",
        {"reading.frontmatter": "all"},
        ("cont-fm-paths",),
    ),
    DatedChange(
        "2.0.64",
        "2.0.62",
        "Rules in .claude/rules are loaded, those with paths when a file matches.",
        {"start": _sources("added", "settings", "index")},
        ("rule-recursive", "rule-user"),
    ),
    DatedChange(  # what came before is not modelled: imp-emph, imp-table, imp-double, imp-gfm-del, imp-under-home-ext
        "2.0.67",
        "2.0.65",
        "Imports in tables are followed, those between ~~ are not; foretold takes all releases to do so.",
    ),
    DatedChange(
        "2.0.77",
        "2.0.76",
        "Frontmatter is read as YAML; before, lines of a key, a colon and a text counted, and no lists.",
        {"reading.form": "yaml"},
        ("rule-form-list", "rule-form-bad", "rule-badyaml-list"),
    ),
    DatedChange(
        "2.1.2",
        "2.1.1",
        "Imports of files whose extension is not that of a text are left out.",
        {"imports.extensions": EXTENSIONS},
        ("imp-ext", "imp-ext3", "imp-ext4"),
    ),
    DatedChange(
        "2.1.20",
        "2.1.19",
        "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD loads the instruction files of added folders.",
        {
            "start": _sources("settings", "index", "local added"),
            "environment+": (
                "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD",
                "CLAUDE_CODE_SIMPLE",
                "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS",
            ),
        },
        ("cli-add-dir-env",),
    ),
    DatedChange(
        "2.1.41",
        "2.1.40",
        "An import may end in #…, which is cut off; before, it was part of the name.",
        {"imports.fragments": True},
        ("imp-fragment",),
    ),
    DatedChange(
        "2.1.42",
        "2.1.41",
        "The date follows the instructions in the same block, and is sent without instructions, too.",
        {"envelope": Envelope(before=f"{OPENING}# claudeMd\n", after=f"\n{_DATE}{CLOSING}", without=OPENING)},
        ("disc-basic", "disc-none"),
    ),
    DatedChange(
        "2.1.45",
        "2.1.44",
        "The model is Sonnet 4.6, if none is named.",
        {"model": "claude-sonnet-4-6"},
        ("disc-basic",),
    ),
    DatedChange(
        "2.1.48",
        "2.1.47",
        "The setting claudeMdExcludes leaves instruction files out.",
        {"excludes": True},
        ("excl-abs",),
    ),
    DatedChange(
        "2.1.59",
        "2.1.58",
        "The index of the auto-memory is loaded with the instructions.",
        {
            "start": _sources("settings", "local added"),
            "memory_index": _EARLY_INDEX,
            "environment+": ("CLAUDE_CODE_DISABLE_AUTO_MEMORY",),
        },
        ("cli-automem",),
    ),
    DatedChange(
        "2.1.64",
        "2.1.63",
        "Reading a file attaches the instruction files of its folders, and the rules that match it.",
        {
            "touch": TOUCH,
            "triggers": (_READ,),
            "silent": (*_WRITING, _SHELL),
        },
        ("nest-read-deep",),
    ),
    DatedChange(
        "2.1.64",
        "2.1.63",
        "In frontmatter that is not valid YAML, a value with a colon in it is read as if in quotes.",
        {"reading.colons": True},
        ("rule-badyaml-list",),
    ),
    DatedChange(
        "2.1.69",
        "2.1.68",
        "In a worktree inside of the main repository, the files of that are left out; its rules still wait for a file.",
        {"worktree": "rules"},
        ("disc-worktree-nested", "disc-worktree-claude-dir", "disc-worktree-nested-ow"),
    ),
    DatedChange(
        "2.1.72",
        "2.1.71",
        "HTML comments are cut from instruction files.",
        {"imports.comments": True},
        ("cont-c-block",),
    ),
    DatedChange(
        "2.1.78",
        "2.1.77",
        "An empty line follows the block of instructions.",
        {"envelope.after": f"\n{_DATE}{CLOSING}\n"},
        ("disc-basic", "disc-none"),
    ),
    DatedChange(
        "2.1.79",
        "2.1.78",
        "Instruction files are trimmed, and so is the index of the auto-memory.",
        {"template.trim": "both", "memory_index.trims": True},
        ("cont-trim", "disc-basic", "cli-automem"),
    ),
    DatedChange(
        "2.1.83",
        "2.1.81",
        "The index of the auto-memory is cut after 25,000 characters, too, and the warning about it has other words.",
        {"memory_index": INDEX},
        ("cli-automem-long",),
    ),
    DatedChange(
        "2.1.84",
        "2.1.83",
        "A list of paths in a rule is several patterns; before, its items were put together to one.",
        {"rules.joins": False},
        ("rule-form-list",),
    ),
    DatedChange(
        "2.1.84",
        "2.1.83",
        "The subagents Explore and Plan are sent no instructions.",
        {"subagents_without": ("Explore", "Plan")},
        ("sub-explore",),
    ),
    DatedChange(
        "2.1.105",
        "2.1.104",
        "The CLAUDE.local.md of an added folder is loaded, too.",
        {"start": _sources("settings")},
        ("cli-add-dir-env",),
    ),
    DatedChange(
        "2.1.113",
        "2.1.112",
        "Rules come in the order in which the file system lists them; before, by name.",
        {"rules.ordered": ""},
        ("rule-sort", "rule-recursive"),
    ),
    DatedChange(
        "2.1.113",
        "2.1.112",
        "Frontmatter in which a key comes twice, or a tab indents, counts; before, it was dropped as invalid.",
        {"reading.strict": False},
        ("rule-fm-edge",),
    ),
    DatedChange(
        "2.1.129",
        "2.1.128",
        "The model is Opus 4.7, if none is named.",
        {"model": "claude-opus-4-7"},
        ("disc-basic",),
    ),
    DatedChange(
        "2.1.136",
        "2.1.133",
        "The organisation's file is called so; before, it was called the user's.",
        {"template.descriptions": DESCRIPTIONS},
        ("cont-c-user-managed",),
    ),
    DatedChange(
        "2.1.139",
        "2.1.138",
        "The organisation's settings can hold instructions themselves, as claudeMd.",
        {"start": START},
        ("man-settings-claudemd",),
    ),
    DatedChange(
        "2.1.142",
        "2.1.141",
        "A file that is also there as a link is loaded once.",
        {"identity": "real"},
        ("disc-symlink-both", "imp-dup-symlink"),
    ),
    DatedChange(
        "2.1.154",
        "2.1.153",
        "The model is Opus 4.8, if none is named, and with it nested files are sent as a system message.",
        {
            "model": "claude-opus-4-8",
            "placements": (_IN_RESULTS, _SYSTEM),
        },
        ("nest-read-deep",),
    ),
    DatedChange(
        "2.1.197",
        "2.1.132",
        "A file of more than 4 MiB is not loaded; before, one of more than 8 MiB.",
        {"max_file": 4 * 1024 * 1024},
        ("cont-x-bytes-4m1",),
    ),
    DatedChange(
        "2.1.199",
        "2.1.198",
        "A Read that fails attaches what the folders have: of a missing file, or of a folder that a rule matches.",
        {"triggers": (_READ_ANYWAY,)},
        ("nest-read-missing",),
    ),
    DatedChange(  # seen by mentioning one in 2.1.198, 2.1.199, 2.1.232, 2.1.268 and 2.1.293
        "2.1.199",
        "2.1.198",
        "Mentioning a file that is not there attaches the instruction files of its folders.",
        {"mention_missing": True},
    ),
    DatedChange(
        "2.1.211",
        "2.1.210",
        "The local settings of the top of the repository, and of the main checkout, are read in folders below.",
        {"local_settings": "repository"},
    ),
    DatedChange(
        "2.1.219",
        "2.1.218",
        "The model is Opus 5, if none is named.",
        {"model": "claude-opus-5"},
        ("disc-basic",),
    ),
    DatedChange(
        "2.1.227",
        "2.1.226",
        "Rules of the main repository are no longer attached for files of a worktree in it.",
        {"worktree": ""},
        ("disc-worktree-cond",),
    ),
    DatedChange(
        "2.1.232",
        "2.1.231",
        "Rules and imports that a link leads out of the working folder are skipped.",
        {"imports.contain": ("spelled", "real"), "rules.links": "inside", "rules.moved": True},
        ("rule-symlink", "rule-symlinked", "imp-external-symlink"),
    ),
    DatedChange(
        "2.1.239",
        "2.1.238",
        "Frontmatter may follow a byte order mark, and claudeMdExcludes also fits the link of a linked rule.",
        {"after_bom": True, "rules.excluded_by": ("real", "spelled")},
        ("cont-fm-bom", "n325-bom-nested", "n325-excl-rule-link"),
    ),
    DatedChange(
        "2.1.268",
        "2.1.267",
        "Instructions have a block of their own, without the date; without instructions there is none.",
        {
            "envelope": Envelope(before="<system-reminder>\n", after="\n</system-reminder>", after_last="\n"),
            "memory_index.warning": "> WARNING: MEMORY.md is {size}. Only part of it was loaded: {cut}. "
            "Keep index entries to one line under ~200 chars; move detail into topic files.",
            "memory_index.cleans": True,
            "template.escapes": True,
            "placements": (_IN_RESULTS._replace(rich="items"), _SYSTEM),
        },
        ("disc-basic", "disc-none", "cli-automem-long"),
    ),
    DatedChange(
        "2.1.268",
        "2.1.267",
        "A session that is resumed is told which instruction files have changed since.",
        {
            "continuation": Continuation(  # seen by resuming 2.1.325
                start="files",
                replaces="Instruction files were re-read when this session started; these differ from their earlier "
                "copies — each replaces its earlier copy, and the instructions preamble above still applies:",
                withdraws="Instruction files were re-read when this session started.",
                gone="Instructions no longer present: {path}",
                nested="changed",
                why="",
            ),
        },
    ),
    DatedChange(
        "2.1.280",
        "2.1.278",
        "The model is Opus 5.5, if none is named.",
        {"model": "claude-opus-5-5"},
        ("disc-basic",),
    ),
    DatedChange(
        "2.1.281",
        "2.1.280",
        "AGENTS.md is loaded where there is no CLAUDE.md.",
        {
            "fallback": Fallback(
                names=("AGENTS.md", ".claude/AGENTS.md"),
                unless=("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
                hidden_unread_by="local",
                layer="project",
                switch="project",
                tools=("Read",),
                through_links=True,
                plugins=("agents-md@builtin",),
            )
        },
        ("ag-only", "ag-dot", "ag-walk", "ag-nested-deep"),
    ),
    DatedChange(
        "2.1.281",
        "2.1.280",
        "What was loaded at the start is not attached again.",
        {"again": "new"},
        ("nest-import-already", "nest-import-loaded", "rule-cond-claudemd-import"),
    ),
    DatedChange(
        "2.1.284",
        "2.1.283",
        "Rules are skipped, too, if .claude itself is a link that leads out of the working folder.",
        {"rules.moved": False},
        ("disc-symlink-dotclaude", "n325-sl-dotclaude-parent"),
    ),
    DatedChange(
        "2.1.285",
        "2.1.284",
        "Settings can name the plugin for AGENTS.md as cc-plugin-agents-md@builtin.",
        {"fallback.plugins": ("cc-plugin-agents-md@builtin", "agents-md@builtin")},
        ("ag-mode-cckey", "ag-disabled-cc", "ag-mode-twokeys", "ag-mode-twokeys2"),
    ),
    DatedChange(
        "2.1.286",
        "2.1.285",
        "An added folder no longer turns loading on again after --bare.",
        {"added_undoes_bare": False},
        ("cli-bare-adddir", "cli-bare-adddir-env"),
    ),
    DatedChange(
        "2.1.288",
        "2.1.287",
        "Write and Edit attach nested instruction files and rules, too.",
        {
            "triggers": (_READ_ANYWAY, *_WRITING),
            "silent": (_SHELL,),
        },
        ("nest-write", "nest-edit", "rule-write", "rule-edit"),
    ),
    DatedChange(
        "2.1.290",
        "2.1.289",
        "A mentioned file brings the AGENTS.md of its folder.",
        {"fallback.tools": ("Read", "mention")},
        ("ag-nested-mention",),
    ),
    DatedChange(
        "2.1.293",
        "2.1.292",
        "Shell commands that read a file attach nested instruction files and rules, too.",
        {
            "triggers": (_READ_ANYWAY, *_WRITING, _SHELL),
            "silent": (),
        },
        ("nest-bash", "rule-bash"),
    ),
    DatedChange(
        "2.1.307",
        "2.1.306",
        "Nested instruction files are a block of the user's each, of models that take system messages.",
        {
            "placements": (
                *_OLDER_PLACEMENTS,
                Placement(("sonnet-5",), "user-blocks", "system-tagged", mentioned="system"),
                Placement((), "user-blocks", "system", mentioned="system"),
            )
        },
        ("nest-read-deep", "ag-nested-deep2"),
    ),
    DatedChange(
        "2.1.318",
        "2.1.317",
        "A mentioned file, and the AGENTS.md that it brings, are blocks of the user before the instructions.",
        {
            "placements": (
                *_OLDER_PLACEMENTS,
                Placement(("sonnet-5",), "user-blocks", "system-tagged"),
                Placement((), "user-blocks", "system"),
            )
        },
        ("ag-nested-mention",),
    ),
)
HISTORY = ReleaseHistory(BASE, CHANGES, PLAYED["claude-code"])
