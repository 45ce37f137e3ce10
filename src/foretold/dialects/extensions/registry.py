"""All tables of this folder, by what they are about."""

from __future__ import annotations

from foretold.dialects.extensions import (
    agent_skills,
    claude_code,
    claude_settings,
    codex,
    copilot,
    cursor,
    gemini,
    opencode,
)

DEFINITIONS = (
    claude_code.AGENT,
    claude_code.COMMAND,
    gemini.COMMAND,
    gemini.AGENT,
    opencode.AGENT,
    opencode.COMMAND,
    copilot.AGENT,
    copilot.PROMPT,
    cursor.AGENT,
    claude_code.RULE,
    cursor.RULE,
    copilot.RULE,
)
#: of a plugin, by their folders below its top
PLUGIN_DEFINITIONS = (claude_code.PLUGIN_AGENT, claude_code.PLUGIN_COMMAND)
PLUGINS = (claude_code.PLUGIN,)
PLUGIN_HOOKS, PLUGIN_SERVERS = claude_code.HOOKS, claude_code.SERVERS
SKILL = claude_code.SKILL  #: the table of skills with the most keys; other agents ignore what they do not know
#: definitions that may have hooks in their frontmatter
WITH_HOOKS = (claude_code.AGENT,)
SETTINGS = (
    claude_settings.SETTINGS,
    claude_settings.LOCAL_SETTINGS,
    gemini.SETTINGS,
    opencode.SETTINGS,
    codex.SETTINGS,
)
SERVERS = (
    claude_code.SERVERS,
    codex.SERVERS,
    gemini.SERVERS,
    opencode.SERVERS,
    opencode.SERVERS._replace(path="opencode.jsonc"),
    copilot.CODE_SERVERS,
    copilot.CLI_SERVERS,
    cursor.SERVERS,
    *cursor.LIKE_SERVERS,
)
#: how the path of a file with hooks ends -> their table, and the form of the file
HOOKS = {
    claude_settings.PROJECT: (claude_code.HOOKS, "json"),
    claude_settings.LOCAL: (claude_code.HOOKS, "json"),
    gemini.FILE: (gemini.HOOKS, "jsonc"),
    ".codex/hooks.json": (codex.HOOKS, "json"),
    codex.CONFIG: (codex.HOOKS, "toml"),
    ".cursor/hooks.json": (cursor.HOOKS, "json"),
}
HOOK_FOLDERS = {".github/hooks": copilot.HOOKS}  #: in which every JSON file has hooks

#: keys that some agent, or the people who keep such files, use: never a slip of another key
KNOWN_KEYS = frozenset(
    key for table in (*DEFINITIONS, agent_skills.STANDARD, claude_code.SKILL) for key in table.keys
) | frozenset(
    "title tags tag author authors date created updated category categories type types version status priority owner"
    " triggers trigger scope level source sources url link icon emoji alias aliases keywords topics topic domain"
    " phase order id uid slug lang language homepage repository example examples input inputs output outputs"
    " argument requires dependencies related role persona team stage hidden enabled disabled globs applyTo"
    " alwaysApply path glob files".split()
)
