"""`foretold memory trust`: what a repository's team has written is shown, and then accepted or not."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence

from foretold.cli.json import emit
from foretold.cli.memory.options import open_store, paint_of, parser_of, require_user
from foretold.cli.output import Paint, confirm, plural, print_findings, printable
from foretold.errors import ConsentNeeded, NoSuchMemory
from foretold.memory.location import give_consent, withdraw_consent
from foretold.memory.note import INDEX, Memory
from foretold.memory.project import Memories
from foretold.memory.store.team import credential_findings, free_text
from foretold.secrets.invisible import hidden_in, show_hidden

LINES = 20  #: of a memory that are shown before the question
MOST = 100  #: memories of which so much is shown
LONGEST = 400  #: characters of a line
QUESTION = "Accept what is there, and what comes with later changes of this repository?"


def command_trust(words: Sequence[str]) -> int:
    about = (
        "Accept the team's memories that this repository brings, after they are shown: agents are told what they say "
        "from then on, as the words of others."
    )
    parser = parser_of("trust", about, "  foretold memory trust\n  foretold memory trust --withdraw")
    parser.add_argument("--withdraw", action="store_true", help="take it back")
    parser.add_argument("--yes", action="store_true", help="without asking")
    options = parser.parse_args(words)
    options.team = False
    require_user("accepting a team's memories")
    memories = open_store(options)
    place, paint = memories.place, paint_of(memories)
    if not place.team or not place.consent:
        raise NoSuchMemory("there is no team folder here that can be accepted; see: foretold memory doctor")
    if not options.withdraw and not place.is_accepted:
        if not options.json:
            print_unaccepted(memories, paint)
        if not confirm(QUESTION, yes=options.yes):
            return 1
        give_consent(place.consent, place.root)
    elif options.withdraw:
        withdraw_consent(place.consent)
    if options.json:
        emit("trust", {"team": place.team, "accepted": not options.withdraw})
    else:
        print(f"{'not accepted' if options.withdraw else 'accepted'}: {paint.path(place.team)}")
    return 0


def ask_consent(memories: Memories, options: argparse.Namespace) -> Memories:
    """The memories, to write into the team's folder: if others wrote there, their texts are shown and accepted first.

    Without a terminal nothing can be shown to anybody, and ConsentNeeded says what to do.
    """
    try:
        memories.require_consent()
    except ConsentNeeded:
        require_user("accepting a team's memories")
        if options.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise
        print_unaccepted(memories, paint_of(memories))
        if not confirm(f"Writing there accepts all of it. {QUESTION}", yes=False):
            raise
        give_consent(memories.place.consent, memories.place.root)
        return open_store(options)
    return memories


def print_unaccepted(memories: Memories, paint: Paint) -> None:
    """The texts of the team's folder, as far as a screen takes them, with what a person would not see in them."""
    store = memories.own if memories.own.scope == "team" else memories.team
    notes = store.memories() if store is not None else []
    print(f"{plural(len(notes), 'memory')} in {paint.path(memories.place.team or memories.place.store)}:\n")
    for note in notes[:MOST]:
        _print_note(note, paint)
    if len(notes) > MOST:
        print(f"… and {plural(len(notes) - MOST, 'more memory')}, not shown: foretold memory list --team\n")
    text = free_text(store) if store is not None else ""
    if text:
        print(paint.bold(INDEX))
        _print_text(text, INDEX, paint)


def _print_note(note: Memory, paint: Paint) -> None:
    print(paint.bold(printable(show_hidden(note.file))))
    _print_text(note.text, note.file, paint)


def _print_text(text: str, file: str, paint: Paint) -> None:
    lines = text.rstrip("\n").split("\n")
    for line in lines[:LINES]:
        cut = f" … and {len(line) - LONGEST:,} more characters" if len(line) > LONGEST else ""
        print(f"    {printable(show_hidden(line[:LONGEST]).replace(chr(9), '    '))}{cut}".rstrip())
    if len(lines) > LINES or any(len(line) > LONGEST for line in lines):
        more = f"{plural(len(lines) - LINES, 'more line')}: " if len(lines) > LINES else "whole: "
        shown = printable(shlex.quote(show_hidden(file)))
        print(f"    … {more}foretold memory show {shown} --team")
    effect = ": agents would be told a mask instead"
    found = [*hidden_in(file, text), *credential_findings(file, text, "", effect)]
    print_findings(found, paint)
    print()
