"""Codex: settings, hooks, MCP servers and agents of a project.

From developers.openai.com/codex (config reference, hooks, mcp) and the JSON schema of its settings that github.com/
openai/codex publishes (`codex-rs/core/config.schema.json`, August 2026).
"""

from __future__ import annotations

from foretold.dialects.extensions.tables import HookTable, ServerTable, SettingsTable, spell

AGENTS = ("codex",)
CONFIG = ".codex/config.toml"
#: settings that count in no project's own file: where credentials go, and what runs (openai/codex, config loader)
_IN_USER = "Codex does not read it in a project; put it into ~/.codex/config.toml"
UNREAD = (
    "openai_base_url chatgpt_base_url apps_mcp_product_sku responses_api_metadata model_provider notify profile"
    " profiles experimental_realtime_webrtc_call_base_url experimental_realtime_ws_base_url otel"
).split()

SETTINGS = SettingsTable(
    agents=AGENTS,
    paths=(CONFIG,),
    keys={
        **spell(
            "any",
            "agents allow_login_shell analytics approval_policy approvals_reviewer apps apps_mcp_product_sku audio"
            " auto_review background_terminal_max_timeout browser_use chatgpt_base_url check_for_update_on_startup"
            " cli_auth_credentials_store compact_prompt computer_use default_permissions desktop"
            " developer_instructions disable_paste_burst experimental_compact_prompt_file"
            " experimental_instructions_file experimental_use_unified_exec_tool features feedback file_opener"
            " forced_chatgpt_workspace_id forced_login_method ghost_snapshot goals hide_agent_reasoning history hooks"
            " include_environment_context instructions log_dir marketplaces mcp_oauth_callback_port"
            " mcp_oauth_callback_url mcp_oauth_credentials_store memories model model_auto_compact_token_limit"
            " model_catalog_json model_context_window model_instructions_file model_max_output_tokens model_provider"
            " model_reasoning_effort model_reasoning_summary model_supports_reasoning_summaries model_verbosity notice"
            " notify openai_base_url orchestrator oss_provider otel permissions personality plan_mode_reasoning_effort"
            " plugins profile profiles project_doc_fallback_filenames project_doc_max_bytes project_root_markers"
            " projects realtime responses_api_metadata review_model sandbox_mode sandbox_permissions"
            " sandbox_workspace_write service_tier shell_environment_policy show_raw_agent_reasoning skills sqlite_home"
            " suppress_unstable_features_warning tool_output_token_limit tool_suggest tools tui web_search windows",
        ),
        **spell("table", "mcp_servers model_providers"),
    },
    document="developers.openai.com/codex/config-reference",
    form="toml",
    unread=dict.fromkeys(UNREAD, _IN_USER),
)

HOOKS = HookTable(
    agents=AGENTS,
    events=spell(
        "",
        "PreToolUse PostToolUse PermissionRequest PreCompact PostCompact SessionStart SessionEnd Stop SubagentStart"
        " SubagentStop UserPromptSubmit",
    ),
    handlers={"command": ("command",), "mcp_tool": ("tool",), "prompt": (), "agent": ()},
    document="developers.openai.com/codex/hooks",
    fields=tuple(
        "type command commandWindows timeout async statusMessage server tool input additionalContextLimit".split()
    ),
)

SERVERS = ServerTable(
    agents=AGENTS,
    path=CONFIG,
    keys=("mcp_servers",),
    types={},
    document="developers.openai.com/codex/mcp",
    form="toml",
    foreign={"environment": "env", "headers": "http_headers", "timeout": "tool_timeout_sec"},
    fields=tuple(
        "command args env env_vars cwd url bearer_token_env_var http_headers env_http_headers enabled enabled_tools"
        " disabled_tools startup_timeout_sec startup_timeout_ms tool_timeout_sec required scopes oauth".split()
    ),
)
