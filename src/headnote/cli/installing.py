"""What `headnote install` and `headnote uninstall` have in common: options, what a plan is for people and programs."""

from __future__ import annotations

import argparse
import difflib
import os
import textwrap
from collections.abc import Sequence

from headnote.cli.options import formatter
from headnote.cli.paint import Paint, plural, printable
from headnote.cli.people import agreed
from headnote.cli.schema import emit
from headnote.credentials import credentials_in
from headnote.dialects.installs import INSTALLS
from headnote.serve.install import Edit, Here, Kept, Plan, carry_out, state_folder

CONTEXT = 2  #: lines around a change


def parser_of(command: str, about: str, examples: str) -> argparse.ArgumentParser:
    agents = textwrap.fill(f"agents: {', '.join(INSTALLS)}", 80, break_on_hyphens=False)
    parser = argparse.ArgumentParser(
        prog=f"headnote {command}",
        description=textwrap.fill(about, 80),
        epilog=f"{agents}\n\nexamples:\n{examples}",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="e.g. claude-code")
    for part, what in (("hooks", "hooks"), ("mcp", "the MCP server")):
        parser.add_argument(f"--{part}", action=argparse.BooleanOptionalAction, default=True, help=f"with {what}")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--user", action="store_true", help="in your own settings (this is so by default)")
    scope.add_argument("--project", action="store_true", help="in the settings of this project, for all who work on it")
    parser.add_argument("-C", dest="folder", default=".", metavar="DIR", help="the project's folder")
    parser.add_argument("--home", metavar="DIR", help="the home folder the agent has")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument("--yes", action="store_true", help="without asking")
    parser.add_argument("--json", action="store_true", help="data for programs")
    return parser


def here_of(options: argparse.Namespace) -> Here:
    home = os.path.abspath(options.home or os.path.expanduser("~"))
    env = {name: value for name, value in os.environ.items() if not (options.home and name in _MOVING)}
    return Here(home, os.path.realpath(options.folder), env)


#: variables that name folders of a home: with `--home`, they are of another one
_MOVING = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")


def kept_of(here: Here) -> Kept:
    return Kept(state_folder(here.home, here.env))


def parts_of(options: argparse.Namespace) -> tuple[str, ...]:
    return tuple(part for part in ("hooks", "mcp") if getattr(options, part))


_SAME = {"install": "already installed", "uninstall": "not installed"}


def print_plan(plan: Plan, paint: Paint, kind: str) -> None:
    """Each file and what changes in it."""
    if not plan.edits:
        print(f"{plan.agent}: {_SAME[kind]} ({plan.scope}), nothing to change")
    for edit in plan.edits:
        print(paint.bold(paint.path(edit.path)) + _about(edit, paint))
        for line in _diff(edit, paint):
            print(line)
        print()
    for note in plan.notes:
        print(paint.wrap(f"Note: {note}.".replace("..", "."), 0))


def _about(edit: Edit, paint: Paint) -> str:
    linked = f", which is {paint.path(edit.settings.target)}" if edit.settings.target != edit.path else ""
    names = edit.settings.found.names
    if names > 1:
        linked += f" (it has {names} names; the others keep what they have)"
    if edit.settings.found.kind == "missing":
        return f"{linked}: a new file"
    if edit.after is None:
        return f"{linked}: was made for headnote, and goes"
    if edit.how == "restored":
        return f"{linked}: as it was before headnote, byte for byte"
    if edit.how == "removed":
        return f"{linked}: was changed since; only what is headnote's goes"
    return f"{linked}:"


def _diff(edit: Edit, paint: Paint) -> list[str]:
    before, after = edit.settings.text, (edit.after or b"").decode()
    if edit.after is None:
        return []
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=CONTEXT, lineterm=""))[2:]
    return [row for line in lines for row in _rows(line, paint)]


def _rows(line: str, paint: Paint) -> list[str]:
    """A line of a difference in rows that fit; a secret of the user's is not shown."""
    if line.startswith("@@"):
        return [paint.faint(f"  line {line.split()[2].lstrip('+').partition(',')[0]}")]
    sign, text = line[:1], printable(masked(line[1:]).replace("\t", "    "))
    room = max(20, paint.width - 4)
    pieces = [text[at : at + room] for at in range(0, len(text), room)] or [""]
    dress = {"+": paint.bold, "-": paint.red}.get(sign, paint.faint)
    return [dress(f"  {sign if not at else ' '} {piece}".rstrip()) for at, piece in enumerate(pieces)]


def masked(text: str) -> str:
    """A line without what looks like a secret."""
    for found in sorted(credentials_in(text), key=lambda each: -each.start):
        text = text[: found.start] + "…" + text[found.end :]
    return text


def plan_json(plan: Plan, *, done: bool) -> dict[str, object]:
    return {
        "agent": plan.agent,
        "scope": plan.scope,
        "done": done,
        "changes": [_edit_json(edit) for edit in plan.edits],
        "same": list(plan.same),
        "notes": list(plan.notes),
    }


def _edit_json(edit: Edit) -> dict[str, object]:
    diff = difflib.unified_diff(
        edit.settings.text.splitlines(), (edit.after or b"").decode().splitlines(), n=CONTEXT, lineterm=""
    )
    action = "create" if edit.settings.found.kind == "missing" else "delete" if edit.after is None else "write"
    return {
        "path": edit.path,
        "file": edit.settings.target,
        "action": action,
        "how": edit.how or "added",
        "diff": "\n".join(masked(line) for line in list(diff)[2:]),
    }


def finish(kind: str, plans: Sequence[Plan], options: argparse.Namespace, here: Here, kept: Kept) -> int:
    """Show what would be done, ask, do it. The exit status."""
    is_wanted = any(plan.edits for plan in plans)
    if options.json:
        done = is_wanted and options.yes and not options.dry_run
        if done:
            _carry_out(plans, kept)
        emit(kind, {"plans": [plan_json(plan, done=done) for plan in plans]})
        return 0 if done or options.dry_run or not is_wanted else 1
    paint = Paint(here.cwd, here.home)
    for plan in plans:
        print_plan(plan, paint, kind)
    if not is_wanted:
        return 0
    if options.dry_run:
        print("Nothing was changed (--dry-run).")
        return 0
    count = plural(sum(len(plan.edits) for plan in plans), "file")
    if not agreed(f"Change {count}?", yes=options.yes):
        return 1
    _carry_out(plans, kept)
    print(f"Done: {count} changed.")
    if kind == "install":
        words = [plan.agent for plan in plans] + ["--project"] * options.project
        print(f"Sessions that begin now have it. Take it back: headnote uninstall {' '.join(words)}")
    return 0


def _carry_out(plans: Sequence[Plan], kept: Kept) -> None:
    """All plans as one, so that all files are changed, or none."""
    carry_out(plans[0]._replace(edits=tuple(edit for plan in plans for edit in plan.edits)), kept)
