"""Command lines: groups of commands, the options that commands share, and how they become arguments of the library.

Only what `show` needs is imported at the top: it must start fast. argparse takes a third of a bare start to import.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence

from foretold.cli import COMMON, command_at, split_options
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
    "--agent": {"metavar": "NAME[@VERSION]"},
    "--home": {"metavar": "DIR", "help": "the home folder the agent would have"},
    "--managed": {"metavar": "DIR", "help": "the organisation's folder, e.g. /etc/claude-code"},
    "--model": {"metavar": "NAME", "help": "the model the agent would use"},
    "--yes": {"action": "store_true", "help": "do it without asking"},
    "--dry-run": {"action": "store_true", "help": "only show what would change"},
    "--json": {"action": "store_true", "help": "data for programs"},
}


def make_parser(command: str, about: str, examples: str, shared: str, **helps: str) -> argparse.ArgumentParser:
    """A parser with some of the shared options, named with spaces between; `helps` are other help texts for them."""
    import argparse
    import textwrap

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            self.print_usage(sys.stderr)
            self.exit(
                2,
                "\n".join(
                    textwrap.wrap(f"{self.prog}: error: {message}", 80, break_on_hyphens=False, break_long_words=False)
                )
                + "\n",
            )

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


def folder_parser(command: str, about: str, examples: str) -> argparse.ArgumentParser:
    """The parser of a command about what an agent receives in a folder; `parse` reads it."""
    from foretold.dialects.registry import AGENTS, DEFAULT_AGENT

    shared = "-C --agent --home --managed --model --json"
    parser = make_parser(command, about, examples, shared, agent=", ".join(AGENTS))
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
        "agent": given.get("--agent", DEFAULT_AGENT),
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
    if words[:1] in (["-h"], ["--help"], ["help"]):
        print(help_text, end="")
        return 0
    at = command_at(words)
    is_command = at is not None and (at == 0 or words[at] in commands)
    name = words.pop(at) if at is not None and is_command else "list"
    if name not in commands:
        hint = f"{guess(name, commands)}; try: foretold {group} --help"
        print(f"foretold {group}: there is no command {name!r}{hint}", file=sys.stderr)
        return 2
    module = __import__(f"foretold.cli.{group}.{commands[name]}", fromlist=[name])
    code: int = getattr(module, f"command_{name}")(words)
    return code
