"""`foretold memory`: what an agent remembers here. One function per command; only its module is imported."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli.options import run_group

#: command -> (module, what it does)
COMMANDS = {
    "list": ("list", "every memory, with its type, description and age"),
    "show": ("list", "print a memory, or the index as the agent sees it"),
    "recall": ("recall", "the memories that a question is about"),
    "verify": ("recall", "whether what memories claim is still true"),
    "add": ("add", "write a memory"),
    "edit": ("add", "change a memory"),
    "rename": ("add", "give a memory another name"),
    "rm": ("add", "delete a memory; it can be restored"),
    "restore": ("add", "restore a deleted memory or an earlier version"),
    "log": ("list", "every change, by anyone"),
    "diff": ("list", "the difference of a change"),
    "budget": ("list", "how much of the index the agent sees"),
    "compact": ("doctor", "propose a shorter index"),
    "consolidate": ("consolidate", "propose to merge, shorten or drop memories"),
    "extract": ("extract", "extract memories from a stored session"),
    "inbox": ("inbox", "changes that wait for your answer"),
    "share": ("inbox", "copy a memory to the team's store"),
    "doctor": ("doctor", "what is wrong, and what to do"),
    "relocate": ("doctor", "move memories along with a project"),
    "export": ("doctor", "all memories in one file"),
    "import": ("doctor", "memories from an exported file"),
    "prompt": ("doctor", "the text that teaches a model to use this memory"),
}

HELP = """\
usage: foretold memory [COMMAND] [OPTIONS]

What your coding agent remembers here: one file per memory, and an index.
foretold memory alone lists them.

commands:
{commands}

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
