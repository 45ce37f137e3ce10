"""The options that every `foretold files` command has, and text that several of them print."""

from __future__ import annotations

import argparse
import os
import shlex

from foretold.cli.json import pick
from foretold.cli.options import make_parser
from foretold.cli.output import Paint, ProgressLine, column, printable
from foretold.cli.sessions.options import homes_of
from foretold.errors import NoFileHistory
from foretold.files.history.recorded import Recorded, list_sessions_with
from foretold.files.restore.plans import FileChange, RestorePlan
from foretold.files.restore.restore import Undo, state_folder
from foretold.text.diff import LineCount


def parser_of(name: str, about: str, examples: str) -> argparse.ArgumentParser:
    """A parser with the options of every command of this group."""
    home = "the home folder that the sessions are in"
    return make_parser(f"files {name}", about, examples, "-C --home --json", home=home)


def undo_of(options: argparse.Namespace) -> Undo:
    return Undo(state_folder(*homes_of(options)))


def sessions_of_file(options: argparse.Namespace) -> tuple[str, list[Recorded]]:
    """The absolute path of the file that a command line names, and the sessions that tracked it."""
    given = os.path.normpath(os.path.join(os.path.realpath(options.cwd), options.file))
    real = os.path.join(os.path.realpath(os.path.dirname(given)), os.path.basename(given))
    with ProgressLine("reading sessions") as progress:
        for everywhere in (False, True):
            for path in dict.fromkeys((real, given)):
                sessions = list_sessions_with(homes_of(options), path, everywhere=everywhere, progress=progress)
                if sessions:
                    return path, sessions
    raise NoFileHistory(
        f"no session that still exists has changed {printable(real)} with a tool that edits files; changes by shell "
        "commands and subagents are not recorded; see: foretold files list"
    )


def quote(text: str, room: int) -> str:
    """A prompt in one line that fits.

    >>> quote("Fix the\\n  build", 20), quote("Fix the build", 8), quote("", 8)
    ('“Fix the build”', '“Fix t…”', '')
    """
    text = printable(" ".join(text.split()))
    return f"“{column(text, max(room, 4) - 2).rstrip()}”" if text else ""


def count_text(lines: LineCount | None) -> str:
    """Lines for people: `+2 -1`."""
    return f"+{lines.added} -{lines.removed}" if lines else ""


def next_command(options: argparse.Namespace, *words: str) -> str:
    """A command for the same folder and home, to be copied."""
    same = (["-C", options.cwd] if options.cwd != "." else []) + (["--home", options.home] if options.home else [])
    return shlex.join(["foretold", "files", *words, *same])


def change_json(change: FileChange) -> dict[str, object]:
    """A change as `--json` prints it."""
    lines = change.lines
    before, after = (f"{each.mode:03o}" if each.kind == "file" else None for each in (change.before, change.after))
    return {
        **pick(change, "path action"),
        "insertions": lines.added if lines else None,
        "deletions": lines.removed if lines else None,
        "mode_before": before,
        "mode_after": after,
        "notes": list(change.notes),
    }


def print_plan(plan: RestorePlan, paint: Paint) -> None:
    """What a plan does to each file."""
    words = {"write": "change", "create": "recreate", "delete": "delete", "mode": "set mode"}
    width = min(max([len(paint.path(each.path)) for each in plan.changes], default=0), paint.width - 30)
    for each in plan.changes:
        note = count_text(each.lines) if each.action != "mode" else ""
        if each.before.kind == each.after.kind == "file" and each.before.mode != each.after.mode:
            note = f"{note} {each.before.mode:03o} → {each.after.mode:03o}".strip()
        note = note if each.lines or each.action == "mode" else "too large to count its lines"
        print(f"  {words[each.action]:<11}{paint.fit(paint.path(each.path), width)}  {note}".rstrip())
        for note in each.notes:
            print(paint.faint(f"  {'':<11}{note}"))
