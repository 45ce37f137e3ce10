"""`foretold files list`, `history` and `diff`: commands that change nothing."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence

from foretold.cli.files.options import count_text, next_command, parser_of, quote, sessions_of_file, undo_of
from foretold.cli.json import emit, findings_json, pick
from foretold.cli.output import Paint, ProgressLine, for_terminal, plural, print_findings, printable
from foretold.cli.sessions.options import homes_of, paint_of
from foretold.files.history.recorded import Recorded, list_sessions_in
from foretold.files.history.versions import SHORT, Version, diff_versions, find_version, list_versions
from foretold.files.restore.look import FileState, content, look_at
from foretold.sessions.exporters.formatting import format_time
from foretold.text.diff import MOST_BYTES, LineCount, count_lines


def command_list(words: Sequence[str]) -> int:
    about = "Sessions of Claude Code that changed files in this folder, the newest first."
    options = parser_of("list", about, "  foretold files list\n  foretold files list -C ~/app --json").parse_args(words)
    folder = os.path.realpath(options.cwd)
    with ProgressLine("reading sessions") as progress:
        sessions = list_sessions_in(homes_of(options), folder, progress)
    findings = [finding for each in sessions for finding in each.findings]
    broken = [each for each in undo_of(options).restores() if not each.is_done]
    if options.json:
        rows = {"sessions": [_session_json(each) for each in sessions], "interrupted": [each.id for each in broken]}
        emit("file-sessions", {"folder": folder, **rows, "findings": findings_json(findings)})
        return 1 if findings or broken else 0
    paint = paint_of(options)
    _print_sessions(sessions, folder, options, paint)
    for each in broken:
        print(paint.red(f"\nInterrupted: {printable(each.why)}"))
        print(f"Undo it:               {next_command(options, 'undo', each.id)}")
    if findings:
        print(f"\n{plural(len(findings), 'finding')}:")
        print_findings(findings, paint)
    return 1 if findings or broken else 0


def _print_sessions(sessions: list[Recorded], folder: str, options: argparse.Namespace, paint: Paint) -> None:
    if not sessions:
        print(paint.wrap(f"No existing session has checkpoints of files in {paint.path(folder)}.", 0))
        variable = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1"
        made = f"Claude Code makes them in a terminal; without one only if {variable} is set."
        print(paint.wrap(f"{made} It deletes them after 30 days.", 0))
        return
    print(paint.bold(f"{plural(len(sessions), 'session')} with checkpoints") + f" in {paint.path(folder)}\n")
    for each in sessions:
        much = f"{plural(len(each.snapshots), 'prompt'):>11}  {plural(len(each.tracked), 'file'):>9}"
        first = next((text for text in each.prompts.values() if text), "")
        print(f"  {each.session[:SHORT]}  {format_time(each.changed)}{much}  {quote(first, paint.width - 54)}".rstrip())
    print(f"\nGo back to a prompt:   {next_command(options, 'rewind', sessions[0].session[:SHORT])}")
    named = next((path for each in sessions for path in each.tracked if path.startswith(folder + "/")), "")
    if named:
        print(f"What a file was:       {next_command(options, 'history', os.path.relpath(named, folder))}")


def _session_json(recorded: Recorded) -> dict[str, object]:
    points = [
        {**pick(each, "message time"), "prompt": recorded.prompts.get(each.message, "")} for each in recorded.snapshots
    ]
    fields = pick(recorded, "session transcript cwd version changed")
    return {**fields, "files": list(recorded.tracked), "checkpoints": points}


def command_history(words: Sequence[str]) -> int:
    about = (
        "Every known version of a file, over all sessions, newest first: each is what the file was before the agent "
        "worked on a prompt. Lines are counted from the version before."
    )
    parser = parser_of("history", about, "  foretold files history src/app.py")
    parser.add_argument("file", metavar="FILE", help="it need not exist any more")
    options = parser.parse_args(words)
    path, sessions = sessions_of_file(options)
    versions = list_versions(sessions, path)
    now = look_at(path)
    if options.json:
        rows = [_version_json(each) for each in versions]
        emit("file-history", {"path": path, "on_disk": {"kind": now.kind, **_found_json(now)}, "versions": rows})
    else:
        _print_history(path, versions, now, options)
    return 1 if any(each.is_lost for each in versions) else 0


def _print_history(path: str, versions: list[Version], now: FileState, options: argparse.Namespace) -> None:
    paint = paint_of(options)
    count = len({each.session for each in versions})
    print(f"{paint.bold(paint.path(path))}: {plural(len(versions), 'version')} in {plural(count, 'session')}\n")
    state = {"file": "on disk", "missing": "there is no file"}.get(now.kind, f"there is a {now.kind}")
    width = max(len(each.name) for each in versions)
    since = count_text(_since(path, now, versions[0]))
    written = format_time(os.lstat(path).st_mtime) if os.path.lexists(path) else ""
    print(f"  {'now':<{width}}  {written:16}  {since:>9}  {state}{_mode(now, versions[0].found)}")
    for at, each in enumerate(versions):
        mode = _mode(each.found, versions[at + 1].found) if at + 1 < len(versions) else ""
        about = _describe(each, paint, paint.width - width - 33 - len(mode))
        print(f"  {each.name:<{width}}  {format_time(each.time)}  {count_text(each.lines):>9}  {about}{mode}")
    if any(not each.is_lost for each in versions):
        last = _last_other(versions, now)
        print(f"\nWhat changed since:   {next_command(options, 'diff', options.file, '--at', last.name)}")
        print(f"Restore it:           {next_command(options, 'restore', options.file, '--at', last.name)}")


def _mode(found: FileState, older: FileState) -> str:
    """The mode of a file, if it differs from before."""
    return f", mode {found.mode:03o}" if found.kind == older.kind == "file" and found.mode != older.mode else ""


def _describe(version: Version, paint: Paint, room: int) -> str:
    if version.is_lost:
        return paint.red("its backup is missing")
    start = "before " if version.source else "no file before "
    return start + (quote(version.prompt, room - len(start)) if version.prompt else version.message[:SHORT])


def _since(path: str, now: FileState, version: Version) -> LineCount | None:
    """Lines that changed since the newest version; None also if none did."""
    if version.is_lost or now.kind not in ("file", "missing") or now.digest == version.found.digest:
        return None
    old = content(version.source, MOST_BYTES) if version.source else b""
    new = content(path, MOST_BYTES) if now.kind == "file" else b""
    return None if old is None or new is None else count_lines(old, new)


def _version_json(version: Version) -> dict[str, object]:
    lines = version.lines
    return {
        "version": version.name,
        **pick(version, "session number time message prompt"),
        "exists": version.source is not None,
        "backup": version.source,
        "lost": version.is_lost,
        **_found_json(version.found),
        "insertions": lines.added if lines else None,
        "deletions": lines.removed if lines else None,
    }


def _found_json(found: FileState) -> dict[str, object]:
    mode, size = (f"{found.mode:03o}", found.size) if found.kind == "file" else (None, None)
    return {"mode": mode, "digest": found.digest or None, "bytes": size}


def command_diff(words: Sequence[str]) -> int:
    about = "What changed in a file since then; without --at, since the newest version that differs from the disk."
    parser = parser_of("diff", about, "  foretold files diff src/app.py\n  foretold files diff src/app.py --at 2h")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--at", metavar="WHEN", help="a version, a prompt or a time")
    parser.add_argument("--to", metavar="WHEN", help="up to this version instead of now")
    options = parser.parse_args(words)
    path, sessions = sessions_of_file(options)
    at, until = (find_version(sessions, path, when, time.time()) if when else None for when in (options.at, options.to))
    version = at or _last_other(list_versions(sessions, path), look_at(path))
    text = diff_versions(version, until, path)
    if options.json:
        emit("file-diff", {"path": path, "from": version.name, "to": until.name if until else None, "diff": text})
    elif text:
        print(for_terminal(text))
    else:
        print(f"{printable(options.file)} is {'in ' + until.name if until else 'now'} what it was: {version.name}")
    return 0


def _last_other(versions: list[Version], now: FileState) -> Version:
    """The newest version that is not what is on disk, else the newest that is kept."""
    kept = [each for each in versions if not each.is_lost] or versions
    return next((each for each in kept if each.found.digest != now.digest), kept[0])
