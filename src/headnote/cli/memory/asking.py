"""The options that every `headnote memory` command has, and words that several of them print."""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from collections.abc import Sequence

from headnote.cli.options import formatter
from headnote.cli.paint import Paint, printable
from headnote.cli.schema import emit
from headnote.credentials import credentials_in
from headnote.dialects.registry import DEFAULT_AGENT
from headnote.memory.inbox import Proposal
from headnote.memory.journal import Change
from headnote.memory.memories import Memories
from headnote.memory.memories import open as open_memories
from headnote.memory.note import Memory
from headnote.types import Finding


def parser_of(name: str, about: str, examples: str) -> argparse.ArgumentParser:
    """A parser with the options that are the same everywhere."""
    parser = argparse.ArgumentParser(
        prog=f"headnote memory {name}",
        description=textwrap.fill(about, 80),
        epilog=f"examples:\n{examples}",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("-C", dest="cwd", default=".", metavar="DIR", help="a folder of the project")
    parser.add_argument("--agent", default=DEFAULT_AGENT, metavar="NAME[@VERSION]", help="whose memories")
    parser.add_argument("--folder", metavar="DIR", help="memories in this folder instead")
    parser.add_argument("--team", action="store_true", help="the team's memories, in the repository")
    parser.add_argument("--home", metavar="DIR", help="the home folder the agent would have")
    parser.add_argument("--managed", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="data for programs")
    return parser


def opened(options: argparse.Namespace) -> Memories:
    """The memories that a command line speaks of."""
    memories = open_memories(
        options.cwd, agent=options.agent, home=options.home, managed=options.managed, folder=options.folder
    )
    return memories.of_team() if options.team else memories


def paint_of(memories: Memories) -> Paint:
    return Paint(memories.place.root, memories.place.home)


def for_terminal(text: str) -> str:
    """A text of several lines: as it is for a program, and without what plays tricks on a terminal for a person."""
    if not sys.stdout.isatty():
        return text
    return "\n".join(printable(line.replace("\t", "    ")) for line in text.split("\n"))


def column(text: str, room: int) -> str:
    """A text in a column of a terminal, in which some letters take two cells: filled up, or cut.

    >>> column("日本語です", 6), column("ab", 4)
    ('日本… ', 'ab  ')
    """
    cells = [_cells(char) for char in text]
    if sum(cells) <= room:
        return text + " " * (room - sum(cells))
    used = at = 0
    while used + cells[at] < room:
        used, at = used + cells[at], at + 1
    return text[:at] + "…" + " " * (room - used - 1)


def _cells(char: str) -> int:
    if char.isascii():
        return 1
    import unicodedata

    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def age(seconds: float) -> str:
    """How old something is, for people.

    >>> age(30), age(3600 * 5), age(86400 * 3.5), age(86400 * 400)
    ('new', '5 h', '3 d', '13 mo')
    """
    for unit, length in (("mo", 86400 * 30), ("d", 86400), ("h", 3600)):
        count = int(seconds // length)
        if count and (unit != "mo" or count > 1):
            return f"{count} {unit}"
    return "new"


def age_of(memory: Memory) -> str:
    return age(time.time() - memory.changed)


def memory_json(memory: Memory) -> dict[str, object]:
    """A memory as `--json` prints it."""
    return {
        "file": memory.file,
        "name": memory.name,
        "description": memory.description,
        "type": memory.type or None,
        "scope": memory.scope,
        "body": memory.body,
        "metadata": memory.metadata,
        "digest": memory.digest,
        "changed": memory.changed,
    }


def print_findings(findings: Sequence[Finding], paint: Paint) -> None:
    """Findings for people: where, what, and what to do."""
    for finding in findings:
        where = paint.path(finding.path) + (f":{finding.line}" if finding.line else "")
        print(f"  {where}  [{finding.code}]")
        is_command = finding.hint.startswith(("headnote ", "chmod "))
        print(paint.wrap(finding.message + (f"; {finding.hint}" if finding.hint and not is_command else ""), 4))
        if is_command:  # on a line of its own and whole, to be copied
            print(f"    try: {printable(finding.hint)}")


def agreed(question: str, *, yes: bool) -> bool:
    """Whether the user agrees. Without a terminal, only `--yes` does."""
    if yes:
        return True
    if not sys.stdin.isatty():
        print("Nothing was changed: add --yes to do it.", file=sys.stderr)
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False


def tell(made: Memory | Proposal | Change, verb: str, options: argparse.Namespace, memories: Memories) -> None:
    """Say what a change did, and whether the agent sees it."""
    if isinstance(made, Proposal):
        if options.json:
            emit("proposal", dict(made._asdict()))
        else:
            print(f"proposed as {made.id}: {made.op} {made.file}; the user answers with: headnote memory inbox")
        return
    if options.json:
        emit("memory", memory_json(made) if isinstance(made, Memory) else {"file": made.file, "number": made.number})
        return
    print(f"{verb}: {made.file}")
    if isinstance(made, Memory):
        for found in credentials_in(made.text)[:3]:
            print(f"Line {found.line} looks like a credential ({found.kind}): whoever reads the memory sees it.")
    if not isinstance(made, Memory) or made.scope == "team" or not memories.place.is_read:
        return
    budget = memories.budget()
    if any(entry.file == made.file for entry in budget.cut):
        print("The agent does not see it: its entry is behind the part of MEMORY.md that is loaded.")
        print("Make room: headnote memory compact")
