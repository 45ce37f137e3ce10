"""PreToolUse: who may write memories, and who may change what guards them.

1. A call that would change a file in a folder of memories is judged by the write policy (`memory.write_policy`).
2. A change of our settings, of our state, or of an agent's settings in which our hooks are, is asked about.
3. A shell command is judged by what it names and what it runs (`memory.command_policy`). Most name nothing of ours,
   which shows without parsing them.
4. Nothing is ever allowed here that the agent itself would refuse or ask about.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from foretold.serve.hooks.agent_protocols import NO_OUTPUT, HookOutput
from foretold.serve.hooks.events.touched_files import WRITES, absolute_path, paths_in, touch_of
from foretold.serve.hooks.json import table_of, text_of
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.write_policy import WriteDecision
    from foretold.serve.hooks.context import HookContext
    from foretold.serve.hooks.json import Payload

COMMANDS = ("command", "cmd", "script", "commands")  #: fields with a line for a shell
LONGEST = 4096  #: characters of a path: PATH_MAX of Linux
TEXTS = frozenset("content new_string text edits".split())  #: fields with which an unknown tool writes a file
#: folders of agents, and the settings in them that may have our hooks
AGENTS = (".claude", ".codex", ".gemini", ".qwen", ".cursor", ".copilot", ".config/opencode")
HOLDING = ("settings.json", "settings.local.json", "hooks.json", "config.toml", "mcp.json", "opencode.json")
MARKS = (
    "foretold",
    "headnote",
    "memory",
    "disableAllHooks",
    "settings.",
    *AGENTS,
)  #: a command that concerns us has one
REMOVERS = frozenset("rm rmdir mv shred -delete".split())  #: what takes a folder with all that is in it
SETTINGS = (".json", ".jsonc", ".toml", ".yaml", ".yml")
LARGEST = 4 * 1024 * 1024  #: bytes of settings in which our hooks are looked for
OWN_SETTINGS = "Hooks of foretold, which guard the user's memories, are in this file: the user decides."


def handle(context: HookContext) -> HookOutput:
    """The verdict on a tool call."""
    if not context.settings.guard:
        return context.say_nothing("memory policy: switched off (hooks.guard)")
    touch = touch_of(context)
    if touch.tool == "Bash" and touch.command:
        return _judge_command(context, touch.command, touch.paths)
    given = table_of(context.payload, "tool_input")
    if touch.tool.startswith("mcp__"):
        return _judge_foreign(context, given)
    if touch.tool not in WRITES and not TEXTS & given.keys():
        return context.say_nothing("memory policy: the call writes no memory")
    inside = [(path, scope) for path in touch.paths if (scope := scope_of(path, context))]
    if not inside:
        return _judge_settings(context, touch.paths, given)
    from foretold.memory.write_policy import decide_write, written_text

    policy = context.place.policy
    found = decide_write(policy, written_text(given), is_team=any(scope == "team" for _, scope in inside))
    return _output(context, found, f"{policy}, for {inside[0][0]}")


def _judge_foreign(context: HookContext, given: Payload) -> HookOutput:
    """The verdict on a tool of another MCP server: each text in its input may be a path, or a command."""
    texts = [*_texts_in(given)]
    for key, text in texts:
        if key in COMMANDS:
            paths = tuple(paths_in(text, context.shell_folder, context.caller.home, None))
            found = _judge_command(context, text, paths)
            if found.verdict:
                return found
    name = text_of(context.payload, "tool_name").lower()
    is_alone = len(texts) < 2 and not any(verb in name for verb in ("delete", "remove", "unlink", "trash"))
    if is_alone or _only_looks(name):
        return context.say_nothing("memory policy: the call writes no memory")
    named = [_path_of(text) for _, text in texts if len(text) < LONGEST and "\n" not in text]
    paths = tuple(absolute_path(text, context.shell_folder, context.caller.home) for text in named if "/" in text)
    inside = [scope for path in paths if (scope := scope_of(path, context))]
    if not inside:
        return _judge_settings(context, paths, given)
    from foretold.memory.write_policy import decide_write

    text = "\n".join(text for _, text in texts)
    return _output(context, decide_write(context.place.policy, text, is_team="team" in inside), "a tool of a server")


def _path_of(text: str) -> str:
    """A text as a path, if it is one, or the address of a file."""
    if not text.startswith("file:"):
        return text
    first, *others = text.removeprefix("file:").removeprefix("//").removeprefix("localhost").split("%")
    try:
        return first + "".join(chr(int(each[:2], 16)) + each[2:] for each in others)
    except ValueError:
        return text


def _only_looks(name: str) -> bool:
    return name.rpartition("__")[2].partition("_")[0] in ("read", "get", "list", "search", "find", "view", "stat")


def _texts_in(value: object) -> Iterator[tuple[str, str]]:
    """Every text in an input, with the key that it is under; a list of words under a command is one text."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        key, each = waiting.pop()
        if isinstance(each, str):
            yield key, each
        elif isinstance(each, dict):
            waiting += [(str(name), inner) for name, inner in each.items()]
        elif isinstance(each, list):
            if key in COMMANDS and all(isinstance(inner, str) for inner in each):
                yield key, " ".join(each)
            waiting += [("", inner) if key in COMMANDS else (key, inner) for inner in each]


def _judge_settings(context: HookContext, paths: tuple[str, ...], given: Payload) -> HookOutput:
    """The verdict on a call that writes a file which is not a memory."""
    own = own_places(context)
    if any(_is_inside(path, folder) for path in paths for folder in own):
        from foretold.memory.command_policy import ASK_OWN

        return _ask(context, ASK_OWN)
    if any(has_our_hooks(path) or _switches_off(path, given) for path in paths):
        return _ask(context, OWN_SETTINGS)
    return context.say_nothing("memory policy: the call writes no memory")


def _judge_command(context: HookContext, command: str, paths: tuple[str, ...]) -> HookOutput:
    """The verdict on a shell command."""
    own = own_places(context)
    folders = [*(folder for folder, _ in context.place.stores), *own]
    is_near = any(_is_inside(path, folder) for path in (*paths, context.shell_folder) for folder in folders)
    if REMOVERS & {*command.split()}:
        is_near = is_near or any(folder.startswith(path.rstrip("/") + "/") for path in paths for folder in folders)
    if not is_near and not _may_concern(command, folders, context.caller.home):
        if any(has_our_hooks(path) for path in paths):
            from foretold.memory.command_policy import only_reads

            return NO_OUTPUT if only_reads(command) else _ask(context, OWN_SETTINGS)
        return context.say_nothing("memory policy: the command names no memory")
    from foretold.memory.command_policy import GuardedPlaces, judge_command, only_reads

    home = context.caller.home.rstrip("/")
    settings = settings_with_hooks(home, context.place.root.rstrip("/"))
    places = GuardedPlaces(tuple(context.place.stores), own, context.shell_folder, home, settings)
    found = judge_command(command, places, context.place.policy)
    is_change = not found.decision and not only_reads(command) and any(_guards(path, command) for path in paths)
    if is_change:
        return _ask(context, OWN_SETTINGS)
    return _output(context, found, f"{context.place.policy}, for a command")


def _may_concern(command: str, folders: list[str], home: str) -> bool:
    """Whether a command may name what is guarded: quotes do not hide a name, and a part of a path is enough."""
    plain = command.replace("'", "").replace('"', "").replace("\\", "")
    if any(mark in plain for mark in MARKS) or any(char in plain for char in "$`*?[{"):
        return True
    if {"~", "~/", home, f"{home}/", "cd;", "cd"} & {*plain.split()}:
        return True
    below = [folder.removeprefix(home) for folder in folders]
    return any(len(name) > 8 and name in plain for path in below for name in path.split("/")) or (
        any(char in plain for char in "*?[{") and any(name in plain for name in (".cla", ".fore", "projects"))
    )


def own_places(context: HookContext) -> tuple[str, ...]:
    """Our settings and folders, and the repository's settings for us."""
    ours = context.ours
    config = ours.config if os.path.dirname(ours.config) == ours.state else os.path.dirname(ours.config)
    return (config, ours.state, ours.cache, f"{context.place.root.rstrip('/')}/.foretold.toml")


def settings_with_hooks(*folders: str) -> tuple[str, ...]:
    """The settings of agents, below some folders, that start our command."""
    paths = (f"{folder}/{agent}/{name}" for folder in folders for agent in AGENTS for name in HOLDING)
    return tuple(path for path in paths if has_our_hooks(path))


def _guards(path: str, command: str) -> bool:
    return has_our_hooks(path) or ("disableAllHooks" in command and path.endswith(SETTINGS))


def has_our_hooks(path: str) -> bool:
    """Whether a file is settings of an agent, in a hidden folder, that start our command."""
    if not path.endswith(SETTINGS) or "/." not in path:
        return False
    try:
        handle = open_regular(path)
    except (OSError, ValueError):
        return False
    try:
        return b"foretold" in os.read(handle, LARGEST)
    except OSError:
        return False
    finally:
        os.close(handle)


def _switches_off(path: str, given: Payload) -> bool:
    """Whether a call writes the setting of Claude Code that turns all hooks off."""
    if not path.endswith(SETTINGS):
        return False
    texts = [text for _, text in _texts_in(given)]
    is_agents = any(f"/{agent}/" in path for agent in AGENTS)  # an escape may spell a letter of the key
    return any("disableAllHooks" in text or (is_agents and "\\u00" in text) for text in texts)


def _is_inside(path: str, folder: str) -> bool:
    for each in {path, os.path.realpath(path)} if "\0" not in path else ():
        for spelling in {folder, os.path.realpath(folder)}:
            if each == spelling or each.startswith(spelling.rstrip("/") + "/"):
                return True
    return False


def scope_of(path: str, context: HookContext) -> str:
    """The scope of the store that a path is in; empty if it is in none."""
    return next((scope for folder, scope in context.place.stores if _is_inside(path, folder)), "")


def _ask(context: HookContext, reason: str) -> HookOutput:
    context.why.append("guard: the call changes what guards memories")
    return HookOutput(verdict="ask", reason=reason)


def _output(context: HookContext, found: WriteDecision, about: str) -> HookOutput:
    context.why.append(f"memory policy: {found.note or about}")
    return HookOutput(verdict=found.decision, reason=found.reason) if found.decision else NO_OUTPUT
