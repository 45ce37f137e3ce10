"""opencode, recorded on 1.18.33 (`tests/conformance/opencode.jsonl`).

What releases from 1.1.11 on did otherwise was dated by playing the same cases to them.

1. Settings: `opencode.json` (or `.jsonc`) of its folder, the file that OPENCODE_CONFIG names, then those of the walk,
   top first. Their `instructions` are joined, in this order.
2. A relative pattern is looked for in every folder of the walk, nearest first; an absolute one has its glob in its last
   part only; URLs come last. Nothing is fetched unless the caller gives a function for it (`settings["fetch"]`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.dialects.releases.played import PLAYED
from foretold.dialects.schema import (
    Continuation,
    Dialect,
    EntryGroup,
    FileSource,
    Nested,
    ProgramOptions,
    RequestPart,
    TextRules,
    Trigger,
)
from foretold.dialects.settings_files import is_on, read_json, texts_of
from foretold.dialects.surroundings import LoadRequest, Surroundings, find_git, join, plain_surroundings, walk_between
from foretold.storage.tree import Fault, Item, Tree
from foretold.types import Finding

NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
FORM = "Instructions from: {path}\n{text}"

#: whether the variables that turn Claude's files off leave out CLAUDE.md of the project, too
CLAUDE_SWITCH = "claude-switch"
_USER = FileSource("user", "user", "AGENTS.md", pick="path")
_PROJECT = FileSource("project", "upward", NAMES[0], others=NAMES[1:], pick="walk", switch="project")

V1_1_11 = Dialect(
    agent="opencode",
    version="1.1.11",
    environment=(
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "XDG_CONFIG_HOME",
    ),
    start=(_PROJECT, _USER),
    reading=TextRules(frontmatter="none", markdown=False, drops_bom=True, blank="keep"),
    parts=(RequestPart((EntryGroup(("file", "setting"), FORM, "\n"),)),),
    nested=Nested(
        "tool",
        "tool_result",
        FORM,
        "\n\n",
        before="\n\n<system-reminder>\n",
        after="\n</system-reminder>",
        nearest_first=True,
    ),
    triggers=(Trigger("read", "filePath", on="file"),),
    continuation=Continuation(requests="again", nested="session", why=""),  # opencode-109, opencode-105
    user=".config/opencode",
)

CHANGES = (
    DatedChange(
        "1.1.53",
        "1.1.16",
        "Reading a file attaches the instruction files of its folders.",
        {"touch": (FileSource("project", "below", NAMES[0], others=NAMES[1:], pick="path"),)},
        ("opencode-030",),
    ),
    DatedChange(
        "1.1.53",
        "1.1.16",
        "An empty file is left out.",
        {"reading.blank": "empty"},
        ("opencode-037", "opencode-039", "opencode-047"),
    ),
    DatedChange(
        "1.2.11",
        "1.2.6",
        "A byte order mark at the start of a file is sent.",
        {"reading.drops_bom": False},
        ("opencode-041",),
    ),
    DatedChange(
        "1.14.34",
        "1.3.2",
        "The file of the user comes before those of the project.",
        {"start": (_USER, _PROJECT)},
        ("opencode-002", "opencode-010", "opencode-043", "opencode-051", "opencode-056"),
    ),
    DatedChange(
        "1.14.34",
        "1.3.2",
        "OPENCODE_DISABLE_CLAUDE_CODE and OPENCODE_DISABLE_CLAUDE_CODE_PROMPT leave out CLAUDE.md of the project, too.",
        {"settings": (CLAUDE_SWITCH,)},
        ("opencode-012", "opencode-013"),
    ),
    DatedChange(
        "1.14.34",
        "1.3.2",
        "A byte order mark at the start of a file is removed again.",
        {"reading.drops_bom": True},
        ("opencode-041",),
    ),
)
HISTORY = ReleaseHistory(V1_1_11, CHANGES, PLAYED["opencode"])
DIALECTS = (HISTORY.at(PLAYED["opencode"][-1]),)
COMMAND_LINE = ProgramOptions(
    "opencode",
    flags=(
        "--auto -c --continue --fork -h --help -i --interactive --mdns --mini --no-replay --print-logs --pure "
        "--share --thinking -v --version"
    ),
    maybe=(
        "--agent --attach --command --dir --format --hostname --log-level -m --mdns-domain --model -p "
        "--password --port --prompt --replay-limit -s --session --title -u --username --variant"
    ),
    many="--cors -f --file",
    spelling="yargs",
)


FILES = ("opencode.json", "opencode.jsonc")
MAX_FOLDERS = 10_000  #: of a pattern with `**`


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of an opencode session."""
    findings: list[Finding] = []
    env = request.env
    git = find_git(tree, request.cwd)
    walk = walk_between(git.top if git else "/", request.cwd)
    base = join(request.cwd, env["XDG_CONFIG_HOME"]) if env.get("XDG_CONFIG_HOME") else join(request.home, ".config")
    user = f"{base}/opencode"
    no_project = is_on(env.get("OPENCODE_DISABLE_PROJECT_CONFIG"))
    no_claude = is_on(env.get("OPENCODE_DISABLE_CLAUDE_CODE")) or is_on(env.get("OPENCODE_DISABLE_CLAUDE_CODE_PROMPT"))
    files = [f"{user}/{name}" for name in FILES]
    files += [join(request.cwd, env["OPENCODE_CONFIG"])] if env.get("OPENCODE_CONFIG") else []
    files += [
        f"{join(request.cwd, env['OPENCODE_CONFIG_DIR'])}/{name}" for name in FILES if env.get("OPENCODE_CONFIG_DIR")
    ]
    files += [] if no_project else [f"{folder.rstrip('/')}/{name}" for folder in walk for name in FILES]
    configs = {path: read_json(tree, path, findings, comments=True) for path in dict.fromkeys(files)}
    configs[""] = dict(request.settings)
    wanted = [(file, text) for file, config in configs.items() for text in texts_of(config.get("instructions"))]
    folders = [user] if no_project else list(reversed(walk))
    paths = [path for file, text in wanted for path in _found(tree, text, folders, request.home, file, findings)]
    pages = [text for _, text in wanted if text.startswith(("http://", "https://"))]
    is_claude_out = no_claude and CLAUDE_SWITCH in request.dialect.settings
    names = tuple(name for name in NAMES if name != "CLAUDE.md" or not is_claude_out)
    moved = env.get("OPENCODE_CONFIG_DIR")
    own, other = f"{join(request.cwd, moved) if moved else user}/AGENTS.md", f"{request.home}/.claude/CLAUDE.md"
    takes_other = not no_claude and tree.kind(own) == "missing" and tree.kind(other) != "missing"
    return plain_surroundings(
        request,
        walk=walk,
        user=user,
        sources=frozenset() if no_project else frozenset(("project",)),
        switched_by="OPENCODE_DISABLE_PROJECT_CONFIG",
        git=git,
        start=(
            *(
                FileSource("user", "path", (other if takes_other else own)[1:])
                if source.layer == "user"
                else source._replace(name=names[0], others=names[1:])
                for source in request.dialect.start
            ),
            *(FileSource("instructions", "path", path[1:]) for path in paths),
            *(FileSource("instructions", "settings", page, "setting") for page in pages),
        ),
        touch=tuple(source._replace(name=names[0], others=names[1:]) for source in request.dialect.touch),
        texts=dict(_pages(pages, request.settings.get("fetch"), findings)),
        findings=tuple(findings),
    )


def _pages(pages: list[str], fetch: object, findings: list[Finding]) -> Iterator[tuple[str, tuple[str, str]]]:
    for page in pages:
        text = fetch(page) if callable(fetch) else None
        if isinstance(text, str):
            yield page, (page, text)
        elif not callable(fetch):
            said = f"{page} is not fetched: foretold does not use the network"
            findings.append(Finding(page, None, "not-fetched", said, "keep a copy of it in the repository"))


def _found(tree: Tree, text: str, folders: list[str], home: str, file: str, findings: list[Finding]) -> list[str]:
    """The files that one of the `instructions` of a settings file names."""
    if text.startswith(("http://", "https://")):
        return []
    pattern = join(home, text[2:]) if text.startswith("~/") else text
    if pattern.startswith("/"):
        folder, _, name = pattern.rpartition("/")
        found = sorted(_glob(tree, folder or "/", [name]))
    else:
        found = [path for each in folders for path in sorted(_glob(tree, each, pattern.split("/")))]
    if not found and file:
        said = f"`{text}` in `instructions` names no file that is there"
        findings.append(Finding(file, None, "setting-names-nothing", said))
    if len(found) > 1 and "*" in pattern:
        said = f"{text}: its {len(found)} files come in an unspecified order"
        findings.append(Finding(found[0], None, "order-unspecified", said, "name the files one by one"))
    return found


def _glob(tree: Tree, folder: str, parts: list[str]) -> Iterator[str]:
    """Files below a folder by a pattern: `*` within a name, `**` for any folders; dot files count."""
    waiting, seen = [(folder, tuple(parts))], 0
    while waiting and seen < MAX_FOLDERS:
        folder, (first, *rest) = waiting.pop()
        seen += 1
        is_fixed = not re.search(r"[*?\[{]", first)
        items = [Item(first, "link")] if is_fixed else tree.scan(folder)
        for name, kind in [] if isinstance(items, Fault) else items:
            path = folder if is_fixed and name in (".", "") else f"{folder.rstrip('/')}/{name}"
            kind = tree.kind(path) if kind == "link" else kind
            if first == "**":
                waiting += [(path, (first, *rest))] if kind == "folder" else []
            elif is_fixed or re.fullmatch(_form(first), name):
                if rest and kind == "folder":
                    waiting.append((path, tuple(rest)))
                elif not rest and kind == "file":
                    yield path
        if first == "**" and rest:
            waiting.append((folder, tuple(rest)))


def _form(glob: str) -> str:
    """The regular expression of a glob within one name."""
    form = "".join({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in glob)
    return re.sub(r"\\\{([^{}]*)\\\}", lambda found: "(?:" + found[1].replace(",", "|") + ")", form)
