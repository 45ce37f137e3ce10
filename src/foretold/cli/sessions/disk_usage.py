"""`foretold sessions du` and `prune`: what takes room, and letting it go."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence

from foretold.cli.paint import Paint, plural, printable, size
from foretold.cli.people import agreed
from foretold.cli.schema import emit
from foretold.cli.sessions.options import Progress, agents_of, days, homes_of, parser_of, when
from foretold.errors import ForetoldError
from foretold.sessions.archive.archive import Archive, archive_folder
from foretold.sessions.archive.disk_usage import DiskUse, find_repeated, measure_usage, sum_usage
from foretold.sessions.archive.prune import PruneCandidate, PruneCriteria, PruneResult, plan_prune, prune
from foretold.sessions.catalog import iter_sessions
from foretold.sessions.model import Homes

FIELDS = ("agent", "project", "session", "kind")
MOST = 15  #: rows of a table
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def command_du(words: Sequence[str]) -> int:
    about = "How much room sessions take: by agent and kind, by project, and the largest sessions."
    examples = "  foretold sessions du\n  foretold sessions du --by session\n  foretold sessions du --forks"
    parser = parser_of("du", about, examples)
    parser.add_argument("--all", action="store_true", help="of every project, which it is in any case")
    parser.add_argument("--by", choices=FIELDS, help="one table only")
    parser.add_argument("--forks", action="store_true", help="also what forks repeat; that reads every session")
    options = parser.parse_args(words)
    homes = homes_of(options)
    progress = Progress("looking")
    uses = measure_usage(
        homes, agents=agents_of(options), progress=lambda done, total: progress(done, total, "sessions")
    )
    twice: dict[str, int] = {}
    if options.forks:
        sessions = list(iter_sessions(homes, agents=agents_of(options)))
        twice = find_repeated(sessions, Progress("comparing"))
    progress.end()
    if options.json:
        rows = [use._asdict() for use in uses]
        emit("sessions-du", {"uses": rows, "bytes": sum(use.size for use in uses), "repeated": twice})
        return 0
    _tell_usage(uses, Paint(os.path.realpath(options.cwd), homes.home), options)
    if options.forks:
        paint = Paint(os.path.realpath(options.cwd), homes.home)
        print(f"\nForks repeat {size(sum(twice.values()))}:")
        for path, count in sorted(twice.items(), key=lambda row: -row[1])[:MOST]:
            print(f"{large(count):>11}  {paint.path(path)}")
    return 0


def _tell_usage(uses: list[DiskUse], paint: Paint, options: argparse.Namespace) -> None:
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
            print(f"{large(count):>11}  {paint.fit(printable(name), paint.width - 26)} {plural(files, 'file'):>12}")
        if len(rows) > MOST:
            print(f"{'':>11}  and {len(rows) - MOST} more: --json has all")
        print()
    print(f"{large(sum(use.size for use in uses)):>11}  in all")
    print("What could go: foretold sessions prune --older-than 30d")


def large(count: int) -> str:
    """Bytes for people, also many.

    >>> large(3 << 30), large(5 << 10)
    ('3.0 GiB', '5.0 KiB')
    """
    return size(count) if count < 1 << 30 else f"{count / (1 << 30):.1f} GiB"


def command_prune(words: Sequence[str]) -> int:
    parser = _prune_parser()
    options = parser.parse_args(words)
    wanted = PruneCriteria(options.older_than, options.larger_than, options.empty, options.orphans)
    if wanted == PruneCriteria():
        parser.error("which? give --older-than, --larger-than, --empty or --orphans; together, all must hold")
    homes = homes_of(options)
    progress = Progress("looking")
    project = None if options.all or options.orphans else options.cwd
    plan = plan_prune(
        *(homes, wanted, time.time()),
        agents=agents_of(options),
        project=project,
        progress=lambda done, total: progress(done, total, "sessions"),
    )
    progress.end()
    going = [each for each in plan if not each.obstacle]
    if not options.json:
        _show_candidates(plan, going, Paint(os.path.realpath(options.cwd), homes.home), options)
    if not going or (options.json and not options.yes):
        if options.json:
            emit("sessions-prune", {"candidates": [_candidate_json(each) for each in plan], "done": False})
        return 0
    if not agreed(f"Archive and delete {plural(len(going), 'session')}?", yes=options.yes):
        return 1
    return _let_go(going, plan, homes, options)


def _prune_parser() -> argparse.ArgumentParser:
    about = (
        "Show sessions that could go; --yes moves them into the archive, proves that it has them, and deletes them. "
        "Sessions in use stay."
    )
    examples = "  foretold sessions prune --older-than 90d\n  foretold sessions prune --orphans --all\n"
    examples += "  foretold sessions prune --larger-than 100M --all --yes"
    parser = parser_of("prune", about, examples)
    parser.add_argument("--all", action="store_true", help="of every project")
    parser.add_argument("--older-than", type=days, metavar="AGE", help="nothing was written for so long: 90d, 12w")
    parser.add_argument("--larger-than", type=_bytes, metavar="SIZE", help="e.g. 500K, 100M, 2G")
    parser.add_argument("--empty", action="store_true", help="nothing was said in them")
    parser.add_argument("--orphans", action="store_true", help="their folder is not there any more")
    parser.add_argument("--yes", action="store_true", help="do it")
    return parser


def _show_candidates(
    plan: list[PruneCandidate], going: list[PruneCandidate], paint: Paint, options: argparse.Namespace
) -> None:
    for each in plan:
        stored = each.stored
        print(f"{stored.id}  {stored.agent}  {when(stored.changed)}  {large(each.size)}")
        print(paint.wrap(f"{each.why}" + (f"; stays: {each.obstacle}" if each.obstacle else ""), 2))
        if stored.title:
            print(paint.fit(f"  {printable(stored.title)}", paint.width).rstrip())
    freed = large(sum(each.size for each in going))
    print(f"{plural(len(going), 'session')} could go ({freed}), {len(plan) - len(going)} stay.")
    if not plan and not options.all and not options.orphans:
        print("Only sessions of this folder were looked at; --all looks at those of every project.")


def _let_go(going: list[PruneCandidate], plan: list[PruneCandidate], homes: Homes, options: argparse.Namespace) -> int:
    archive, progress = Archive(archive_folder(homes)), Progress("archiving")
    done: list[PruneResult] = []
    for each in going:
        try:
            done.append(prune(archive, each, progress=progress))
        except ForetoldError as error:
            done.append(PruneResult(each, 0, str(error)))
    progress.end()
    problems = [one for one in done if one.problem]
    if options.json:
        rows = [{"id": one.candidate.stored.id, "files": one.files, "problem": one.problem or None} for one in done]
        emit("sessions-prune", {"candidates": [_candidate_json(one) for one in plan], "done": True, "pruned": rows})
    else:
        gone = [one for one in done if not one.problem]
        freed = large(sum(one.candidate.size for one in gone))
        print(f"{plural(len(gone), 'session')} archived and deleted, {freed} freed.")
        print("Bring one back: foretold sessions restore ID")
        for one in problems:
            print(f"foretold: {one.candidate.stored.id} stays: {printable(one.problem)}", file=sys.stderr)
    return 3 if problems else 0


def _candidate_json(each: PruneCandidate) -> dict[str, object]:
    stored = each.stored
    return {
        "agent": stored.agent,
        "id": stored.id,
        "path": stored.path,
        "cwd": stored.cwd,
        "changed": stored.changed,
        "size": each.size,
        "why": each.why,
        "kept": each.obstacle or None,
    }


def _bytes(text: str) -> int:
    """A size as people write it.

    >>> _bytes("2K"), _bytes("1.5M")
    (2048, 1572864)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write e.g. 500K, 100M or 2G")
    return int(float(match[1]) * UNITS[match[2]])
