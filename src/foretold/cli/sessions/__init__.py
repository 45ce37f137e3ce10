"""`foretold sessions`: what was said to agents, and by them. One function per command; only its module is imported."""

from __future__ import annotations

from foretold.cli.group import run_group
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: command -> (module, what it does)
COMMANDS = {
    "list": ("read", "every session here, of all agents, and how to resume it"),
    "show": ("read", "read a session"),
    "search": ("search", "find what was said, in all sessions"),
    "export": ("export", "a session as Markdown, HTML or JSON, without secrets"),
    "archive": ("archive", "keep sessions before the agent deletes them"),
    "restore": ("archive", "bring back a session from the archive"),
    "repair": ("repair", "how much of a session is reachable; write a mended copy"),
    "du": ("disk_usage", "how much room sessions take, and what takes it"),
    "prune": ("disk_usage", "move old sessions to the archive"),
    "relocate": ("repair", "take sessions along when a project has moved"),
}

HELP = """\
usage: foretold sessions [COMMAND] [OPTIONS]

What you and your coding agents said: Claude Code, Codex, Gemini CLI, opencode.
foretold sessions alone lists those of this folder, with the command to resume.

commands:
{commands}

everywhere:
  -C DIR                 a folder of the project
  --all                  of every project, not only of this folder (list,
                         archive, prune, repair); search and du always are
  --agent NAME           only sessions of this agent
  --home DIR             the home folder that they are in
  --json                 data for programs; the schema is versioned

examples:
  foretold sessions --all                     everything on this machine
  foretold sessions search "connection pool"  where was that?
  foretold sessions show 118ca5f9             read one
  foretold sessions export 118ca5f9 -o talk.html

Exit status: 0 clean, 1 there are findings, 2 wrong usage, 3 failure.
"""


def command(words: Sequence[str]) -> int:
    return run_group("sessions", COMMANDS, HELP, words)
