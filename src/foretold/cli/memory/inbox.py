"""`foretold memory inbox`, `share` and `trust`: changes that need the consent of the user."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence

from foretold.cli.json import emit, findings_json
from foretold.cli.memory.options import open_store, paint_of, parse_and_open, parser_of, print_change, require_user
from foretold.cli.output import Paint, confirm, plural, print_findings
from foretold.errors import ForetoldError, NoSuchMemory
from foretold.memory.location import give_consent, withdraw_consent
from foretold.memory.project import Memories
from foretold.memory.store.team import Share
from foretold.secrets.invisible import show_hidden
from foretold.text.diff import unified


def command_inbox(words: Sequence[str]) -> int:
    about = "Changes that agents proposed and that wait for your answer (the write policy is `confirm`)."
    examples = "  foretold memory inbox\n  foretold memory inbox accept ID\n  foretold memory inbox refuse ID"
    parser = parser_of("inbox", about, examples)
    parser.add_argument("what", nargs="?", choices=("list", "accept", "refuse"), default="list")
    parser.add_argument("ids", nargs="*", metavar="ID", help="or `all`")
    options, memories = parse_and_open(parser, words)
    inbox = memories.inbox
    if options.what == "list":
        return _print_inbox(memories, as_json=options.json)
    require_user(f"inbox {options.what}")
    if not options.ids:
        parser.error("give an id from: foretold memory inbox")
    chosen = inbox.waiting() if options.ids == ["all"] else [inbox.get(name) for name in options.ids]
    return max([_answer(memories, each.id, options) for each in chosen], default=0)


def _answer(memories: Memories, name: str, options: argparse.Namespace) -> int:
    """Accept or refuse one proposal. One that cannot be made stays, and does not stop the others."""
    if options.what == "refuse":
        refused = memories.inbox.refuse(name)
        if options.json:
            emit("refused", {"id": refused.id, "file": refused.file})
        else:
            print(f"refused: {refused.file}")
        return 0
    try:
        print_change(memories.inbox.accept(name), "accepted", options, memories)
    except ForetoldError as error:
        print(f"foretold: {name} still waits: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _print_inbox(memories: Memories, *, as_json: bool) -> int:
    waiting = memories.inbox.waiting()
    if as_json:
        inbox = memories.inbox
        found = [{**each._asdict(), "diff": inbox.diff(each), "stale": inbox.is_stale(each)} for each in waiting]
        emit("inbox", {"proposals": found, "policy": memories.place.policy})
        return 0
    if not waiting:
        print(f"Nothing is waiting. The write policy is {memories.place.policy}.")
    paint = paint_of(memories)
    for each in waiting:
        whose = {"team": " of the team", "under": " of the main worktree"}.get(each.scope, "")
        print(f"{paint.bold(each.id)}  {each.op} {paint.text(each.file)}{whose}  {each.time}")
        if each.why:
            print(paint.wrap(each.why, 4))
        if memories.inbox.is_stale(each):
            print(paint.red("    The memory was changed since, so this can only be refused."))
        print("\n".join("    " + paint.text(line) for line in memories.inbox.diff(each).split("\n")))
    if waiting:
        print(f"To answer: foretold memory inbox accept {waiting[0].id}   (or refuse; or all)")
    return 0


def command_share(words: Sequence[str]) -> int:
    about = "Copy a private memory to the team's store, in the repository. It is scanned for credentials first."
    parser = parser_of("share", about, "  foretold memory share NAME")
    parser.add_argument("name")
    parser.add_argument("--personal", action="store_true", help="even if its type is user")
    parser.add_argument("--yes", action="store_true", help="without asking")
    options, memories = parse_and_open(parser, words)
    plan = memories.plan_share(options.name, personal=options.personal)
    paint = paint_of(memories)
    if options.json and (plan.refusals or not options.yes):
        found = {"refusals": findings_json(plan.refusals), "warnings": findings_json(plan.warnings)}
        emit("share", {"file": plan.file, "text": plan.text, **found, "done": False})
        return 1 if plan.refusals else 0
    if plan.refusals:
        print(f"{plan.file} is not shared:")
        print_findings(plan.refusals, paint)
        return 1
    if not options.json:
        print_findings(plan.warnings, paint)
        _print_share(plan, paint, memories.place.team)
    require_user("sharing with the team")
    if not confirm("Share it?", yes=options.yes):
        return 1
    print_change(memories.share(plan), "shared", options, memories)
    if not options.json:
        print(f"  for the others: git add {shlex.quote(paint.path(memories.place.team))}, and commit")
    return 0


def command_trust(words: Sequence[str]) -> int:
    about = (
        "Accept the team's memories that this repository brings: agents are told what they say from then on, as the "
        "words of others. Adding one yourself accepts them too."
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
        notes = memories.team.memories() if memories.team is not None else []
        if not options.json:
            print(f"{plural(len(notes), 'memory')} in {paint.path(place.team)}:")
            for note in notes:
                print(paint.wrap(show_hidden(f"{note.file}: {note.description}"), 2))
        if not confirm("Accept what is there, and what comes with later changes of this repository?", yes=options.yes):
            return 1
        give_consent(place.consent, place.root)
    elif options.withdraw:
        withdraw_consent(place.consent)
    if options.json:
        emit("trust", {"team": place.team, "accepted": not options.withdraw})
    else:
        print(f"{'not accepted' if options.withdraw else 'accepted'}: {paint.path(place.team)}")
    return 0


def _print_share(plan: Share, paint: Paint, team: str) -> None:
    """What sharing would write; of a memory that is there, what it would change."""
    where, text = f"{paint.path(team)}/{plan.file}", plan.text
    if plan.before is None:
        print(paint.wrap(f"This would be {where}, for everyone who has the repository:", 0) + "\n")
    else:
        who = paint.text(str(plan.before.metadata.get("editor") or plan.before.metadata.get("author") or "someone"))
        print(paint.wrap(f"This would change {where}, which {who} wrote last:", 0) + "\n")
        text = unified(plan.before.text, plan.text, plan.file)
    print("\n".join("    " + paint.text(line) for line in text.rstrip("\n").split("\n")) + "\n")
