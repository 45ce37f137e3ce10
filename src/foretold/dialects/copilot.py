"""GitHub Copilot CLI, recorded on 1.0.102 (`tests/conformance/copilot-cli.jsonl`).

What earlier releases did otherwise was dated by playing the same cases to them.

Where it looks is set by its environment and its flags. At the start it takes files, then the rules of two kinds of
folders, which are given whole or, if they have patterns, listed. A file that is viewed brings the rules that match it,
and what lies in the folders around it.
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
    Rules,
    TextRules,
    Trigger,
)
from foretold.dialects.settings_files import parse_args
from foretold.dialects.surroundings import LoadRequest, Surroundings, find_git, join, plain_surroundings, walk_between
from foretold.storage.tree import Tree
from foretold.text.frontmatter import SPACE

TAG = "imported_custom_instruction"
IMPORTS = Imports(
    depth=8,
    linked="link",  # copilot-349
    mode="inline",
    form="copilot",
    regions="fences",
    found=f'@{{path}}\n\n<{TAG} source="{{target}}">\n{{text}}\n</{TAG}>',
    again=f'@{{path}}\n\n<{TAG} source="{{target}}" skipped="already-loaded" />',
    comments=False,
    trims=True,
    within="repository",
    named="real",
    absolute=False,
)


def _file(base: str, name: str, *, literal: bool = False, label: str = "") -> FileSource:
    """A file whose name may be in any case: seen by asking 1.0.102; folders in it may not."""
    return FileSource("project", base, name, pick="any-case", literal=literal, label=label)


def _rules(base: str, name: str, suffix: str = "", *, layer: str = "project", label: str = "{path}") -> FileSource:
    return FileSource(layer, base, name, "rules", label=label, suffix=suffix, literal=True)


def _named(base: str, label: str = "") -> tuple[FileSource, ...]:
    """The names of every folder. GEMINI.md does not import: seen by probing 1.0.102."""
    return (
        _file(base, "AGENTS.md", label=label),
        _file(base, "CLAUDE.md", label=label),
        _file(base, "GEMINI.md", label=label, literal=True),
    )


def _named_inside(base: str, label: str = "") -> tuple[FileSource, ...]:
    """The five names of a folder that is neither the top nor the working directory. # copilot-372, copilot-235"""
    agents, claude, gemini = _named(base, label)
    first, inner = (_file(base, name, label=label) for name in (".github/copilot-instructions.md", ".claude/CLAUDE.md"))
    return first, agents, claude, inner, gemini


#: removed from every text; joiners (U+200D) and variation selectors stay # copilot-clean-invisible
INVISIBLE = (
    "\u00ad\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0001\U000e0020-\U000e007f"
)
_WORD = rf"[^{SPACE}'\";]+"
_BASE64 = "[0-9A-Za-z+/]"
_KEYS = "(?i:pa[s\u017f][s\u017f]word|pwd)"  # the program also takes a long s for an s
_USER = r"A-Za-z0-9\-._~!$&'*+(),;=%"
#: what is hidden in the text that a view adds, in this order: each form, where it ends and what comes first was found
#: by asking 1.0.102 with variations # copilot-mask-forms, copilot-mask-order
MASKS = (
    ("the user and password of a URL", rf"(?<![A-Za-z0-9+\-.])[A-Za-z][A-Za-z0-9+\-.]*://[{_USER}]+:[{_USER}:]*@"),
    ("a JSON web token", rf"\b(?:eyJ0eXAiOi|eyJhbGciOi|eyJ4NXQiOi|eyJraWQiOi){_WORD}"),
    ("`Bearer` and the word after it", rf"\bBearer[{SPACE}]+{_WORD}"),
    ("a password", rf"\b{_KEYS}={_WORD}"),
    ("a password", rf"(?<![{SPACE}])[{SPACE}]+-{_KEYS}[{SPACE}]+{_WORD}"),
    ("a GitHub token", r"\bv1\.[0-9A-Fa-f]{40}\b"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36}\b"),
    ("a GitHub token", r"\bgithub_pat_[0-9][A-Za-z0-9]{21}_[A-Za-z0-9]{59}\b"),
    ("a client secret of Azure", r"\b[0-9A-Za-z\-_~.]{3}(?:7Q~[0-9A-Za-z\-_~.]{31}|8Q~[0-9A-Za-z\-_~.]{34})\b"),
    ("a key of Azure", rf"\b{_BASE64}{{76}}(?:APIM|ACDb|\+(?:ABa|AMC|ASt)){_BASE64}{{5}}[AQgw]=="),
    ("a key of Azure", rf"\b{_BASE64}{{33}}(?:AIoT|\+(?:ASb|AEh|ARm))[A-P]{_BASE64}{{5}}="),
    ("a key of Azure", r"\b[0-9A-Za-z_\-]{44}AzFu[0-9A-Za-z_\-]{5}[AQgw]=="),
    ("a key of Azure", r"\b[0-9A-Za-z]{42}AzSe[A-D][0-9A-Za-z]{5}\b"),
    ("a key of Azure", rf"\b{_BASE64}{{42}}\+ACR[A-D]{_BASE64}{{5}}\b"),
    ("a key of Azure", r"\b[0-9A-Za-z]{33}AzCa[A-P][0-9A-Za-z]{5}="),
    (
        "a key of NuGet",
        r"\boy2[a-p][0-9a-z]{15}[aq][0-9a-z]{11}[eu][bdfhjlnprtvxz357][a-p][0-9a-z]{11}[aeimquy4]\b",
    ),
    ("a token of npm", r"\bnpm_[0-9A-Za-z]{36}\b"),
    ("a signature of the GitHub container registry", r"\bx-ghcr-signature=[^&]+"),
)
HEAD = "| {first} | File Path | Description |\n| {line} | --------- | ----------- |\n"

CLAUDE_RULES = ".claude/rules"
START = (
    _file("user", "copilot-instructions.md")._replace(layer="user"),
    _file("edges", ".github/copilot-instructions.md")._replace(apart=True),
    *_named("edges"),
    FileSource("project", "edges", ".claude/CLAUDE.md", "unread"),  # copilot-149, copilot-372
    *_named_inside("between"),
    _rules("user", "instructions", layer="user"),
    _rules("edges", ".github/instructions", label="{relative}"),
    _rules("edges", CLAUDE_RULES, ".md", label="{relative}"),
)
TOUCH = (
    *_named_inside("around", "{project}"),
    _rules("around", ".github/instructions", label="{project}"),
    _rules("around", CLAUDE_RULES, ".md", label="{project}"),
)


def _without(name: str, sources: tuple[FileSource, ...]) -> tuple[FileSource, ...]:
    return tuple(source for source in sources if source.name != name)


V1_0_81 = Dialect(
    agent="copilot-cli",
    version="1.0.81",
    environment=("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "COPILOT_HOME"),
    start=_without(CLAUDE_RULES, START),
    touch=_without(CLAUDE_RULES, TOUCH),
    after_bom=True,
    imports=IMPORTS,
    rules=Rules(
        ".instructions.md",
        "applyTo",
        patterns="globset",
        base="repository",
        any_case=True,
        hidden=False,
        linked_folders=False,
        once=True,
        once_named=True,
        ordered="names",
        admits="copilot",
        lists="| {patterns} | '{name}' | {description} |",
    ),
    identity="text",
    again="anything",  # copilot-262
    reading=TextRules(
        frontmatter="read-rules", fences="lines", markdown=False, drops_bom=True, invisible=INVISIBLE, blank="keep"
    ),
    parts=(
        RequestPart(
            (EntryGroup(("file",), "\n<custom_instruction>\n{text}\n</custom_instruction>\n", ""),),
            chops="\n",
            rest=(
                EntryGroup(("rule",), "{text}", "\n\n"),
                EntryGroup(("folder-row",), "{text}", "\n", HEAD.format(first="Directory", line="---------")),
                EntryGroup(("row",), "{text}", "\n", HEAD.format(first="Pattern", line="-------")),
            ),
        ),
    ),
    nested=Nested(
        "user",
        "text",
        "Custom instructions from {name}. Apply these to any code you write here:\n\n{text}",
        "",
        before="\n<system_reminder>\n",
        after="\n</system_reminder>",
        each=True,
        from_start=False,
        escapes=True,
        nearest_first=True,
        itself=True,
        identity="real",
        blank="rules",
        targets=True,
        folders="once",
        masks=MASKS,
        masked="******",
    ),
    triggers=(Trigger("view", "path", on="file"),),
    continuation=Continuation(why=""),  # copilot-331, copilot-334
    races=True,  # views of different folders in one turn, recorded with another order in each run
    user=".copilot",
)

CHANGES = (
    DatedChange(
        "1.0.89",
        "1.0.88",
        "Rules in .claude/rules are loaded, and paths counts as applyTo does.",
        {"start": START, "touch": TOUCH, "rules.other_key": "paths"},
        ("copilot-101", "copilot-103", "copilot-177"),
    ),
    DatedChange(
        "1.0.102",
        "1.0.92",
        "A file that is viewed brings the rules that were listed at the start and match it.",
        {"nested.from_start": True},
        ("copilot-005", "copilot-240", "copilot-316"),
    ),
    DatedChange(
        "1.0.102",
        "1.0.92",
        "A rule of the working directory counts, too, if one of the repository is called the same.",
        {"rules.once_named": False},
        ("copilot-122",),
    ),
)
HISTORY = ReleaseHistory(V1_0_81, CHANGES, PLAYED["copilot-cli"])
V1_0_102 = HISTORY.at("1.0.102")
DIALECTS = (V1_0_102,)


OPTIONS = {"--no-custom-instructions": "flag", "-C": "one"}
COMMAND_LINE = ProgramOptions(
    "copilot",
    flags=(
        "--acp --allow-all --allow-all-mcp-server-instructions --allow-all-paths --allow-all-tools "
        "--allow-all-urls --assisted-approval --autopilot --banner --continue --disable-builtin-mcps "
        "--disable-client-telemetry --disallow-temp-dir --enable-all-github-mcp-tools --enable-memory "
        "--experimental --fleet -h --headless --help --no-ask-user "
        "--no-auto-login --no-auto-update --no-bash-env --no-color --no-custom-instructions "
        "--no-eager-powershell-resolution --no-experimental --no-mouse --no-remote --no-remote-export "
        "--plain-diff --plan --remote --remote-export -s --screen-reader --server "
        "--share-gist --silent --stdio --trust-folder -v --version --yolo"
    ),
    one=(
        "--add-dir --add-github-mcp-tool --add-github-mcp-toolset --additional-mcp-config --agent "
        "--attachment --auth-token-env --auto-tier -C --config-dir --context --disable-mcp-server "
        "--dynamic-retrieval --effort --enable-mcp-server --environment-compute-id --environment-host "
        "--extension-sdk-path -i --interactive --log-dir --log-level --max-ai-credits "
        "--max-autopilot-continues --mcp-github-auth --mode --model -n --name --output-format -p --plugin-dir "
        "--port --prompt --reasoning-effort --session-id --stream --usage-output-file"
    ),
    maybe="--bash-env --connect --mouse -r --resume --share",
    many="--allow-tool --allow-url --available-tools --deny-tool --deny-url --excluded-tools --secret-env-vars",
)


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a Copilot CLI session."""
    env, given = request.env, parse_args(request.args, OPTIONS)
    cwd = request.cwd
    for folder in given.get("-C", ()):
        cwd = tree.real(join(cwd, folder))
    git = find_git(tree, cwd)
    named = (path.strip() for path in env.get("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "").split(","))
    start = request.dialect.start
    has_rules = any(source.name == CLAUDE_RULES for source in start)
    return plain_surroundings(
        request._replace(cwd=cwd),
        walk=walk_between(git.top if git else "", cwd),
        user=join(cwd, env["COPILOT_HOME"]) if env.get("COPILOT_HOME") else join(request.home, ".copilot"),
        off="--no-custom-instructions" if "--no-custom-instructions" in given else "",
        git=git,
        start=(*start, *_listed_folders([join(cwd, path) for path in named if path], has_rules=has_rules)),
    )


def _listed_folders(folders: list[str], *, has_rules: bool) -> Iterator[FileSource]:
    """What is read of the folders of COPILOT_CUSTOM_INSTRUCTIONS_DIRS. # copilot-360, copilot-377"""
    for folder in (each.strip("/") for each in folders):
        yield _rules("path", f"{folder}/.github/instructions")
        if has_rules:
            yield _rules("path", f"{folder}/{CLAUDE_RULES}", ".md")
    for folder in (each.strip("/") for each in folders):
        yield _rules("path", folder)._replace(wide=True)
        yield FileSource("project", "path", f"{folder}/AGENTS.md", "listed")
