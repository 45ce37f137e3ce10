"""What is ours in an agent's settings: hooks by their command, a server by its name.

1. A hook is ours if its command calls `foretold hook`, whatever the path of the program. Other hooks stay, also in a
   group with ours.
2. The server called `foretold` is ours.
3. Not all that is ours was written by an install. One writes `type`, `command` and `timeout`, and a plain command; what
   has another form was written by hand, and is not removed by an uninstall.
4. What to install comes from the tables of `dialects/install_targets.py`, with our own command filled in.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence

from foretold.dialects.install_targets import INSTALLS, NAME, Hook, HookTarget, Install, McpTarget
from foretold.types import NamedTuple

_CALL = re.compile(r"""(?:^|[\s/"'])foretold["']?\s+hook\s+[A-Za-z]+""")
PARTS = ("hooks", "mcp")


class InstallPiece(NamedTuple):
    """One thing to put into a settings file."""

    part: str  #: hooks, mcp
    keys: tuple[str, ...]  #: of the list of an event, or of the server
    value: Mapping[str, object]

    @property
    def event(self) -> str:
        return self.keys[-1] if self.part == "hooks" else ""


def is_our_call(command: object) -> bool:
    """Whether a command of a hook is ours."""
    return isinstance(command, str) and _CALL.search(command) is not None


def is_our_handler(handler: object) -> bool:
    return isinstance(handler, dict) and is_our_call(handler.get("command"))


def is_installed_handler(handler: object) -> bool:
    """Whether a hook is one that an install wrote, by its form.

    >>> line = "/opt/bin/foretold hook Stop"
    >>> is_installed_handler({"type": "command", "command": line, "timeout": 10})
    True
    >>> is_installed_handler({"type": "command", "command": line})
    False
    """
    if not (isinstance(handler, dict) and is_our_handler(handler) and set(handler) == {"type", "command", "timeout"}):
        return False
    try:
        words = shlex.split(handler["command"].removesuffix(" || true"))
    except ValueError:
        return False
    at = words.index("hook") if "hook" in words else 0
    is_plain = not any(re.search(r"[;&|<>$`\s]", word) for word in words[at:])
    return at > 0 and os.path.basename(words[at - 1]) == NAME and is_plain and len(words) in (at + 2, at + 4)


#: the keys of a server that an install writes, in any agent
_SERVER_KEYS = {key for install in INSTALLS.values() if install.mcp for key in install.mcp.shape}


def is_installed_server(entry: object) -> bool:
    """Whether a server is one that an install wrote, by its form."""
    return isinstance(entry, dict) and set(entry) <= _SERVER_KEYS


def wanted_pieces(
    install: Install, parts: Collection[str], command: Sequence[str], events: Collection[str]
) -> list[InstallPiece]:
    """What to install; `events` are the names of the chosen ones, empty for all."""
    found = []
    if install.hooks and "hooks" in parts:
        found += [
            InstallPiece("hooks", ("hooks", hook.event), group_of(hook, install.hooks, command))
            for hook in install.hooks.events
            if not events or {hook.event, hook.ours} & set(events)
        ]
    if install.mcp and "mcp" in parts:
        found.append(InstallPiece("mcp", (*install.mcp.keys, NAME), server_of(install.mcp, command)))
    return found


def group_of(hook: Hook, hooks: HookTarget, command: Sequence[str]) -> dict[str, object]:
    """The group of one event.

    >>> from foretold.dialects.install_targets import INSTALLS
    >>> hooks = INSTALLS["gemini-cli"].hooks
    >>> group_of(hooks.events[1], hooks, ["foretold"])["hooks"][0]["command"]
    'foretold hook UserPromptSubmit --agent gemini-cli || true'
    """
    line = shlex.join([*command, "hook", hook.ours, *(("--agent", hooks.agent) if hooks.agent else ())])
    line += hooks.after
    timeout = hook.seconds * (1000 if hooks.timeout == "{milliseconds}" else 1)
    handler = {"type": "command", "command": line, "timeout": timeout}
    return {**({"matcher": hook.matcher} if hook.matcher else {}), "hooks": [handler]}


def server_of(mcp: McpTarget, command: Sequence[str]) -> dict[str, object]:
    """The entry of our server.

    >>> from foretold.dialects.install_targets import INSTALLS
    >>> server_of(INSTALLS["claude-code"].mcp, ["/usr/bin/python3", "-I", "/opt/bin/foretold"])
    {'type': 'stdio', 'command': '/usr/bin/python3', 'args': ['-I', '/opt/bin/foretold', 'mcp']}
    """
    argv = [*command, "mcp"]
    filled: dict[str, object] = {"{program}": argv[0], "{words}": argv[1:], "{argv}": argv}
    return {key: filled.get(value, value) if isinstance(value, str) else value for key, value in mcp.shape.items()}
