"""`foretold sessions`: what was said to agents, and by them. One function per command; only its module is imported."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli.options import list_commands, run_group

#: module -> its commands
COMMANDS = list_commands(
    {
        "list": "list show",
        "search": "search",
        "export": "export",
        "resume": "resume",
        "archive": "archive restore",
        "repair": "repair relocate",
        "du": "du prune",
    }
)

HELP = """\
usage: foretold sessions [COMMAND] [OPTIONS]

What you and your coding agents said, in Claude Code, Codex, Gemini CLI and
opencode. foretold sessions alone lists those of this folder, with the command
to resume each.

commands:
  list      every session here, of all agents, and how to resume it
  show      read a session
  search    find what was said, in all sessions
  export    a session as Markdown, HTML or JSON, without secrets
  resume    what the agent would load to go on, and the command for it
  archive   archive sessions before the agent deletes them
  restore   restore a session from the archive
  repair    how much of a session is reachable; write a repaired copy
  du        how much disk space sessions take
  prune     move old sessions to the archive
  relocate  move sessions along with a project

everywhere:
  -C DIR                 a folder of the project
  --all                  of every project, not only of this folder (list,
                         archive, prune, repair); search and du always do
  --agent NAME           only sessions of this agent
  --home DIR             the home folder that the sessions are in
  --json                 data for programs; the schema is versioned

examples:
  foretold sessions --all                     everything on this machine
  foretold sessions search "connection pool"  where was that?
  foretold sessions show 118ca5f9             read one
  foretold sessions export 118ca5f9 -o talk.html
  foretold sessions show backup/talk.jsonl    any transcript file

Exit status: 0 clean, 1 there are findings, 2 wrong usage, 3 failure.
"""


def command(words: Sequence[str]) -> int:
    return run_group("sessions", COMMANDS, HELP, words)
