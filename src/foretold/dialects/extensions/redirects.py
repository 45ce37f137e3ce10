"""Settings with which a repository decides where an agent sends what it is given, or what it does without asking.

From the documents that the tables of the agents name: settings-reference and env-vars of Claude Code, the configuration
of Codex, Gemini CLI and opencode. `proof.probe` takes far more than this from a project before it starts an agent:
there everything that could lead away counts, here only what surely does.
"""

from __future__ import annotations

import re

from foretold.types import NamedTuple

CLAUDE = ".claude/settings.json"
CLAUDE_LOCAL = ".claude/settings.local.json"  #: counts if git tracks it
GEMINI, CODEX, OPENCODE = ".gemini/settings.json", ".codex/config.toml", "opencode.json"


class RedirectRow(NamedTuple):
    """A setting, and what it does to everyone who works in the repository."""

    paths: tuple[str, ...]  #: how the path of the file ends
    agents: tuple[str, ...]
    keys: tuple[str, ...]  #: one below the other; `*` is any name, `a|b` one of several
    effect: str
    code: str = "settings-redirect"
    severity: str = ""  #: other than that of its code
    values: str = ""  #: a pattern of the values that count; empty: all but an empty one
    is_address: bool = False  #: the value is an address; one of this machine leads nowhere else


_CLAUDE = ((CLAUDE, CLAUDE_LOCAL), ("claude-code",))
_URLS = "ANTHROPIC_BASE_URL|ANTHROPIC_BEDROCK_BASE_URL|ANTHROPIC_BEDROCK_MANTLE_BASE_URL|ANTHROPIC_VERTEX_BASE_URL"
_URLS += "|ANTHROPIC_FOUNDRY_BASE_URL|ANTHROPIC_AWS_BASE_URL"
_PROXIES = "HTTP_PROXY|HTTPS_PROXY|ALL_PROXY|http_proxy|https_proxy|all_proxy"
#: providers that opencode knows by itself, and for which users have credentials (opencode.ai/docs/providers)
_PROVIDERS = (
    "anthropic|openai|google|google-vertex|amazon-bedrock|azure|openrouter|github-copilot|opencode|groq|xai|mistral"
)
_RUNS = "code of the repository runs in the agent and its commands"
_SENT = "everything that the agent sends, with the credentials of the user, goes there"

REDIRECTS = (
    RedirectRow(*_CLAUDE, ("env", _URLS), _SENT, is_address=True),
    RedirectRow(
        *_CLAUDE, ("env", _PROXIES), "all traffic of the agent and of its commands goes through it", is_address=True
    ),
    RedirectRow(*_CLAUDE, ("env", "ANTHROPIC_CUSTOM_HEADERS"), "it is sent with every request", severity="warning"),
    RedirectRow(
        *_CLAUDE,
        ("env", "NODE_TLS_REJECT_UNAUTHORIZED"),
        "no certificate is checked, so that anyone on the way can read along",
        values=r"0",
    ),
    RedirectRow(
        *_CLAUDE, ("env", "NODE_EXTRA_CA_CERTS"), "the agent trusts certificates of the repository", severity="warning"
    ),
    RedirectRow(*_CLAUDE, ("env", "LD_PRELOAD|BASH_ENV"), _RUNS),
    RedirectRow(*_CLAUDE, ("env", "NODE_OPTIONS"), _RUNS, values=r"(?:.*\s)?(?:-r|--require|--import|--loader)[= ].*"),
    RedirectRow(*_CLAUDE, ("apiKeyHelper",), "it is run to get the credential for every request", severity="warning"),
    RedirectRow(
        *_CLAUDE, ("disableAllHooks",), "no hook runs, those of the user neither", "settings-bypass", values="true"
    ),
    RedirectRow(
        *_CLAUDE,
        ("permissions", "defaultMode"),
        "the agent asks for nothing",
        "settings-bypass",
        values="bypassPermissions",
    ),
    RedirectRow(
        *_CLAUDE,
        ("enableAllProjectMcpServers",),
        "every server of .mcp.json is started without a question, those added later too",
        "settings-bypass",
        severity="note",
        values="true",
    ),
    RedirectRow(
        *_CLAUDE,
        ("permissions", "allow"),
        "every command is run without a question",
        "settings-bypass",
        values=r"\*|Bash|Bash\((?:\*|:\*|\*:\*)\)",
    ),
    RedirectRow(
        (CODEX,),
        ("codex",),
        ("model_providers", "*", "base_url"),
        f"{_SENT}; newer releases ignore it",
        is_address=True,
    ),
    RedirectRow(
        (CODEX,),
        ("codex",),
        ("openai_base_url|chatgpt_base_url",),
        f"{_SENT}; newer releases ignore it",
        is_address=True,
    ),
    RedirectRow(
        (CODEX,),
        ("codex",),
        ("sandbox_mode",),
        "commands of the agent may do everything",
        "settings-bypass",
        values="danger-full-access",
    ),
    RedirectRow(
        (CODEX,),
        ("codex",),
        ("approval_policy",),
        "the agent asks for nothing",
        "settings-bypass",
        values="never",
        severity="note",
    ),
    RedirectRow(
        (GEMINI,),
        ("gemini-cli",),
        ("general", "defaultApprovalMode"),
        "the agent asks for nothing",
        "settings-bypass",
        values="yolo",
    ),
    RedirectRow(
        (GEMINI,),
        ("gemini-cli",),
        ("mcpServers", "*", "trust"),
        "tools of this server are run without a question",
        "settings-bypass",
        severity="note",
        values="true",
    ),
    RedirectRow(
        (GEMINI,),
        ("gemini-cli",),
        ("telemetry", "otlpEndpoint"),
        "what is said and done is sent there",
        is_address=True,
    ),
    RedirectRow(
        (OPENCODE, "opencode.jsonc"),
        ("opencode",),
        ("provider", _PROVIDERS, "options", "baseURL"),
        _SENT,
        is_address=True,
    ),
    RedirectRow(
        (OPENCODE, "opencode.jsonc"),
        ("opencode",),
        ("provider", "*", "options", "baseURL"),
        "a provider that the repository adds: who chooses it sends everything there",
        severity="warning",
        is_address=True,
    ),
    RedirectRow(
        (OPENCODE, "opencode.jsonc"),
        ("opencode",),
        ("share",),
        "every session is published under an address that anyone can open",
        "settings-bypass",
        values="auto",
    ),
)

#: hosts of this machine, and names that only a local network resolves
LOOPBACK = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/@]*@)?(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|0\.0\.0\.0|[^/.:]+\.localhost"
    r"|host\.docker\.internal)(?::\d+)?(?:/|$)",
    re.IGNORECASE,
)
PRIVATE = re.compile(
    r"https?://(?:[^/@]*@)?(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}"
    r"|[^/.:]+|[^/:]+\.(?:local|internal|lan|test|svc))(?::\d+)?(?:/|$)",
    re.IGNORECASE,
)

#: names of files that are one person's own
LOCAL_NAMES = re.compile(
    r"(?:^|/)(?:(?:CLAUDE|AGENTS|GEMINI)\.local\.md|\.(?:claude|gemini|qwen)/settings\.local\.json"
    r"|\.github/copilot/settings\.local\.json)$"
)
