"""`headnote files`: what files were before an agent changed them. Only the module that runs is imported."""

from __future__ import annotations

import sys

from headnote.cli import command_at
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: command -> (module, what it does)
COMMANDS = {
    "list": ("look", "sessions that changed files here, with their checkpoints"),
    "history": ("look", "every known state of a file, over all sessions"),
    "diff": ("look", "what changed in a file since then"),
    "restore": ("back", "bring one file back to what it was"),
    "rewind": ("back", "bring all files of a session back to a prompt"),
    "undo": ("back", "take back a restore or a rewind"),
}

HELP = """\
usage: headnote files [COMMAND] [OPTIONS]

What your files were before Claude Code changed them. It works on sessions that
are over, with or without git, also for files that git does not know.
headnote files alone lists the sessions of this folder.

commands:
{commands}

everywhere:
  -C DIR                 look at this folder instead of the current one
  --home DIR             the home folder that the sessions are in
  --json                 data for programs; the schema is versioned

examples:
  headnote files history src/app.py
  headnote files diff src/app.py --at 2h
  headnote files restore src/app.py --at 08bac3dc@v2
  headnote files rewind 08bac3dc             its prompts
  headnote files rewind 08bac3dc f92d4975    what going back there would do
  headnote files undo                        what can be taken back

WHEN is a version (08bac3dc@v2), the id of a prompt, or a time: 2026-11-16,
"2026-11-16 03:28", 03:28, 10m, 2h, 3d (ago).

Exit status: 0 clean, 1 there are findings, 2 wrong usage, 3 failure.
"""


def command(words: Sequence[str]) -> int:
    words = list(words)
    if words[:1] in (["-h"], ["--help"], ["help"]):
        width = max(map(len, COMMANDS)) + 2
        rows = (f"  {name:{width}}{about}" for name, (_, about) in COMMANDS.items())
        print(HELP.format(commands="\n".join(rows)), end="")
        return 0
    name = _taken(words)
    if name not in COMMANDS:
        print(
            f"headnote files: there is no command {name!r}{_guess(name)}; try: headnote files --help", file=sys.stderr
        )
        return 2
    module = __import__(f"headnote.cli.files.{COMMANDS[name][0]}", fromlist=[name])
    code: int = getattr(module, f"command_{name}")(words)
    return code


def _taken(words: list[str]) -> str:
    """The command, taken out of a command line; options that are the same everywhere may come before it."""
    at = command_at(words)
    is_command = at is not None and (at == 0 or words[at] in COMMANDS)
    return words.pop(at) if at is not None and is_command else "list"


def _guess(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, 1)
    return f", did you mean {close[0]!r}?" if close else ""
