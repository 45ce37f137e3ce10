"""GitHub Copilot, its CLI and VS Code: agents, prompts, hooks and MCP servers of a project.

From docs.github.com/copilot (custom-agents-configuration, hooks-reference) and code.visualstudio.com/docs (prompt
files, custom agents, MCP configuration), 2026.
"""

from __future__ import annotations

from foretold.dialects.extensions.tables import DefinitionTable, HookTable, ServerTable, spell

AGENTS = ("copilot-cli",)
CODE = ("vscode-copilot",)

AGENT = DefinitionTable(
    kind="agent",
    agents=AGENTS,
    folders=(".github/agents",),
    keys={
        **spell("text", "name description target"),
        **spell("texts", "tools model agents"),
        **spell("flag", "disable-model-invocation user-invocable infer"),
        **spell("table", "mcp-servers metadata hooks"),
        "argument-hint": "any",
        "handoffs": "list",
        **spell("any", "user-invokable mode color"),
    },
    document="docs.github.com/copilot/reference/custom-agents-configuration",
    needed=("description",),
    is_flat=True,
)
RULE = DefinitionTable(
    kind="rule",
    agents=AGENTS,
    folders=(".github/instructions",),
    keys=spell("any", "applyTo description name excludeAgent"),
    document="docs.github.com/copilot: path-specific custom instructions",
    suffix=".instructions.md",
    is_rule=True,
)
PROMPT = DefinitionTable(
    kind="prompt",
    agents=CODE,
    folders=(".github/prompts",),
    keys={
        **spell("text", "name description agent mode"),
        **spell("texts", "tools model"),
        "argument-hint": "any",
    },
    document="code.visualstudio.com/docs/agent-customization/prompt-files",
    suffix=".prompt.md",
    wrong_suffixes=(".md",),
)

#: in camel case, or as VS Code and Claude Code call them
_EVENTS = (
    "sessionStart sessionEnd userPromptSubmitted userPromptTransformed preToolUse postToolUse postToolUseFailure"
    " agentStop subagentStart subagentStop errorOccurred preCompact notification permissionRequest"
)
_OTHER = (
    "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure Stop SubagentStart SubagentStop"
    " ErrorOccurred PreCompact Notification PermissionRequest"
)
HOOKS = HookTable(
    agents=AGENTS,
    events=spell("", f"{_EVENTS} {_OTHER}"),
    handlers={
        "command": ("bash", "powershell", "command", "exec", "windows", "linux", "osx"),
        "http": ("url",),
        "prompt": ("prompt",),
    },
    document="docs.github.com/copilot/reference/hooks-reference",
    has_groups=False,
    needs_type=False,
    fields=tuple(
        "type bash powershell command exec args cwd env timeout timeoutSec matcher comment url headers allowedEnvVars"
        " prompt windows linux osx".split()
    ),
    commands=("bash", "command", "linux"),
)

CODE_SERVERS = ServerTable(
    agents=CODE,
    path=".vscode/mcp.json",
    keys=("servers",),
    types={"stdio": "command", "http": "url", "sse": "url"},
    document="code.visualstudio.com/docs/agents/reference/mcp-configuration",
    form="jsonc",
    env_values="text or number",
    foreign={"environment": "env"},
    fields=tuple(
        "type command args cwd env envFile url headers dev gallery version sandboxEnabled sandbox oauth".split()
    ),
)
CLI_SERVERS = ServerTable(
    agents=AGENTS,
    path=".github/mcp.json",
    keys=("mcpServers",),
    types={"local": "command", "stdio": "command", "http": "url", "sse": "url"},
    document="docs.github.com/copilot: MCP servers of Copilot CLI",
    fields=tuple("type command args env tools url headers timeout cwd".split()),
)
