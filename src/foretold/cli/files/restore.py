"""`foretold files restore`, `rewind` and `undo`: restoring files, which can be undone."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence

from foretold.cli.files.options import (
    change_json,
    count_text,
    next_command,
    parser_of,
    print_plan,
    quote,
    sessions_of_file,
    undo_of,
)
from foretold.cli.json import emit, findings_json, pick
from foretold.cli.output import Paint, confirm, plural, print_findings, printable
from foretold.cli.sessions.options import homes_of, paint_of
from foretold.files.history.recorded import Recorded, find_session
from foretold.files.history.versions import SHORT, find_version
from foretold.files.restore.plans import FileCache, RestorePlan, make_plan
from foretold.files.restore.restore import RestoreResult, Undo, restore, take_back
from foretold.sessions.exporters.formatting import format_time
from foretold.sessions.formats.fields import parse_time
from foretold.text.diff import LineCount


def command_restore(words: Sequence[str]) -> int:
    about = (
        "Restore one file: content and mode. Its current state is saved first, and the command that "
        "undoes this is printed. If there was no file then, it is deleted. It shows what it would do and asks; "
        "without a terminal it needs --yes."
    )
    examples = "  foretold files restore src/app.py --at 08bac3dc@v2\n  foretold files restore src/app.py --at 2h"
    parser = parser_of("restore", about, examples)
    parser.add_argument("file", metavar="FILE", help="it need not exist any more")
    parser.add_argument("--at", metavar="WHEN", required=True, help="a version, a prompt or a time")
    _add_consent(parser)
    options = parser.parse_args(words)
    path, sessions = sessions_of_file(options)
    version = find_version(sessions, path, options.at, time.time())
    plan = make_plan([version.wanted])
    return _execute(plan, f"restore {path} as it was: {version.name}", options)


def command_rewind(words: Sequence[str]) -> int:
    about = (
        "Restore all files that a session changed to what they were at a prompt: content and mode; "
        "files that it created later are deleted. It shows what it would do and asks; without a terminal it needs "
        "--yes. Without a prompt it lists the prompts. The session itself is not changed."
    )
    examples = (
        "  foretold files rewind 08bac3dc\n  foretold files rewind 08bac3dc f92d4975\n"
        "  foretold files rewind 08bac3dc f92d4975 --yes --skip notes.md"
    )
    parser = parser_of("rewind", about, examples)
    parser.add_argument("session", metavar="SESSION", help="its id, or how it begins")
    parser.add_argument("message", metavar="MESSAGE", nargs="?", help="the id of a prompt, how it begins, or `last`")
    parser.add_argument("--skip", metavar="FILE", action="append", default=[], help="leave this file as it is")
    _add_consent(parser)
    options = parser.parse_args(words)
    recorded = find_session(homes_of(options), options.session)
    if options.message is None:
        return _list_prompts(recorded, options)
    snapshot = recorded.snapshot(options.message)
    skipped = {os.path.normpath(os.path.join(os.path.realpath(options.cwd), each)) for each in options.skip}
    if unknown := sorted(skipped - set(recorded.tracked)):
        parser.error(f"the session did not change {', '.join(map(printable, unknown))}")
    plan = make_plan(each for each in recorded.wanted(snapshot.message) if each.path not in skipped)
    why = f"rewind {recorded.session[:SHORT]} to {snapshot.message[:SHORT]}"
    blocked = [os.path.relpath(each.path, os.path.realpath(options.cwd)) for each in plan.problems]
    skips = [word for each in [*options.skip, *blocked] for word in ("--skip", each)]
    return _execute(plan, why, options, instead=[recorded.session[:SHORT], snapshot.message[:SHORT], *skips])


def _add_consent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do it without asking")
    parser.add_argument("--dry-run", action="store_true", help="only show what it would do")


def _execute(
    plan: RestorePlan,
    why: str,
    options: argparse.Namespace,
    *,
    instead: Sequence[str] = (),
    changed: Sequence[str] = (),
    do: Callable[[], RestoreResult] | None = None,
) -> int:
    """Print what a plan does; do it, if nothing is in the way and the user agrees.

    `instead` are arguments of a rewind that skips what cannot be restored, `changed` files that were changed since by
    something else. `do` replaces the usual restore.
    """
    do = do or (lambda: restore(plan, undo_of(options), why))
    is_sure = (options.yes or not plan.changes) and not options.dry_run and not plan.problems
    done = do() if is_sure else None
    if options.json:
        emit("file-restore", _plan_json(plan, done.undo if done else None, why))
        return 1 if plan.problems or (changed and done is None) else 0
    paint = paint_of(options)
    if not plan.changes and not plan.problems:
        print(f"Nothing to do{_same(plan)}.")
        return 0
    _print(plan, why, paint, is_done=done is not None)
    if changed and done is None:
        print(f"Changed since then: {', '.join(map(paint.path, changed))}")
    if plan.problems and instead:
        print(f"Or skip them: {next_command(options, 'rewind', *instead)}")
    if options.dry_run:
        print("Nothing was changed (--dry-run).")
    if options.dry_run or plan.problems:
        return 1 if plan.problems else 0
    question = f"{why.partition(' ')[0].capitalize()} {'it' if len(plan.changes) == 1 else 'them'}?"
    done = done or (do() if confirm(question, yes=False) else None)
    if done is None:
        return 1
    print(f"Undo it:   {next_command(options, 'undo', done.undo)}")
    return 0


def _print(plan: RestorePlan, why: str, paint: Paint, *, is_done: bool) -> None:
    """What a plan does, or has done, file by file."""
    print(paint.bold(("Done: " if is_done else "This would ") + printable(paint.text(why))) + "\n")
    print_plan(plan, paint)
    if plan.changes:
        total = count_text(LineCount(plan.added, plan.removed))
        print(f"\n{plural(len(plan.changes), 'file')}, {total} lines" + _same(plan))
    if plan.problems:
        print(paint.red(f"\n{plural(len(plan.problems), 'file')} in the way, so nothing is changed:"))
        print_findings(plan.problems, paint)


def _same(plan: RestorePlan) -> str:
    said = f"; {plural(len(plan.same), 'file')} {'is' if len(plan.same) == 1 else 'are'} unchanged"
    return said if plan.same else ""


def _plan_json(plan: RestorePlan, undo: str | None, why: str) -> dict[str, object]:
    return {
        "what": why,
        "done": undo is not None,
        "undo": undo or None,
        "changes": [change_json(each) for each in plan.changes],
        "same": list(plan.same),
        "insertions": plan.added,
        "deletions": plan.removed,
        "problems": findings_json(plan.problems),
    }


def _list_prompts(recorded: Recorded, options: argparse.Namespace) -> int:
    """Every prompt of a session that can be restored, the newest first."""
    seen = FileCache()
    plans = [(each, make_plan(recorded.wanted(each.message), seen)) for each in reversed(recorded.snapshots)]
    if options.json:
        rows = [
            {
                **pick(each, "message time"),
                "prompt": recorded.prompts.get(each.message, ""),
                **_plan_json(plan, None, f"rewind {recorded.session} to {each.message}"),
            }
            for each, plan in plans
        ]
        emit("file-checkpoints", {"session": recorded.session, "cwd": recorded.cwd, "checkpoints": rows})
        return 0
    paint = paint_of(options)
    print(paint.bold(f"Session {recorded.session}") + f" in {paint.path(recorded.cwd)}\n")
    for each, plan in plans:
        changed = f"{plural(len(plan.changes), 'file')} {count_text(LineCount(plan.added, plan.removed))}"
        much = plural(len(plan.problems), "problem") if plan.problems else changed if plan.changes else "as now"
        text = quote(recorded.prompts.get(each.message, ""), paint.width - 54)
        when = format_time(parse_time(each.time) or 0.0)
        print(f"  {each.message[:SHORT]}  {when}  {much:>20}  {text}".rstrip())
    named = next((each.message for each, plan in plans if plan.changes), plans[-1][0].message)[:SHORT]
    print(f"\nWhat going back would do:   {next_command(options, 'rewind', recorded.session[:SHORT], named)}")
    return 0


def command_undo(words: Sequence[str]) -> int:
    about = (
        "Undo a restore or a rewind: every file it changed becomes what it was before. It shows what it would do, "
        "names files that were changed since, and asks; without a terminal it needs --yes. This can be undone, "
        "too. Without an id it lists what can be undone."
    )
    parser = parser_of("undo", about, "  foretold files undo\n  foretold files undo 20261116-032650-1f3a")
    parser.add_argument("id", metavar="ID", nargs="?", help="the id that a restore printed, or how it begins")
    _add_consent(parser)
    options = parser.parse_args(words)
    undo = undo_of(options)
    if options.id is None:
        return _list_restores(undo, options)
    given = undo.find(options.id)
    plan, why = make_plan(undo.wanted(given)), f"undo {given.id}: {given.why}"
    changed = undo.changed_since(given)
    return _execute(plan, why, options, changed=changed, do=lambda: take_back(given, plan, undo))


def _list_restores(undo: Undo, options: argparse.Namespace) -> int:
    restores = undo.restores()
    if options.json:
        rows = [
            {**pick(one, "id time"), "what": one.why, "done": one.is_done, "files": [each.path for each in one.files]}
            for one in restores
        ]
        emit("file-restores", {"folder": undo.folder, "restores": rows})
        return 0
    paint = paint_of(options)
    if not restores:
        print("Nothing was restored yet.")
    for each in restores:
        state = "" if each.is_done else paint.red("  interrupted")
        print(f"{each.id}  {format_time(each.time)}  {plural(len(each.files), 'file')}{state}")
        print(paint.wrap(each.why, 4))
    if restores:
        print(f"\nUndo one:   {next_command(options, 'undo', restores[0].id)}")
    return 0
