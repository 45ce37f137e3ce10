"""The files of the Claude Code plugin that say the same as an install does: from the same tables.

`python -m foretold.serve.install.plugin FOLDER` writes them; a test compares them with those of the repository.
A plugin may be installed where the program is not: then its hooks are silent, and the first one of a session says what
to do in one line, instead of a failure at every event.
"""

from __future__ import annotations

import json
import os
import shlex
import sys

import foretold
from foretold.dialects.install_targets import INSTALLS, NAME
from foretold.serve.install.ours import group_of, server_of

ABOUT = "What Claude Code is told, remembers and did: recall, missed rules, drift, and search of sessions."
AGENT = "claude-code"
ABSENT = (
    "foretold is not on PATH, so its plugin does nothing: install the program (see the README of the plugin), or run "
    "claude plugin disable foretold@foretold"
)
FOUND = f"command -v {NAME} >/dev/null 2>&1"


def plugin_files() -> dict[str, str]:
    """Path in the repository -> text."""
    install = INSTALLS[AGENT]
    assert install.hooks
    assert install.mcp
    hooks = {hook.event: [_guard(group_of(hook, install.hooks, [NAME]), hook.event)] for hook in install.hooks.events}
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


def _guard(group: dict[str, object], event: str) -> dict[str, object]:
    """A group of hooks that runs the program only if it is there."""
    first = f"{{ echo {shlex.quote(json.dumps({'systemMessage': ABSENT}))}; exit 0; }}"
    otherwise = first if event == "SessionStart" else "exit 0"
    inside = group["hooks"]
    assert isinstance(inside, list)
    hooks = [{**hook, "command": f"{FOUND} || {otherwise}; {hook['command']}"} for hook in inside]
    return {**group, "hooks": hooks}


def main(folder: str) -> None:
    for path, text in plugin_files().items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
