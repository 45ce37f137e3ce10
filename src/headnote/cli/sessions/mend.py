"""`headnote sessions repair` and `relocate`. Both show first what they would do."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence

from headnote.cli.paint import Paint, plural, printable
from headnote.cli.people import agreed
from headnote.cli.schema import emit, finding_json
from headnote.cli.sessions.asking import Progress, agents_of, homes_of, parser_of, resume_command
from headnote.errors import HeadnoteError, NoSuchSession
from headnote.sessions.archive import Archive, archive_folder
from headnote.sessions.belongings import is_shared
from headnote.sessions.claude import config_folder
from headnote.sessions.listing import find_session, sessions_of
from headnote.sessions.model import Homes, Stored
from headnote.sessions.reach import Reach
from headnote.sessions.relocate import Move, plan_relocation, relocate
from headnote.sessions.repair import Diagnosis, examine, mend

SHOWN = 20  #: findings


def command_repair(words: Sequence[str]) -> int:
    about = (
        "How much of a session its agent reaches when it resumes it, and what is damaged. --write makes a mended copy, "
        "a new session; the damaged one is never touched."
    )
    examples = "  headnote sessions repair              look through all sessions of this folder\n"
    examples += "  headnote sessions repair 118ca5f9\n  headnote sessions repair 118ca5f9 --write"
    parser = parser_of("repair", about, examples)
    parser.add_argument("session", nargs="?", metavar="SESSION", help="its id, title or file")
    parser.add_argument("--all", action="store_true", help="look through those of every project")
    parser.add_argument("--write", action="store_true", help="write a mended copy")
    parser.add_argument("--to", metavar="DIR", help="into this folder instead of beside the damaged one")
    options = parser.parse_args(words)
    homes = homes_of(options)
    if options.session is None:
        if options.write:
            parser.error("which? --write takes one session")
        return _look_through(homes, options)
    stored = find_session(homes, options.session, agents=agents_of(options))
    if is_shared(stored):
        raise NoSuchSession(f"{stored.id} is in a database: {stored.agent} keeps it whole by itself")
    progress = Progress("reading")
    found = examine(stored, progress)
    made = mend(stored, options.to, progress=progress) if options.write else None
    progress.end()
    if options.json:
        emit("sessions-repair", {**diagnosis_json(found), "written": made.path if made else None})
    else:
        _tell(found, made, Paint(os.path.realpath(options.cwd), homes.home), options)
    return 0 if found.is_sound else 1


def _tell(found: Diagnosis, made: Stored | None, paint: Paint, options: argparse.Namespace) -> None:
    stored = found.stored
    print(f"{stored.agent} {stored.id}\n{paint.path(stored.path)}\n")
    print(f"  {plural(found.lines, 'line')}, {plural(found.records, 'record')}", end="")
    print(f", {plural(found.damaged, 'damaged line')}" if found.damaged else "", end="")
    print(f"; {found.bytes_lost:,} bytes cannot be saved" if found.bytes_lost else "")
    if found.reach:
        print(f"  {reached(found.reach)} when it is resumed")
        print(f"  with {stored.agent} {found.version}, which wrote it last")
        if found.reach.summarised:
            print(f"  {found.reach.summarised:,} stand before a compaction, which summarised them")
        if found.reach.aside:
            said = f"{found.reach.aside:,} stand beside the conversation: a rewind left them, or tools ran in parallel"
            print(paint.wrap(said, 2))
    _tell_findings(found, paint)
    print()
    if made is not None:
        if found.then:
            print(f"Written: of the copy {reached(found.then)}.")
        print(f"  {paint.path(made.path)}\nGo on with it: {resume_command(made)}")
    elif found.is_sound:
        print("Nothing is wrong with it.")
    elif _is_doomed(found):
        print(f"Keep it now: headnote sessions archive {stored.id}{_home(options)}")
    else:
        if found.then:
            print(f"Of a mended copy {reached(found.then)}.")
        print("Write one, as a new session beside this one, which stays as it is:")
        print(f"  headnote sessions repair {stored.id} --write{_home(options)}")


def _tell_findings(found: Diagnosis, paint: Paint) -> None:
    """What is wrong, by line: they are all about one file."""
    if found.findings:
        print()
    for finding in found.findings[:SHOWN]:
        where = f"line {finding.line:,}: " if finding.line else ""
        print(paint.wrap(f"{where}{finding.message} [{finding.code}]", 2))
    if len(found.findings) > SHOWN:
        print(f"  and {len(found.findings) - SHOWN:,} more: --json has all")


def _is_doomed(found: Diagnosis) -> bool:
    return any(finding.code == "session-doomed" for finding in found.findings)


def _in_short(found: Diagnosis) -> str:
    if _is_doomed(found):
        return "its agent deletes it at its next start"
    if found.refused:
        return "its agent does not resume it"
    return reached(found.reach) if found.reach else plural(found.damaged, "damaged line")


def reached(reach: Reach) -> str:
    """How much is reached, for people.

    >>> reached(Reach(412, 21, 0, 0, 391))
    '21 of 412 messages (5 %) are reached'
    """
    wanted = reach.reached + reach.lost
    share = f"{100 * reach.share:.0f} %" if reach.lost == 0 or reach.share < 0.995 else "99 %"
    return f"{reach.reached:,} of {wanted:,} messages ({share}) are reached"


def diagnosis_json(found: Diagnosis) -> dict[str, object]:
    """A diagnosis as `--json` prints it."""

    def numbers(reach: Reach | None) -> dict[str, object] | None:
        return {**reach._asdict(), "share": round(reach.share, 4)} if reach else None

    return {
        "agent": found.stored.agent,
        "id": found.stored.id,
        "path": found.stored.path,
        "sound": found.is_sound,
        "lines": found.lines,
        "records": found.records,
        "damaged": found.damaged,
        "bytes_lost": found.bytes_lost,
        "refused": found.refused or None,
        "version": found.version or None,
        "reach": numbers(found.reach),
        "then": numbers(found.then),
        "findings": [finding_json(each) for each in found.findings],
    }


def _look_through(homes: Homes, options: argparse.Namespace) -> int:
    """Every session of a folder: those with something wrong are named."""
    project = None if options.all else options.cwd
    sessions = [each for each in sessions_of(homes, agents=agents_of(options), project=project) if not is_shared(each)]
    progress = Progress("reading")
    found, total, done = [], sum(stored.size for stored in sessions), 0
    for stored in sessions:
        try:
            found.append(examine(stored))
        except HeadnoteError as error:
            print(f"headnote: {stored.id}: {error}", file=sys.stderr)
        done += stored.size
        progress(done, total)
    progress.end()
    wrong = [each for each in found if not each.is_sound]
    if options.json:
        emit("sessions-repair-all", {"sessions": [diagnosis_json(each) for each in found]})
        return 1 if wrong else 0
    for each in wrong:
        codes = ", ".join(dict.fromkeys(finding.code for finding in each.findings))
        print(f"{each.stored.agent} {each.stored.id}\n  {_in_short(each)}\n  {codes}")
    print(f"{plural(len(found), 'session')} looked through, {len(wrong)} with something wrong.")
    if wrong:
        print("More about one: headnote sessions repair ID")
    elif not found and not options.all:
        print("No session was held in this folder; --all looks through those of every project.")
    return 1 if wrong else 0


def command_relocate(words: Sequence[str]) -> int:
    about = (
        "A project has moved from OLD to NEW: take its sessions along, for every agent. Shows first what it would do."
    )
    examples = (
        "  headnote sessions relocate ~/old/app ~/new/app\n  headnote sessions relocate ~/old/app ~/new/app --yes"
    )
    parser = parser_of("relocate", about, examples)
    parser.add_argument("old", help="where the project was")
    parser.add_argument("new", help="where it is now")
    parser.add_argument("--only", metavar="IDS", default="", help="only these sessions, with commas between")
    parser.add_argument("--yes", action="store_true", help="do it")
    options = parser.parse_args(words)
    homes = homes_of(options)
    only = frozenset(filter(None, options.only.split(",")))
    plan = plan_relocation(homes, options.old, options.new, time.time(), agents=agents_of(options), only=only)
    moves = [move for move in plan if move.what == "move"]
    if not options.json:
        _show_moves(plan, Paint(os.path.realpath(options.cwd), homes.home), homes, options)
    if not moves or (options.json and not options.yes):
        if options.json:
            emit("sessions-relocate", {"moves": [_move_json(move) for move in plan], "done": []})
        return 0 if plan else 1
    if not agreed(f"Move {plural(len(moves), 'session')}?", yes=options.yes):
        return 1
    done, code = _do(moves, homes)
    if options.json:
        emit("sessions-relocate", {"moves": [_move_json(move) for move in plan], "done": done})
    else:
        print(f"moved: {plural(len(done), 'session')}. As they were, they are in {archive_folder(homes)}")
        undo = ["headnote", "sessions", "relocate", options.new, options.old, "--only", ",".join(done), "--yes"]
        print(f"Undo: {shlex.join(undo)}{_home(options)}")
    return code


def _do(moves: list[Move], homes: Homes) -> tuple[list[str], int]:
    """Move sessions; one that fails does not stop the others."""
    archive, progress = Archive(archive_folder(homes)), Progress("moving")
    done, code = [], 0
    for move in moves:
        try:
            relocate(archive, move, progress=progress)
            done.append(move.stored.id)
        except HeadnoteError as error:
            code = error.exit_code
            print(f"headnote: {move.stored.id}: {error}", file=sys.stderr)
    progress.end()
    return done, code


def _show_moves(plan: list[Move], paint: Paint, homes: Homes, options: argparse.Namespace) -> None:
    words = {
        "move": "to move",
        "there": "left alone, for their name is taken",
        "busy": "left alone, for they are in use",
    }
    for what, said in words.items():
        rows = [move for move in plan if move.what == what]
        if rows:
            print(f"{plural(len(rows), 'session')} {said}:")
        for move in rows:
            print(f"  {move.stored.agent:<12} {move.stored.id}  {plural(len(move.files), 'file')}")
            print(paint.wrap(move.why, 4) if move.why else f"    {paint.path(os.path.dirname(move.files[0][1]))}")
    typed = [move for move in plan if move.what == "typed"]
    if typed:
        print("The agent itself takes these along, when you type:")
        for move in typed:
            print(f"  {printable(move.command)}")
    if not plan:
        print(f"No session was held in {printable(options.old)}.")
    if any(move.what == "move" for move in plan):
        print("Each is archived first, and then moved byte for byte; nothing is overwritten.")
    _mention_memories(homes, options)


def _mention_memories(homes: Homes, options: argparse.Namespace) -> None:
    from headnote.dialects.claude_world import slug

    folder = os.path.join(config_folder(homes), "projects", slug(os.path.realpath(options.old)), "memory")
    if os.path.isdir(folder) and os.listdir(folder):
        words = shlex.join(["headnote", "memory", "relocate", options.old, options.new])
        print(f"Its memories are not sessions: {words}{_home(options)}")


def _move_json(move: Move) -> dict[str, object]:
    return {
        "agent": move.stored.agent,
        "id": move.stored.id,
        "what": move.what,
        "files": [{"from": source, "to": target} for source, target in move.files],
        "command": move.command or None,
        "why": move.why or None,
    }


def _home(options: argparse.Namespace) -> str:
    return f" --home {shlex.quote(options.home)}" if options.home else ""
