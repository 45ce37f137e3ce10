"""Command lines: groups of commands, the options that commands share, and how they become arguments of the library.

Only what `show` needs is imported at the top: it must start fast. argparse takes a third of a bare start to import.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from foretold.cli import COMMANDS, COMMON, GROUPS, command_at, split_options
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from typing import NoReturn, TypedDict

    from foretold.instructions.view import View

    class Question(TypedDict):
        agent: str
        home: str | None
        managed: str | None
        args: tuple[str, ...]
        model: str | None


#: options that several commands share; a command may give another help text
SHARED: dict[str, dict[str, object]] = {
    "-C": {"dest": "cwd", "default": ".", "metavar": "DIR", "help": "look at this folder"},
    "--agent": {"metavar": "NAME[@VERSION]", "type": str.lower},
    "--home": {"metavar": "DIR", "help": "the home folder the agent would have"},
    "--managed": {"metavar": "DIR", "help": "the organisation's folder, e.g. /etc/claude-code"},
    "--model": {"metavar": "NAME", "help": "the model the agent would use"},
    "--yes": {"action": "store_true", "help": "do it without asking"},
    "--dry-run": {"action": "store_true", "help": "only show what would change"},
    "--json": {"action": "store_true", "help": "data for programs"},
}
#: those of commands that also take flags of the agent itself, after `--`
FOLDER_OPTIONS = "-C --agent --home --managed --model --json"


def make_parser(command: str, about: str, examples: str, shared: str, **helps: str) -> argparse.ArgumentParser:
    """A parser with some of the shared options, named with spaces between; `helps` are other help texts for them."""
    import argparse
    import textwrap

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            self.print_usage(sys.stderr)
            hint = guess_option(message, self._option_string_actions)
            if not hint and shared == FOLDER_OPTIONS and message.startswith("unrecognized arguments: -"):
                hint = "; flags of the agent itself go after --"
            self.exit(2, wrap_error(f"{self.prog}: error: {message}{hint}"))

        def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
            if _Found.is_wanted:
                raise _Found(self)
            return super().parse_known_args(args, namespace)

    epilog = examples if examples.startswith(("examples:", "agents:")) else f"examples:\n{examples}"
    parser = Parser(
        prog=f"foretold {command}".strip(),
        description=textwrap.fill(about, 80),
        epilog=epilog,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    for name in shared.split():
        more = {"help": text} if (text := helps.get(name.strip("-").replace("-", "_"))) else {}
        parser.add_argument(name, **{**SHARED[name], **more})  # type: ignore[arg-type]
    return parser


class _Found(Exception):  # an answer, not an error
    """The parser of a command that was run only to learn its options."""

    is_wanted = False

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def find_parser(command: Callable[[Sequence[str]], int]) -> argparse.ArgumentParser | None:
    """The parser that a command makes; None if it makes none. The command is run up to where it parses its words."""
    _Found.is_wanted = True
    try:
        command(["--help"])
    except _Found as found:
        return found.parser
    finally:
        _Found.is_wanted = False
    return None


def folder_parser(command: str, about: str, examples: str) -> argparse.ArgumentParser:
    """The parser of a command about what an agent receives in a folder; `parse` reads it."""
    from foretold.dialects.registry import AGENTS, DEFAULT_AGENT

    parser = make_parser(command, about, examples, FOLDER_OPTIONS, agent=", ".join(AGENTS))
    parser.set_defaults(agent=DEFAULT_AGENT)
    return parser


def formatter(prog: str) -> argparse.HelpFormatter:
    """Help in 80 columns. Given no width, argparse imports `shutil`, and with it half a dozen compressors."""
    import argparse

    return argparse.RawDescriptionHelpFormatter(prog, width=80)


def parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[argparse.Namespace, Question]:
    """The options of a command; what comes after `--` is the agent's own command line."""
    words = list(words)
    at = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:at])
    given = {f"--{name}": value for name, value in vars(options).items() if value is not None}
    return options, _question(given, words[at + 1 :])


def _question(given: Mapping[str, str], own: Sequence[str]) -> Question:
    from foretold.dialects.registry import DEFAULT_AGENT

    return {
        "agent": given.get("--agent", DEFAULT_AGENT).lower(),
        "home": given.get("--home"),
        "managed": given.get("--managed"),
        "args": tuple(own),
        "model": given.get("--model"),
    }


def parse_plain(words: Sequence[str], flags: tuple[str, ...]) -> tuple[str, list[str], Question] | None:
    """The folder, flags and question of a command line that has only these flags and the common options.

    None for any other: then argparse parses it, and says what is wrong.
    """
    given, found, rest, own = split_options(words, COMMON, flags)
    return None if rest else (given.get("-C", "."), found, _question(given, own))


def next_command(view: View, command: str, own: Sequence[str] = ()) -> str:
    """A command that asks about the same agent in the same folder; `own` are flags of the agent itself."""
    from foretold.dialects.registry import DEFAULT_AGENT

    agent = view.dialect.agent if not view.choice.asked else f"{view.dialect.agent}@{view.choice.asked}"
    words = ["foretold", command] + ([f"--agent {agent}"] if agent != DEFAULT_AGENT else [])
    cwd = view.surroundings.cwd
    words += [f"-C {cwd}"] if cwd != os.path.realpath(".") else []
    if own:
        import shlex

        words += ["--", shlex.join(own)]
    return " ".join(words)


# Commands and options that there are not


def wrap_error(text: str, try_next: str = "") -> str:
    """A message for standard error, in 80 columns; a command to try next stays whole, so that it can be copied."""
    import textwrap

    whole = f"{text}; try: {try_next}" if try_next else text
    if try_next and len(whole) > 80:
        return f"{wrap_error(text)}  try: {try_next}\n"
    return "\n".join(textwrap.wrap(whole, 80, break_on_hyphens=False, break_long_words=False)) + "\n"


def guess_option(message: str, known: Iterable[str]) -> str:
    """What may have been meant by options that argparse does not recognize.

    >>> guess_option("unrecognized arguments: --jsn x", ["-C", "--json"]), guess_option("x is required", ["--json"])
    ('; did you mean --json?', '')
    """
    from difflib import get_close_matches

    before, _, words = message.partition("unrecognized arguments: ")
    typed = [word.partition("=")[0].lstrip("-") for word in words.split() if word.startswith("-") and not before]
    names = [name[2:] for name in known if name.startswith("--")]
    meant = dict.fromkeys(name for word in typed for name in get_close_matches(word, names, 1, 0.7))
    return f"; did you mean {' '.join(f'--{name}' for name in meant)}?" if meant else ""


#: what people type by habit, and the command that does it
HABITS = {"lint": "check", "status": "explain", "diff": "compare", "ls": "sessions"}


def print_unknown(name: str, before: Sequence[str]) -> None:
    """Say that there is no such command, and what may have been meant: an option before it, or one of a group."""
    from difflib import get_close_matches

    wrong = guess_option(f"unrecognized arguments: {' '.join(before)}", SHARED)
    if wrong:
        option = next(word for word in before if guess_option(f"unrecognized arguments: {word}", SHARED))
        if option.partition("=")[0] not in SHARED:
            sys.stderr.write(wrap_error(f"foretold: there is no option {option!r}{wrong}"))
            return
    groups = {group: __import__(f"foretold.cli.{group}", fromlist=["COMMANDS"]).COMMANDS for group in GROUPS}
    every = {command for commands in groups.values() for command in commands}
    meant = guess(name, COMMANDS) if name not in every else ""
    close = [name] if name in every else [] if meant else get_close_matches(name, sorted(every), 1, 0.8)
    inside = [f"{group} {command}" for command in close for group in groups if command in groups[group]]
    inside = inside or [HABITS[name]] if inside or name in HABITS else []
    hint = f", did you mean {' or '.join(map(repr, inside))}?" if inside else meant
    sys.stderr.write(wrap_error(f"foretold: there is no command {name!r}{hint}", "foretold --help"))


# Groups of commands: `foretold memory recall`. Only the module of the command that runs is imported.


def list_commands(modules: Mapping[str, str]) -> dict[str, str]:
    """Command -> module, for a group whose modules have the commands given."""
    return {name: module for module, names in modules.items() for name in names.split()}


def guess(name: str, commands: Iterable[str]) -> str:
    """What the user may have meant.

    >>> guess("serch", ["search"]), guess("x", ["search"])
    (", did you mean 'search'?", '')
    """
    from difflib import get_close_matches

    close = get_close_matches(name, list(commands), 1)
    return f", did you mean {close[0]!r}?" if close else ""


def run_group(group: str, commands: Mapping[str, str], help_text: str, given: Sequence[str]) -> int:
    """Run a command line of a group; without a command, its `list`. The exit status."""
    words = list(given)
    if words[:1] == ["help"] and words[1:2] and words[1] in commands:
        words = [words[1], "--help"]  # `foretold memory help add`
    if words[:1] in (["-h"], ["--help"], ["help"]):
        print(help_text, end="")
        return 0
    at = command_at(words)
    is_command = at is not None and (at == 0 or words[at] in commands)
    name = words.pop(at) if at is not None and is_command else "list"
    if name not in commands:
        meant = guess(name, commands)
        more = "" if meant else f", foretold {group} {'history' if 'history' in commands else 'show'} {name}"
        there_is_not = f"foretold {group}: there is no command {name!r}{meant}"
        sys.stderr.write(wrap_error(there_is_not, f"foretold {group} --help{more}"))
        return 2
    module = __import__(f"foretold.cli.{group}.{commands[name]}", fromlist=[name])
    code: int = getattr(module, f"command_{name}")(words)
    return code
