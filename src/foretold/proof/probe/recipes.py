"""How each agent is run without a terminal, against our model server, with a fake key.

`{url}`, `{home}`, `{key}` and `{prompt}` are filled in. `files` are written into the temporary home before the run.
`keeps` are the values of the user's own settings that say something about instructions: nothing else of a settings file
is copied, so neither keys nor hooks are. `copies` are instruction files and folders of the home. `project` are files of
a project that could lead the agent away from our server, or make it start programs (`project_settings.py`).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import NamedTuple

KEY = "not-a-key"


class ProjectFile(NamedTuple):
    """A file or folder of a project that an agent obeys: where it lies below a folder, and what is in it."""

    path: str
    form: str = "json"  #: settings as `json` or `toml`; `whole`: variables or code, of which nothing is kept
    climbs: bool = False  #: whether it is looked for up to the top of the file system
    obeyed: bool = True  #: False: not in a folder that nobody trusted, as in a probe; covered nevertheless


class Recipe(NamedTuple):
    """How to run one agent."""

    programs: tuple[str, ...]
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]
    #: tools that read a file, and the input that does it: JSON with {path}, or {quoted} for a shell
    reads: tuple[tuple[str, ...], str]
    copies: tuple[str, ...]
    settings: str = ""  #: the settings file of the home whose values are merged into the one of `files`
    keeps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()  #: more words, where tools are to run
    writes: tuple[str, ...] = ()  #: instruction files that the agent writes itself before it reads them
    trust: str = ""  #: the variable that makes the agent trust the folder
    rules_file: str = ""  #: the file to which the rules of a case are added, where that is not a settings file
    records_blocks: bool = False  #: whether its cases record blocks per turn, not segments
    project: tuple[ProjectFile, ...] = ()
    permits: tuple[str, ...] = ()  #: words of `argv` that a case in which a call was denied did not have

    def read_input(self, path: str) -> dict[str, object]:
        """The input with which a tool reads a file.

        >>> RECIPES["codex"].read_input("/a b/c.py")["cmd"]
        "cat '/a b/c.py'"
        """
        places = {"{path}": path, "{quoted}": shlex.quote(path)}
        form = self.reads[1]
        for place, value in places.items():
            form = form.replace(place, json.dumps(value)[1:-1])
        found: dict[str, object] = json.loads(form)
        return found


def _env(text: str) -> dict[str, str]:
    """Variables as `env` takes them."""
    return dict(word.split("=", 1) for word in text.split())


def _files(words: str, form: str = "json", *, climbs: bool = False, obeyed: bool = True) -> tuple[ProjectFile, ...]:
    """Files of a project, named with spaces between."""
    return tuple(ProjectFile(word, form, climbs, obeyed) for word in words.split())


#: what a program made with Bun reads by itself in the folder it starts in
BUN = _files(".env .env.local .env.development .env.production bunfig.toml", "whole")

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
CLINE_MODEL = {"provider": "openai-compatible", "apiKey": "{key}", "model": "probe-model", "baseUrl": "{url}/v1"}
CLINE_PROVIDER = {"settings": CLINE_MODEL, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
CLINE = {
    "version": 1,
    "lastUsedProvider": "openai-compatible",
    "modes": {},
    "providers": {"openai-compatible": CLINE_PROVIDER},
}

RECIPES: dict[str, Recipe] = {
    "claude-code": Recipe(
        programs=("claude",),
        argv=(
            "--allowedTools=Bash,Edit,Write,NotebookEdit",
            "--settings",
            '{"disableAllHooks": true}',
            "-p",
            "{prompt}",
        ),
        env=_env(
            "ANTHROPIC_API_KEY={key} ANTHROPIC_BASE_URL={url} CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 "
            "DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1"
        ),
        files={},
        reads=(("Read",), '{"file_path": "{path}"}'),
        copies=(".claude/CLAUDE.md", ".claude/rules"),
        settings=".claude/settings.json",
        keeps=(
            "claudeMdExcludes",
            "autoMemoryEnabled",
            "includeCoAuthoredBy",
            "attribution",
            "pluginConfigs",
            "enabledPlugins",
        ),
        records_blocks=True,
        project=_files(".claude/settings.json .claude/settings.local.json .mcp.json"),
    ),
    "codex": Recipe(
        programs=("codex",),
        argv=("exec", "--skip-git-repo-check", "{prompt}"),
        env={"CODEX_HOME": "{home}/.codex", "PROBE_KEY": "{key}"},
        files={".codex/config.toml": CODEX},
        reads=(("exec_command", "shell_command", "shell"), '{"cmd": "cat {quoted}", "command": "cat {quoted}"}'),
        copies=(".codex/AGENTS.md", ".codex/AGENTS.override.md"),
        settings=".codex/config.toml",
        keeps=("project_doc_max_bytes", "project_doc_fallback_filenames", "project_root_markers"),
        tools=("--dangerously-bypass-approvals-and-sandbox",),
        project=(*_files(".codex/config.toml", "toml"), *_files(".codex/hooks.json", "whole")),
    ),
    "gemini-cli": Recipe(
        programs=("gemini",),
        argv=("-p", "{prompt}"),
        env=_env(
            "GEMINI_API_KEY={key} GOOGLE_GEMINI_BASE_URL={url} GEMINI_MODEL=gemini-2.5-flash "
            "GEMINI_TELEMETRY_ENABLED=false GEMINI_CLI_TRUST_WORKSPACE=true"
        ),
        files={
            ".gemini/settings.json": json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, **QUIET})
        },
        reads=(("read_file",), '{"file_path": "{path}"}'),
        copies=(".gemini/GEMINI.md",),
        settings=".gemini/settings.json",
        keeps=("context",),
        tools=("--yolo",),
        trust="GEMINI_CLI_TRUST_WORKSPACE",
        project=(*_files(".gemini/settings.json"), *_files(".gemini/.env .env", "whole", climbs=True)),
    ),
    "opencode": Recipe(
        programs=("opencode",),
        argv=("run", "--model", "probe/probe-model", "{prompt}"),
        env=_env(
            "OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 "
            "OPENCODE_DISABLE_DEFAULT_PLUGINS=1 npm_config_offline=true"
        ),
        files={".config/opencode/opencode.json": json.dumps(OPENCODE)},
        reads=(("read",), '{"filePath": "{path}"}'),
        copies=(".config/opencode/AGENTS.md", ".claude/CLAUDE.md"),
        settings=".config/opencode/opencode.json",
        keeps=("instructions",),
        project=(
            *_files("opencode.json opencode.jsonc .opencode/opencode.json .opencode/opencode.jsonc"),
            *_files(".opencode/plugin .opencode/plugins .opencode/tool .opencode/tools", "whole"),
        ),
    ),
    "copilot-cli": Recipe(
        programs=("copilot",),
        argv=(
            *("--allow-all-tools", "--allow-all-paths", "--no-auto-update", "--disable-client-telemetry"),
            *("--log-level", "none", "-p", "{prompt}"),
        ),
        env=_env(
            "COPILOT_PROVIDER_BASE_URL={url}/v1 COPILOT_PROVIDER_TYPE=openai "
            "COPILOT_PROVIDER_WIRE_API=completions COPILOT_PROVIDER_API_KEY={key} COPILOT_MODEL=gpt-4.1 "
            "COPILOT_OFFLINE=true COPILOT_AUTO_UPDATE=false"
        ),
        files={},
        reads=(("view",), '{"path": "{path}"}'),
        copies=(".copilot/copilot-instructions.md", ".copilot/instructions"),
        permits=("--allow-all-paths",),
        project=(
            *_files(".mcp.json .github/mcp.json .vscode/mcp.json .github/lsp.json", obeyed=False),
            *_files(".github/copilot/settings.json .github/copilot/settings.local.json", obeyed=False),
            *_files(".claude/settings.json .claude/settings.local.json", obeyed=False),
            *_files(".github/hooks .github/extensions", "whole", obeyed=False),
        ),
    ),
    "qwen-code": Recipe(
        programs=("qwen",),
        argv=("--yolo", "--auth-type", "openai", "-p", "{prompt}"),
        env=_env("OPENAI_API_KEY={key} OPENAI_BASE_URL={url}/v1 OPENAI_MODEL=probe-model QWEN_TELEMETRY_ENABLED=false"),
        files={
            ".qwen/settings.json": json.dumps(
                {"security": {"auth": {"selectedType": "openai"}}, "model": MODEL, **QUIET}
            )
        },
        reads=(("read_file",), '{"file_path": "{path}"}'),
        copies=(".qwen/QWEN.md", ".qwen/AGENTS.md", ".qwen/rules", ".qwen/output-language.md"),
        settings=".qwen/settings.json",
        keeps=("context",),
        writes=(".qwen/output-language.md",),
        project=(*_files(".qwen/settings.json .mcp.json"), *_files(".qwen/.env .env", "whole", climbs=True)),
    ),
    "cline": Recipe(
        programs=("cline",),
        argv=("{prompt}",),
        env={"CLINE_TELEMETRY_DISABLED": "1", "CLINE_NO_AUTO_UPDATE": "1", "CLINE_SESSION_BACKEND_MODE": "local"},
        files={
            ".cline/data/settings/providers.json": json.dumps(CLINE),
            ".cline/data/settings/global-settings.json": '{"telemetryOptOut": true}',
        },
        reads=(("read_files",), '{"files": [{"path": "{path}"}]}'),
        copies=(".agents/AGENTS.md", ".cline/rules", "Documents/Cline/Rules", "Cline/Rules"),
        project=(*BUN, *_files(".clinerules/hooks .cline/hooks .cline/plugins", "whole")),
    ),
    "continue": Recipe(
        programs=("cn",),
        argv=("--config", "{home}/probe.yaml", "--auto", "-p", "{prompt}"),
        env=_env("CONTINUE_TELEMETRY_ENABLED=0 CONTINUE_ALLOW_ANONYMOUS_TELEMETRY=0 CONTINUE_METRICS_ENABLED=0"),
        files={"probe.yaml": CONTINUE},
        reads=(("Read",), '{"filepath": "{path}"}'),
        copies=(".continue/rules",),
        rules_file="probe.yaml",
        project=(
            *_files(".env .continue/.env", "whole"),
            *_files(
                ".continue/mcpServers .continue/settings.json .continue/settings.local.json", "whole", obeyed=False
            ),
        ),
    ),
}
