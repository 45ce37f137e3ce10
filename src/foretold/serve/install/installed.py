"""What of ours is where: every agent, for the user and for this project, read from its settings files themselves."""

from __future__ import annotations

import shlex

from foretold.dialects.install_targets import INSTALLS, NAME, Install
from foretold.errors import SettingsRefused
from foretold.serve.install.formats import toml, yaml
from foretold.serve.install.formats.json import document_of, object_of
from foretold.serve.install.ours import PARTS, is_our_handler
from foretold.serve.install.program import is_there
from foretold.serve.install.python import PACKAGE, way_to_get, without_package
from foretold.serve.install.targets import SCOPES, Here, Settings, settings_of
from foretold.serve.install.unsafe import Unsafe
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

GONE = "the program is not there"


class Installed(NamedTuple):
    """A part of ours in a settings file, or why that could not be read."""

    agent: str
    scope: str
    path: str
    part: str  #: hooks, mcp; empty: the file could not be read
    events: tuple[str, ...] = ()  #: of hooks: the events that are there
    missing: tuple[str, ...] = ()  #: and those that an install would add
    command: tuple[str, ...] = ()  #: what the agent runs
    is_valid: bool = True  #: whether that can still be started
    problem: str = ""  #: why not; or why the file could not be read
    remedy: str = ""  #: a command that mends it


def installed(here: Here) -> list[Installed]:
    """What of ours is installed."""
    found: list[Installed] = []
    for agent, install in INSTALLS.items():
        for scope in SCOPES:
            if scope == "project" and here.top == here.home:
                continue  # the same files
            try:
                for settings in settings_of(install, scope, here, PARTS):
                    found += _in_file(agent, scope, install, settings, here)
            except SettingsRefused as error:
                found.append(Installed(agent, scope, "", "", is_valid=False, problem=str(error)))
    return found


def _in_file(agent: str, scope: str, install: Install, settings: Settings, here: Here) -> Iterator[Installed]:
    try:
        value = _value(settings)
    except Unsafe as error:
        yield Installed(agent, scope, settings.path, "", is_valid=False, problem=f"it cannot be read: {error}")
        return
    calls = _calls(value.get("hooks")) if "hooks" in settings.parts else {}
    if calls and install.hooks:
        missing = tuple(hook.event for hook in install.hooks.events if hook.event not in calls)
        command = next(iter(calls.values()))
        valid = all(is_there(words, here.env) for words in calls.values())
        said = "" if valid else GONE
        yield Installed(agent, scope, settings.path, "hooks", tuple(calls), missing, command, valid, said)
    argv = _server(value, settings.servers) if "mcp" in settings.parts else ()
    if argv:
        yield _server_in(Installed(agent, scope, settings.path, "mcp", command=argv), here)


def _server_in(found: Installed, here: Here) -> Installed:
    """Whether a server can be started."""
    if not is_there(found.command, here.env):
        return found._replace(is_valid=False, problem=GONE)
    python = without_package(found.command, here.env)
    if python:
        said = f"{python} has not the package {PACKAGE}, which the server needs"
        return found._replace(is_valid=False, problem=said, remedy=way_to_get(python))
    return found


def _value(settings: Settings) -> dict[str, object]:
    if settings.form == "toml":
        return toml.value_of(settings.text)
    if settings.form == "yaml":
        return yaml.value_of(settings.text)
    return object_of(document_of(settings.text, settings.form))


def _calls(hooks: object) -> dict[str, tuple[str, ...]]:
    """Event -> the words of our command there."""
    found = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for handler in handlers if isinstance(handlers, list) else ():
                if is_our_handler(handler):
                    found[event] = _words(handler["command"])
    return found


def _words(line: str) -> tuple[str, ...]:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return tuple(words[: words.index("hook")] if "hook" in words else words)


def _server(value: object, keys: tuple[str, ...]) -> tuple[str, ...]:
    """The words that start our server; empty if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, list):
        value = {item.get("name"): item for item in value if isinstance(item, dict)}
    entry = value.get(NAME) if isinstance(value, dict) else None
    if not isinstance(entry, dict):
        return ()
    command, args = entry.get("command"), entry.get("args")
    first = [command] if isinstance(command, str) else command if isinstance(command, list) else []
    return tuple(str(word) for word in [*first, *(args if isinstance(args, list) else [])]) or ("?",)
