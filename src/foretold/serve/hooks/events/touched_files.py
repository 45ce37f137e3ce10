"""Which files a tool call names: in a field of its input, or as words of a shell command.

1. A tool of the table names a file in one field; another one, say of an MCP server, in a field with a usual name.
2. A shell command names what its words name: those that could be a path, without quotes and redirections.
3. `own` are files for which the agent itself attaches instructions; of a shell command, those that it plainly reads.
"""

from __future__ import annotations

import os

from foretold.serve.hooks.agent_protocols import NAMING, AgentTool
from foretold.serve.hooks.json import table_of, text_of
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.serve.hooks.context import HookContext
    from foretold.serve.hooks.events.rules_here import LoadedInstructions

MANY = 40  #: words of a shell command that are checked
_BREAKS = str.maketrans(dict.fromkeys("|&;<>(){}\n\t`'\"=,", " "))
READERS = frozenset("cat head tail nl grep egrep fgrep rg".split())
WRITES = ("Write", "Edit", "MultiEdit", "NotebookEdit")
LOOKS = ("Read", "Grep")  #: tools that change nothing
READS = ("Read", *WRITES)  #: tools after which the agent knows a file


class Touch(NamedTuple):
    """The files that one call names."""

    tool: str  #: as Claude Code calls it
    paths: tuple[str, ...]
    command: str = ""  #: of a shell


def touch_of(context: HookContext) -> Touch:
    """The files that a call names, as absolute paths."""
    given = table_of(context.payload, "tool_input")
    name = text_of(context.payload, "tool_name")
    tool = context.protocol.tools.get(name)
    if tool is None:
        key = next((key for key in NAMING if text_of(given, key)), "")
        tool = AgentTool(name, key)
    value = given.get(tool.key)
    text = " ".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""
    if tool.name == "Bash":
        many = None if context.event == "PreToolUse" else MANY  # what guards looks at all of them
        return Touch("Bash", tuple(paths_in(text, context.shell_folder, context.caller.home, many)), text)
    return Touch(tool.name, (absolute_path(text, context.shell_folder, context.caller.home),) if text else ())


def absolute_path(path: str, folder: str, home: str) -> str:
    """A path as a command in a folder means it.

    >>> absolute_path("~/a", "/r", "/home/me"), absolute_path("../b", "/r/s", "/home/me")
    ('/home/me/a', '/r/b')
    """
    for mark in ("~/", "$HOME/", "${HOME}/"):
        if path.startswith(mark):
            path = f"{home}/{path[len(mark) :]}"
    return os.path.normpath(os.path.join(folder, path))


def paths_in(command: str, folder: str, home: str, many: int | None = MANY) -> list[str]:
    """The paths that the words of a shell command may name, each once.

    >>> paths_in("sed -i s/a/b/ src/x.py && cat 'y z.md' > /var/out", "/r", "/h")
    ['/r/s/a/b', '/r/src/x.py', '/r/z.md', '/var/out']
    """
    plain = command.replace("${HOME}", "$HOME").translate(_BREAKS)
    words = [word for word in plain.split() if not word.startswith("-") and ("/" in word or "." in word.strip("."))]
    found: dict[str, None] = {}
    for word in words[:many]:
        if "\0" not in word and len(word) < 4096:
            found[absolute_path(word.rstrip("/"), folder, home)] = None
    return list(found)


def may_read(command: str) -> bool:
    """Whether a command may be one that plainly reads files: parsing it takes longer than most hooks do.

    >>> may_read("cat a"), may_read("sed -n 1,3p a"), may_read("sed -i s/a/b/ a"), may_read("npm test")
    (True, True, False, False)
    """
    words = command.replace("(", " ").replace("{", " ").split()
    if any(word in READERS for word in words):
        return True
    quiet = any("n" in word.lstrip("-") if word[1:2] != "-" else True for word in words if word.startswith("-"))
    return "sed" in words and quiet


def own_paths(touch: Touch, here: LoadedInstructions, folder: str) -> tuple[str, ...]:
    """Those files of a call for which the agent itself attaches instructions."""
    if touch.tool not in {tool for tool, _ in here.triggers}:
        return ()
    if touch.tool != "Bash":
        return touch.paths
    if not may_read(touch.command):
        return ()
    from foretold.instructions.discover.shell_reads import files_read

    return tuple(os.path.normpath(os.path.join(folder, each.path)) for each in files_read(touch.command))
