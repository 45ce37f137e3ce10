"""The options that every command about a folder has, and how they become a question to the library."""

from __future__ import annotations

import os

from foretold.dialects.registry import AGENTS, DEFAULT_AGENT
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import TypedDict

    from foretold.instructions.view import View

    class Question(TypedDict):
        agent: str
        home: str | None
        managed: str | None
        args: tuple[str, ...]
        model: str | None


def parser_of(command: str, about: str, examples: str) -> argparse.ArgumentParser:
    """A parser with the options that are the same everywhere."""
    import argparse

    parser = argparse.ArgumentParser(
        prog=f"foretold {command}".strip(),
        description=about,
        epilog=f"examples:\n{examples}",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("-C", dest="folder", default=".", metavar="DIR", help="look at this folder")
    parser.add_argument("--agent", default=DEFAULT_AGENT, metavar="NAME[@VERSION]", help=f"{', '.join(AGENTS)}")
    parser.add_argument("--home", metavar="DIR", help="the home folder the agent would have")
    parser.add_argument("--managed", metavar="DIR", help="the organisation's folder, e.g. /etc/claude-code")
    parser.add_argument("--model", metavar="NAME", help="the model the agent would use")
    parser.add_argument("--json", action="store_true", help="data for programs")
    return parser


def formatter(prog: str) -> argparse.HelpFormatter:
    """Help in 80 columns. Given no width, argparse imports `shutil`, and with it half a dozen compressors."""
    import argparse

    return argparse.RawDescriptionHelpFormatter(prog, width=80)


def parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[argparse.Namespace, Question]:
    """The options of a command; what stands behind `--` is the agent's own command line."""
    words = list(words)
    at = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:at])
    question: Question = {
        "agent": options.agent,
        "home": options.home,
        "managed": options.managed,
        "args": tuple(words[at + 1 :]),
        "model": options.model,
    }
    return options, question


class Plain(NamedTuple):
    """The options of a command line that needs no parser."""

    folder: str
    flags: frozenset[str]
    question: Question


VALUES = ("-C", "--agent", "--home", "--managed", "--model")


def parse_plain(words: Sequence[str], flags: tuple[str, ...]) -> Plain | None:
    """The options of a command line that has only these flags and the options that are the same everywhere.

    None for any other: then argparse reads it, and says what is wrong. It takes a third of a bare start to import, and
    `show` must start fast.
    """
    given: dict[str, str] = {}
    found: set[str] = set()
    at = 0
    while at < len(words) and words[at] != "--":
        name, equals, value = words[at].partition("=")
        at += 1
        if name in flags and not equals:
            found.add(name)
        elif name in VALUES and (equals and name != "-C"):
            given[name] = value
        elif name in VALUES and at < len(words) and not words[at].startswith("-"):
            given[name] = words[at]
            at += 1
        else:
            return None
    question: Question = {
        "agent": given.get("--agent", DEFAULT_AGENT),
        "home": given.get("--home"),
        "managed": given.get("--managed"),
        "args": tuple(words[at + 1 :]),
        "model": given.get("--model"),
    }
    return Plain(given.get("-C", "."), frozenset(found), question)


def typed(view: View, command: str) -> str:
    """A command that asks about the same agent in the same folder."""
    agent = view.dialect.agent if not view.choice.asked else f"{view.dialect.agent}@{view.choice.asked}"
    words = ["foretold", command] + ([f"--agent {agent}"] if agent != DEFAULT_AGENT else [])
    return " ".join(words + ([f"-C {view.surroundings.cwd}"] if view.surroundings.cwd != os.path.realpath(".") else []))
