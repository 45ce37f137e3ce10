"""How each agent is run without a terminal, against a server of ours, with a key that is none.

`{url}`, `{home}`, `{key}` and `{prompt}` are filled in. `files` are written into the temporary home before the run.
`keeps` are the values of the user's own settings that say something about instructions: nothing else of a settings file
is taken, so neither keys nor hooks come along. `copies` are instruction files and folders of the home.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

KEY = "not-a-key"


class Recipe(NamedTuple):
    """How to run one agent."""

    programs: tuple[str, ...]
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]
    reads: tuple[tuple[str, ...], str]  #: tools that read a file, and the input that does it: JSON with {path}
    copies: tuple[str, ...]
    settings: str = ""  #: the settings file of the home whose values are merged into the one of `files`
    keeps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()  #: more words, where tools are to run
    writes: tuple[str, ...] = ()  #: instruction files that the agent writes itself before it reads them


CODEX = """\
model = "gpt-5"
model_provider = "probe"
check_for_update_on_startup = false
{kept}
[model_providers.probe]
name = "probe"
base_url = "{url}/v1"
env_key = "PROBE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"

[features]
plugins = false
apps = false
"""
OPENCODE = {
    "autoupdate": False,
    "share": "disabled",
    "model": "probe/probe-model",
    "small_model": "probe/probe-model",
    "permission": "allow",
    "provider": {
        "probe": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "probe",
            "options": {"baseURL": "{url}/v1", "apiKey": "{key}"},
            "models": {"probe-model": {"name": "probe-model", "limit": {"context": 200000, "output": 8000}}},
        }
    },
}
QUIET = {
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}
MODEL = {"name": "probe-model"}
CONTINUE = """\
name: probe
version: 1.0.0
schema: v1
models:
  - name: probe
    provider: openai
    model: probe-model
    apiKey: {key}
    apiBase: {url}/v1
    roles: [chat]
    capabilities: [tool_use]
"""

RECIPES: dict[str, Recipe] = {
    "claude-code": Recipe(
        ("claude",),
        ("--allowedTools=Bash,Edit,Write,NotebookEdit", "--settings", '{"disableAllHooks": true}', "-p", "{prompt}"),
        {
            "ANTHROPIC_API_KEY": "{key}",
            "ANTHROPIC_BASE_URL": "{url}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        },
        {},
        (("Read",), '{"file_path": "{path}"}'),
        (".claude/CLAUDE.md", ".claude/rules"),
        ".claude/settings.json",
        (
            "claudeMdExcludes",
            "autoMemoryEnabled",
            "includeCoAuthoredBy",
            "attribution",
            "pluginConfigs",
            "enabledPlugins",
        ),
    ),
    "codex": Recipe(
        ("codex",),
        ("exec", "--skip-git-repo-check", "{prompt}"),
        {"CODEX_HOME": "{home}/.codex", "PROBE_KEY": "{key}"},
        {".codex/config.toml": CODEX},
        (("exec_command", "shell_command", "shell"), '{"cmd": "cat {path}", "command": "cat {path}"}'),
        (".codex/AGENTS.md", ".codex/AGENTS.override.md"),
        ".codex/config.toml",
        ("project_doc_max_bytes", "project_doc_fallback_filenames", "project_root_markers"),
        ("--dangerously-bypass-approvals-and-sandbox",),
    ),
    "gemini-cli": Recipe(
        ("gemini",),
        ("-p", "{prompt}"),
        {
            "GEMINI_API_KEY": "{key}",
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_MODEL": "gemini-2.5-flash",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        {".gemini/settings.json": json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, **QUIET})},
        (("read_file",), '{"file_path": "{path}"}'),
        (".gemini/GEMINI.md",),
        ".gemini/settings.json",
        ("context",),
        ("--yolo",),
    ),
    "opencode": Recipe(
        ("opencode",),
        ("run", "--model", "probe/probe-model", "{prompt}"),
        {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "npm_config_offline": "true",
        },
        {".config/opencode/opencode.json": json.dumps(OPENCODE)},
        (("read",), '{"filePath": "{path}"}'),
        (".config/opencode/AGENTS.md", ".claude/CLAUDE.md"),
        ".config/opencode/opencode.json",
        ("instructions",),
    ),
    "copilot-cli": Recipe(
        ("copilot",),
        (
            *("--allow-all-tools", "--allow-all-paths", "--no-auto-update", "--disable-client-telemetry"),
            *("--log-level", "none", "-p", "{prompt}"),
        ),
        {
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_PROVIDER_API_KEY": "{key}",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        },
        {},
        (("view",), '{"path": "{path}"}'),
        (".copilot/copilot-instructions.md", ".copilot/instructions"),
    ),
    "qwen-code": Recipe(
        ("qwen",),
        ("--yolo", "--auth-type", "openai", "-p", "{prompt}"),
        {
            "OPENAI_API_KEY": "{key}",
            "OPENAI_BASE_URL": "{url}/v1",
            "OPENAI_MODEL": "probe-model",
            "QWEN_TELEMETRY_ENABLED": "false",
        },
        {
            ".qwen/settings.json": json.dumps(
                {"security": {"auth": {"selectedType": "openai"}}, "model": {"name": "probe-model"}, **QUIET}
            )
        },
        (("read_file",), '{"file_path": "{path}"}'),
        (".qwen/QWEN.md", ".qwen/AGENTS.md", ".qwen/rules", ".qwen/output-language.md"),
        ".qwen/settings.json",
        ("context",),
        writes=(".qwen/output-language.md",),
    ),
    "cline": Recipe(
        ("cline",),
        ("{prompt}",),
        {"CLINE_TELEMETRY_DISABLED": "1", "CLINE_NO_AUTO_UPDATE": "1", "CLINE_SESSION_BACKEND_MODE": "local"},
        {
            ".cline/data/settings/providers.json": json.dumps(
                {
                    "version": 1,
                    "lastUsedProvider": "openai-compatible",
                    "modes": {},
                    "providers": {
                        "openai-compatible": {
                            "settings": {
                                "provider": "openai-compatible",
                                "apiKey": "{key}",
                                "model": "probe-model",
                                "baseUrl": "{url}/v1",
                            },
                            "updatedAt": "2026-01-01T00:00:00.000Z",
                            "tokenSource": "manual",
                        }
                    },
                }
            ),
            ".cline/data/settings/global-settings.json": '{"telemetryOptOut": true}',
        },
        (("read_files",), '{"files": [{"path": "{path}"}]}'),
        (".agents/AGENTS.md", ".cline/rules", "Documents/Cline/Rules", "Cline/Rules"),
    ),
    "continue": Recipe(
        ("cn",),
        ("--config", "{home}/probe.yaml", "--auto", "-p", "{prompt}"),
        {"CONTINUE_TELEMETRY_ENABLED": "0", "CONTINUE_ALLOW_ANONYMOUS_TELEMETRY": "0", "CONTINUE_METRICS_ENABLED": "0"},
        {"probe.yaml": CONTINUE},
        (("Read",), '{"filepath": "{path}"}'),
        (".continue/rules",),
    ),
}
