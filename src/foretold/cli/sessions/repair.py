"""`foretold sessions repair` and `relocate`. Both show first what they would do."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence

from foretold.cli.paint import Paint, plural, printable
from foretold.cli.people import agreed
from foretold.cli.schema import emit
from foretold.cli.sessions.diagnosis import diagnosis_json, home_option, in_short, tell_diagnosis
from foretold.cli.sessions.options import Progress, agents_of, homes_of, parser_of, session_called
from foretold.errors import ForetoldError, NoSuchSession
from foretold.sessions.archive.archive import Archive, archive_folder
from foretold.sessions.archive.session_files import is_shared
from foretold.sessions.catalog import iter_sessions
from foretold.sessions.formats.claude.reader import config_folder
from foretold.sessions.model import Homes
from foretold.sessions.relocate.relocate import SessionMove, moved_to, plan_relocation, relocate
from foretold.sessions.repair.copy import write_repaired_copy
from foretold.sessions.repair.diagnose import diagnose


def command_repair(words: Sequence[str]) -> int:
    about = (
        "How much of a session its agent reaches when it resumes it, and what is damaged. --write makes a mended copy, "
        "a new session; the damaged one is never touched."
    )
    examples = "  foretold sessions repair              look through all sessions of this folder\n"
    examples += "  foretold sessions repair 118ca5f9\n  foretold sessions repair 118ca5f9 --write"
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
    stored = session_called(homes, options.session, agents_of(options))
    if is_shared(stored):
        raise NoSuchSession(f"{stored.id} is in a database: {stored.agent} keeps it whole by itself")
    progress = Progress("reading")
    found = diagnose(stored, progress)
    made = write_repaired_copy(stored, options.to, progress=progress) if options.write and not found.useless else None
    progress.end()
    if options.json:
        emit("sessions-repair", {**diagnosis_json(found), "written": made.path if made else None})
    else:
        tell_diagnosis(found, made, Paint(os.path.realpath(options.cwd), homes.home), options)
    return 0 if found.is_sound else 1


def _look_through(homes: Homes, options: argparse.Namespace) -> int:
    """Every session of a folder: those with something wrong are named."""
    project = None if options.all else options.cwd
    sessions = [
        each for each in iter_sessions(homes, agents=agents_of(options), project=project) if not is_shared(each)
    ]
    progress = Progress("reading")
    found, total, done = [], sum(stored.size for stored in sessions), 0
    for stored in sessions:
        try:
            found.append(diagnose(stored))
        except ForetoldError as error:
            print(f"foretold: {stored.id}: {error}", file=sys.stderr)
        done += stored.size
        progress(done, total)
    progress.end()
    wrong = [each for each in found if not each.is_sound]
    if options.json:
        emit("sessions-repair-all", {"sessions": [diagnosis_json(each) for each in found]})
        return 1 if wrong else 0
    for each in wrong:
        codes = ", ".join(dict.fromkeys(finding.code for finding in each.findings))
        print(f"{each.stored.agent} {each.stored.id}\n  {in_short(each)}\n  {codes}")
    print(f"{plural(len(found), 'session')} looked through, {len(wrong)} with something wrong.")
    if wrong:
        print("More about one: foretold sessions repair ID")
    elif not found and not options.all:
        print("No session was held in this folder; --all looks through those of every project.")
    return 1 if wrong else 0


def command_relocate(words: Sequence[str]) -> int:
    about = (
        "A project has moved from OLD to NEW: take its sessions along, for every agent. Shows first what it would do."
    )
    examples = (
        "  foretold sessions relocate ~/old/app ~/new/app\n  foretold sessions relocate ~/old/app ~/new/app --yes"
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
        return 1 if not plan or _stays(plan) else 0
    if not agreed(f"Move {plural(len(moves), 'session')}?", yes=options.yes):
        return 1
    done, code = _do(moves, homes)
    if options.json:
        emit("sessions-relocate", {"moves": [_move_json(move) for move in plan], "done": done})
    else:
        print(f"moved: {plural(len(done), 'session')}. As they were, they are in {archive_folder(homes)}")
        _tell_stays(plan)
        old, new = os.path.realpath(options.old), os.path.realpath(options.new)
        undo = ["foretold", "sessions", "relocate", new, old, "--only", ",".join(done), "--yes"]
        print(f"Undo: {shlex.join(undo)}{home_option(options)}" if done else "Nothing was moved.")
    return code or int(bool(_stays(plan)))


def _stays(plan: list[SessionMove]) -> int:
    """How many sessions are left alone that should have moved."""
    return sum(move.what in ("there", "busy") for move in plan)


def _tell_stays(plan: list[SessionMove]) -> None:
    count = _stays(plan)
    if count:
        print(f"left behind: {plural(count, 'session')} (why: see above). Run this again later.")


def _do(moves: list[SessionMove], homes: Homes) -> tuple[list[str], int]:
    """Move sessions; one that fails does not stop the others."""
    archive, progress = Archive(archive_folder(homes)), Progress("moving")
    done, code = [], 0
    for move in moves:
        try:
            relocate(archive, move, progress=progress)
            done.append(move.stored.id)
        except ForetoldError as error:
            code = error.exit_code
            print(f"foretold: {move.stored.id}: {error}", file=sys.stderr)
    progress.end()
    return done, code


def _show_moves(plan: list[SessionMove], paint: Paint, homes: Homes, options: argparse.Namespace) -> None:
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
        gone = moved_to(homes, os.path.realpath(options.old))
        print(
            f"No session was held in {printable(options.old)}."
            if not gone
            else f"They are in {paint.path(gone)} already."
        )
    if any(move.what == "move" for move in plan):
        print("Each is archived first, and then moved byte for byte; nothing is overwritten.")
    _mention_memories(homes, options)


def _mention_memories(homes: Homes, options: argparse.Namespace) -> None:
    from foretold.dialects.claude_code.settings import slug

    folder = os.path.join(config_folder(homes), "projects", slug(os.path.realpath(options.old)), "memory")
    if os.path.isdir(folder) and os.listdir(folder):
        words = shlex.join(["foretold", "memory", "relocate", *map(os.path.realpath, (options.old, options.new))])
        print(f"Its memories are not sessions: {words}{home_option(options)}")


def _move_json(move: SessionMove) -> dict[str, object]:
    return {
        "agent": move.stored.agent,
        "id": move.stored.id,
        "what": move.what,
        "files": [{"from": source, "to": target} for source, target in move.files],
        "command": move.command or None,
        "why": move.why or None,
    }
