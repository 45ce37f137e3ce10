"""The options that every `foretold files` command has, and words that several of them print."""

from __future__ import annotations

import argparse
import os
import shlex
import textwrap
import time
from collections.abc import Sequence

from foretold.cli.options import formatter
from foretold.cli.paint import Paint, column, printable
from foretold.cli.sessions.options import Progress
from foretold.errors import NoCheckpoint
from foretold.files.history.recorded import Recorded, list_sessions_with
from foretold.files.restore.plans import FileChange, RestorePlan
from foretold.files.restore.restore import Undo, state_folder
from foretold.sessions.catalog import find_homes
from foretold.sessions.model import Homes
from foretold.text.diff import LineCount
from foretold.types import Finding


def parser_of(name: str, about: str, examples: str) -> argparse.ArgumentParser:
    """A parser with the options that are the same everywhere."""
    parser = argparse.ArgumentParser(
        prog=f"foretold files {name}",
        description=textwrap.fill(about, 80),
        epilog=f"examples:\n{examples}",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("-C", dest="cwd", default=".", metavar="DIR", help="look at this folder")
    parser.add_argument("--home", metavar="DIR", help="the home folder that the sessions are in")
    parser.add_argument("--json", action="store_true", help="data for programs")
    return parser


def homes_of(options: argparse.Namespace) -> Homes:
    """Where the sessions are that a command line speaks of. With a home of its own, no variable moves them."""
    return find_homes(options.home)


def undo_of(options: argparse.Namespace) -> Undo:
    return Undo(state_folder(*homes_of(options)))


def paint_of(options: argparse.Namespace) -> Paint:
    return Paint(os.path.realpath(options.cwd), homes_of(options).home)


def sessions_of_file(options: argparse.Namespace) -> tuple[str, list[Recorded]]:
    """The file that a command line names, by its whole path, and the sessions that tracked it."""
    given = os.path.normpath(os.path.join(os.path.realpath(options.cwd), options.file))
    real = os.path.join(os.path.realpath(os.path.dirname(given)), os.path.basename(given))
    progress = Progress("reading sessions")
    for everywhere in (False, True):
        for path in dict.fromkeys((real, given)):
            sessions = list_sessions_with(homes_of(options), path, everywhere=everywhere, progress=progress)
            progress.end()
            if sessions:
                return path, sessions
    raise NoCheckpoint(
        f"no session that is still there has changed {printable(real)} with a tool that edits files; what a shell "
        "command or a subagent changed is not recorded. See: foretold files list"
    )


def when(seconds: float) -> str:
    """A moment, in the time of this machine."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def quoted(text: str, room: int) -> str:
    """A prompt in one line that fits.

    >>> quoted("Mend the\\n  build", 20), quoted("Mend the build", 8), quoted("", 8)
    ('“Mend the build”', '“Mend …”', '')
    """
    text = printable(" ".join(text.split()))
    return f"“{column(text, max(room, 4) - 2).rstrip()}”" if text else ""


def counted(lines: LineCount | None) -> str:
    """Lines for people: `+2 -1`."""
    return f"+{lines.added} -{lines.removed}" if lines else ""


def typed(options: argparse.Namespace, *words: str) -> str:
    """A command that asks about the same folder and home, to be copied."""
    same = (["-C", options.cwd] if options.cwd != "." else []) + (["--home", options.home] if options.home else [])
    return shlex.join(["foretold", "files", *words, *same])


def change_json(change: FileChange) -> dict[str, object]:
    """A change as `--json` prints it."""
    lines = change.lines
    return {
        "path": change.path,
        "action": change.action,
        "insertions": lines.added if lines else None,
        "deletions": lines.removed if lines else None,
        "mode_before": _mode(change.before.mode) if change.before.kind == "file" else None,
        "mode_after": _mode(change.after.mode) if change.after.kind == "file" else None,
        "notes": list(change.notes),
    }


def _mode(mode: int) -> str:
    return f"{mode:03o}"


def print_plan(plan: RestorePlan, paint: Paint) -> None:
    """What a plan does to each file."""
    words = {"write": "change", "create": "make again", "delete": "delete", "mode": "set mode"}
    width = min(max([len(paint.path(each.path)) for each in plan.changes], default=0), paint.width - 30)
    for each in plan.changes:
        told = counted(each.lines) if each.action != "mode" else ""
        if each.before.kind == each.after.kind == "file" and each.before.mode != each.after.mode:
            told = f"{told} {_mode(each.before.mode)} → {_mode(each.after.mode)}".strip()
        told = told if each.lines or each.action == "mode" else "too large to count its lines"
        print(f"  {words[each.action]:<11}{paint.fit(paint.path(each.path), width)}  {told}".rstrip())
        for note in each.notes:
            print(paint.faint(f"  {'':<11}{note}"))


def print_problems(problems: Sequence[Finding], paint: Paint) -> None:
    """What stands in the way, and what to do."""
    for each in problems:
        print(f"  {paint.red(paint.path(each.path))}  [{each.code}]")
        print(paint.wrap(f"{each.message}; {each.hint}" if each.hint else each.message, 4))
