"""Bash: a command in a separate process.

1. The folder that a command that succeeded ends in is where the next one begins, if it is one of those that the
   conversation works in; else the shell is back where the conversation began, and that is said.
2. Environment and functions do not last. There is nothing to read on standard input.
3. A command has two minutes unless it asks for another time, ten at most; then its whole group is ended.
4. What it leaves running is ended with it. Output beyond 30,000 characters, of a failure beyond 10,000, loses its
   middle, and that is said.
5. A status of 1 that only says that nothing was found is not a failure.
6. What a command plainly shows of a file counts as read.
7. Its description ends with what belongs at the end of commits and pull requests, if the settings want that there.
"""

from __future__ import annotations

import os
import re
import shutil

from foretold.context.attribution import attribution_lines
from foretold.harness.tools import process
from foretold.harness.tools.base import Result, Tool, ToolContext, failure, input_schema
from foretold.text.shell.parse import last_words
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.context.attribution import Attribution
    from foretold.dialects.claude_code.context import TurnContext
    from foretold.harness.tools.base import Input
    from foretold.harness.tools.process import Finished

DEFAULT_MS = 120_000
MOST_MS = 600_000
MOST = 30_000  #: characters
MOST_FAILED = 10_000
SCRIPT = 'eval "$1" 3>&- && pwd -P >&3'
NO_OUTPUT = "(Bash completed with no output)"
#: what a status of 1 says of these; the agent has the same
BENIGN = {
    "grep": "No matches found",
    "egrep": "No matches found",
    "fgrep": "No matches found",
    "rg": "No matches found",
    "find": "Some directories were inaccessible",
    "diff": "Files differ",
    "test": "Condition is false",
    "[": "Condition is false",
    "git diff": "Files differ",
    "git grep": "No matches found",
}


def run(context: ToolContext, given: Input) -> Result:
    """Run a command."""
    command, cwd = str(given["command"]), context.cwd
    seconds = _milliseconds(context, given) / 1000
    if not os.path.isdir(cwd):
        cwd = context.cwd = context.root
    shell = "/bin/bash" if os.access("/bin/bash", os.X_OK) else shutil.which("bash") or "/bin/sh"
    env = {name: value for name, value in context.env.items() if name != "CDPATH"}  # `cd` must lead where it says
    done = process.run(
        [shell, "-c", SCRIPT, shell, command], cwd, env, seconds, keeps_background=context.keeps_background
    )
    note = "" if done.timed_out else _follow_cd(context, done.status_text.removesuffix("\n"))
    benign = _benign_status(command) if done.code == 1 else ""
    if done.timed_out or (done.code and not benign):
        return _failed(done, seconds, note)
    output = re.sub(r"\A(?:[ \t]*\n)+", "", done.output.cut(MOST)).rstrip()
    from foretold.instructions.discover.shell_reads import files_read

    context.state.shell(command, succeeded=True, output=output, cwd=cwd)
    shown = [os.path.normpath(os.path.join(cwd, reading.path)) for reading in files_read(command)]
    value = {
        "stdout": output,
        "stderr": f"\n{note}" if note else "",
        "interrupted": False,
        "isImage": False,
        **({"returnCodeInterpretation": benign} if benign else {}),
        "noOutputExpected": False,
    }
    text = "\n".join(part for part in (output, note) if part) or NO_OUTPUT
    return Result(text, value=value, paths=tuple(path for path in shown if os.path.isfile(path)))


def _milliseconds(context: ToolContext, given: Input) -> float:
    """The time that a command has; the environment may give more, by the names that the agent has for it."""
    given_by_env = (context.env.get(f"BASH_{name}_TIMEOUT_MS", "") for name in ("DEFAULT", "MAX"))
    default, most = (int(text) if text.isdecimal() and len(text) < 12 else 0 for text in given_by_env)
    default = default or DEFAULT_MS
    asked = given.get("timeout")
    asked = asked if isinstance(asked, int | float) and asked > 0 else default
    return min(float(asked), max(most or MOST_MS, default))


def _follow_cd(context: ToolContext, folder: str) -> str:
    """Follow the shell to its folder; the note if it may not stay there."""
    if not folder.startswith("/") or not os.path.isdir(folder) or folder == os.path.realpath(context.cwd):
        return ""
    if context.permission.works_in(folder):
        context.cwd = folder
        return ""
    context.cwd = context.root
    return f"Shell cwd was reset to {context.root}"


def _benign_status(command: str) -> str:
    words = last_words(command)
    return BENIGN.get(" ".join(words[:2])) or BENIGN.get(words[0] if words else "") or ""


def _failed(done: Finished, seconds: float, note: str) -> Result:
    said = [f"Exit code {done.code}", f"Command timed out after {seconds:g}s" if done.timed_out else ""]
    said += [done.output.cut(MOST_FAILED).rstrip(), note]
    return failure("\n".join(part for part in said if part))


GIT = "\n\n# Git\n- Commit, push and open pull requests only when the user asks for it."
BY_REMINDER = "- End commit messages and pull requests with the lines that the reminder about attribution gives."


def with_attribution(tool: Tool, found: Attribution, around: TurnContext) -> Tool:
    """The tool with what belongs at the end of commits: the lines, or where the recorded version says them."""
    lines = attribution_lines(found, around)
    if lines and around.texts["remote_session_change"]:
        lines = [BY_REMINDER]
    return tool._replace(description="\n".join((tool.description + GIT, *lines))) if lines else tool


BASH = Tool(
    "Bash",
    "Run a shell command. The working directory lasts from one command to the next, variables do not. Standard input"
    " is closed, and whatever the command leaves running is ended with it. To read, search and change files use Read,"
    " Grep, Glob, Edit and Write.",
    input_schema(
        "command",
        {
            "command": {"type": "string", "description": "The command"},
            "timeout": {
                "type": "number",
                "description": "Milliseconds after which it is ended: 120000, 600000 at most",
            },
            "description": {"type": "string", "description": "What it does, in a few words, for a person"},
        },
    ),
    run,
)
