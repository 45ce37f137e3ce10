"""`foretold memory compact --history`: drop the texts of old versions. It first shows which."""

from __future__ import annotations

import argparse
import os

from foretold.cli.json import emit
from foretold.cli.memory.options import paint_of
from foretold.cli.output import confirm, plural, size
from foretold.errors import NoSuchMemory
from foretold.memory.project import Memories
from foretold.memory.store.retention import DAYS, compact_history, plan_compaction
from foretold.memory.store.transaction import now

MOST = 20  #: files that are printed


def command_compact_history(options: argparse.Namespace, memories: Memories) -> int:
    """Drop the texts of old versions, by policy."""
    days = DAYS if options.days is None else max(0, options.days)
    store = memories.own
    if not os.path.isdir(store.state):
        raise NoSuchMemory(f"there is no history of {store.path}")
    with store.versioned.locked_all():
        store.journal.refresh()
        plan = plan_compaction(store.journal, days=days, bound=store.versioned.bound)
    shown = {"size": plan.size, "after": plan.after, "versions": plan.versions, "drop": len(plan.drop)}
    if options.json and not options.yes:
        emit("compact-history", {**shown, "files": plan.files, "done": False})
        return 0
    if not options.json:
        print(f"The history has {size(plan.size)} and {plural(plan.versions, 'version')} that can be restored.")
        if not plan.drop:
            print(f"Nothing is to be dropped: every version of the last {days} days is kept, then one a day.")
            return 0
        print(f"{plural(len(plan.drop), 'version')} would be dropped; about {size(plan.after)} stay:")
        for file, count in sorted(plan.files.items(), key=lambda item: -item[1])[:MOST]:
            print(f"  {count:>6,}  {paint_of(memories).text(file)}")
        print("The last version of each memory, and those before deletions and restores, are kept.")
    if plan.drop and not confirm("Drop them? This cannot be undone.", yes=options.yes):
        return 1
    after = _compact(memories, days) if plan.drop else plan.size
    if options.json:
        emit("compact-history", {**shown, "after": after, "files": plan.files, "done": True})
    else:
        print(f"done: {size(plan.size)} before, {size(after)} now")
    return 0


def _compact(memories: Memories, days: int) -> int:
    store = memories.own
    with store.versioned.locked_all():
        store.journal.refresh()
        plan = plan_compaction(store.journal, days=days, bound=store.versioned.bound)
        why = f"{len(plan.drop):,} texts of old versions dropped"
        return compact_history(store.journal, plan, by="user", when=now(), why=why)
