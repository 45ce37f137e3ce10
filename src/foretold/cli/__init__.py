"""The command `foretold`: one file per command, found by name; only the one that runs is imported.

Exit status: 0 clean, 1 findings, 2 usage, 3 failure. `show` ends with 0 also where there are findings.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

COMMANDS = """
show explain compare check releases upgrade memory sessions files doctor install uninstall
probe conform hook mcp lsp rule completion
""".split()

GROUPS = ("memory", "sessions", "files")  #: commands that have commands of their own
#: commands whose module has another name
PLACES = {"": "overview", "uninstall": "install.uninstall", "upgrade": "releases.upgrade"}

#: options that take a value and are the same for every command about a folder
COMMON = ("-C", "--agent", "--home", "--managed", "--model")

HELP = """\
usage: foretold [COMMAND] [OPTIONS]

What does your coding agent receive? foretold alone shows it for this folder.

commands:
  show        print exactly what an agent receives
  explain     say why each file is loaded, or not
  compare     compare what several agents see here
  check       check all instruction files of a tree, for every agent; --fix
  releases    what changed in an agent, release by release
  upgrade     what will be different here when the agent is updated
  memory      what an agent remembers here: list, recall, add, verify, …
  sessions    what was said: list, show, search, export, archive, repair, …
  files       what was changed: history, diff, restore, rewind
  doctor      check this machine and project; --fix repairs
  install     add hooks and an MCP server to an agent's settings
  uninstall   remove them again
  probe       run the agent on this machine, and compare with our answer
  conform     run recorded cases of real agents
  hook        what agents call at their events; --explain, --log
  mcp         an MCP server on standard input and output, for agents
  lsp         a language server: what check finds, in an editor
  rule        what a finding means, why it matters, what to do
  completion  print a completion script for a shell
  version     print the version of foretold

everywhere:
  -C DIR                 look at this folder instead of the current one
  --agent NAME[@VERSION] the agent, e.g. claude-code@2.1.197
  --home DIR             the home folder the agent would have
  --json                 data for programs; the schema is versioned
  -h, --help             help for a command; also: foretold help memory add
  -V, --version          the version of foretold

examples:
  foretold                          what the agent receives here, in short
  foretold show > instructions.txt  the exact text
  foretold explain                  why each file is loaded, or not
  foretold explain --file src/a.ts  what reading that file adds
  foretold show -- --bare           the same, with flags of the agent itself
  foretold install claude-code      recall, rules and search inside the agent

Exit status: 0 clean, 1 there are findings, 2 wrong usage, 3 failure.
show exits with 0 also if there are findings.
"""


def run() -> None:
    """The entry point of the installed command.

    A short-lived process has no garbage worth collecting, and nothing to clean up once its output is written: leaving
    at once saves a tenth of its time.
    """
    gc.disable()
    if os.environ.get("PYTHONPATH"):
        from foretold.paths import forget_relative_modules

        forget_relative_modules()
    if sys.argv[1:2] == ["hook"]:  # an agent waits: nothing else comes first
        from foretold.cli.hook import was_answered

        if was_answered(sys.argv[2:]):
            os._exit(0)
    if sys.stdout is None or sys.stderr is None:
        _replace_closed()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # for a terminal that is not UTF-8
    sys.stdout = _watch_output(sys.stdout)
    if os.isatty(1) or os.isatty(2):
        from foretold.cli.output import guard_terminal

        guard_terminal()
    try:
        code = _run_to_end(sys.argv[1:])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that nothing is flushed into it again
        code = 3
    except OSError as error:
        _print_failure(error)
        code = 3
    except KeyboardInterrupt:
        code = 130
    try:
        sys.stderr.flush()
    except OSError:
        code = 3
    os._exit(code)


def _replace_closed() -> None:
    """Take the numbers of closed standard streams, before a file that is opened gets them and is written to.

    Standard output refuses what is written to it then, if anything is; what would go to standard error is dropped.
    """
    for number, name, flags in ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, flags)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115  # until the end


class _OutputError(OSError):
    """Standard output refused what was written to it."""


class _Output(io.FileIO):
    """Standard output; its errors cannot be taken for those of a file that a command reads."""

    def write(self, data) -> int | None:  # type: ignore[no-untyped-def,override]
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _OutputError(error.errno, error.strerror) from error


def _watch_output(stream: TextIO) -> TextIO:
    """The same stream, whose errors say that they are its own."""
    try:
        raw = _Output(stream.fileno(), "wb", closefd=False)
    except (OSError, ValueError):
        return stream  # it is closed, or is not a file
    buffered = io.BufferedWriter(raw)
    is_terminal = raw.isatty()
    return io.TextIOWrapper(buffered, stream.encoding, stream.errors, line_buffering=is_terminal)


def _run_to_end(argv: Sequence[str]) -> int:
    """Run a command line until its output is written; a help text, too, may find the disk full."""
    try:
        code = main(argv)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 2
    sys.stdout.flush()
    return code


def _print_failure(error: OSError) -> None:
    """Print one line for what the machine refused."""
    reason = error.strerror or str(error)
    if isinstance(error, _OutputError):
        reason = f"the output cannot be written: {reason}"
    elif error.filename is not None:
        reason = f"{error.filename}: {reason}"
    try:  # noqa: SIM105  # contextlib is not worth its time here
        print(f"foretold: {reason}", file=sys.stderr)
    except OSError:
        pass  # there is nowhere left to say it


def main(argv: Sequence[str]) -> int:
    """Run a command line; the exit status."""
    words = list(argv)
    if words[:1] in (["--version"], ["-V"]):
        words[0] = "version"
    if words[:1] in (["-h"], ["--help"], ["help"]):
        return _print_help([word for word in words[1:] if not word.startswith("-")])
    at = command_at(words)
    name = words.pop(at) if at is not None else ""
    if name == "version":
        return _print_version(words)
    if name and name not in COMMANDS:
        from foretold.cli.options import print_unknown

        print_unknown(name, words[:at])
        return 2
    return _dispatch(name, words)


def _print_version(words: list[str]) -> int:
    """`foretold version`; which of the options that every command has were given does not matter."""
    from foretold import __version__

    _, flags, rest, own = split_options(words, COMMON, ("--json", "-h", "--help"))
    if rest or own:
        from foretold.cli.options import wrap_error

        sys.stderr.write(wrap_error(f"foretold version: error: unrecognized arguments: {' '.join([*rest, *own])}"))
        return 2
    if "--json" in flags:
        from foretold.cli.json import emit

        emit("version", {"version": __version__})
    else:
        print(HELP if flags else f"foretold {__version__}\n", end="")
    return 0


def _print_help(names: list[str]) -> int:
    """The help of a command: `foretold help memory add` is `foretold memory add --help`."""
    if not names or names[0] in ("help", "version"):
        print(HELP, end="")
        return 0
    return main([names[0], *(names[1:2] if names[0] in GROUPS else ()), "--help"])


def command_at(words: list[str]) -> int | None:
    """The position of the command: common options may come before it."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 1 if "=" in words[at] or words[at] not in (*COMMON, "--folder") else 2
    return at if at < len(words) and words[at] != "--" else None


def split_options(
    words: Sequence[str], values: Sequence[str], flags: Sequence[str]
) -> tuple[dict[str, str], list[str], list[str], list[str]]:
    """Options with a value, flags, the other words, and what comes after `--`: for commands that must start fast.

    >>> split_options(["Stop", "--home", "/h", "--agent=codex", "--json", "--", "-x"], COMMON, ["--json"])
    ({'--home': '/h', '--agent': 'codex'}, ['--json'], ['Stop'], ['-x'])
    """
    given: dict[str, str] = {}
    found: list[str] = []
    rest: list[str] = []
    at = 0
    while at < len(words) and words[at] != "--":
        word, after = words[at], words[at + 1 : at + 2]
        name, equals, value = word.partition("=")
        at += 1
        if name in values and equals:
            given[name] = value
        elif name in values and after and not (after[0][:1] == "-" and len(after[0]) > 1 and " " not in after[0]):
            given[name] = after[0]
            at += 1
        else:
            (found if word in flags else rest).append(word)
    return given, found, rest, list(words[at + 1 :])


def _quote(error: Exception) -> str:
    """What an error says. Settings may be a stranger's: no line of theirs may look like a command to CI (`::error`)."""
    from foretold.cli.output import printable
    from foretold.errors import BadSettings

    return printable(str(error)) if isinstance(error, BadSettings) else str(error)


def _dispatch(name: str, words: list[str]) -> int:
    from foretold.errors import ForetoldError

    module = __import__(f"foretold.cli.{PLACES.get(name, name)}", fromlist=["command"])
    try:
        code: int = module.command(words)
    except ForetoldError as error:
        print(f"foretold: {_quote(error)}", file=sys.stderr)
        return error.exit_code
    return code
