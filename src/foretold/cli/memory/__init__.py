"""`foretold memory`: what an agent remembers here. One function per command; only its module is imported."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli.options import list_commands, run_group

#: module -> its commands
COMMANDS = list_commands(
    {
        "list": "list show log diff budget",
        "recall": "recall verify",
        "vectors": "vectors",
        "add": "add edit rename rm restore",
        "erase": "erase",
        "doctor": "compact doctor relocate export import prompt",
        "consolidate": "consolidate",
        "extract": "extract",
        "inbox": "inbox share",
        "consent": "trust",
    }
)

HELP = """\
usage: foretold memory [COMMAND] [OPTIONS]

What your coding agent remembers here: one file per memory, and an index.
foretold memory alone lists them.

commands:
  list         every memory, with its type, description and age
  show         print a memory, or the index as the agent sees it
  recall       the memories that a question is about
  verify       whether what memories claim is still true
  vectors      find other words for the same: build, status, remove
  add          write a memory
  edit         change a memory
  rename       give a memory another name
  rm           delete a memory; it can be restored
  restore      restore a deleted memory or an earlier version
  log          every change, by anyone
  diff         the difference of a change
  budget       how much of the index the agent sees
  compact      propose a shorter index; with --history, drop old versions
  erase        erase a memory, or a leaked text, from everything that is kept
  consolidate  propose to merge, shorten or drop memories
  extract      extract memories from a stored session
  inbox        changes that wait for your answer
  share        copy a memory to the team's store
  trust        accept the team's memories of this repository
  doctor       what is wrong, and what to do
  relocate     move memories along with a project
  export       all memories in one file
  import       memories from an exported file
  prompt       the text that teaches a model to use this memory

everywhere:
  -C DIR                 a folder of the project
  --agent NAME[@VERSION] whose memories, e.g. claude-code
  --folder DIR           memories in this folder instead
  --team                 the team's memories, in the repository
  --home DIR             the home folder the agent would have
  --json                 data for programs; the schema is versioned

examples:
  foretold memory recall "how do we deploy?"
  foretold memory add "Tabs" -t feedback -d "indent with tabs" -b "Use tabs."
  foretold memory verify            do the files and functions they name exist?
  foretold memory rm NAME           and foretold memory restore NAME

Exit status: 0 clean, 1 there are findings, 2 wrong usage, 3 failure.
"""


def command(words: Sequence[str]) -> int:
    return run_group("memory", COMMANDS, HELP, words)
