"""OpenAI Codex CLI, recorded on 0.166.0 (`tests/conformance/codex.jsonl`).

1. Settings: `$CODEX_HOME/config.toml`, over it the project's `.codex/config.toml` if the project is trusted, over both
   `-c key=value`. Root markers count only from the user.
2. A project that is `untrusted` has no files.
"""

from __future__ import annotations

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

V0_166_0 = Dialect(
    agent="codex",
    version="0.166.0",
    environment=("CODEX_HOME",),
    start=(
        FileSource("memory", "memory", "memory_summary.md", "summary"),
        FileSource("user", "user", NAMES[0], others=NAMES[1:]),  # the first with text
        FileSource("project", "walk", NAMES[0], others=NAMES[1:], pick="file", switch="project"),
    ),
    identity="none",
    budget="project",
    reading=TextRules(frontmatter="none", markdown=False, trims=("user", "memory"), space="rust"),
    parts=(
        RequestPart(
            (EntryGroup(("memory file",), "{text}", ""),),
            place="developer",
            role="developer",
            before="========= MEMORY_SUMMARY BEGINS =========\n",
            after="\n========= MEMORY_SUMMARY ENDS =========",
        ),
        RequestPart(
            (EntryGroup(("user file",)), EntryGroup(("project file",))),
            place="before-prompt",
            role="user",
            before="# AGENTS.md instructions{where}\n\n<INSTRUCTIONS>\n",
            after="\n</INSTRUCTIONS>",
            join="\n\n--- project-doc ---\n\n",
            where=("project", " for {cwd}"),
        ),
    ),
    continuation=Continuation(
        start="whole",
        replaces="These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n",
        withdraws="The previously provided AGENTS.md instructions no longer apply.",
        why="",
    ),
    user=".codex",
)

DIALECTS = (V0_166_0,)


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
        dict.fromkeys(name for name in texts_of(config.get("project_doc_fallback_filenames")) if _is_name(name))
    )
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
        findings=tuple(findings),
    )


def _is_name(name: str) -> bool:
    """# codex: codex-021, codex-074, codex-075: a name with a slash is ignored"""
    return bool(name) and "/" not in name and name not in NAMES


def _given(word: str) -> tuple[str, object]:
    """A `key=value` of the command line; the value is TOML, or else a text."""
    import tomllib

    key, _, value = word.partition("=")
    try:
        return key.strip(), tomllib.loads(f"v = {value}")["v"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value
