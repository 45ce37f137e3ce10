"""Write `docs/foretold.1`, the manual page, from the commands themselves: `.venv/bin/python docs/man.py`.

Descriptions, options and examples are those of `--help`; a test compares the two, so the page is never behind.
"""

import argparse
import contextlib
import io
import os
import re
from collections.abc import Iterator

from foretold import __version__
from foretold.cli import COMMANDS, GROUPS, HELP, PLACES, main
from foretold.cli.options import SHARED, find_parser
from foretold.dialects.registry import AGENTS

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foretold.1")
ABOUT = "what a coding agent is told, remembers and touched"
MORE = ("--managed", "--model")  #: shared options that the help of `foretold` does not list


def make_page() -> str:
    """The whole page."""
    usage, about, sections = read_help(HELP)
    lines = [
        '.\\" Made by docs/man.py from the parsers of the commands.',
        f'.TH FORETOLD 1 "" "foretold {__version__}" "User Commands"',
        ".nh\n.ad l",
        f".SH NAME\nforetold \\- {escape(ABOUT)}",
        f".SH SYNOPSIS\n.B {escape(usage.removeprefix('usage: '))}",
        f".SH DESCRIPTION\n{escape(about)}",
        ".SH COMMANDS",
        *(line for name in ("", *COMMANDS) for line in describe_command(name)),
        ".SH OPTIONS\nThese mean the same wherever a command takes them.",
        *describe_rows(sections["everywhere"]),
        *(describe_row(f"{name} {SHARED[name]['metavar']}", str(SHARED[name]["help"])) for name in MORE),
        f".PP\nAgents: {escape(', '.join(AGENTS))}.",
        f".SH EXIT STATUS\n{escape(' '.join(sections['Exit status'].split()))}",
        ".SH EXAMPLES",
        *show_lines(sections["examples"]),
        ".SH SEE ALSO\n.B foretold help\n.I COMMAND\nprints the help of a command,",
        ".B foretold rule\n.I CODE\nexplains a finding.",
    ]
    return "\n".join(lines) + "\n"


def describe_command(name: str) -> Iterator[str]:
    """A command; those of a group one after another."""
    if name not in GROUPS:
        yield from describe(name, PLACES.get(name, name), "command")
        return
    module = __import__(f"foretold.cli.{name}", fromlist=["COMMANDS"])
    yield f".SS foretold {name}\n{escape(read_help(module.HELP)[1])}"
    for each, place in module.COMMANDS.items():
        yield from describe(f"{name} {each}", f"{name}.{place}", f"command_{each}")


def describe(name: str, place: str, function: str) -> Iterator[str]:
    """One command line: its usage, what it does, its options, examples."""
    module = __import__(f"foretold.cli.{place}", fromlist=[function])
    with contextlib.redirect_stdout(io.StringIO()):  # one without a parser prints its help
        parser = find_parser(getattr(module, function))
    yield f".SS {escape(f'foretold {name}'.strip())}"
    if parser is None:  # it parses its words itself: its help is a text
        yield from describe_text(name)
        return
    yield f".B {escape(one_line(parser.format_usage().removeprefix('usage: ')))}"
    yield f".PP\n{escape(one_line(parser.description or ''))}"
    for action in parser._actions:
        if action.help != argparse.SUPPRESS and action.dest != "help" and not is_shared(action):
            yield f".TP\n{name_action(action)}\n{escape(one_line((action.help or '') % vars(action)))}"
    if parser.epilog:
        title, _, rows = parser.epilog.partition(":\n")
        yield f".PP\n{escape(title.capitalize())}:"
        yield from show_lines(rows)


def is_shared(action: argparse.Action) -> bool:
    """Whether an option means here what it means everywhere: those are described once, in OPTIONS."""
    usual = {SHARED[name].get("help") for name in action.option_strings if name in SHARED}
    return action.help in usual or action.help == ", ".join(AGENTS)


def describe_text(name: str) -> Iterator[str]:
    """The help of a command that has no parser, as it is printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main([*name.split(), "--help"])
    yield from show_lines(printed.getvalue())


def name_action(action: argparse.Action) -> str:
    """An option with its value, or an argument, in bold and italics."""
    if not action.option_strings:
        return f".I {escape(str(action.metavar or action.dest))}"
    names = ", ".join(rf"\fB{escape(name)}\fR" for name in action.option_strings)
    if action.nargs == 0:
        return names
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    return rf"{names} \fI{escape(str(value))}\fR"


def describe_rows(text: str) -> Iterator[str]:
    """Rows of a help text: a name, two blanks or more, what it means."""
    for row in text.splitlines():
        name, about = re.match(r"  (\S+(?: \S+)?) +(\S.*)$", row).groups()  # type: ignore[union-attr]
        yield describe_row(name, about)


def describe_row(name: str, about: str) -> str:
    return f".TP\n.B {escape(name)}\n{escape(about)}"


def show_lines(text: str) -> Iterator[str]:
    """Lines that are shown as they are."""
    yield ".PP\n.nf"
    yield from (escape(line) for line in text.rstrip("\n").splitlines())
    yield ".fi"


def read_help(text: str) -> tuple[str, str, dict[str, str]]:
    """The parts of a help text: its first line, the paragraph after it, and its sections by their titles."""
    usage, about, *rest = text.strip("\n").split("\n\n")
    sections = {}
    for part in rest:
        title, _, rows = part.partition(":")
        sections[title] = rows.strip("\n")
    return usage, one_line(about), sections


def one_line(text: str) -> str:
    return " ".join(text.split())


def escape(text: str) -> str:
    """A text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "\\[u2026]")
    text = "".join(char if ord(char) < 128 else f"\\[u{ord(char):04X}]" for char in text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


if __name__ == "__main__":
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(make_page())
