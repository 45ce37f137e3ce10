"""`foretold memory`: what an agent remembers here. One function per command; only its module is imported."""

from __future__ import annotations

from foretold.cli.group import run_group
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: command -> (module, what it does)
COMMANDS = {
    "list": ("read", "every memory, with its type, description and age"),
    "show": ("read", "print a memory, or the index as the agent sees it"),
    "recall": ("recall", "the memories that a question is about"),
    "verify": ("recall", "whether what memories claim is still so"),
    "add": ("write", "write a memory"),
    "edit": ("write", "change a memory"),
    "rename": ("write", "give a memory another name"),
    "rm": ("write", "delete a memory; it can be restored"),
    "restore": ("write", "bring back a deleted memory or an earlier version"),
    "log": ("read", "every change, whoever made it"),
    "diff": ("read", "what a change changed"),
    "budget": ("read", "how much of the index the agent sees"),
    "compact": ("maintain", "propose a shorter index"),
    "consolidate": ("consolidate", "propose to join, shorten or drop memories"),
    "extract": ("extract", "learn from a session that was kept"),
    "inbox": ("inbox", "changes that wait for your answer"),
    "share": ("inbox", "copy a memory to the team's store"),
    "doctor": ("maintain", "what is wrong, and what to do"),
    "relocate": ("maintain", "take memories along when a project has moved"),
    "export": ("maintain", "all memories in one file"),
    "import": ("maintain", "memories from such a file"),
    "prompt": ("maintain", "the text that teaches a model to use this memory"),
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
