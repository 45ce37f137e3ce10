"""`foretold memory compact --history`: drop the texts of old versions. It first shows which."""

from __future__ import annotations

import argparse
import os

from foretold.cli.json import emit
from foretold.cli.memory.options import paint_of
from foretold.cli.output import confirm, plural, size
from foretold.errors import NoSuchMemory
from foretold.memory.project import Memories
from foretold.memory.store.retention import DAYS, HistoryPlan, compact_history, plan_compaction
from foretold.memory.store.transaction import now

MOST = 20  #: files that are printed


def command_compact_history(options: argparse.Namespace, memories: Memories) -> int:
    """Drop the texts of old versions, by policy."""
    days = DAYS if options.days is None else max(0, options.days)
    store = memories.own
    if not os.path.isdir(store.state):
        raise NoSuchMemory(f"there is no history of {store.path}")
    with store.versioned.locked_all(reading=True):
        store.journal.refresh()
        plan = plan_compaction(store.journal, days=days, bound=store.versioned.bound)
    shown = {"size": plan.size, "after": plan.after, "versions": plan.versions, "drop": len(plan.drop)}
    if options.json and not options.yes:
        emit("compact-history", {**shown, "files": plan.files, "done": False})
        return 0
    if not options.json:
        paint = paint_of(memories)
        print(f"The history has {size(plan.size)} and {plural(plan.versions, 'version')} that can be restored.")
        if not plan.drop:
            what = "was" if options.yes else "is to be"
            print(paint.wrap(f"Nothing {what} dropped: {_why_nothing(plan, days)}.", 0))
            return 0
        what = "found to drop" if options.yes else "would be dropped"
        print(f"{plural(len(plan.drop), 'version')} {what}; about {size(plan.after)} stay:")
        for file, count in sorted(plan.files.items(), key=lambda item: -item[1])[:MOST]:
            print(f"  {count:>6,}  {paint.text(file)}")
        said = "The last version of each memory, and those before deletions and restores, are kept."
        print(paint.wrap(said, 0))
    if plan.drop and not confirm("Drop them? This cannot be undone.", yes=options.yes):
        return 1
    after = _compact(memories, days) if plan.drop else plan.size
    if options.json:
        emit("compact-history", {**shown, "after": after, "files": plan.files, "done": True})
    elif after >= plan.size:
        print("Nothing was dropped: without these texts the history would not be smaller.")
    else:
        print(f"done: {size(plan.size)} before, {size(after)} now")
    return 0


def _why_nothing(plan: HistoryPlan, days: int) -> str:
    if plan.spared == 1:
        return "1 version is old enough, but without it the history would not be smaller"
    if plan.spared:
        return f"{plan.spared:,} versions are old enough, but without them the history would not be smaller"
    recent = f"every version of the last {plural(days, 'day')} is kept, then" if days else "kept are"
    return f"{recent} the last one of each day, and after a year the last one of each week"


def _compact(memories: Memories, days: int) -> int:
    store = memories.own
    with store.versioned.locked_all():
        store.journal.refresh()
        plan = plan_compaction(store.journal, days=days, bound=store.versioned.bound)
        why = f"{len(plan.drop):,} texts of old versions dropped"
        return compact_history(store.journal, plan, by="user", when=now(), why=why)
