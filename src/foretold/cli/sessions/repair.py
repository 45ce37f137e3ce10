"""`foretold sessions repair` and `relocate`. Both show first what they would do."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence

from foretold.cli.json import emit, findings_json, pick
from foretold.cli.output import Paint, ProgressLine, confirm, plural, printable
from foretold.cli.sessions.options import (
    agents_of,
    home_option,
    homes_of,
    name_in_command,
    paint_of,
    parser_of,
    resume_command,
    session_of,
)
from foretold.errors import ForetoldError, NoSuchSession
from foretold.findings.registry import severity_of
from foretold.sessions.archive.archive import Archive, archive_folder
from foretold.sessions.archive.session_files import is_shared
from foretold.sessions.catalog import iter_sessions, newest_first
from foretold.sessions.formats.claude.reader import config_folder
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.relocate.relocate import SessionMove, moved_to, plan_relocation, relocate
from foretold.sessions.repair.copy import write_repaired_copy
from foretold.sessions.repair.diagnose import Diagnosis, diagnose
from foretold.sessions.repair.reachability import Reach
from foretold.types import Finding


def command_repair(words: Sequence[str]) -> int:
    about = (
        "How much of a session its agent reaches when it resumes it, and what is damaged. --write makes a repaired "
        "copy, a new session; the damaged one is never touched."
    )
    examples = "  foretold sessions repair              check all sessions of this folder\n"
    examples += "  foretold sessions repair 118ca5f9\n  foretold sessions repair 118ca5f9 --write\n"
    examples += "  foretold sessions repair saved/talk.jsonl --write"
    parser = parser_of("repair", about, examples)
    parser.add_argument("session", nargs="?", metavar="SESSION", help="its id, its title, or any transcript file")
    parser.add_argument("--all", action="store_true", help="check those of every project")
    parser.add_argument("--write", action="store_true", help="write a repaired copy")
    parser.add_argument("--to", metavar="DIR", help="into this folder instead of next to the damaged one")
    options = parser.parse_args(words)
    homes = homes_of(options)
    if options.session is None:
        if options.write:
            parser.error("which one? --write takes one session")
        return _check_all(homes, options)
    stored = session_of(options)
    if is_shared(stored):
        raise NoSuchSession(f"{stored.id} is in a database, which {stored.agent} keeps intact")
    with ProgressLine("reading") as progress:
        found = diagnose(stored, progress)
        is_wanted = options.write and not found.useless
        made = write_repaired_copy(stored, options.to, progress=progress) if is_wanted else None
    if options.json:
        emit("sessions-repair", {**diagnosis_json(found), "written": made.path if made else None})
    else:
        _print_diagnosis(found, made, paint_of(options), options)
    return 0 if found.is_sound else 1


def _check_all(homes: Homes, options: argparse.Namespace) -> int:
    """Every session of a folder: those with something wrong are named."""
    project = None if options.all else options.cwd
    every = iter_sessions(homes, agents=agents_of(options), project=project)
    sessions = [stored for stored in every if not is_shared(stored)]
    found, total, done = [], sum(stored.size for stored in sessions), 0
    with ProgressLine("reading") as progress:
        for stored in sessions:
            try:
                found.append(diagnose(stored))
            except ForetoldError as error:
                print(f"foretold: {stored.id}: {error}", file=sys.stderr)
            done += stored.size
            progress(done, total)
    wrong = [each for each in found if not each.is_sound]
    if options.json:
        emit("sessions-repair-all", {"sessions": [diagnosis_json(each) for each in found]})
        return 1 if wrong else 0
    for each in wrong:
        codes = ", ".join(dict.fromkeys(finding.code for finding in each.findings))
        print(f"{each.stored.agent} {each.stored.id}\n  {summarize(each)}\n  {codes}")
    print(f"{plural(len(found), 'session')} checked, {len(wrong)} with problems.")
    if wrong:
        print("More about one: foretold sessions repair ID")
    elif not found and not options.all:
        print("There is no session of this folder; --all checks those of every project.")
    return 1 if wrong else 0


def command_relocate(words: Sequence[str]) -> int:
    about = "A project has moved from OLD to NEW: move its sessions, for every agent. It first shows what it would do."
    examples = (
        "  foretold sessions relocate ~/old/app ~/new/app\n  foretold sessions relocate ~/old/app ~/new/app --yes"
    )
    parser = parser_of("relocate", about, examples)
    parser.add_argument("old", help="where the project was")
    parser.add_argument("new", help="where it is now")
    parser.add_argument("--only", metavar="IDS", default="", help="only these sessions, separated by commas")
    parser.add_argument("--yes", action="store_true", help="do it")
    options = parser.parse_args(words)
    homes = homes_of(options)
    only = frozenset(filter(None, options.only.split(",")))
    plan = plan_relocation(homes, options.old, options.new, time.time(), agents=agents_of(options), only=only)
    moves = [move for move in plan if move.what == "move"]
    if not options.json:
        _print_moves(plan, paint_of(options), homes, options)
    stays = sum(move.what in ("there", "busy") for move in plan)
    done, code = list[str](), 0
    if moves and (options.yes or not options.json):
        if not confirm(f"Move {plural(len(moves), 'session')}?", yes=options.yes):
            return 1
        done, code = _move(moves, homes)
    if options.json:
        emit("sessions-relocate", {"moves": [_move_json(move) for move in plan], "done": done})
    elif moves:
        print(f"moved: {plural(len(done), 'session')}. The originals are in {archive_folder(homes)}")
        if stays:
            print(f"not moved: {plural(stays, 'session')} (see above). Run this again later.")
        old, new = os.path.realpath(options.old), os.path.realpath(options.new)
        undo = ["foretold", "sessions", "relocate", new, old, "--only", ",".join(done), "--yes"]
        print(f"Undo: {shlex.join(undo)}{home_option(options)}" if done else "Nothing was moved.")
    return code or int(bool(stays or not plan))


def _move(moves: list[SessionMove], homes: Homes) -> tuple[list[str], int]:
    """Move sessions; one that fails does not stop the others."""
    archive = Archive(archive_folder(homes))
    done, code = [], 0
    with ProgressLine("moving") as progress:
        for move in moves:
            try:
                relocate(archive, move, progress=progress)
                done.append(move.stored.id)
            except ForetoldError as error:
                code = error.exit_code
                print(f"foretold: {move.stored.id}: {error}", file=sys.stderr)
    return done, code


def _print_moves(plan: list[SessionMove], paint: Paint, homes: Homes, options: argparse.Namespace) -> None:
    said_of = {
        "move": "to move",
        "there": "not moved, because their name is taken",
        "busy": "not moved, because they are in use",
    }
    for what, said in said_of.items():
        rows = [move for move in plan if move.what == what]
        if rows:
            print(f"{plural(len(rows), 'session')} {said}:")
        for move in rows:
            print(f"  {move.stored.agent:<12} {move.stored.id}  {plural(len(move.files), 'file')}")
            print(paint.wrap(move.why, 4) if move.why else f"    {paint.path(os.path.dirname(move.files[0][1]))}")
    typed = [f"  {printable(move.command)}" for move in plan if move.what == "typed"]
    if typed:
        print("The agent itself moves these, if you type:", *typed, sep="\n")
    if not plan:
        gone = moved_to(homes, os.path.realpath(options.old))
        none = f"There is no session of {printable(options.old)}."
        print(f"They are in {paint.path(gone)} already." if gone else none)
    if any(move.what == "move" for move in plan):
        print("Each is archived first, then moved byte for byte; nothing is overwritten.")
    from foretold.dialects.claude_code.settings import slug

    folder = os.path.join(config_folder(homes), "projects", slug(os.path.realpath(options.old)), "memory")
    if os.path.isdir(folder) and os.listdir(folder):
        words = shlex.join(["foretold", "memory", "relocate", *map(os.path.realpath, (options.old, options.new))])
        print(f"Its memories are moved separately: {words}{home_option(options)}")


def _move_json(move: SessionMove) -> dict[str, object]:
    files = [{"from": source, "to": target} for source, target in move.files]
    more = {"what": move.what, "files": files, "command": move.command or None, "why": move.why or None}
    return {**pick(move.stored, "agent id"), **more}


def _print_diagnosis(found: Diagnosis, made: StoredSession | None, paint: Paint, options: argparse.Namespace) -> None:
    stored = found.stored
    print(f"{stored.agent} {stored.id}\n{paint.path(stored.path)}\n")
    print(f"  {plural(found.lines, 'line')}, {plural(found.records, 'record')}", end="")
    print(f", {plural(found.damaged, 'damaged line')}" if found.damaged else "", end="")
    print(f"; {found.bytes_lost:,} bytes are lost" if found.bytes_lost else "")
    if found.reach and found.reach.messages:
        print(f"  {reached(found.reach)} when it is resumed")
        wrote = ", which wrote it last" if stored.version == found.version else ""
        print(f"  with {stored.agent} {found.version}{wrote}")
        for count, why, more in _others(found.reach):
            print(paint.wrap(f"{count:,} {why}{more}", 4))
    _print_findings(found, paint)
    print()
    if made is not None:
        print(f"Written: {paint.path(made.path)}")
        if found.after_repair:
            print(paint.wrap(f"Of the copy {_in_all(found.after_repair)}.", 2))
        if not _is_held(stored, homes_of(options)):
            print(f"Resume it: foretold sessions resume {shlex.quote(made.path)}{home_option(options)}")
        elif not options.to:
            print(f"Resume it: {resume_command(made)}")
    elif _is_doomed(found):
        print(f"Keep it now: foretold sessions archive {stored.id}{home_option(options)}")
    elif found.useless:
        said = f"{found.useless[0].upper()}{found.useless[1:]}."
        print(f"{said} Nothing was written." if options.write else said)
    else:
        print(paint.wrap(_promise(found), 0))
        print("Write one, as a new session next to this one, which is not changed:")
        print(f"  foretold sessions repair {name_in_command(stored, options)} --write{home_option(options)}")


def _is_held(stored: StoredSession, homes: Homes) -> bool:
    """Whether a session is where its agent looks for it; a transcript that someone was sent is not."""
    path = os.path.realpath(stored.path)
    return any(os.path.realpath(each.path) == path for each in newest_first(homes, (stored.agent,)))


def _promise(found: Diagnosis) -> str:
    """What a repaired copy has over this one."""
    if found.after_repair:
        return f"Of a repaired copy {_in_all(found.after_repair)}."
    if found.rescued:
        return f"In a repaired copy the agent reads {plural(found.rescued, 'record')} of the damaged lines."
    return "A repaired copy can be resumed."


def _others(reach: Reach) -> list[tuple[int, str, str]]:
    """What becomes of the messages that are not reached, and why: with those that are, they are all."""
    rows = (
        (reach.summarised, "before a compaction", ", which summarised them"),
        (reach.aside, "aside", ": a rewind left them, or tools ran in parallel"),
        (reach.lost, "not reached", ""),
    )
    return [row for row in rows if row[0]]


def _in_all(reach: Reach) -> str:
    """How much of a copy is reached, in one sentence.

    >>> _in_all(Reach(12, 7, 4, 1, 0))
    '7 of 12 messages are reached; 4 before a compaction, 1 aside'
    >>> _in_all(Reach(12, 12, 0, 0, 0))
    '12 of 12 messages (100 %) are reached'
    """
    rest = ", ".join(f"{count:,} {what}" for count, what, _ in _others(reach))
    return f"{reached(reach)}; {rest}" if rest else reached(reach)


def _print_findings(found: Diagnosis, paint: Paint) -> None:
    """Print what is wrong, by line: all findings are about one file. Those of one kind are printed once."""
    kinds: dict[str, list[Finding]] = {}
    for finding in found.findings:
        kinds.setdefault(finding.code, []).append(finding)
    if kinds:
        print()
    for code, group in kinds.items():
        line = f"line {group[0].line:,}" if group[0].line else ""
        where = f"{len(group):,} times, first at {line}" if len(group) > 1 else line
        said = f"{severity_of(group[0])} {code}: {group[0].message}"
        print(paint.wrap(f"{where}: {said}" if where else said, 2))


def _is_doomed(found: Diagnosis) -> bool:
    return any(finding.code == "session-doomed" for finding in found.findings)


def summarize(found: Diagnosis) -> str:
    if _is_doomed(found):
        return "its agent deletes it at its next start"
    if found.refused:
        return "its agent does not resume it"
    return reached(found.reach) if found.reach else plural(found.damaged, "damaged line")


def reached(reach: Reach) -> str:
    """How much is reached, for people; with a share where nothing was summarised or left.

    >>> reached(Reach(412, 21, 0, 0, 391)), reached(Reach(16, 5, 5, 0, 6))
    ('21 of 412 messages (5 %) are reached', '5 of 16 messages are reached')
    """
    text = f"{reach.reached:,} of {reach.messages:,} messages"
    if reach.summarised or reach.aside:
        return f"{text} are reached"
    share = f"{100 * reach.share:.0f} %" if reach.lost == 0 or reach.share < 0.995 else "99 %"
    return f"{text} ({share}) are reached"


def diagnosis_json(found: Diagnosis) -> dict[str, object]:
    """A diagnosis as `--json` prints it."""

    def numbers(reach: Reach | None) -> dict[str, object] | None:
        if reach is None:
            return None
        return {**reach._asdict(), "refused": reach.refused or None, "share": round(reach.share, 4)}

    return {
        **pick(found.stored, "agent id path"),
        "sound": found.is_sound,
        **pick(found, "lines records damaged bytes_lost"),
        "refused": found.refused or None,
        "version": found.version or None,
        "reach": numbers(found.reach),
        "then": numbers(found.after_repair),
        "findings": findings_json(found.findings),
        "useless": found.useless or None,
    }
