"""How Claude Code reads its settings, flags and environment.

1. Settings, the strongest first: managed (`managed-settings.json`, then each file of `managed-settings.d`, the
   last wins), `--settings`, local, project, user. `--setting-sources` leaves some of the last three out.
2. `claudeMdExcludes` of all scopes are joined; the other keys are taken from the strongest scope.
3. `--bare`, `--safe-mode`, CLAUDE_CODE_SIMPLE and CLAUDE_CODE_DISABLE_CLAUDE_MDS turn all loading off.
4. The memory index is that of the project root: of the main repository for a worktree, of cwd without git.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.dialects.schema import ProgramOptions
from foretold.dialects.settings_files import (
    LayeredSettings,
    SettingsScope,
    dig,
    is_off,
    is_on,
    parse_args,
    parse_json,
    read_json,
    texts_of,
)
from foretold.dialects.surroundings import LoadRequest, Repository, Surroundings, find_git, join, walk_of
from foretold.storage.tree import Fault, Tree
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    Options = dict[str, list[str]]

OPTIONS = {
    "--add-dir": "many",
    "--bare": "flag",
    "--model": "one",
    "--safe-mode": "flag",
    "--setting-sources": "one",
    "--settings": "one",
}
_OPTIONS = ProgramOptions(
    "claude",
    flags=(
        "--allow-dangerously-skip-permissions --ax-screen-reader --background --bare --bg --brief -c --chrome "
        "--continue --dangerously-skip-permissions --disable-slash-commands --enable-auto-mode "
        "--exclude-dynamic-system-prompt-sections --fork-session -h --help --ide --include-hook-events "
        "--include-partial-messages --init --init-only --maintenance --no-chrome --no-session-persistence -p "
        "--print --replay-user-messages --safe-mode --strict-mcp-config --tmux -v --verbose --version"
    ),
    one=(
        "--agent --agents --append-system-prompt --append-system-prompt-file --debug-file --effort "
        "--fallback-model --input-format --json-schema --max-budget-usd --max-thinking-tokens --max-turns --model "
        "-n --name --output-format --permission-mode --permission-prompt-tool --plugin-dir --plugin-url "
        "--remote-control-session-name-prefix --resume-session-at --session-id --setting-sources --settings "
        "--system-prompt --system-prompt-file --task-budget --teammate-mode --thinking"
    ),
    maybe=(
        "-d --debug --from-pr --prompt-suggestions -r --rc --remote --remote-control --resume --teleport -w --worktree"
    ),
    many=(
        "--add-dir --allowed-tools --allowedTools --betas --channels --dangerously-load-development-channels "
        "--disallowed-tools --disallowedTools --file --mcp-config --tools"
    ),
)
#: what --help lists, and what its documentation names besides; the flags of 2.1.197 stand for those of older releases
COMMAND_LINE = ReleaseHistory(
    _OPTIONS,
    (
        DatedChange(
            "2.1.325",
            "2.1.197",
            "The command line has --autocompact, --cloud, --desktop, --environment, --forward-subagent-text, "
            "--permission-prompts, --restricted and --system-prompt-snapshot.",
            {
                "flags": f"{_OPTIONS.flags} --desktop --forward-subagent-text --restricted",
                "one": f"{_OPTIONS.one} --autocompact --environment --permission-prompts --system-prompt-snapshot",
                "maybe": f"{_OPTIONS.maybe} --cloud",
            },
            topic="options",
        ),
    ),
)
#: settings whose type was seen to matter: a file with another type there is ignored as a whole
TYPES = {
    key: said
    for said, keys in {
        "a list of texts": "claudeMdExcludes",
        "a number": "cleanupPeriodDays",
        "a text": "autoMemoryDirectory claudeMd model",
        "an object": "attribution enabledPlugins env hooks permissions",
        "true or false": "autoMemoryEnabled includeCoAuthoredBy",
    }.items()
    for key in keys.split()
}
SOURCES = ("user", "project", "local")
MODES = {
    "claude-md": "never",
    "claude-md-or-agents-md": "instead",
    "claude-md-and-agents-md": "beside",
    "managed-only": "managed-only",
}


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a Claude Code session."""
    options = parse_args(request.args, OPTIONS)
    config = request.env.get("CLAUDE_CONFIG_DIR")
    user = join(request.home, request.dialect.user) if config is None else join(request.cwd, config)
    sources = _sources(options)
    git = find_git(tree, request.cwd)
    settings = _settings(tree, request, options, user, sources, git)
    env = _environment(request, settings)
    request = request._replace(env=env)
    added_as = (*options.get("--add-dir", ()), *request.add_dirs)
    added = tuple(join(request.cwd, path) for path in added_as)
    off = _off(request, options, added)
    memory, memory_reason = _memory_folder(settings, request, user, git), _memory_off(settings, request, off)
    fallback = request.dialect.fallback
    mode, mode_reason = _mode(settings, sources, fallback.plugins if fallback else ())
    global_file = join(request.home, ".claude.json") if config is None else user + "/.claude.json"
    text = settings.first("claudeMd", within=("managed",))  # claude-code: man-settings-claudemd
    named = request.model or "".join(options.get("--model", ())[-1:]) or env.get("ANTHROPIC_MODEL")
    configured = settings.first("model")
    return Surroundings(
        cwd=request.cwd,
        walk=tuple(walk_of(request.cwd)),
        home=request.home,
        user=user,
        managed=request.managed,
        date=request.date,
        added=added if is_on(env.get("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD")) else (),
        off=off,
        sources=sources,
        switched_by="--setting-sources",
        excludes=settings.joined("claudeMdExcludes") if request.dialect.excludes else (),
        spelled=_spelled(request.cwd, added_as if config is None else (*added_as, config)),
        approved=_approval(tree, global_file, git.main if git else request.cwd),
        mode=mode,
        mode_reason=mode_reason,
        texts={"claudeMd": ("<managed-settings>", text)} if isinstance(text, str) else {},
        memory="" if memory_reason else memory,
        memory_reason=memory_reason,
        model=named or (configured if isinstance(configured, str) else "") or request.dialect.model,
        prompt_follows=_prompt_follows(settings, request, git),
        git=git,
        findings=tuple(settings.findings),
        working=(request.cwd, *added, *_added_by_settings(tree, settings, request, global_file, git)),
        store=memory,
    )


def _added_by_settings(
    tree: Tree, settings: LayeredSettings, request: LoadRequest, notes: str, git: Repository | None
) -> list[str]:
    """The folders of `permissions.additionalDirectories`; those of a project count once it is trusted.

    Seen by asking 2.1.197 and 2.1.325: the file of a scope does not matter, a relative path is relative to cwd.
    """
    found: list[str] = []
    for scope, value in settings.defined("permissions", "additionalDirectories"):
        if scope.name == "project":
            project = git.main if git else request.cwd
            if dig(read_json(tree, notes, []), "projects", project, "hasTrustDialogAccepted") is not True:
                continue
        found += [
            join(request.home, path[2:]) if path.startswith("~/") else join(request.cwd, path)
            for path in texts_of(value)
        ]
    return found


#: settings about commits and pull requests
GIT_KEYS = (("attribution", "commit"), ("attribution", "pr"), ("includeCoAuthoredBy",), ("includeGitInstructions",))


class GitSettings(NamedTuple):
    """What the settings say about git: the strongest value of each, and the variables that they set."""

    values: dict[str, object]
    env: dict[str, str]


def read_git_settings(tree: Tree, request: LoadRequest) -> GitSettings:
    """The settings about commits and pull requests."""
    options = parse_args(request.args, OPTIONS)
    config = request.env.get("CLAUDE_CONFIG_DIR")
    user = join(request.home, request.dialect.user) if config is None else join(request.cwd, config)
    settings = _settings(tree, request, options, user, _sources(options), find_git(tree, request.cwd))
    values, env = dict[str, object](), dict[str, str]()
    for name, *below in GIT_KEYS:
        value = settings.first(name, *below)
        if value is not None:
            inner = values.get(name)
            values[name] = {**(inner if isinstance(inner, dict) else {}), below[0]: value} if below else value
    for scope in reversed(settings.scopes):
        given = scope.values.get("env")
        env |= {name: str(value) for name, value in given.items()} if isinstance(given, dict) else {}
    return GitSettings(values, env)


def _sources(options: Options) -> frozenset[str]:
    given = options.get("--setting-sources")
    if given is None:
        return frozenset(SOURCES)
    return frozenset(name.strip() for value in given for name in value.split(",")) & frozenset(SOURCES)


def _settings(
    tree: Tree, request: LoadRequest, options: Options, user: str, sources: frozenset[str], git: Repository | None
) -> LayeredSettings:
    findings: list[Finding] = []
    scopes = [
        SettingsScope("managed", path, read_json(tree, path, findings))
        for path in _managed_files(tree, request.managed)
    ]
    if request.settings:
        scopes.append(SettingsScope("flag", "--settings", dict(request.settings)))
    for value in options.get("--settings", ())[-1:]:
        scopes.append(SettingsScope("flag", "--settings", _flag_settings(tree, request.cwd, value, findings)))
    for name, path in _settings_files(request, user, git):
        if name in sources:
            scopes.append(SettingsScope(name, path, read_json(tree, path, findings)))
    return LayeredSettings([_checked(scope, findings) for scope in scopes], findings)


def _settings_files(request: LoadRequest, user: str, git: Repository | None) -> list[tuple[str, str]]:
    """The files of the three scopes that `--setting-sources` can leave out, the strongest first."""
    here = request.cwd.rstrip("/") + "/.claude/"
    files = [("local", here + "settings.local.json")]
    if git and git.main != request.cwd and request.dialect.local_settings == "repository":
        files.append(("local", git.main.rstrip("/") + "/.claude/settings.local.json"))
    return [*files, ("project", here + "settings.json"), ("user", user + "/settings.json")]


def _checked(scope: SettingsScope, findings: list[Finding]) -> SettingsScope:
    """A scope whose values have the types they must have. A wrong one costs a managed file that key, others all."""
    wrong = [key for key, value in scope.values.items() if key in TYPES and not _is_a(value, TYPES[key])]
    if not wrong:
        return scope
    lost = "it" if scope.name == "managed" else "the whole file"
    for key in wrong:
        said = f"{key} must be {TYPES[key]}, so the agent ignores {lost}"
        findings.append(Finding(scope.path, None, "settings-invalid", said, "fix the value"))
    kept = {key: value for key, value in scope.values.items() if key not in wrong}
    return scope._replace(values=kept if scope.name == "managed" else {})


def _is_a(value: object, wanted: str) -> bool:
    if wanted == "a list of texts":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    kinds = {"a number": (int, float), "a text": str, "an object": dict, "true or false": bool}
    return isinstance(value, kinds[wanted]) and (wanted == "true or false") == isinstance(value, bool)  # type: ignore[arg-type]


def _environment(request: LoadRequest, settings: LayeredSettings) -> dict[str, str]:
    """The agent's environment: its process's, and over it what settings put there."""
    env = dict(request.env)
    for scope in reversed(settings.scopes):
        values = scope.values.get("env")
        if isinstance(values, dict):
            env.update({name: str(value) for name, value in values.items() if name in request.dialect.environment})
    return env


def _spelled(cwd: str, paths: tuple[str, ...]) -> dict[str, str]:
    """Folders that were given as relative paths, and how the agent shows them. # a relative --add-dir"""
    return {join(cwd, path): _normal(path) for path in paths if not path.startswith("/")}


def _normal(path: str) -> str:
    """A relative path without idle parts, with a slash at its end unless it is empty."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "".join(part + "/" for part in parts)


def _managed_files(tree: Tree, managed: str) -> list[str]:
    """Managed settings files, the strongest first. # claude-code: man-settings-dropin"""
    folder = managed + "/managed-settings.d"
    items = tree.scan(folder)
    names = [] if isinstance(items, Fault) else sorted(item.name for item in items)
    drop_ins = [f"{folder}/{name}" for name in names if name.endswith(".json") and not name.startswith(".")]
    return [*reversed(drop_ins), managed + "/managed-settings.json"]


def _flag_settings(tree: Tree, cwd: str, value: str, findings: list[Finding]) -> dict[str, object]:
    """`--settings` takes a JSON text or the path of a file."""
    if value.lstrip().startswith("{"):
        return parse_json(value, "--settings", findings)
    return read_json(tree, join(cwd, value), findings)


def _off(request: LoadRequest, options: Options, added: tuple[str, ...]) -> str:
    if "--safe-mode" in options:
        return "--safe-mode"
    if is_on(request.env.get("CLAUDE_CODE_DISABLE_CLAUDE_MDS")):
        return "CLAUDE_CODE_DISABLE_CLAUDE_MDS"
    if added and request.dialect.added_undoes_bare:
        return ""
    is_simple = is_on(request.env.get("CLAUDE_CODE_SIMPLE"))
    return "--bare" if "--bare" in options else "CLAUDE_CODE_SIMPLE" if is_simple else ""


def _approval(tree: Tree, path: str, project: str) -> Callable[[str], bool]:
    """Whether imports from outside were approved for a project. The file can be large: it is read when asked for."""

    @cache
    def is_approved() -> bool:
        return dig(read_json(tree, path, []), "projects", project, "hasClaudeMdExternalIncludesApproved") is True

    return lambda _: is_approved()


def _mode(settings: LayeredSettings, sources: frozenset[str], plugins: tuple[str, ...]) -> tuple[str, str]:
    """What the built-in plugin does about AGENTS.md, and which switch says so."""
    if "project" not in sources:
        return "never", "--setting-sources leaves out project"
    for key in plugins:
        for scope, value in settings.defined("enabledPlugins", key):
            if value is False:
                return "never", f"enabledPlugins in {scope.path}"
            break
    for key in plugins:
        for scope, value in settings.defined("pluginConfigs", key, within=("managed", "flag", "user")):
            mode = dig(value, "options", "instructionFiles")
            if isinstance(mode, str) and mode in MODES:
                return MODES[mode], f"instructionFiles in {scope.path}"
    return "instead", ""


def _memory_off(settings: LayeredSettings, request: LoadRequest, off: str) -> str:
    """What turns memory off; empty when it is on."""
    switch = request.env.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY")
    if off and off != "CLAUDE_CODE_DISABLE_CLAUDE_MDS":
        return off
    if is_on(switch):
        return "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
    for scope, value in settings.defined("autoMemoryEnabled"):
        if value is False and not is_off(switch):
            return f"autoMemoryEnabled in {scope.path}"
        break
    return ""


def _memory_folder(settings: LayeredSettings, request: LoadRequest, user: str, git: Repository | None) -> str:
    """Where memories are kept, whether memory is on or off.

    Absolute paths and `~/sub` are accepted; anything else is ignored in silence, as the agent does.
    """
    given = settings.first("autoMemoryDirectory", within=("managed", "flag", "local", "project", "user"))
    if isinstance(given, str) and given.startswith(("/", "~/")):
        top = "/" if given[0] == "/" else join("/", request.home)
        folder = join("/", given if given[0] == "/" else request.home + given[1:])
        if folder != top:
            return folder
    return f"{user}/projects/{slug(git.main if git else request.cwd)}/memory"


_DASHES = bytes(code if chr(code).isalnum() and code < 128 else 45 for code in range(256))


def slug(path: str) -> str:
    """The name of a project's folder: what is not a letter or digit becomes `-`, by UTF-16 unit."""
    if path.isascii() and len(path) <= 200:
        return path.encode().translate(_DASHES).decode()
    from foretold.text.globs.utf16 import units  # few paths are so long, or not ASCII

    plain = "".join(unit if unit.isascii() and unit.isalnum() else "-" for unit in units(path))
    if len(plain) <= 200:
        return plain
    value = 0
    for unit in units(path):
        value = (value * 31 + ord(unit)) & 0xFFFFFFFF
    value, digits = min(value, 0x100000000 - value), ""  # without the sign that 32 bits give it
    while value or not digits:
        value, rest = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return f"{plain[:200]}-{digits}"


def _prompt_follows(settings: LayeredSettings, request: LoadRequest, git: Repository | None) -> bool:
    """Whether neither git status nor attribution follows the instructions. # claude-code: n325-git-off"""
    if is_on(request.env.get("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS")):
        return True
    if git:
        return False
    texts = settings.first("attribution")
    silent = isinstance(texts, dict) and bool(texts) and not any(texts.values())
    return silent or settings.first("includeCoAuthoredBy") is False
