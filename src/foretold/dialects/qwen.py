"""Qwen Code, a fork of Gemini CLI, recorded on 0.24.4 (`tests/conformance/qwen-code.jsonl`).

It reads its configuration as Gemini CLI does, with these differences.

1. `context.fileName` replaces its own names.
2. The walk goes one folder above the top of the repository; without one, to the folder above the home.
3. In an untrusted folder only the user's files are loaded.
4. Two memory indexes are sent if one of them exists; an empty one says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.dialects.claude_code.settings import slug
from foretold.dialects.gemini import FOLDER, IMPORTS, OUTSIDE, V0_61_0 as GEMINI, read_scopes, strongest
from foretold.dialects.schema import (
    Continuation,
    EntryGroup,
    FileSource,
    Nested,
    ProgramOptions,
    RequestPart,
    Rules,
    TextRules,
    Trigger,
)
from foretold.dialects.settings_files import read_json, texts_of
from foretold.dialects.surroundings import LoadRequest, Surroundings, find_git, plain_surroundings, walk_between
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.types import Finding

RELATIVE = "--- Context from: {relative} ---\n{text}\n--- End of Context from: {relative} ---"
RULE = "--- Rule from: {project} ---\n{text}\n--- End of Rule from: {project} ---"

V0_24_4 = GEMINI._replace(
    agent="qwen-code",
    version="0.24.4",
    environment=(),
    start=(
        FileSource("user", "user", "QWEN.md"),
        FileSource("project", "walk", "QWEN.md", switch="project"),
        FileSource("user", "user", "AGENTS.md"),
        FileSource("project", "walk", "AGENTS.md", switch="project"),
        FileSource("user", "user", "output-language.md"),
        FileSource("local", "project", ".qwen/QWEN.local.md", switch="project"),
        FileSource("user", "user", "rules", "rules"),
        FileSource("project", "project", ".qwen/rules", "rules", switch="project"),
    ),
    touch=(
        FileSource("user", "user", "rules", "rules", "matching"),
        FileSource("project", "project", ".qwen/rules", "rules", "matching"),
    ),
    imports=IMPORTS._replace(regions="markdown", failed=(OUTSIDE, FOLDER), top_counts=True),
    rules=Rules(".md", "paths", links="anywhere", excluded_by=(), free=("user",), ordered="path"),
    identity="real",
    sorts=(),
    reading=TextRules(
        frontmatter="rules", markdown=False, trims=("user", "project", "local", "rule"), cuts_comments=("rule",)
    ),
    parts=(
        RequestPart((EntryGroup(("file",), RELATIVE, "\n\n"), EntryGroup(("rule",), RULE, "\n\n")), join="\n\n"),
        RequestPart((EntryGroup(("setting",), "## {path}\n\n{text}", "\n\n"),)),
    ),
    nested=Nested("tool", "tool_result", RULE, "\n\n", before="\n\n<system-reminder>\n", after="\n</system-reminder>"),
    triggers=(Trigger("read_file", "file_path"), Trigger("read_file", "absolute_path")),
    continuation=Continuation(why=""),  # qwen-102, qwen-107
    user=".qwen",
)

DIALECTS = (V0_24_4,)
COMMAND_LINE = ProgramOptions(
    "qwen",
    flags=(
        "--acp --bare -c --chat-recording --continue -d --debug --experimental-lsp --fork-session -h --help "
        "--include-partial-messages --insecure -l --list-extensions --openai-logging "
        "--restore-ask-user-question -s --safe-mode --sandbox --screen-reader --telemetry "
        "--telemetry-log-prompts -v --version -y --yolo"
    ),
    maybe=(
        "--append-system-prompt --approval-mode --auth-type --channel -i --input-file --input-format "
        "--json-fd --json-file --json-schema -m --max-session-turns --max-subagent-depth --max-tool-calls "
        "--max-wall-time --mcp-config --model -o --openai-api-key --openai-base-url --openai-logging-dir "
        "--output-format --output-style -p --prompt --prompt-interactive --proxy -r --resume --sandbox-image "
        "--session-id --system-prompt --telemetry-otlp-endpoint --telemetry-otlp-protocol --telemetry-outfile "
        "--telemetry-target --worktree"
    ),
    many=(
        "--add-dir --allowed-mcp-server-names --allowed-tools --core-tools --disabled-slash-commands -e "
        "--exclude-tools --extensions --fallback-model --include-directories"
    ),
    spelling="yargs",
)


EMPTY = "Your MEMORY.md is currently empty. When you save new memories, they will appear here."
NAMES = ("QWEN.md", "AGENTS.md")


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a Qwen Code session."""
    findings: list[Finding] = []
    user = f"{request.home}/.qwen"
    scopes = read_scopes(tree, request, user, findings)
    names = tuple(dict.fromkeys(texts_of(strongest(scopes, "context", "fileName")))) or NAMES
    git = find_git(tree, request.cwd)
    is_asked = strongest(scopes, "security", "folderTrust", "enabled") is True
    trusted = request.trust if request.trust is not None else not is_asked or _is_known(tree, request, user, findings)
    texts = dict(_memories(tree, user, request.cwd))
    start = request.dialect.start
    return plain_surroundings(
        request,
        walk=_walk(request, git.top if git else ""),
        user=user,
        sources=frozenset(("project",)) if trusted else frozenset(),
        switched_by="the untrusted folder",
        git=git,
        start=(
            *(source._replace(name=name) for name in names for source in start[:2]),
            *start[4:],
            *(FileSource("memory", "settings", key, "setting") for key in texts),
        ),
        texts=texts,
        findings=tuple(findings),
        store=f"{user}/projects/{slug(request.cwd)}/memory",
    )


def _walk(request: LoadRequest, top: str) -> tuple[str, ...]:
    """# qwen-code: qwen-005, qwen-004, qwen-006"""
    cwd, home = request.cwd, request.home
    if cwd == home:
        return (cwd,)
    if top:
        return walk_between(top.rpartition("/")[0] or "/", cwd)
    return walk_between((home.rpartition("/")[0] or "/") if is_inside(cwd, home) else "/", cwd)


def _is_known(tree: Tree, request: LoadRequest, user: str, findings: list[Finding]) -> bool:
    folders = read_json(tree, f"{user}/trustedFolders.json", findings)
    return any(is_inside(request.cwd, path) and level != "DO_NOT_TRUST" for path, level in folders.items())


def _memories(tree: Tree, user: str, cwd: str) -> Iterator[tuple[str, tuple[str, str]]]:
    paths = [f"{user}/memories/MEMORY.md", f"{user}/projects/{slug(cwd)}/memory/MEMORY.md"]
    found = [tree.read(path, 4 * 1024 * 1024) for path in paths]
    if all(isinstance(data, Fault) for data in found):
        return
    for path, data in zip(paths, found, strict=True):
        text = "" if isinstance(data, Fault) else data.decode("utf-8", "replace").strip()
        yield path, (path, text or EMPTY)
