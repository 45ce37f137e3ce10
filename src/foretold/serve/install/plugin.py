"""The files of the Claude Code plugin that say the same as an install does: from the same tables.

`python -m foretold.serve.install.plugin FOLDER` writes them; a test compares them with those of the repository.
"""

from __future__ import annotations

import json
import os
import sys

import foretold
from foretold.dialects.install_targets import INSTALLS, NAME
from foretold.serve.install.ours import group_of, server_of

ABOUT = "What Claude Code is told, remembers and did: recall, missed rules, drift, and search of sessions."
AGENT = "claude-code"


def plugin_files() -> dict[str, str]:
    """Path in the repository -> text."""
    install = INSTALLS[AGENT]
    assert install.hooks
    assert install.mcp
    hooks = {hook.event: [group_of(hook, install.hooks, [NAME])] for hook in install.hooks.events}
    manifest = {
        "name": NAME,
        "version": foretold.__version__,
        "description": ABOUT,
        "author": {"name": "the foretold authors"},
        "license": "MIT",
        "keywords": ["memory", "context", "CLAUDE.md", "sessions"],
    }
    entry = {"name": NAME, "source": "./plugin", "description": ABOUT, "version": foretold.__version__}
    market = {
        "name": NAME,
        "owner": {"name": "the foretold authors"},
        "metadata": {"description": "The plugin of foretold, the memory and context layer of coding agents."},
        "plugins": [entry],
    }
    found = {
        "plugin/.claude-plugin/plugin.json": manifest,
        "plugin/hooks/hooks.json": {"description": ABOUT, "hooks": hooks},
        "plugin/.mcp.json": {"mcpServers": {NAME: server_of(install.mcp, [NAME])}},
        ".claude-plugin/marketplace.json": market,
    }
    return {path: json.dumps(value, indent=2) + "\n" for path, value in found.items()}


def main(folder: str) -> None:
    for path, text in plugin_files().items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
