"""A command with commands of its own: `foretold memory recall`. Only the module of the one that runs is imported."""

from __future__ import annotations

import sys

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def rows_of(commands: Mapping[str, tuple[str, str]]) -> str:
    """The commands for a help text, a line each."""
    width = max(map(len, commands)) + 2
    return "\n".join(f"  {name:{width}}{about}" for name, (_, about) in commands.items())


def guess(name: str, commands: Iterable[str]) -> str:
    """What the user may have meant.

    >>> guess("serch", {"search": ("", "")}), guess("x", {"search": ("", "")})
    (", did you mean 'search'?", '')
    """
    from difflib import get_close_matches

    close = get_close_matches(name, list(commands), 1)
    return f", did you mean {close[0]!r}?" if close else ""


def run_group(group: str, commands: Mapping[str, tuple[str, str]], help_text: str, given: Sequence[str]) -> int:
    """Run a command line of a group; without a command, its `list`. The exit status."""
    words = list(given)
    if words[:1] in (["-h"], ["--help"], ["help"]):
        print(help_text.format(commands=rows_of(commands)), end="")
        return 0
    name = _taken(words, commands)
    if name not in commands:
        said = f"there is no command {name!r}{guess(name, commands)}; try: foretold {group} --help"
        print(f"foretold {group}: {said}", file=sys.stderr)
        return 2
    module = __import__(f"foretold.cli.{group}.{commands[name][0]}", fromlist=[name])
    code: int = getattr(module, f"command_{name}")(words)
    return code


def _taken(words: list[str], commands: Mapping[str, tuple[str, str]]) -> str:
    """The command, taken out of a command line; options that are the same everywhere may come before it."""
    from foretold.cli import command_at

    at = command_at(words)
    is_command = at is not None and (at == 0 or words[at] in commands)
    return words.pop(at) if at is not None and is_command else "list"
