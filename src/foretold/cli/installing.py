"""What `foretold install` and `foretold uninstall` have in common: options, the question, how it ends."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence

from foretold.cli.options import formatter
from foretold.cli.paint import Paint, plural
from foretold.cli.people import agreed
from foretold.cli.schema import emit
from foretold.cli.settings_shown import plan_json, print_plan, summary
from foretold.dialects.install_targets import INSTALLS
from foretold.errors import ForetoldError
from foretold.serve.install import PARTS, Here, Kept, Plan, carry_out, state_folder
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose errors fit into a terminal."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, Paint(os.sep, os.sep).wrap(f"{self.prog}: error: {message}", 0) + "\n")


def parser_of(command: str, about: str, examples: str) -> Parser:
    agents = textwrap.fill(f"agents: {', '.join(INSTALLS)}", 80, break_on_hyphens=False)
    parser = Parser(
        prog=f"foretold {command}",
        description=textwrap.fill(about, 80),
        epilog=f"{agents}\n\nexamples:\n{examples}",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="e.g. claude-code")
    for part, what in (("hooks", "hooks, or all but them"), ("mcp", "the MCP server, or all but it")):
        parser.add_argument(f"--{part}", action=argparse.BooleanOptionalAction, help=f"only {what}")
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


def parts_of(options: argparse.Namespace, parser: Parser) -> tuple[str, ...] | None:
    """The parts that somebody chose: a part that is named is the only one, unless both are. None: nothing was said."""
    given = {part: getattr(options, part) for part in PARTS}
    if set(given.values()) == {None}:
        return None
    is_named = True in given.values()
    chosen = tuple(part for part, wish in given.items() if wish or (wish is None and not is_named))
    if not chosen:
        parser.error("without hooks and without the MCP server, there is nothing left to do")
    return chosen


def say_refused(error: ForetoldError, options: argparse.Namespace, here: Here) -> int:
    """Why nothing is done, in lines that fit; a program gets it as it is. The exit status."""
    if options.json:
        raise error
    print(Paint(here.cwd, here.home).wrap(f"foretold: {error}", 0), file=sys.stderr)
    return error.exit_code


def finish(kind: str, plans: Sequence[Plan], options: argparse.Namespace, here: Here, kept: Kept) -> int:
    """Show what would be done, ask, do it. The exit status."""
    is_wanted = any(plan.edits for plan in plans)
    code = 1 if kind == "install" and not all(plan.edits or plan.same for plan in plans) else 0
    if options.json:
        done = is_wanted and options.yes and not options.dry_run
        if done:
            _carry_out(plans, kept)
        emit(kind, {"plans": [plan_json(plan, done=done) for plan in plans]})
        return code if done or options.dry_run or not is_wanted else 1
    paint = Paint(here.cwd, here.home)
    for plan in plans:
        print_plan(plan, paint, kind)
    for said in filter(None, (summary(plan, paint, kind) for plan in plans)):
        print(paint.wrap(said, 0))
    if not is_wanted:
        return code
    if options.dry_run:
        print("Nothing was changed (--dry-run).")
        return code
    return _ask(kind, plans, options, kept, paint.width) or code


def _ask(kind: str, plans: Sequence[Plan], options: argparse.Namespace, kept: Kept, width: int) -> int:
    count = plural(sum(len(plan.edits) for plan in plans), "file")
    if not agreed(f"Change {count}?", yes=options.yes):
        if sys.stdin.isatty():  # without a terminal, it has been said
            print("Nothing was changed.")
        return 1
    _carry_out(plans, kept)
    print(f"Done: {count} changed.")
    if kind == "install":
        words = [plan.agent for plan in plans if plan.edits] + ["--project"] * options.project
        said, back = "Sessions that begin now have it. Take it back:", f"foretold uninstall {' '.join(words)}"
        print(f"{said} {back}" if len(said) + len(back) < width else f"{said}\n  {back}")
    return 0


def _carry_out(plans: Sequence[Plan], kept: Kept) -> None:
    """All plans as one, so that all files are changed, or none."""
    carry_out(plans[0]._replace(edits=tuple(edit for plan in plans for edit in plan.edits)), kept)
