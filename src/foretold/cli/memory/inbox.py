"""`foretold memory inbox` and `share`: changes that need the consent of the user."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence

from foretold.cli.json import emit, findings_json
from foretold.cli.memory.consent import ask_consent
from foretold.cli.memory.options import paint_of, parse_and_open, parser_of, print_change, require_user
from foretold.cli.output import Paint, confirm, print_findings
from foretold.errors import ForetoldError
from foretold.memory.project import Memories
from foretold.memory.store.team import Share
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
    memories = ask_consent(memories, options)
    if not confirm("Share it?", yes=options.yes):
        return 1
    print_change(memories.share(plan), "shared", options, memories)
    if not options.json:
        print(f"  for the others: git add {shlex.quote(paint.path(memories.place.team))}, and commit")
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
