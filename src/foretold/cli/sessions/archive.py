"""`foretold sessions archive` and `restore`: what was said stays, whatever the agent deletes."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections.abc import Sequence

from foretold.cli.paint import Paint, plural, printable, size
from foretold.cli.people import print_findings
from foretold.cli.schema import emit, finding_json
from foretold.cli.sessions.archive_report import KINDS, tell_archived
from foretold.cli.sessions.options import Progress, agents_of, homes_of, parser_of, resume_command, session_called, when
from foretold.errors import ForetoldError, SessionFailed
from foretold.sessions.archive.archive import Archive, archive_folder
from foretold.sessions.archive.restore import FileReturn, plan_restore, restore, verify_archive
from foretold.sessions.archive.retention import read_retention
from foretold.sessions.archive.session_files import is_shared
from foretold.sessions.archive.snapshot import ArchiveContents, ArchiveSnapshot
from foretold.sessions.archive.store_session import ArchiveResult
from foretold.sessions.catalog import iter_sessions, newest_first, summarize_session
from foretold.sessions.model import Homes, StoredSession
from foretold.types import Finding


def command_archive(words: Sequence[str]) -> int:
    about = "Keep sessions before the agent deletes them, with all that belongs to them. Only what is new is added."
    examples = "  foretold sessions archive              those of this folder\n  foretold sessions archive --all\n"
    examples += "  foretold sessions archive --verify     can all of it be restored?"
    parser = parser_of("archive", about, examples)
    parser.add_argument("sessions", nargs="*", metavar="SESSION", help="ids, or beginnings of ids")
    parser.add_argument("--all", action="store_true", help="of every project")
    parser.add_argument("--redact", action="store_true", help="without credentials, in archives of their own")
    parser.add_argument("--thorough", action="store_true", help="read also files that look as they did")
    parser.add_argument("--verify", action="store_true", help="only prove that everything can be restored")
    options = parser.parse_args(words)
    homes = homes_of(options)
    archive = Archive(archive_folder(homes))
    if options.verify:
        return _verify(archive, options)
    done, problems = _archive(archive, _wanted(homes, options), options)
    tell_archived(archive, done, problems, homes, options)
    return 3 if problems else 0


def _wanted(homes: Homes, options: argparse.Namespace) -> list[StoredSession]:
    """The sessions that a command line speaks of."""
    if options.sessions:
        return [session_called(homes, name, agents_of(options)) for name in options.sessions]
    project = None if options.all else options.cwd
    wanted = list(iter_sessions(homes, agents=agents_of(options), project=project, kinds=KINDS))
    return [*wanted, *_left_behind(homes, wanted, options)] if options.all else wanted


def _left_behind(homes: Homes, sessions: list[StoredSession], options: argparse.Namespace) -> list[StoredSession]:
    """Subagents whose session is gone: nothing else takes them along."""
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
    progress = Progress("archiving")
    total, before = sum(stored.size for stored in sessions), 0
    for stored in sessions:
        start = before

        def tell(count: int, _: int, start: int = start) -> None:
            progress(min(total, start + count), total)

        try:
            made = archive.archive(stored, redactor=redactor, is_thorough=options.thorough, progress=tell)
            done.append(made)
            problems += [(stored, f"{path} could not be read, and is not archived") for path in made.left]
        except ForetoldError as error:
            problems.append((stored, str(error)))
        before += stored.size
    progress.end()
    return done, problems


def _verify(archive: Archive, options: argparse.Namespace) -> int:
    """Read everything, and say what cannot be restored."""
    findings: list[Finding] = []
    snapshots = archive.sessions(findings)
    progress = Progress("verifying")
    for number, snapshot in enumerate(snapshots, 1):
        frames = archive.frames_of(snapshot.agent, snapshot.id, redacted=snapshot.redacted)
        findings += verify_archive(ArchiveContents(frames))
        progress(number, len(snapshots), "sessions")
    progress.end()
    if options.json:
        emit("sessions-verify", {"sessions": len(snapshots), "findings": [finding_json(each) for each in findings]})
    else:
        print_findings(findings, Paint(os.path.realpath(options.cwd), homes_of(options).home))
        said = "all of it can be restored" if not findings else plural(len(findings), "finding")
        print(f"{plural(len(snapshots), 'session')} in the archive: {said}.")
    return 1 if findings else 0


def command_restore(words: Sequence[str]) -> int:
    about = "Bring a session back from the archive, byte for byte; nothing is overwritten. Without a name: list them."
    examples = "  foretold sessions restore\n  foretold sessions restore 118ca5f9\n"
    examples += "  foretold sessions restore 118ca5f9 --to old-talk"
    parser = parser_of("restore", about, examples)
    parser.add_argument("session", nargs="?", metavar="SESSION", help="its id, or the beginning of it")
    parser.add_argument("--to", metavar="DIR", help="into this folder instead of the agent's")
    parser.add_argument("--at", type=int, metavar="N", help="as it was the N-th time it was archived; 1 is the first")
    parser.add_argument("--touch", action="store_true", help="with the time of now, so that the agent keeps it")
    parser.add_argument("--redacted", action="store_true", help="the copy that archive --redact made")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")
    options = parser.parse_args(words)
    homes = homes_of(options)
    archive = Archive(archive_folder(homes))
    if options.session is None:
        return _list(archive, homes, options)
    contents = archive.find(options.session, redacted=options.redacted)
    snapshot = _chosen(contents, options.at)
    if is_shared(StoredSession(snapshot.agent, snapshot.id, snapshot.path)) and not options.to:
        raise SessionFailed(f"{snapshot.id} was in a database; --to DIR writes a file that {snapshot.agent} can import")
    plan = plan_restore(contents, options.to, snapshot)
    written: list[str] = []
    if not options.dry_run:
        progress = Progress("restoring")
        written = restore(contents, plan, is_fresh=options.touch, progress=progress)
        progress.end()
    _tell_restored(snapshot, plan, written, homes, options)
    if options.to and not options.dry_run and is_shared(StoredSession(snapshot.agent, snapshot.id, snapshot.path)):
        _write_import(snapshot, plan[-1].path, options)
    return 0


def _write_import(snapshot: ArchiveSnapshot, rows: str, options: argparse.Namespace) -> None:
    """The rows of a session in the form that its agent imports, beside them."""
    import json

    from foretold.sessions.formats.opencode.import_document import import_document

    path = os.path.join(os.path.dirname(rows), f"{snapshot.id}.json")
    with open(rows, "rb") as file:
        document = import_document(file)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(document, file)
    except FileExistsError:
        raise SessionFailed(f"{path} is there already, and was not overwritten") from None
    if not options.json:
        print(f"Import it: cd {shlex.quote(snapshot.cwd or '.')} && opencode import {shlex.quote(path)}")


def _chosen(contents: ArchiveContents, number: int | None) -> ArchiveSnapshot:
    if number is None:
        return contents.last
    if not 1 <= number <= len(contents.snapshots):
        times = len(contents.snapshots)
        said = (
            "it was archived once: --at takes 1"
            if times == 1
            else f"it was archived {times} times: --at takes 1 to {times}"
        )
        raise SessionFailed(said)
    return contents.snapshots[number - 1]


def _tell_restored(
    snapshot: ArchiveSnapshot, plan: list[FileReturn], written: list[str], homes: Homes, options: argparse.Namespace
) -> None:
    command = _command(snapshot, options)
    if options.json:
        rows = [{"path": each.path, "what": each.what, "size": each.file.size} for each in plan]
        done = {"done": not options.dry_run, "command": command}
        emit("sessions-restore", {"agent": snapshot.agent, "id": snapshot.id, "files": rows, **done})
        return
    paint = Paint(os.path.realpath(options.cwd), homes.home)
    for each in plan:
        print(f"  {each.what:<6} {size(each.file.size):>10}  {paint.path(each.path)}")
    if options.dry_run:
        print("Nothing was written.")
        return
    same = len(plan) - len(written)
    print(f"{plural(len(written), 'file')} written" + (f", {same} there already." if same else "."))
    if snapshot.redacted:
        print("Credentials were taken out when it was archived; it is not what the agent wrote.")
    _warn_of_age(snapshot, plan[0].path, homes, options)
    if command:
        print(f"Resume it: {printable(command)}")


def _command(snapshot: ArchiveSnapshot, options: argparse.Namespace) -> str:
    """What resumes a session that was put back into the agent's folder; nothing of one that is elsewhere."""
    if options.to or options.dry_run:
        return ""
    stored = StoredSession(snapshot.agent, snapshot.id, snapshot.path, kind=snapshot.kind, parent=snapshot.parent)
    return resume_command(summarize_session(stored) or stored._replace(cwd=snapshot.cwd))


def _warn_of_age(snapshot: ArchiveSnapshot, path: str, homes: Homes, options: argparse.Namespace) -> None:
    rule = read_retention(homes)
    is_claude = snapshot.agent == "claude-code" and not options.to and not options.touch
    if is_claude and rule.days is not None and time.time() - snapshot.changed > rule.days * 86_400:
        print(f"It is older than {rule.days:g} days: Claude Code deletes it again at its next start.")
        print(f"To keep it: touch {shlex.quote(path)}")


def _list(archive: Archive, homes: Homes, options: argparse.Namespace) -> int:
    """What is in the archive."""
    findings: list[Finding] = []
    snapshots = archive.sessions(findings)
    wanted = agents_of(options)
    rows = [each for each in snapshots if wanted is None or each.agent in wanted]
    if options.json:
        shown = [
            {**{k: v for k, v in each._asdict().items() if k != "files"}, "size": each.size, "there": _is_there(each)}
            for each in rows
        ]
        emit("sessions-archived", {"folder": archive.folder, "sessions": shown})
        return 1 if findings else 0
    paint = Paint(os.path.realpath(options.cwd), homes.home)
    if not rows:
        print(f"The archive is empty ({paint.path(archive.folder)}). Fill it: foretold sessions archive --all")
    for each in rows:
        gone = "" if _is_there(each) else "gone  "
        mark = " (redacted)" if each.redacted else ""
        print(f"{each.id}  {each.agent}  {when(each.changed)}  {size(each.size)}{mark}")
        if gone or each.title:
            print(paint.fit(f"  {gone}{printable(each.title)}", paint.width).rstrip())
    print_findings(findings, paint)
    return 1 if findings else 0


def _is_there(snapshot: ArchiveSnapshot) -> bool:
    return os.path.exists(snapshot.path)
