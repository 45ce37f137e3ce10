"""Claude Code: skills, subagents, commands, hooks, MCP servers and plugins.

From code.claude.com/docs (skills, sub-agents, hooks, mcp, plugins-reference, plugin-marketplaces, tools-reference,
debug-your-config) as of 2.1.240; the versions of events from its changelog. The keys of settings are in
`claude_settings`.
"""

from __future__ import annotations

from foretold.dialects.extensions.tables import DefinitionTable, HookTable, PluginTable, ServerTable, spell

AGENTS = ("claude-code",)

#: tools-reference; the last ones are tools of earlier releases, whose names rules and matchers may still have
TOOLS = frozenset(
    "Agent Artifact AskUserQuestion Bash CronCreate CronDelete CronList Edit EndConversation EnterPlanMode"
    " EnterWorktree ExitPlanMode ExitWorktree Glob Grep ListAgents ListMcpResourcesTool LSP Monitor NotebookEdit"
    " PowerShell PushNotification Read ReadMcpResourceTool RemoteTrigger ReportFindings ScheduleWakeup SendMessage"
    " SendUserFile ShareOnboardingGuide Skill TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoWrite"
    " ToolSearch WaitForMcpServers WebFetch WebSearch Workflow Write"
    " AgentOutputTool BashOutput KillBash KillShell ListMcpResources LS MultiEdit NotebookRead ReadMcpResource"
    " SlashCommand StructuredOutput Task TeamCreate TeamDelete TodoRead".split()
)
#: model-config, sub-agents
MODELS = frozenset("default best sonnet opus haiku fable inherit opusplan sonnet[1m] opus[1m] opusplan[1m]".split())

EFFORT = "one of low medium high xhigh max auto ultracode"
MODES = "one of default acceptEdits auto dontAsk bypassPermissions plan manual"

SKILL_KEYS = {
    **spell("text", "name description when_to_use license compatibility model agent"),
    **spell("flag", "disable-model-invocation user-invocable background"),
    **spell("texts", "allowed-tools disallowed-tools paths arguments"),
    **spell("table", "hooks metadata"),
    "argument-hint": "any",  # `[issue number]` is a list to YAML, and shown as it is written
    "effort": "text or number",
    "context": "one of fork inline",
    "shell": "one of bash powershell",
}
AGENT_KEYS = {
    **spell("text", "name description model color initialPrompt"),
    **spell("texts", "tools disallowedTools skills"),
    "permissionMode": MODES,
    "maxTurns": "number",
    "mcpServers": "list or table",
    "hooks": "table",
    "memory": "one of user project local",
    "background": "flag",
    "effort": "text or number",
    "isolation": "text",
}

AGENT = DefinitionTable(
    kind="agent",
    agents=AGENTS,
    folders=(".claude/agents",),
    keys=AGENT_KEYS,
    document="code.claude.com/docs/en/sub-agents",
    needed=("name", "description"),
    is_skipped=True,
    needs_head=True,
    tools=TOOLS,
    models=MODELS,
)
RULE = DefinitionTable(
    kind="rule",
    agents=AGENTS,
    folders=(".claude/rules",),
    keys=spell("any", "paths"),
    document="code.claude.com/docs/en/memory",
    is_rule=True,
)
#: loads under the name of its file, if it has no other (sub-agents)
PLUGIN_AGENT = AGENT._replace(folders=("agents",), needed=("description",), is_skipped=False, needs_head=False)
COMMAND = DefinitionTable(
    kind="command",
    agents=AGENTS,
    folders=(".claude/commands",),
    keys=SKILL_KEYS,
    document="code.claude.com/docs/en/skills",
    tools=TOOLS,
    models=MODELS,
)
PLUGIN_COMMAND = COMMAND._replace(folders=("commands",))
SKILL = DefinitionTable(
    kind="skill",
    agents=AGENTS,
    folders=(".claude/skills",),
    keys=SKILL_KEYS,
    document="code.claude.com/docs/en/skills",
    suffix="/SKILL.md",
    tools=TOOLS,
    models=MODELS,
)
LISTED_DESCRIPTION = 1536  #: characters of `description` and `when_to_use` in the list of skills (skills)

EVENTS = {
    **spell(
        "", "PreToolUse PostToolUse Notification Stop SubagentStop SessionEnd UserPromptExpansion PostToolUseFailure"
    ),
    "PostToolBatch": "",
    "SessionStart": "1.0.62",
    "UserPromptSubmit": "1.0.54",
    "PreCompact": "1.0.48",
    "SubagentStart": "2.0.43",
    "PermissionRequest": "2.0.45",
    "Setup": "2.1.10",
    "TeammateIdle": "2.1.33",
    "TaskCompleted": "2.1.33",
    "ConfigChange": "2.1.49",
    "WorktreeCreate": "2.1.50",
    "WorktreeRemove": "2.1.50",
    "InstructionsLoaded": "2.1.69",
    "PostCompact": "2.1.76",
    "Elicitation": "2.1.76",
    "ElicitationResult": "2.1.76",
    "StopFailure": "2.1.78",
    "CwdChanged": "2.1.83",
    "FileChanged": "2.1.83",
    "TaskCreated": "2.1.84",
    "PermissionDenied": "2.1.89",
    "MessageDisplay": "2.1.152",
    "DirectoryAdded": "2.1.219",
}
TOOL_EVENTS = frozenset("PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied".split())

HOOKS = HookTable(
    agents=AGENTS,
    events=EVENTS,
    handlers={
        "command": ("command",),
        "http": ("url",),
        "mcp_tool": ("tool",),
        "prompt": ("prompt",),
        "agent": ("prompt",),
    },
    document="code.claude.com/docs/en/hooks",
    tool_events=TOOL_EVENTS,
    conditional=True,
    tools=TOOLS,
    matched={
        "SessionStart": ("startup", "resume", "clear", "compact", "fork"),
        "PreCompact": ("manual", "auto"),
        "PostCompact": ("manual", "auto"),
        "Setup": ("init", "maintenance"),
    },
    fields=tuple(
        "type if timeout statusMessage once command args async asyncRewake shell url headers allowedEnvVars server tool"
        " input prompt model".split()
    ),
)

SERVERS = ServerTable(
    agents=AGENTS,
    path=".mcp.json",
    keys=("mcpServers",),
    types={
        "stdio": "command",
        "http": "url",
        "streamable-http": "url",
        "sse": "url",
        "ws": "url",
        "sdk": "",
        "local": "",
    },
    document="code.claude.com/docs/en/mcp",
    url_needs_type=True,  # read as a program; named in the report of an error from 2.1.202 on
    foreign={"environment": "env"},
    fields=tuple("type command args env url headers headersHelper oauth timeout alwaysLoad".split()),
)

PLUGIN = PluginTable(
    agents=AGENTS,
    folder=".claude-plugin",
    keys={
        **spell("text", "name displayName version description homepage license"),
        "repository": "text or table",
        "author": "table",
        "keywords": "list",
        "defaultEnabled": "flag",
        **spell("text or list", "skills commands agents workflows outputStyles"),
        "commands": "text or list or table",
        **spell("text or list or table", "hooks mcpServers lspServers themes monitors"),
        "userConfig": "table",
        **spell("list", "channels dependencies"),
        **spell("any", "metadata experimental settings $schema"),
    },
    paths=("skills", "commands", "agents", "workflows", "outputStyles", "hooks", "mcpServers", "lspServers"),
    parts=("commands", "agents", "skills", "workflows", "output-styles", "hooks"),
    marketplace={
        **spell("text", "name description version $schema"),
        **spell("table", "owner metadata renames"),
        **spell("list", "plugins allowCrossMarketplaceDependenciesOn"),
        "forceRemoveDeletedPlugins": "flag",
        "pluginRoot": "any",
    },
    entry={
        "name": "text",
        "source": "text or table",
        "category": "text",
        **spell("list", "tags keywords"),
        **spell("flag", "strict defaultEnabled"),
    },
    sources={
        "github": "repo",
        "url": "url",
        "git": "url",
        "git-subdir": "path",
        "npm": "package",
        "pip": "package",
        "archive": "url",
        "command": "command",
    },
    document="code.claude.com/docs/en/plugins-reference, plugin-marketplaces",
)
