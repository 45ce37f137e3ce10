"""Cursor, and other editors whose files have the same form: hooks, MCP servers and agents of a project.

From cursor.com/docs (hooks, mcp, subagents) and the documents of Kiro, Roo Code and Junie, 2026.
"""

from __future__ import annotations

from foretold.dialects.extensions.tables import DefinitionTable, HookTable, ServerTable, spell

AGENTS = ("cursor",)

HOOKS = HookTable(
    agents=AGENTS,
    events=spell(
        "",
        "sessionStart sessionEnd preToolUse postToolUse postToolUseFailure subagentStart subagentStop"
        " beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit"
        " beforeSubmitPrompt preCompact stop afterAgentResponse afterAgentThought beforeTabFileRead afterTabFileEdit"
        " workspaceOpen",
    ),
    handlers={"command": ("command",), "prompt": ("prompt",)},
    document="cursor.com/docs/agent/hooks",
    has_groups=False,
    needs_type=False,
    fields=tuple("type command prompt timeout matcher model loop_limit failClosed".split()),
)

SERVERS = ServerTable(
    agents=AGENTS,
    path=".cursor/mcp.json",
    keys=("mcpServers",),
    types={"stdio": "command", "http": "url", "sse": "url", "streamable-http": "url", "streamableHttp": "url"},
    document="cursor.com/docs/context/mcp",
    form="jsonc",
    foreign={"environment": "env"},
    fields=tuple("type command args env envFile url headers auth disabled cwd".split()),
)
_LIKE = tuple(
    "type command args env url headers disabled autoApprove alwaysAllow timeout cwd watchPaths disabledTools".split()
)
LIKE_SERVERS = (
    SERVERS._replace(agents=("kiro",), path=".kiro/settings/mcp.json", document="kiro.dev/docs/mcp", fields=_LIKE),
    SERVERS._replace(agents=("roo",), path=".roo/mcp.json", document="docs.roocode.com: MCP", fields=_LIKE),
    SERVERS._replace(agents=("junie",), path=".junie/mcp/mcp.json", document="junie.jetbrains.com/docs", fields=_LIKE),
)

RULE = DefinitionTable(
    kind="rule",
    agents=AGENTS,
    folders=(".cursor/rules",),
    keys=spell("any", "description globs alwaysApply"),
    document="cursor.com/docs/rules",
    suffix=".mdc",
    is_rule=True,
)
AGENT = DefinitionTable(
    kind="agent",
    agents=AGENTS,
    folders=(".cursor/agents",),
    keys={
        **spell("text", "name description model"),
        **spell("flag", "readonly is_background"),
    },
    document="cursor.com/docs/subagents",
)
