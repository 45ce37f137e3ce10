"""GitHub Copilot CLI, recorded on 1.0.102 (`tests/conformance/copilot-cli.jsonl`).

Where it looks is set by its environment and its flags.
"""

from __future__ import annotations

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

TAG = "imported_custom_instruction"
IMPORTS = Imports(
    depth=8,
    mode="inline",
    form="copilot",
    regions="fences",
    found=f'@{{path}}\n\n<{TAG} source="{{target}}">\n{{text}}\n</{TAG}>',
    again=f'@{{path}}\n\n<{TAG} source="{{target}}" skipped="already-loaded" />',
    comments=False,
    trims=True,
    within="project",
    absolute=False,
)
NAMED = (
    FileSource("project", "edges", "AGENTS.md", others=("agents.md",), pick="file"),
    FileSource("project", "edges", "CLAUDE.md"),
    FileSource("project", "edges", "GEMINI.md", literal=True),  # seen by probing 1.0.102
)
TABLE = "\n| {first} | File Path | Description |\n| {line} | --------- | ----------- |\n"

V1_0_102 = Dialect(
    agent="copilot-cli",
    version="1.0.102",
    environment=("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "COPILOT_HOME"),
    start=(
        FileSource("user", "user", "copilot-instructions.md"),
        FileSource("project", "edges", ".github/copilot-instructions.md", apart=True),
        *(source._replace(base="edges") for source in NAMED),
        # seen by probing 1.0.102: folders between have the first file, too, and come folder by folder
        FileSource("project", "between", ".github/copilot-instructions.md"),
        *(source._replace(base="between") for source in NAMED),
        FileSource("user", "user", "instructions", "rules"),
        FileSource("project", "edges", ".github/instructions", "rules"),
    ),
    touch=(
        FileSource("user", "user", "instructions", "rules", "matching"),
        FileSource("project", "edges", ".github/instructions", "rules", "matching"),
        *(source._replace(base="below") for source in NAMED),
    ),
    after_bom=True,
    imports=IMPORTS,
    rules=Rules(".instructions.md", "applyTo", ordered="path", lists="| {applyTo} | '{project}' | {description} |"),
    identity="text",
    reading=TextRules(frontmatter="read-rules", markdown=False, drops_bom=True, blank="keep"),
    parts=(
        RequestPart(
            (
                EntryGroup(("file",), "\n<custom_instruction>\n{text}\n</custom_instruction>\n", ""),
                EntryGroup(("rule",), "{text}", "\n\n", "\n", "\n"),
                EntryGroup(("row",), "{text}", "\n", TABLE.format(first="Pattern", line="-------"), "\n"),
                EntryGroup(("folder-row",), "{text}", "\n", TABLE.format(first="Directory", line="---------"), "\n"),
            ),
            chops="\n",
        ),
    ),
    nested=Nested(
        "user",
        "text",
        "Custom instructions from {project}. Apply these to any code you write here:\n\n{text}",
        "",
        before="\n<system_reminder>\n",
        after="\n</system_reminder>",
        each=True,
        escapes=True,
        nearest_first=True,
        expands=False,
    ),
    triggers=(Trigger("view", "path", on="file"),),
    continuation=Continuation(why=""),  # copilot-331, copilot-334
    races=True,  # views of different folders in one turn, recorded with another order in each run
    user=".copilot",
)

DIALECTS = (V1_0_102,)


OPTIONS = {"--no-custom-instructions": "flag"}
COMMAND_LINES = {
    "1.0.102": ProgramOptions(
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
    ),
}


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a Copilot CLI session."""
    env = request.env
    git = find_git(tree, request.cwd)
    more = [
        join(request.cwd, path.strip())
        for path in env.get("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "").split(",")
        if path.strip()
    ]
    off = "--no-custom-instructions" in parse_args(request.args, OPTIONS)
    return plain_surroundings(
        request,
        walk=walk_between(git.top if git else "", request.cwd),
        user=join(request.cwd, env["COPILOT_HOME"]) if env.get("COPILOT_HOME") else join(request.home, ".copilot"),
        off="--no-custom-instructions" if off else "",
        git=git,
        start=(
            *request.dialect.start,
            *(FileSource("project", "path", f"{path}/.github/instructions"[1:], "rules") for path in more),
            *(FileSource("project", "path", f"{path}/AGENTS.md"[1:], "listed") for path in more),
        ),
    )
