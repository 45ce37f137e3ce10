"""`foretold files`: what files were before an agent changed them. Only the module that runs is imported."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli.options import list_commands, run_group

#: module -> its commands
COMMANDS = list_commands({"history": "list history diff", "restore": "restore rewind undo"})

HELP = """\
usage: foretold files [COMMAND] [OPTIONS]

What your files were before Claude Code changed them. It works on finished
sessions, with or without git, also for files that git does not track.
foretold files alone lists the sessions of this folder.

commands:
  list     sessions that changed files here, with their checkpoints
  history  every known version of a file, over all sessions
  diff     what changed in a file since then
  restore  restore one file
  rewind   restore all files of a session as of a prompt
  undo     undo a restore or a rewind

everywhere:
  -C DIR                 look at this folder instead of the current one
  --home DIR             the home folder that the sessions are in
  --json                 data for programs; the schema is versioned

examples:
  foretold files history src/app.py
  foretold files diff src/app.py --at 2h
  foretold files restore src/app.py --at 08bac3dc@v2
  foretold files rewind 08bac3dc             its prompts
  foretold files rewind 08bac3dc f92d4975    what going back there would do
  foretold files undo                        what can be undone

WHEN is a version (08bac3dc@v2), the id of a prompt, or a time: 2026-11-16,
"2026-11-16 03:28", 03:28, 10m, 2h, 3d (ago).

Exit status: 0 clean, 1 there are findings, 2 wrong usage, 3 failure.
"""


def command(words: Sequence[str]) -> int:
    return run_group("files", COMMANDS, HELP, words)
