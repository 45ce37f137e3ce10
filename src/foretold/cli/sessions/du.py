"""`foretold sessions du` and `prune`: what takes room, and letting it go."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Sequence

from foretold.cli.json import emit, pick
from foretold.cli.output import Paint, ProgressLine, confirm, plural, printable, size
from foretold.cli.sessions.options import agents_of, days, homes_of, paint_of, parser_of
from foretold.errors import ForetoldError
from foretold.sessions.archive.archive import Archive, archive_folder
from foretold.sessions.archive.disk_usage import DiskUse, find_repeated, measure_usage, sum_usage
from foretold.sessions.archive.prune import PruneCandidate, PruneCriteria, PruneResult, plan_prune, prune
from foretold.sessions.catalog import iter_sessions
from foretold.sessions.exporters.formatting import format_time
from foretold.sessions.model import Homes

FIELDS = ("agent", "project", "session", "kind")
MOST = 15  #: rows of a table
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def command_du(words: Sequence[str]) -> int:
    about = "How much disk space sessions take: by agent and kind, by project, and the largest sessions."
    examples = "  foretold sessions du\n  foretold sessions du --by session\n  foretold sessions du --forks"
    parser = parser_of("du", about, examples)
    parser.add_argument("--all", action="store_true", help="of every project (the default)")
    parser.add_argument("--by", choices=FIELDS, help="one table only")
    parser.add_argument("--forks", action="store_true", help="also what forks duplicate; this reads every session")
    options = parser.parse_args(words)
    homes = homes_of(options)
    agents = agents_of(options)
    with ProgressLine("looking", "sessions") as progress:
        uses = measure_usage(homes, agents=agents, progress=progress)
    with ProgressLine("comparing") as progress:
        twice = find_repeated(iter_sessions(homes, agents=agents) if options.forks else (), progress)
    if options.json:
        rows = [use._asdict() for use in uses]
        emit("sessions-du", {"uses": rows, "bytes": sum(use.size for use in uses), "repeated": twice})
        return 0
    paint = paint_of(options)
    _print_usage(uses, paint, options)
    if options.forks:
        print(f"\nForks duplicate {size(sum(twice.values()))}:")
        for path, count in sorted(twice.items(), key=lambda row: -row[1])[:MOST]:
            print(f"{size(count):>11}  {paint.path(path)}")
    return 0


def _print_usage(uses: list[DiskUse], paint: Paint, options: argparse.Namespace) -> None:
    if not uses:
        print("There are no sessions here.")
        return
    tables = (("agent", "kind"), ("project",), ("session",)) if not options.by else ((options.by,),)
    for fields in tables:
        rows = [row for row in sum_usage(uses, *fields) if fields[0] not in ("project", "session") or row[0][0]]
        if not rows:
            continue
        print(f"by {' and '.join(fields)}:")
        for key, count, files in rows[:MOST]:
            name = paint.path(key[0]) if fields == ("project",) else "".join(f"{each:<13}" for each in key).rstrip()
            print(f"{size(count):>11}  {paint.fit(printable(name), paint.width - 26)} {plural(files, 'file'):>12}")
        if len(rows) > MOST:
            print(f"{'':>11}  and {len(rows) - MOST} more: --json has all")
        print()
    print(f"{size(sum(use.size for use in uses)):>11}  in total")
    print("To free space: foretold sessions prune --older-than 30d")


def command_prune(words: Sequence[str]) -> int:
    parser = _prune_parser()
    options = parser.parse_args(words)
    wanted = PruneCriteria(options.older_than, options.larger_than, options.empty, options.orphans)
    if wanted == PruneCriteria():
        parser.error("which one? give --older-than, --larger-than, --empty or --orphans; together, all must hold")
    homes = homes_of(options)
    project = None if options.all or options.orphans else options.cwd
    with ProgressLine("looking", "sessions") as progress:
        now, agents = time.time(), agents_of(options)
        plan = plan_prune(homes, wanted, now, agents=agents, project=project, progress=progress)
    going = [each for each in plan if not each.obstacle]
    is_shown = options.json and not (going and options.yes)
    if is_shown:
        emit("sessions-prune", {"candidates": [_candidate_json(each) for each in plan], "done": False})
    elif not options.json:
        _print_candidates(plan, going, paint_of(options), options)
    if is_shown or not going:
        return 0
    if not confirm(f"Archive and delete {plural(len(going), 'session')}?", yes=options.yes):
        return 1
    return _prune(going, plan, homes, options)


def _prune_parser() -> argparse.ArgumentParser:
    about = (
        "Show sessions that could be deleted; --yes moves them into the archive, verifies that, and deletes them. "
        "Sessions in use stay."
    )
    examples = "  foretold sessions prune --older-than 90d\n  foretold sessions prune --orphans --all\n"
    examples += "  foretold sessions prune --larger-than 100M --all --yes"
    parser = parser_of("prune", about, examples)
    parser.add_argument("--all", action="store_true", help="of every project")
    parser.add_argument("--older-than", type=days, metavar="AGE", help="not written for this long: 90d, 12w")
    parser.add_argument("--larger-than", type=_bytes, metavar="SIZE", help="e.g. 500K, 100M, 2G")
    parser.add_argument("--empty", action="store_true", help="sessions without messages")
    parser.add_argument("--orphans", action="store_true", help="their folder no longer exists")
    parser.add_argument("--yes", action="store_true", help="do it")
    return parser


def _print_candidates(
    plan: list[PruneCandidate], going: list[PruneCandidate], paint: Paint, options: argparse.Namespace
) -> None:
    for each in plan:
        stored = each.stored
        print(f"{stored.id}  {stored.agent}  {format_time(stored.changed)}  {size(each.size)}")
        print(paint.wrap(f"{each.why}" + (f"; stays: {each.obstacle}" if each.obstacle else ""), 2))
        if stored.title:
            print(paint.fit(f"  {printable(stored.title)}", paint.width).rstrip())
    freed = size(sum(each.size for each in going))
    print(f"{plural(len(going), 'session')} could be deleted ({freed}), {len(plan) - len(going)} stay.")
    if not plan and not options.all and not options.orphans:
        print("Only sessions of this folder were checked; --all checks those of every project.")


def _prune(going: list[PruneCandidate], plan: list[PruneCandidate], homes: Homes, options: argparse.Namespace) -> int:
    archive = Archive(archive_folder(homes))
    done: list[PruneResult] = []
    with ProgressLine("archiving") as progress:
        for each in going:
            try:
                done.append(prune(archive, each, progress=progress))
            except ForetoldError as error:
                done.append(PruneResult(each, 0, str(error)))
    problems = [one for one in done if one.problem]
    if options.json:
        rows = [{"id": one.candidate.stored.id, "files": one.files, "problem": one.problem or None} for one in done]
        emit("sessions-prune", {"candidates": [_candidate_json(one) for one in plan], "done": True, "pruned": rows})
    else:
        gone = [one for one in done if not one.problem]
        freed = size(sum(one.candidate.size for one in gone))
        print(f"{plural(len(gone), 'session')} archived and deleted, {freed} freed.")
        print("Restore one: foretold sessions restore ID")
        for one in problems:
            print(f"foretold: {one.candidate.stored.id} stays: {printable(one.problem)}", file=sys.stderr)
    return 3 if problems else 0


def _candidate_json(each: PruneCandidate) -> dict[str, object]:
    own = {"size": each.size, "why": each.why, "kept": each.obstacle or None}
    return {**pick(each.stored, "agent id path cwd changed"), **own}


def _bytes(text: str) -> int:
    """A size as people write it.

    >>> _bytes("2K"), _bytes("1.5M")
    (2048, 1572864)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write e.g. 500K, 100M or 2G")
    return int(float(match[1]) * UNITS[match[2]])
