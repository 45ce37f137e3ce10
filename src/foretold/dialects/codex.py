"""OpenAI Codex CLI, recorded on 0.166.0 (`tests/conformance/codex.jsonl`).

What releases from 0.115.0 on did otherwise was dated by playing the same cases to them.

1. Settings: `$CODEX_HOME/config.toml`, over it the project's `.codex/config.toml` if the project is trusted, over both
   `-c key=value`. Root markers count only from the user.
2. A project that is `untrusted` has no files from 0.150.0 on.
"""

from __future__ import annotations

from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.dialects.releases.played import PLAYED
from foretold.dialects.schema import (
    Continuation,
    Dialect,
    EntryGroup,
    FileSource,
    ProgramOptions,
    RequestPart,
    TextRules,
)
from foretold.dialects.settings_files import dig, parse_args, read_toml, texts_of
from foretold.dialects.surroundings import LoadRequest, Surroundings, join, marked_top, plain_surroundings, walk_between
from foretold.storage.tree import Tree
from foretold.types import Finding

NAMES = ("AGENTS.override.md", "AGENTS.md")
CHILD = "child_agents_md"  #: a feature of the settings: a note that explains the files, in releases that have it
PATHS = "fallback-paths"  #: whether `project_doc_fallback_filenames` may name paths
_PROJECT = FileSource("project", "walk", NAMES[0], others=NAMES[1:], pick="file", switch="project")
_START = (
    FileSource("memory", "memory", "memory_summary.md", "summary"),
    FileSource("user", "user", NAMES[0], others=NAMES[1:]),  # the first with text
    _PROJECT,
)
_NOTE = FileSource(CHILD, "settings", CHILD, "setting")
_MEMORY_PART = RequestPart(
    (EntryGroup(("memory file",), "{text}", ""),),
    place="developer",
    role="developer",
    before="========= MEMORY_SUMMARY BEGINS =========\n",
    after="\n========= MEMORY_SUMMARY ENDS =========",
)
_FILES_PART = RequestPart(
    (
        EntryGroup(("user file",)),
        EntryGroup(("project file",), before="--- project-doc ---\n\n", needs="user"),
        EntryGroup((f"{CHILD} setting",)),
    ),
    place="before-prompt",
    role="user",
    before="# AGENTS.md instructions{where}\n\n<INSTRUCTIONS>\n",
    after="\n</INSTRUCTIONS>",
    join="\n\n",
    where=("project", " for {cwd}"),
)

V0_115_0 = Dialect(
    agent="codex",
    version="0.115.0",
    environment=("CODEX_HOME",),
    start=(*_START[:-1], _PROJECT._replace(switch="", pick="link"), _NOTE),
    settings=(PATHS,),
    max_summary=20_000,
    identity="none",
    budget="project",
    reading=TextRules(frontmatter="none", markdown=False, trims=("user", "memory"), space="rust", refuses=("user",)),
    parts=(_MEMORY_PART, _FILES_PART._replace(where=("", " for {cwd}"))),
    continuation=Continuation(start="kept", why=""),
    user=".codex",
)

CHANGES = (
    DatedChange(
        "0.120.0",
        "0.118.0",
        "A link that leads nowhere no longer hides the file of another name in its folder.",
        {"start": (*_START[:-1], _PROJECT._replace(switch=""), _NOTE)},
        ("codex-043",),
    ),
    DatedChange(
        "0.132.0",
        "0.131.0",
        "Of a memory summary 10,000 bytes are kept instead of 20,000.",
        {"max_summary": 10_000},
        ("codex-079",),
    ),
    DatedChange(
        "0.133.0",
        "0.132.0",
        "A file of the user that is not UTF-8 is loaded, with replacement characters.",
        {"reading.refuses": ()},
        ("codex-034",),
    ),
    DatedChange(
        "0.140.0",
        "0.139.0",
        "The message with the instructions names the folder only if files of the project are in it.",
        {"parts": (_MEMORY_PART, _FILES_PART)},
        ("codex-005", "codex-007", "codex-024", "codex-034", "codex-052"),
    ),
    DatedChange(
        "0.142.0",
        "0.141.0",
        f"The feature {CHILD} no longer adds a note about AGENTS.md files.",
        {"start": (*_START[:-1], _PROJECT._replace(switch=""))},
        ("codex-060", "codex-061"),
    ),
    DatedChange(
        "0.143.0",
        "0.142.5",
        "A resumed conversation is told which instructions hold now, if they changed.",
        {
            "continuation": Continuation(
                start="whole",
                replaces="These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n",
                withdraws="The previously provided AGENTS.md instructions no longer apply.",
                why="",
            )
        },
        ("codex-076", "codex-101", "codex-102", "codex-110", "codex-114"),
    ),
    DatedChange(
        "0.150.0",
        "0.149.1",
        "A project that is not trusted has no files.",
        {"start": _START},
        ("codex-053",),
    ),
    DatedChange(
        "0.156.0",
        "0.155.1",
        "A name in project_doc_fallback_filenames that has a slash is ignored.",
        {"settings": ()},
        ("codex-021", "codex-074", "codex-075"),
    ),
)
HISTORY = ReleaseHistory(V0_115_0, CHANGES, PLAYED["codex"])
DIALECTS = (HISTORY.at(PLAYED["codex"][-1]),)


OPTIONS = {"-C": "one", "--cd": "one", "-c": "one", "--config": "one"}
COMMAND_LINE = ProgramOptions(
    "codex",
    flags=(
        "--all --approve-for-me --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust "
        "--ephemeral -h --help --ignore-rules --ignore-user-config --include-non-interactive --json --last "
        "--no-alt-screen --no-daemon --oss --search --skip-git-repo-check --strict-config --uncommitted -V "
        "--version --worktree"
    ),
    one=(
        "-a --add-dir --ask-for-approval --base -c -C --cd --color --commit --config --cyber-access-program "
        "--disable --enable --local-provider -m --model -o --output-last-message --output-schema -p --profile "
        "--remote --remote-auth-token-env -s --sandbox --thread-source --title"
    ),
    many="-i --image",
)
BUDGET = 32_768
#: what the feature adds # codex: codex-060, codex-061
CHILD_NOTE = """\
Files called AGENTS.md commonly appear in many places inside a container - at "/", in "~", deep within git \
repositories, or in any other directory; their location is not limited to version-controlled folders.

Their purpose is to pass along human guidance to you, the agent. Such guidance can include coding standards, \
explanations of the project layout, steps for building or testing, and even wording that must accompany a GitHub \
pull-request description produced by the agent; all of it is to be followed.

Each AGENTS.md governs the entire directory that contains it and every child directory beneath that point. Whenever \
you change a file, you have to comply with every AGENTS.md whose scope covers that file. Naming conventions, \
stylistic rules and similar directives are restricted to the code that falls inside that scope unless the document \
explicitly states otherwise.

When two AGENTS.md files disagree, the one located deeper in the directory structure overrides the higher-level \
file, while instructions given directly in the prompt by the system, developer, or user outrank any AGENTS.md content.
"""


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a Codex session."""
    findings: list[Finding] = []
    options = parse_args(request.args, OPTIONS)
    moved = [*options.get("-C", ()), *options.get("--cd", ())]
    cwd = tree.real(join(request.cwd, moved[-1])) if moved else request.cwd
    user = join(request.cwd, request.env.get("CODEX_HOME") or join(request.home, request.dialect.user))
    config = read_toml(tree, f"{user}/config.toml", findings) | dict(request.settings)
    given = dict(_given(word) for word in (*options.get("-c", ()), *options.get("--config", ())))
    markers = tuple(texts_of(given.get("project_root_markers", config.get("project_root_markers", [".git"]))))
    top = marked_top(tree, cwd, markers)
    trust = next(
        (dig(config, "projects", path, "trust_level") for path in (cwd, top) if dig(config, "projects", path)), None
    )
    if trust == "trusted":
        config = config | read_toml(tree, f"{top or cwd}/.codex/config.toml", findings)
    config = config | given
    limit = config.get("project_doc_max_bytes", BUDGET)
    fallback = tuple(
        name
        for name in dict.fromkeys(texts_of(config.get("project_doc_fallback_filenames")))
        if name and name not in NAMES and ("/" not in name or PATHS in request.dialect.settings)
    )  # codex: codex-021, codex-074, codex-075: a name with a slash is ignored from 0.156.0 on
    start = tuple(
        source._replace(others=(*source.others, *fallback)) if source.layer == "project" else source
        for source in request.dialect.start
    )
    return plain_surroundings(
        request,
        cwd=cwd,
        walk=walk_between(top, cwd),
        user=user,
        sources=frozenset() if trust == "untrusted" else frozenset(("project",)),
        switched_by="trust_level = untrusted",
        memory=f"{user}/memories" if dig(config, "features", "memories") is True else "",
        memory_reason="features.memories is not on",
        start=start,
        budget=limit if isinstance(limit, int) else BUDGET,
        markers=markers,
        texts={CHILD: (f"{user}/config.toml", CHILD_NOTE)} if dig(config, "features", CHILD) is True else {},
        findings=tuple(findings),
    )


def _given(word: str) -> tuple[str, object]:
    """A `key=value` of the command line; the value is TOML, or else a text."""
    import tomllib

    key, _, value = word.partition("=")
    try:
        return key.strip(), tomllib.loads(f"v = {value}")["v"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value
