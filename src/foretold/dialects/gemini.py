"""Gemini CLI, recorded on 0.61.0 (`tests/conformance/gemini-cli.jsonl`).

What releases from 0.40.1 on did otherwise was dated by playing the same cases to them.

1. Settings: `~/.gemini/settings.json`, over it that of the workspace. `context.fileName` adds names before its own.
   Before 0.44.0 these names took its place.
2. The walk ends at the nearest folder with a boundary marker; without one it is the working directory alone.
3. In a folder that is not trusted it refuses to run without a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.dialects.releases.played import PLAYED
from foretold.dialects.schema import (
    Continuation,
    Dialect,
    EntryGroup,
    FileSource,
    Imports,
    Nested,
    ProgramOptions,
    RequestPart,
    TextRules,
    Trigger,
)
from foretold.dialects.settings_files import dig, is_on, parse_args, read_json, texts_of
from foretold.dialects.surroundings import (
    LoadRequest,
    Surroundings,
    find_git,
    join,
    marked_top,
    plain_surroundings,
    walk_between,
)
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.types import Finding

FORM = "--- Context from: {path} ---\n{text}\n--- End of Context from: {path} ---"
OUTSIDE = ("outside-project", "<!-- Import failed: {path} - Path traversal attempt -->")
FOLDER = ("folder", "<!-- Import failed: {path} - EISDIR: illegal operation on a directory, read -->")
MISSING = ("missing", "<!-- Import failed: {path} - ENOENT: no such file or directory, access '{target}' -->")
IMPORTS = Imports(
    depth=5,
    mode="inline",
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
ALWAYS = "always-gemini-md"  #: whether GEMINI.md is looked for whatever `context.fileName` names
BY_PATH = "first-by-path"  #: whether the first by its path counts of a file that has several

V0_40_1 = Dialect(
    agent="gemini-cli",
    version="0.40.1",
    settings=(BY_PATH,),
    environment=("GEMINI_CLI_HOME", "GEMINI_CLI_TRUST_WORKSPACE"),
    start=(
        FileSource("user", "user", "GEMINI.md"),
        FileSource("memory", "memory", "MEMORY.md", others=("GEMINI.md",), pick="file"),
        FileSource("project", "walk", "GEMINI.md", switch="project"),
        FileSource("project", "added", "GEMINI.md", switch="project"),
    ),
    touch=(FileSource("project", "reach", "GEMINI.md"),),
    imports=IMPORTS._replace(through_links=True),
    identity="inode",
    sorts=("project",),
    reading=TextRules(frontmatter="none", markdown=False, trims=("user", "memory", "extension", "project")),
    parts=(
        RequestPart(
            (
                EntryGroup(("user file",), FORM, "\n\n", "<global_context>\n", "\n</global_context>", needs="memory"),
                EntryGroup(
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
        RequestPart(
            (
                EntryGroup(("extension file",), FORM, "\n\n", "<extension_context>\n", "\n</extension_context>"),
                EntryGroup(("project file",), FORM, "\n\n", "<project_context>\n", "\n</project_context>"),
            ),
            place="session-context",
            role="user",
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
        parallel=True,  # gemini-111
    ),
    triggers=(
        Trigger("read_file", "file_path"),
        Trigger("write_file", "file_path"),
        Trigger("replace", "file_path"),
        Trigger("read_many_files", "include"),
        Trigger("list_directory", "dir_path", on="folder"),
    ),
    continuation=Continuation(repeats=True, why=""),  # gemini-102, gemini-105, gemini-112
    user=".gemini",
)

CHANGES = (
    DatedChange(
        "0.43.0",
        "0.42.0",
        "Of a file that has several names, the one counts that is looked for first; before, the first by its path.",
        {"settings": ()},
        ("gemini-049",),
    ),
    DatedChange(
        "0.44.0",
        "0.43.0",
        "GEMINI.md is loaded even if context.fileName names other files.",
        {"settings": (ALWAYS,)},
        ("gemini-008", "gemini-066"),
    ),
    DatedChange(
        "0.51.0",
        "0.47.0",
        "An import fails if a link leads it out of the project.",
        {"imports.through_links": False},
        ("gemini-029",),
    ),
)
HISTORY = ReleaseHistory(V0_40_1, CHANGES, PLAYED["gemini-cli"])
V0_61_0 = HISTORY.at("0.61.0")
DIALECTS = (V0_61_0,)


OPTIONS = {"--include-directories": "many", "--skip-trust": "flag"}
COMMAND_LINE = ProgramOptions(
    "gemini",
    flags=(
        "--accept-raw-output-risk --acp -d --debug --experimental-acp -h --help -l --list-extensions "
        "--list-sessions --raw-output -s --sandbox --screen-reader --skip-trust -v --version -y --yolo"
    ),
    maybe=(
        "--approval-mode --delete-session -i -m --model -o --output-format -p --prompt --prompt-interactive "
        "-r --resume --session-file --session-id -w --worktree"
    ),
    many=("--admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions --include-directories --policy"),
    spelling="yargs",
)
NAME = "GEMINI.md"
REFUSED = 55


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a Gemini CLI session."""
    findings: list[Finding] = []
    options = parse_args(request.args, OPTIONS)
    home = join(request.cwd, request.env["GEMINI_CLI_HOME"]) if request.env.get("GEMINI_CLI_HOME") else request.home
    user = f"{home}/.gemini"
    scopes = read_scopes(tree, request, user, findings)
    named = texts_of(strongest(scopes, "context", "fileName"))
    names = dict.fromkeys((*named, NAME) if not named or ALWAYS in request.dialect.settings else named)
    markers = strongest(scopes, "context", "memoryBoundaryMarkers")
    marks = tuple(texts_of(markers)) if isinstance(markers, list) else (".git",)
    top = marked_top(tree, request.cwd, marks)
    added = tuple(
        join(request.cwd, path) for value in options.get("--include-directories", ()) for path in value.split(",")
    )
    walk = walk_between(top, request.cwd)
    reached = tuple(folder for each in added for folder in walk_between(marked_top(tree, each, marks), each))
    start = tuple(
        each
        for source in request.dialect.start
        for each in (
            [source._replace(name=name) for name in names] if source.layer in ("user", "project") else [source]
        )
    )
    if BY_PATH in request.dialect.settings:
        paths = sorted({f"{folder.rstrip('/')}/{name}" for folder in (*walk, *reached) for name in names})
        others = (source for source in start if source.layer != "project")
        start = (*others, *(FileSource("project", "path", path[1:], switch="project") for path in paths))
    extensions = _extensions(tree, f"{user}/extensions", findings)
    skipped = "--skip-trust" in options or strongest(scopes, "security", "folderTrust", "enabled") is False
    trusted = _is_trusted(tree, request, user, findings, skipped=skipped)
    return plain_surroundings(
        request,
        walk=walk,
        home=home,
        user=user,
        added=reached,
        sources=frozenset(("project",)),
        memory=_memory(tree, request.cwd, user, findings),
        git=find_git(tree, request.cwd),
        start=(*start, *(FileSource("extension", "path", path[1:]) for path in extensions)),
        touch=tuple(source._replace(name=name) for source in request.dialect.touch for name in names),
        markers=marks,
        refusal=0 if trusted else REFUSED,
        flat=strongest(scopes, "context", "importFormat") == "flat",
        findings=tuple(findings),
    )


def read_scopes(tree: Tree, request: LoadRequest, user: str, findings: list[Finding]) -> list[dict[str, object]]:
    """The settings of the user, of the workspace and of the caller, the strongest last."""
    files = (f"{user}/settings.json", f"{request.cwd.rstrip('/')}/{request.dialect.user}/settings.json")
    return [*(read_json(tree, path, findings, comments=True) for path in files), dict(request.settings)]


def strongest(scopes: list[dict[str, object]], *keys: str) -> object:
    """The value of the last scope that has one."""
    found = [value for scope in scopes if (value := dig(scope, *keys)) is not None]
    return found[-1] if found else None


def _is_trusted(tree: Tree, request: LoadRequest, user: str, findings: list[Finding], *, skipped: bool) -> bool:
    if request.trust is not None or skipped or is_on(request.env.get("GEMINI_CLI_TRUST_WORKSPACE")):
        return request.trust is not False
    folders = read_json(tree, f"{user}/trustedFolders.json", findings)
    levels = {path: level for path, level in folders.items() if is_inside(request.cwd, path)}
    return levels[max(levels, key=len)] in ("TRUST_FOLDER", "TRUST_PARENT") if levels else False


def _memory(tree: Tree, cwd: str, user: str, findings: list[Finding]) -> str:
    """The folder of the private memory of a project. # gemini-cli: gemini-063, gemini-073, gemini-074"""
    slug = dig(read_json(tree, f"{user}/projects.json", findings), "projects", cwd)
    if isinstance(slug, str):
        return f"{user}/tmp/{slug}/memory"  # noqa: S108
    places = f"{user}/tmp"  # noqa: S108 - a folder of the agent
    items = tree.scan(places)
    for name, kind in [] if isinstance(items, Fault) else sorted(items):
        root = tree.read(f"{places}/{name}/.project_root", 4096) if kind == "folder" else Fault("missing")
        if not isinstance(root, Fault) and root.decode("utf-8", "replace").strip() == cwd:
            return f"{places}/{name}/memory"
    return ""


def _extensions(tree: Tree, folder: str, findings: list[Finding]) -> Iterator[str]:
    """The context files of extensions, by the name of their folder."""
    items = tree.scan(folder)
    for name, kind in [] if isinstance(items, Fault) else sorted(items):
        if kind in ("folder", "link"):
            manifest = read_json(tree, f"{folder}/{name}/gemini-extension.json", findings)
            for file in texts_of(manifest.get("contextFileName", NAME)) if manifest else []:
                yield f"{folder}/{name}/{file}"
