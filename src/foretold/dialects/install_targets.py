"""Where each agent configures hooks and MCP servers, and how. One table, for `foretold install`, the plugin folder and
the tests.

1. A `SettingsFile` is a settings file: below a folder that a variable names, else below the home; or in the project.
2. In a shape, `{program}` is the first word of our command, `{words}` the others, `{argv}` all of them, `{line}` the
   command for a shell, `{seconds}` and `{milliseconds}` how long the agent waits.
3. `evidence`: `run` if a released agent was seen to start what we wrote (`tests/system/live_hooks.py`), else
   `documented`.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.types import NamedTuple

NAME = "foretold"  #: what our server is called in every agent


class SettingsFile(NamedTuple):
    """A settings file of an agent."""

    home: str  #: below the home; empty: there is none for the user
    project: str = ""  #: below the top of the project; empty: there is none
    variable: str = ""  #: an environment variable that names the folder instead of the home
    moved: str = ""  #: below that folder
    form: str = "json"  #: json, jsonc, toml, yaml
    other: str = ""  #: another ending of the file, which is taken if that is there
    is_made: bool = True  #: whether a file with nothing but ours is of use to the agent


class Hook(NamedTuple):
    """An event of an agent, and what we are called with."""

    event: str  #: as the agent calls it
    ours: str  #: as `foretold hook` calls it
    matcher: str = ""
    seconds: int = 10


class HookTarget(NamedTuple):
    """How an agent configures hooks: below `hooks`, a list of groups for each event."""

    where: SettingsFile
    events: tuple[Hook, ...]
    timeout: str = "{seconds}"
    agent: str = ""  #: the agent that our command is called with; empty for Claude Code
    note: str = ""  #: what else the user must do
    after: str = ""  #: what follows our command


class McpTarget(NamedTuple):
    """How an agent configures a server: below these keys, by its name."""

    where: SettingsFile
    keys: tuple[str, ...] = ("mcpServers",)
    shape: Mapping[str, object] = {"command": "{program}", "args": "{words}"}


class Install(NamedTuple):
    """What can be installed in an agent."""

    hooks: HookTarget | None = None
    mcp: McpTarget | None = None
    evidence: str = "documented"


STDIO = {"type": "stdio", "command": "{program}", "args": "{words}"}
LOCAL = {"type": "local", "command": "{argv}", "enabled": True}
COPILOT = {"type": "local", "command": "{program}", "args": "{words}", "tools": ["*"]}
#: Cline gives a server three seconds for its first answer (3.0.65): on a busy machine, Python has not even started
PATIENT = {"command": "{program}", "args": "{words}", "timeout": 60}
NAMED = {"name": NAME, "command": "{program}", "args": "{words}"}
CUSTOM = {"source": "custom", "command": "{program}", "args": "{words}"}

#: tools that write files, and all that name files; a pattern with a `.` in it is searched for, so it has both ends
WRITING = "^(Write|Edit|MultiEdit|NotebookEdit|Bash|mcp__.*)$"
NAMING = "^(Read|Write|Edit|MultiEdit|NotebookEdit|Bash|Grep|mcp__.*)$"
GEMINI_WRITING = "^(write_file|replace|run_shell_command|mcp_.*)$"
GEMINI_NAMING = "^(read_file|write_file|replace|run_shell_command|search_file_content|mcp_.*)$"

CLAUDE = (
    Hook("SessionStart", "SessionStart"),
    Hook("UserPromptSubmit", "UserPromptSubmit"),
    Hook("PreToolUse", "PreToolUse", WRITING),
    Hook("PostToolUse", "PostToolUse", NAMING),
    Hook("PreCompact", "PreCompact"),
    Hook("Stop", "Stop"),
    Hook("SessionEnd", "SessionEnd"),
    Hook("InstructionsLoaded", "InstructionsLoaded"),
)
#: Codex gives the end of a session three seconds, and has no event for instructions
CODEX = tuple(hook._replace(matcher="") for hook in CLAUDE[:6])
#: Qwen Code has other tools
QWEN = tuple(hook._replace(matcher="") for hook in CLAUDE[:7])
#: PreCompress is sent at every turn, whether anything is compressed or not (gemini-cli 0.61.0)
GEMINI = (
    Hook("SessionStart", "SessionStart"),
    Hook("BeforeAgent", "UserPromptSubmit"),
    Hook("BeforeTool", "PreToolUse", GEMINI_WRITING),
    Hook("AfterTool", "PostToolUse", GEMINI_NAMING),
    Hook("AfterAgent", "Stop"),
    Hook("SessionEnd", "SessionEnd"),
)

GEMINI_SETTINGS = SettingsFile(
    ".gemini/settings.json", ".gemini/settings.json", "GEMINI_CLI_HOME", ".gemini/settings.json", form="jsonc"
)
QWEN_SETTINGS = SettingsFile(".qwen/settings.json", ".qwen/settings.json", form="jsonc")


def _below_xdg(path: str, project: str, form: str = "json", other: str = "") -> SettingsFile:
    """A settings file below the folder for configuration."""
    return SettingsFile(f".config/{path}", project, "XDG_CONFIG_HOME", path, form, other)


HOOKS = {
    "claude-code": HookTarget(
        SettingsFile(".claude/settings.json", ".claude/settings.json", "CLAUDE_CONFIG_DIR", "settings.json"), CLAUDE
    ),
    "codex": HookTarget(
        SettingsFile(".codex/hooks.json", ".codex/hooks.json", "CODEX_HOME", "hooks.json"),
        CODEX,
        agent="codex",
        note="Codex runs new hooks once you trust them: type /hooks in it.",
    ),
    # Gemini CLI takes a program that is gone for one that forbids the prompt (0.61.0)
    "gemini-cli": HookTarget(GEMINI_SETTINGS, GEMINI, "{milliseconds}", "gemini-cli", after=" || true"),
    "qwen-code": HookTarget(QWEN_SETTINGS, QWEN, "{milliseconds}", "qwen-code"),
}
SERVERS = {
    "claude-code": McpTarget(
        SettingsFile(".claude.json", ".mcp.json", "CLAUDE_CONFIG_DIR", ".claude.json"), shape=STDIO
    ),
    "codex": McpTarget(
        SettingsFile(".codex/config.toml", ".codex/config.toml", "CODEX_HOME", "config.toml", "toml"), ("mcp_servers",)
    ),
    "gemini-cli": McpTarget(GEMINI_SETTINGS),
    "opencode": McpTarget(_below_xdg("opencode/opencode.json", "opencode.json", "jsonc", ".jsonc"), ("mcp",), LOCAL),
    "qwen-code": McpTarget(QWEN_SETTINGS),
    "copilot-cli": McpTarget(
        SettingsFile(".copilot/mcp-config.json", ".github/mcp.json", "COPILOT_HOME", "mcp-config.json"), shape=COPILOT
    ),
    "cline": McpTarget(SettingsFile(".cline/data/settings/cline_mcp_settings.json"), shape=PATIENT),
    "continue": McpTarget(SettingsFile(".continue/config.yaml", form="yaml", is_made=False), shape=NAMED),
    "cursor": McpTarget(SettingsFile(".cursor/mcp.json", ".cursor/mcp.json")),
    "windsurf": McpTarget(SettingsFile(".codeium/windsurf/mcp_config.json")),
    "zed": McpTarget(_below_xdg("zed/settings.json", ".zed/settings.json", "jsonc"), ("context_servers",), CUSTOM),
    "crush": McpTarget(_below_xdg("crush/crush.json", "crush.json"), ("mcp",), STDIO),
    "amp": McpTarget(_below_xdg("amp/settings.json", ".amp/settings.json", "jsonc"), ("amp.mcpServers",)),
    "kiro": McpTarget(SettingsFile(".kiro/settings/mcp.json", ".kiro/settings/mcp.json")),
    "junie": McpTarget(SettingsFile(".junie/mcp/mcp.json", ".junie/mcp/mcp.json")),
    "roo": McpTarget(SettingsFile("", ".roo/mcp.json")),
    "vscode-copilot": McpTarget(SettingsFile("", ".vscode/mcp.json", form="jsonc"), ("servers",), STDIO),
}
SEEN_RUNNING = "claude-code codex gemini-cli opencode qwen-code copilot-cli cline continue".split()

INSTALLS = {
    agent: Install(HOOKS.get(agent), mcp, "run" if agent in SEEN_RUNNING else "documented")
    for agent, mcp in SERVERS.items()
}
