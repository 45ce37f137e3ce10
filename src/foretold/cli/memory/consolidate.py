"""`foretold memory consolidate`: fewer and shorter memories, shown first, applied when agreed, undone as a whole."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from foretold.cli.json import emit, pick
from foretold.cli.memory.options import paint_of, parse_and_open, parser_of
from foretold.cli.output import ProgressLine, confirm, for_terminal, plural, printable
from foretold.memory.extraction.consolidation import (
    ConsolidationPlan,
    Step,
    apply_plan,
    find_plan,
    list_plans,
    propose_plan,
    undo_plan,
)
from foretold.memory.project import Memories
from foretold.text.diff import unified
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.models.protocol import Model


def command_consolidate(words: Sequence[str]) -> int:
    about = (
        "Propose fewer and shorter memories that say the same. Nothing is changed before you agree, and a change "
        "can be undone. Without --model only duplicates are found; a model also merges similar "
        "memories and shortens long ones, and what it writes is checked: nothing is invented, no name is lost."
    )
    examples = (
        "  foretold memory consolidate\n  foretold memory consolidate --model anthropic:claude-haiku-4-5\n"
        "  foretold memory consolidate --apply ID --only 1 3\n  foretold memory consolidate --undo ID"
    )
    parser = parser_of("consolidate", about, examples)
    parser.add_argument("--model", metavar="VENDOR:NAME", help="who merges and shortens, e.g. openai:gpt-5-mini")
    parser.add_argument("--apply", metavar="ID", help="apply a proposal that was shown before")
    parser.add_argument("--only", nargs="+", type=int, metavar="N", default=(), help="only these of its steps")
    parser.add_argument("--undo", metavar="ID", help="undo a proposal that was applied")
    parser.add_argument("--list", action="store_true", help="all proposals")
    parser.add_argument("--yes", action="store_true", help="without asking")
    options, memories = parse_and_open(parser, words)
    if options.list:
        return _print_plans(memories, as_json=options.json)
    if options.undo:
        return _undo(memories, options)
    plan = find_plan(memories, options.apply) if options.apply else _propose(memories, options)
    if plan.state == "done":
        back = f"foretold memory consolidate --undo {plan.id}"
        print(f"{plan.id} was already applied. Undo it: {back}", file=sys.stderr)
        return 1
    if not options.json:
        _print_plan(memories, plan)
    elif not (options.yes and plan.steps):
        emit("consolidation", {**_plan_json(memories, plan), "done": [], "stale": []})
    if not plan.steps or (options.json and not options.yes):
        return 0
    if not confirm(f"Apply {plural(len(options.only or plan.steps), 'step')}?", yes=options.yes):
        print(f"Later: foretold memory consolidate --apply {plan.id}")
        return 1
    return _make(memories, plan, options)


def _propose(memories: Memories, options: argparse.Namespace) -> ConsolidationPlan:
    model: Model | None = None
    if options.model:
        from foretold.models import from_name

        model = from_name(options.model)
    with ProgressLine("asking the model", "questions") as progress:
        return propose_plan(memories, model, progress=progress)


def _make(memories: Memories, plan: ConsolidationPlan, options: argparse.Namespace) -> int:
    made = apply_plan(memories, plan, options.only)
    if options.json:
        stale = [{"step": number, "file": file} for number, file in made.stale]
        emit("consolidation", {**_plan_json(memories, plan), "done": list(made.done), "stale": stale})
    else:
        for number, file in made.stale:
            print(f"step {number} was not applied: {printable(file)} was changed meanwhile; propose again")
        if made.done:
            print(f"applied: {plural(len(made.done), 'step')}. Undo: foretold memory consolidate --undo {plan.id}")
    return 1 if made.stale else 0


def _undo(memories: Memories, options: argparse.Namespace) -> int:
    back, left = undo_plan(memories, find_plan(memories, options.undo))
    if options.json:
        emit("consolidation-undo", {"restored": back, "left": left})
        return 1 if left else 0
    for file in back:
        print(f"as before: {printable(file)}")
    for file in left:
        print(f"left as it is: {printable(file)} was changed since; see: foretold memory log {printable(file)}")
    if not back and not left:
        print("Nothing of it was applied, or all of it was undone.")
    return 1 if left else 0


def _print_plans(memories: Memories, *, as_json: bool) -> int:
    found = list_plans(memories)
    if as_json:
        emit("consolidations", {"proposals": [_plan_json(memories, plan) for plan in found]})
        return 0
    if not found:
        print("There is no proposal. Make one: foretold memory consolidate")
    for plan in found:
        print(f"{plan.id}  {plan.time}  {plan.state:8} {plural(len(plan.steps), 'step')}")
    return 0


def _print_plan(memories: Memories, plan: ConsolidationPlan) -> None:
    paint = paint_of(memories)
    for each in plan.refused:
        files = ", ".join(map(printable, each.files))
        print(paint.wrap(f"What the model wrote for {files} was rejected ({each.reason}): {each.detail}", 0))
    if not plan.steps:
        print(f"{plural(len(memories.own.memories()), 'memory')}: there is nothing to merge, to shorten or to drop.")
        return
    print(f"Proposal {plan.id}, {plural(len(plan.steps), 'step')}:\n")
    for number, step in enumerate(plan.steps, 1):
        print(paint.wrap(f"{number}. {step.kind}: {step.why}", 0))
        print("\n".join("    " + line for line in for_terminal(_diff(memories, step)).rstrip("\n").split("\n")) + "\n")


def _diff(memories: Memories, step: Step) -> str:
    """What a step would change; files that are not there any more are shown as empty."""
    store = memories.own
    before = store.index() if step.kind == "index" else store.read(step.file).text if store.has(step.file) else ""
    changed = unified(before, step.text, step.file) if step.text else ""
    gone = [unified(store.read(file).text, "", file) for file, _ in step.gone if store.has(file)]
    return changed + "".join(gone)


def _plan_json(memories: Memories, plan: ConsolidationPlan) -> dict[str, object]:
    steps = [
        {**step._asdict(), "gone": [file for file, _ in step.gone], "diff": _diff(memories, step)}
        for step in plan.steps
    ]
    refused = [each._asdict() for each in plan.refused]
    return {**pick(plan, "id time state"), "steps": steps, "refused": refused, "usage": plan.usage._asdict()}
