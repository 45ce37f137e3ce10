"""What `foretold sessions archive` says: what it looked at, what it did not, and what will be deleted when."""

from __future__ import annotations

import argparse
import os
import sys
import time

from foretold.cli.paint import Paint, plural, printable, size
from foretold.cli.schema import emit
from foretold.cli.sessions.options import agents_of
from foretold.sessions.archive.archive import Archive, ArchiveCoverage
from foretold.sessions.archive.retention import ExpiringSession, Retention, find_expiring_sessions, read_retention
from foretold.sessions.archive.store_session import ArchiveResult
from foretold.sessions.catalog import newest_first, summarize_session
from foretold.sessions.model import Homes, StoredSession

KINDS = ("main", "fork", "archived")
SOON = 7.0  #: days
MOST = 10  #: rows


def tell_archived(
    archive: Archive,
    done: list[ArchiveResult],
    problems: list[tuple[StoredSession, str]],
    homes: Homes,
    options: argparse.Namespace,
) -> None:
    rule = read_retention(homes)
    soon = find_expiring_sessions(homes, time.time(), within=SOON, rule=rule)
    kept = ArchiveCoverage(archive)
    others = 0 if options.all or options.sessions else _others(kept, homes, done, options)
    if options.json:
        facts = _archive_json(done, problems, rule, soon, kept)
        emit("sessions-archive", {"folder": archive.folder, **facts, "others": others})
        return
    paint = Paint(os.path.realpath(options.cwd), homes.home)
    _print_counts(archive, done, others, paint, options)
    for stored, why in problems:
        print(f"foretold: {stored.id}: {printable(why)}", file=sys.stderr)
    _print_leaving(kept, rule, soon, paint)


def _others(kept: ArchiveCoverage, homes: Homes, done: list[ArchiveResult], options: argparse.Namespace) -> int:
    """How many sessions of other folders are not in the archive as they are now; only these are opened."""
    mine = {(each.stored.agent, each.stored.path, each.stored.id) for each in done}
    count = 0
    for stored in newest_first(homes, agents_of(options)):
        if (stored.agent, stored.path, stored.id) not in mine and not kept.includes(stored):
            card = summarize_session(stored) if stored.kind != "subagent" else None
            count += card is not None and card.kind in KINDS
    return count


def _archive_json(
    done: list[ArchiveResult],
    problems: list[tuple[StoredSession, str]],
    rule: Retention,
    soon: list[ExpiringSession],
    kept: ArchiveCoverage,
) -> dict[str, object]:
    rows = [
        {"agent": each.stored.agent, "id": each.stored.id, "what": each.what, "size": each.size, "added": each.added}
        for each in done
    ]
    return {
        "sessions": rows,
        "problems": [{"id": stored.id, "why": why} for stored, why in problems],
        "deleted_after_days": rule.days,
        "leaving": [
            {"id": each.stored.id, "days": round(each.days, 2), "kept": kept.includes(each.stored)} for each in soon
        ],
    }


def _print_counts(
    archive: Archive, done: list[ArchiveResult], others: int, paint: Paint, options: argparse.Namespace
) -> None:
    """What was looked at, what became of it, and what was not looked at."""
    where = "" if options.sessions else " of every folder" if options.all else " of this folder"
    if done:
        whole, added = (size(sum(each)) for each in zip(*((one.size, one.added) for one in done), strict=True))
        print(f"Looked at {plural(len(done), 'session')}{where}: {_counted(done)}.")
        print(f"{whole} of sessions; {added} were added to {paint.path(archive.folder)}")
    elif not options.sessions:
        print(f"There is no session{where}.")
    if others:
        are = "is" if others == 1 else "are"
        print(f"{plural(others, 'session')} of other folders {are} not in it: foretold sessions archive --all")
    if done:
        print("Bring one back: foretold sessions restore ID")


def _counted(done: list[ArchiveResult]) -> str:
    counts = {what: sum(each.what == what for each in done) for what in ("new", "grown", "rewritten", "same")}
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count and what != "same")
    if not said:
        return "nothing new, the archive has " + ("it" if len(done) == 1 else "them")
    return f"{said}; {counts['same']} as before" if counts["same"] else said


def _print_leaving(kept: ArchiveCoverage, rule: Retention, soon: list[ExpiringSession], paint: Paint) -> None:
    """What Claude Code deletes when."""
    if rule.days is None:
        print("\nClaude Code deletes no sessions here (cleanupPeriodDays).")
        return
    source = paint.path(rule.source) if rule.source else "the default"
    print(f"\nClaude Code deletes a session {rule.days:g} days after it was last written ({source}).")
    mine = [each for each in soon if each.stored.kind == "main"]
    for each in mine[:MOST]:
        day = "at its next start" if each.days <= 0 else f"in {each.days:.0f} d"
        print(f"  {each.stored.id}  {day:<17}  {'archived' if kept.includes(each.stored) else 'NOT archived'}")
    if rest := mine[MOST:]:
        bare = sum(not kept.includes(each.stored) for each in rest)
        print(f"  and {len(rest)} more within {SOON:g} days, {bare or 'none'} of them NOT archived")
