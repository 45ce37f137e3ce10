"""Gemini CLI: settings, hooks, MCP servers, commands and agents.

From the documents of github.com/google-gemini/gemini-cli (reference/configuration, hooks/reference,
cli/custom-commands, core/subagents, extensions/reference) and the JSON schema of its settings, as of 0.61. Keys of
settings before 0.3 have no table: they were flat.
"""

from __future__ import annotations

from foretold.dialects.extensions.tables import DefinitionTable, HookTable, ServerTable, SettingsTable, spell

AGENTS = ("gemini-cli",)
FILE = ".gemini/settings.json"

SETTINGS = SettingsTable(
    agents=AGENTS,
    paths=(FILE,),
    keys={
        **spell(
            "table",
            "mcpServers general output ui ide privacy billing model modelConfigs agents context tools mcp security"
            " advanced experimental extensions skills hooksConfig hooks contextManagement",
        ),
        **spell("any", "$schema telemetry policyPaths adminPolicyPaths useWriteTodos admin contextFileName theme"),
    },
    document="gemini-cli: docs/reference/configuration.md",
    form="jsonc",
)

HOOKS = HookTable(
    agents=AGENTS,
    events=spell(
        "",
        "BeforeTool AfterTool BeforeAgent AfterAgent Notification SessionStart SessionEnd PreCompress BeforeModel"
        " AfterModel BeforeToolSelection",
    ),
    handlers={"command": ("command",), "runtime": ()},
    document="gemini-cli: docs/hooks/reference.md",
    fields=tuple("type command name timeout description env".split()),
    unit="milliseconds",
)

SERVERS = ServerTable(
    agents=AGENTS,
    path=FILE,
    keys=("mcpServers",),
    types={"stdio": "command", "sse": "url", "http": "url"},
    document="gemini-cli: docs/tools/mcp-server.md",
    form="jsonc",
    urls=("url", "httpUrl", "tcp"),
    foreign={"environment": "env"},
    fields=tuple(
        "command args env cwd url httpUrl headers tcp type timeout trust description includeTools excludeTools"
        " extension oauth authProviderType targetAudience targetServiceAccount".split()
    ),
)

COMMAND = DefinitionTable(
    kind="command",
    agents=AGENTS,
    folders=(".gemini/commands",),
    keys=spell("text", "prompt description"),
    document="gemini-cli: docs/cli/custom-commands.md",
    suffix=".toml",
    form="toml",
    needed=("prompt",),
    is_skipped=True,
    wrong_suffixes=(".md", ".txt", ".tml"),
)
AGENT = DefinitionTable(
    kind="agent",
    agents=AGENTS,
    folders=(".gemini/agents",),
    keys={
        **spell("text", "name description kind model display_name agent_card_url"),
        "tools": "texts",
        **spell("number", "temperature max_turns timeout_mins"),
        **spell("any", "mcp_servers mcpServers auth agent_card_json"),
    },
    document="gemini-cli: docs/core/subagents.md",
    needed=("name", "description"),
    is_skipped=True,
    needs_head=True,
)
