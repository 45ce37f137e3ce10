"""The options that every `foretold memory` command has, and text that several of them print."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from foretold.cli.json import emit, pick
from foretold.cli.options import make_parser
from foretold.cli.output import Paint
from foretold.dialects.registry import DEFAULT_AGENT, calling_agent
from foretold.errors import WriteRefused
from foretold.memory.note import Memory
from foretold.memory.project import Memories, open as open_memories
from foretold.memory.store.inbox import Proposal
from foretold.memory.store.journal import Change
from foretold.secrets.forms import credentials_in


def parser_of(name: str, about: str, examples: str) -> argparse.ArgumentParser:
    """A parser with the options of every command of this group."""
    helps = {"C": "a folder of the project", "agent": "whose memories", "managed": argparse.SUPPRESS}
    shared = "-C --agent --home --managed --json"
    parser = make_parser(f"memory {name}", about, examples, shared, **helps)
    parser.add_argument("--folder", metavar="DIR", help="memories in this folder instead")
    parser.add_argument("--team", action="store_true", help="the team's memories, in the repository")
    parser.set_defaults(agent=DEFAULT_AGENT)
    return parser


def open_store(options: argparse.Namespace) -> Memories:
    """The memories that a command line is about."""
    memories = open_memories(
        options.cwd, agent=options.agent, home=options.home, managed=options.managed, folder=options.folder
    )
    if calling_agent(os.environ):  # an agent is told what hooks would tell it
        memories = memories.for_models()
    return memories.team_memories() if options.team else memories


def parse_and_open(parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[argparse.Namespace, Memories]:
    options = parser.parse_args(words)
    return options, open_store(options)


def writer_of(given: str = "user") -> str:
    """Who writes: an agent, if one started this command in its shell, whatever the command line says."""
    return "agent" if calling_agent(os.environ) else given


def require_user(what: str) -> None:
    """Raise if an agent started this command: only the user consents."""
    agent = calling_agent(os.environ)
    if agent:
        raise WriteRefused(f"{what} is for the user to decide, and this was started by {agent}: run it in a terminal")


def is_looked_at() -> bool:
    """Whether a person or a model reads what is printed, not a program: then nothing in it is hidden."""
    return bool(calling_agent(os.environ)) or sys.stdout.isatty()


def paint_of(memories: Memories) -> Paint:
    return Paint(memories.place.root, memories.place.home)


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
    fields = pick(memory, "file name description type scope body metadata digest changed")
    return {**fields, "type": memory.type or None}


def print_change(made: Memory | Proposal | Change, verb: str, options: argparse.Namespace, memories: Memories) -> None:
    """Print what a change did, and whether the agent sees it."""
    if isinstance(made, Proposal):
        if options.json:
            emit("proposal", dict(made._asdict()))
        else:
            print(f"proposed as {made.id}: {made.op} {made.file}; the user answers with: foretold memory inbox")
        return
    if options.json:
        emit("memory", memory_json(made) if isinstance(made, Memory) else {"file": made.file, "number": made.number})
        return
    print(f"{verb}: {made.file}")
    if isinstance(made, Memory):
        for found in credentials_in(made.text)[:3]:
            print(f"Line {found.line} looks like a credential ({found.kind}): everyone who reads the memory sees it.")
    if not isinstance(made, Memory) or made.scope == "team" or not memories.place.is_read:
        return
    budget = memories.budget(compare=False)
    if any(entry.file == made.file for entry in budget.cut):
        print("The agent does not see it: its entry is after the part of MEMORY.md that is loaded.")
        print("Make room: foretold memory compact")
