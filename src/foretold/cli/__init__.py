"""The command `foretold`: one file per command, found by name; only the one that runs is imported.

Exit status everywhere: 0 clean, 1 findings, 2 usage, 3 failure.
"""

from __future__ import annotations

import gc
import os
import sys

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: command -> (module, what it does)
COMMANDS = {
    "show": ("show", "print exactly what an agent receives"),
    "explain": ("explain", "say why: every file, loaded or not, with its reason"),
    "compare": ("compare", "what each of several agents sees here, side by side"),
    "memory": ("memory", "what an agent remembers here: list, recall, add, verify, …"),
    "sessions": ("sessions", "what was said: list, show, search, export, archive, repair, …"),
    "files": ("files", "what was touched: history, diff, restore, rewind"),
    "install": ("install", "hooks and an MCP server in an agent's settings, if you agree"),
    "uninstall": ("uninstall", "take them out again"),
    "probe": ("probe", "ask the agent on this machine, and compare with our answer"),
    "conform": ("conform", "run recorded cases of real agents"),
    "hook": ("hook", "what agents call at their events; --explain, --log"),
    "mcp": ("mcp", "an MCP server on standard input and output, for agents"),
    "rule": ("rule", "what a finding means, why it matters, what to do"),
    "completion": ("completion", "print a completion script for a shell"),
}

#: options that every command about a folder has, and that take a value
WITH_VALUE = ("-C", "--agent", "--home", "--managed", "--model", "--folder")

HELP = """\
usage: foretold [COMMAND] [OPTIONS]

What is your coding agent told? foretold alone shows it for this folder.

commands:
{commands}

everywhere:
  -C DIR                 look at this folder instead of the current one
  --agent NAME[@VERSION] the agent, e.g. claude-code@2.1.197
  --home DIR             the home folder the agent would have
  --json                 data for programs; the schema is versioned
  -h, --help             help for a command
  --version              the version of foretold

examples:
  foretold                          what the agent receives here, in short
  foretold show > told.txt          the exact text
  foretold explain                  why each file is loaded, or not
  foretold explain --file src/a.ts  what reading that file adds
  foretold show -- --bare           the same, with flags of the agent itself
  foretold install claude-code      recall, rules and search inside the agent

Exit status: 0 clean, 1 there are findings, 2 wrong usage, 3 failure.
"""


def run() -> None:
    """The entry point of the installed command.

    A short-lived process has no garbage worth collecting, and nothing to tidy up once its output is written: leaving at
    once saves a tenth of its time.
    """
    gc.disable()
    if sys.argv[1:2] == ["hook"]:  # an agent waits: nothing else is looked at first
        from foretold.cli.hook import was_answered

        if was_answered(sys.argv[2:]):
            os._exit(0)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal that is not UTF-8
    try:
        code = _finished(sys.argv[1:])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that nothing is flushed into it again
        code = 3
    except OSError as error:
        _say_failed(error)
        code = 3
    except KeyboardInterrupt:
        code = 130
    try:
        sys.stderr.flush()
    except OSError:
        code = 3
    os._exit(code)


def _finished(argv: Sequence[str]) -> int:
    """Run a command line until all that it says is written; a help text, too, may find the disk full."""
    try:
        code = main(argv)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 2
    sys.stdout.flush()
    return code


def _say_failed(error: OSError) -> None:
    """One line for what the machine refused: a file has a name, standard output has none."""
    about = "the output cannot be written" if error.filename is None else str(error.filename)
    said = f"{about}: {error.strerror or error}"
    try:  # noqa: SIM105  # contextlib is not worth its time here
        print(f"foretold: {said}", file=sys.stderr)
    except OSError:
        pass  # there is nobody to tell


def main(argv: Sequence[str]) -> int:
    """Run a command line; the exit status."""
    words = list(argv)
    if "--version" in words[:1]:
        from foretold import __version__

        print(f"foretold {__version__}")
        return 0
    if words[:1] in (["-h"], ["--help"], ["help"]):
        from foretold.cli.group import rows_of

        print(HELP.format(commands=rows_of(COMMANDS)), end="")
        return 0
    at = command_at(words)
    name = words.pop(at) if at is not None else ""
    return _dispatch(name, words)


def command_at(words: list[str]) -> int | None:
    """Where the command stands: global options may come before it."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 1 if "=" in words[at] or words[at] not in WITH_VALUE else 2
    return at if at < len(words) and words[at] != "--" else None


def _dispatch(name: str, words: list[str]) -> int:
    from foretold.errors import ForetoldError

    if name and name not in COMMANDS:
        from foretold.cli.group import guess

        print(f"foretold: there is no command {name!r}{guess(name, COMMANDS)}; try: foretold --help", file=sys.stderr)
        return 2
    module = __import__(f"foretold.cli.{COMMANDS[name][0] if name else 'overview'}", fromlist=["command"])
    try:
        code: int = module.command(words)
    except ForetoldError as error:
        print(f"foretold: {error}", file=sys.stderr)
        return error.exit_code
    return code
