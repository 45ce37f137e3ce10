"""`foretold sessions archive` and `restore`: what was said stays, whatever the agent deletes.

What `foretold sessions archive` says: what it looked at, what it did not, and what will be deleted when.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence

from foretold.cli.json import emit, findings_json, pick
from foretold.cli.output import Paint, ProgressLine, plural, print_findings, printable, size
from foretold.cli.sessions.options import agents_of, homes_of, paint_of, parser_of, resume_command, session_called
from foretold.errors import ForetoldError, SessionFailed
from foretold.sessions.archive.archive import Archive, ArchiveCoverage, archive_folder
from foretold.sessions.archive.restore import FileReturn, plan_restore, restore, verify_archive
from foretold.sessions.archive.retention import ExpiringSession, Retention, find_expiring_sessions, read_retention
from foretold.sessions.archive.session_files import is_shared
from foretold.sessions.archive.snapshot import ArchiveContents, ArchiveSnapshot
from foretold.sessions.archive.store_session import ArchiveResult
from foretold.sessions.catalog import iter_sessions, newest_first, summarize_session
from foretold.sessions.exporters.formatting import format_time
from foretold.sessions.model import Homes, StoredSession
from foretold.storage.tree import open_regular
from foretold.types import Finding


def command_archive(words: Sequence[str]) -> int:
    about = "Archive sessions before the agent deletes them, with all their files. Only what is new is added."
    examples = "  foretold sessions archive              those of this folder\n  foretold sessions archive --all\n"
    examples += "  foretold sessions archive --verify     can everything be restored?"
    parser = parser_of("archive", about, examples)
    parser.add_argument("sessions", nargs="*", metavar="SESSION", help="ids, or beginnings of ids")
    parser.add_argument("--all", action="store_true", help="of every project")
    parser.add_argument("--redact", action="store_true", help="without credentials, in a separate archive")
    parser.add_argument("--thorough", action="store_true", help="also read files that look unchanged")
    parser.add_argument("--verify", action="store_true", help="only check that everything can be restored")
    options = parser.parse_args(words)
    homes, agents = homes_of(options), agents_of(options)
    archive = Archive(archive_folder(homes))
    if options.verify:
        return _verify(archive, options)
    if options.sessions:
        wanted = [session_called(homes, name, agents) for name in options.sessions]
    else:
        project = None if options.all else options.cwd
        wanted = list(iter_sessions(homes, agents=agents, project=project, kinds=KINDS))
    if options.all and not options.sessions:
        wanted += _orphans(homes, wanted, options)
    done, problems = _archive(archive, wanted, options)
    _print_archived(archive, done, problems, homes, options)
    return 3 if problems else 0


def _orphans(homes: Homes, sessions: list[StoredSession], options: argparse.Namespace) -> list[StoredSession]:
    """Subagents whose session is gone: nothing else archives them."""
    held = {(stored.agent, stored.id) for stored in sessions}
    alone = [stored for stored in newest_first(homes, agents_of(options)) if stored.kind == "subagent"]
    return [stored for each in alone if (each.agent, each.parent) not in held and (stored := summarize_session(each))]


def _archive(
    archive: Archive, sessions: list[StoredSession], options: argparse.Namespace
) -> tuple[list[ArchiveResult], list[tuple[StoredSession, str]]]:
    """Archive sessions; one that fails does not stop the others."""
    done: list[ArchiveResult] = []
    problems: list[tuple[StoredSession, str]] = []
    redactor = None
    if options.redact:
        from foretold.secrets.redactor import Redactor

        redactor = Redactor()
    total, before = sum(stored.size for stored in sessions), 0
    with ProgressLine("archiving") as progress:

        def tell(count: int, _: int) -> None:
            progress(min(total, before + count), total)

        for stored in sessions:
            try:
                made = archive.archive(stored, redactor=redactor, is_thorough=options.thorough, progress=tell)
                done.append(made)
                problems += [(stored, f"{path} could not be read, and is not archived") for path in made.left]
            except ForetoldError as error:
                problems.append((stored, str(error)))
            before += stored.size
    return done, problems


def _verify(archive: Archive, options: argparse.Namespace) -> int:
    """Read everything, and say what cannot be restored."""
    findings: list[Finding] = []
    snapshots = archive.sessions(findings)
    with ProgressLine("verifying", "sessions") as progress:
        for number, snapshot in enumerate(snapshots, 1):
            frames = archive.frames_of(snapshot.agent, snapshot.id, redacted=snapshot.redacted)
            findings += verify_archive(ArchiveContents(frames))
            progress(number, len(snapshots))
    if options.json:
        emit("sessions-verify", {"sessions": len(snapshots), "findings": findings_json(findings)})
    else:
        print_findings(findings, paint_of(options))
        said = "everything can be restored" if not findings else plural(len(findings), "finding")
        print(f"{plural(len(snapshots), 'session')} in the archive: {said}.")
    return 1 if findings else 0


def command_restore(words: Sequence[str]) -> int:
    about = "Restore a session from the archive, byte for byte; nothing is overwritten. Without a name: list them."
    examples = "  foretold sessions restore\n  foretold sessions restore 118ca5f9\n"
    examples += "  foretold sessions restore 118ca5f9 --to old-talk"
    parser = parser_of("restore", about, examples)
    parser.add_argument("session", nargs="?", metavar="SESSION", help="its id, or how it begins")
    parser.add_argument("--to", metavar="DIR", help="into this folder instead of the agent's")
    parser.add_argument("--at", type=int, metavar="N", help="as it was archived the N-th time; 1 is the first")
    parser.add_argument("--touch", action="store_true", help="with the current time, so that the agent keeps it")
    parser.add_argument("--redacted", action="store_true", help="the copy that archive --redact made")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")
    options = parser.parse_args(words)
    homes = homes_of(options)
    archive = Archive(archive_folder(homes))
    if options.session is None:
        return _list(archive, options)
    contents = archive.find(options.session, redacted=options.redacted)
    times = len(contents.snapshots)
    if options.at is not None and not 1 <= options.at <= times:
        said = f"{times} times: --at takes 1 to {times}" if times > 1 else "once: --at takes 1"
        raise SessionFailed(f"it was archived {said}")
    snapshot = contents.snapshots[(options.at or times) - 1]
    of_database = is_shared(StoredSession(snapshot.agent, snapshot.id, snapshot.path))
    if of_database and not options.to:
        raise SessionFailed(f"{snapshot.id} was in a database; --to DIR writes a file that {snapshot.agent} can import")
    plan = plan_restore(contents, options.to, snapshot)
    written: list[str] = []
    if not options.dry_run:
        with ProgressLine("restoring") as progress:
            written = restore(contents, plan, is_fresh=options.touch, progress=progress)
    _print_restored(snapshot, plan, written, homes, options)
    if of_database and not options.dry_run:
        _write_import(snapshot, plan[-1].path, options)
    return 0


def _write_import(snapshot: ArchiveSnapshot, rows: str, options: argparse.Namespace) -> None:
    """Write the rows of a session in the format that its agent imports, next to them."""
    import json

    from foretold.sessions.formats.opencode.database import import_document

    path = os.path.join(os.path.dirname(rows), f"{snapshot.id}.json")
    with open(rows, "rb", opener=open_regular) as file:
        document = import_document(file)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(document, file)
    except FileExistsError:
        raise SessionFailed(f"{path} exists already, and was not overwritten") from None
    if not options.json:
        print(f"Import it: cd {shlex.quote(snapshot.cwd or '.')} && opencode import {shlex.quote(path)}")


def _print_restored(
    snapshot: ArchiveSnapshot, plan: list[FileReturn], written: list[str], homes: Homes, options: argparse.Namespace
) -> None:
    command = ""  # of a session that is not in the agent's folder there is none
    if not options.to and not options.dry_run:
        stored = StoredSession(snapshot.agent, snapshot.id, snapshot.path, kind=snapshot.kind, parent=snapshot.parent)
        command = resume_command(summarize_session(stored) or stored._replace(cwd=snapshot.cwd))
    if options.json:
        rows = [{"path": each.path, "what": each.what, "size": each.file.size} for each in plan]
        done = {"done": not options.dry_run, "command": command}
        emit("sessions-restore", {"agent": snapshot.agent, "id": snapshot.id, "files": rows, **done})
        return
    paint = paint_of(options)
    for each in plan:
        print(f"  {each.what:<6} {size(each.file.size):>10}  {paint.path(each.path)}")
    if options.dry_run:
        print("Nothing was written.")
        return
    same = len(plan) - len(written)
    print(f"{plural(len(written), 'file')} written" + (f", {same} already there." if same else "."))
    if snapshot.redacted:
        print("Credentials were removed when it was archived; it is not what the agent wrote.")
    rule = read_retention(homes)
    is_claude = snapshot.agent == "claude-code" and not options.to and not options.touch
    if is_claude and rule.days is not None and time.time() - snapshot.changed > rule.days * 86_400:
        print(f"It is older than {rule.days:g} days: Claude Code deletes it again at its next start.")
        print(f"To keep it: touch {shlex.quote(plan[0].path)}")
    if command:
        print(f"Resume it: {printable(command)}")


def _list(archive: Archive, options: argparse.Namespace) -> int:
    """What is in the archive."""
    findings: list[Finding] = []
    snapshots = archive.sessions(findings)
    wanted = agents_of(options)
    rows = [each for each in snapshots if wanted is None or each.agent in wanted]
    if options.json:
        shown = [{**each._asdict(), "size": each.size, "there": os.path.exists(each.path)} for each in rows]
        for row in shown:
            del row["files"]
        emit("sessions-archived", {"folder": archive.folder, "sessions": shown})
        return 1 if findings else 0
    paint = paint_of(options)
    if not rows:
        print(f"The archive is empty ({paint.path(archive.folder)}). Fill it: foretold sessions archive --all")
    for each in rows:
        gone = "" if os.path.exists(each.path) else "gone  "
        mark = " (redacted)" if each.redacted else ""
        print(f"{each.id}  {each.agent}  {format_time(each.changed)}  {size(each.size)}{mark}")
        if gone or each.title:
            print(paint.fit(f"  {gone}{printable(each.title)}", paint.width).rstrip())
    print_findings(findings, paint)
    return 1 if findings else 0


KINDS = ("main", "fork", "archived")
SOON = 7.0  #: days
MOST = 10  #: rows


def _print_archived(
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
        leaving = [{"id": one.stored.id, "days": round(one.days, 2), "kept": kept.includes(one.stored)} for one in soon]
        facts = {
            "folder": archive.folder,
            "sessions": [{**pick(each.stored, "agent id"), **pick(each, "what size added")} for each in done],
            "problems": [{"id": stored.id, "why": why} for stored, why in problems],
            "deleted_after_days": rule.days,
            "leaving": leaving,
            "others": others,
        }
        emit("sessions-archive", facts)
        return
    paint = paint_of(options)
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


def _print_counts(
    archive: Archive, done: list[ArchiveResult], others: int, paint: Paint, options: argparse.Namespace
) -> None:
    """What was looked at, what became of it, and what was not looked at."""
    where = "" if options.sessions else " of every folder" if options.all else " of this folder"
    if done:
        whole, added = (size(sum(each)) for each in zip(*((one.size, one.added) for one in done), strict=True))
        print(f"Checked {plural(len(done), 'session')}{where}: {_count_text(done)}.")
        print(f"{whole} of sessions; {added} added to {paint.path(archive.folder)}")
    elif not options.sessions:
        print(f"There is no session{where}.")
    if others:
        are = "is" if others == 1 else "are"
        print(f"{plural(others, 'session')} of other folders {are} not in it: foretold sessions archive --all")
    if done:
        print("Restore one: foretold sessions restore ID")


def _count_text(done: list[ArchiveResult]) -> str:
    counts = {what: sum(each.what == what for each in done) for what in ("new", "grown", "rewritten", "same")}
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count and what != "same")
    if not said:
        return "nothing new, the archive already has " + ("it" if len(done) == 1 else "them")
    return f"{said}; {counts['same']} unchanged" if counts["same"] else said


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
