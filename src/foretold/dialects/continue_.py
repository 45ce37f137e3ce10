"""Continue CLI, recorded on 1.5.47 (`tests/conformance/continue.jsonl`).

Before the rules of its folders come those of `--rule`, which it sends twice, and those of config.yaml.
"""

from __future__ import annotations

from foretold.dialects.schema import Dialect, EntryGroup, FileSource, ProgramOptions, RequestPart, Rules, TextRules
from foretold.dialects.settings_files import MAX_SETTINGS, parse_args
from foretold.dialects.surroundings import LoadRequest, Surroundings, find_git, join, plain_surroundings
from foretold.storage.tree import Fault, Tree
from foretold.text.frontmatter import parse
from foretold.types import Finding

NAMES = ("AGENTS.md", "AGENT.md", "CLAUDE.md", "CODEX.md")

V1_5_47 = Dialect(
    agent="continue",
    version="1.5.47",
    start=(
        FileSource("project", "cwd", NAMES[0], others=NAMES[1:], pick="file"),
        FileSource("project", "cwd", ".continue/rules", "rules"),
        FileSource("user", "home", ".continue/rules", "rules"),
    ),
    rules=Rules(".md", "", ordered="files-first", admits="continue"),
    identity="none",
    reading=TextRules(frontmatter="rules", markdown=False, trims=("fronted",), blank="empty"),
    parts=(
        RequestPart(
            (EntryGroup(("file", "setting", "rule")),), before='\n\n<context name="userRules">\n', after="\n</context>"
        ),
    ),
    user=".continue",
)

DIALECTS = (V1_5_47,)


OPTIONS = {"--rule": "one", "--config": "one"}
COMMAND_LINE = ProgramOptions(
    "cn",
    flags=(
        "--auto --beta-status-tool --beta-subagent-tool -h --help -p --print --readonly --resume --silent -v "
        "--verbose --version"
    ),
    one="--agent --allow --ask --config --exclude --fork --format --mcp --model --org --prompt --rule",
)


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a Continue CLI session."""
    findings: list[Finding] = []
    options = parse_args(request.args, OPTIONS)
    given = options.get("--config", ())
    path = join(request.cwd, given[-1]) if given else f"{request.home}/.continue/config.yaml"
    flags = options.get("--rule", [])
    rules = [("--rule", text) for text in (*flags, *flags)]  # continue: continue-010
    rules += [(path, text) for text in _rules(tree, path, findings)]
    texts = {f"rule {number}": rule for number, rule in enumerate(rules)}
    first, *others = request.dialect.start
    return plain_surroundings(
        request,
        git=find_git(tree, request.cwd),
        start=(first, *(FileSource("flag", "settings", key, "setting") for key in texts), *others),
        texts=texts,
        findings=tuple(findings),
    )


def _rules(tree: Tree, path: str, findings: list[Finding]) -> list[str]:
    data = tree.read(path, MAX_SETTINGS)
    if isinstance(data, Fault):
        return []
    front = parse(data.decode("utf-8", "replace"))
    if front.problem:
        findings.append(Finding(path, front.line, "settings-invalid", front.problem, "fix the YAML"))
    rules = front.values.get("rules")
    texts = [rule.get("rule") if isinstance(rule, dict) else rule for rule in rules] if isinstance(rules, list) else []
    return [text for text in texts if isinstance(text, str)]
