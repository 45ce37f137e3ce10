"""opencode: settings, MCP servers, agents and commands of a project.

From opencode.ai/docs (config, agents, commands, mcp-servers, skills), August 2026.
"""

from __future__ import annotations

from foretold.dialects.extensions.tables import DefinitionTable, ServerTable, SettingsTable, spell

AGENTS = ("opencode",)
FILES = ("opencode.json", "opencode.jsonc")

SETTINGS = SettingsTable(
    agents=AGENTS,
    paths=FILES,
    keys={
        **spell("text", "$schema model small_model default_agent username theme shell"),
        **spell(
            "table", "server command agent mode provider mcp keybinds tui watcher enterprise compaction experimental"
        ),
        **spell("list", "plugin instructions disabled_providers enabled_providers"),
        **spell("table", "tools attachment tool_output"),
        **spell(
            "any", "share autoshare autoupdate formatter lsp permission layout snapshot skills references reference"
        ),
        **spell("any", "logLevel subagent_depth"),
    },
    document="opencode.ai/docs/config",
    form="jsonc",
)

SERVERS = ServerTable(
    agents=AGENTS,
    path="opencode.json",
    keys=("mcp",),
    types={"local": "command", "remote": "url"},
    document="opencode.ai/docs/mcp-servers",
    form="jsonc",
    type_needed=True,
    command="list",
    env="environment",
    foreign={"env": "environment", "args": "command, which is a list"},
    fields=tuple("type command cwd environment enabled timeout url headers oauth".split()),
)

AGENT = DefinitionTable(
    kind="agent",
    agents=AGENTS,
    folders=(".opencode/agent", ".opencode/agents"),
    keys={
        **spell("text", "name description prompt model variant color"),
        **spell("number", "temperature top_p steps maxSteps"),
        **spell("flag", "disable hidden"),
        **spell("table", "tools options"),
        "permission": "text or table",
        "mode": "one of subagent primary all",
        **spell("any", "reasoningEffort textVerbosity thinking"),
    },
    document="opencode.ai/docs/agents",
    needed=("description",),
    unneeded={"mode": "primary", "hidden": "true", "disable": "true"},  # the model does not choose it
)
COMMAND = DefinitionTable(
    kind="command",
    agents=AGENTS,
    folders=(".opencode/command", ".opencode/commands"),
    keys={**spell("text", "name description agent model variant template"), "subtask": "flag"},
    document="opencode.ai/docs/commands",
)
