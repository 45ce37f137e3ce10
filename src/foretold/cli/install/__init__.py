"""`foretold install AGENT`: hooks and the MCP server in an agent's settings. Alone: what is installed where."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import partial

from foretold.cli.install.report import plan_json, print_plan, summarize_plan
from foretold.cli.json import emit, findings_json
from foretold.cli.options import make_parser
from foretold.cli.output import Paint, confirm, plural, printable
from foretold.dialects.install_targets import INSTALLS
from foretold.errors import ForetoldError
from foretold.serve.install.apply import apply_plan
from foretold.serve.install.backup import Backups, state_folder
from foretold.serve.install.isolation import find_loose
from foretold.serve.install.leftovers import remove_leftovers
from foretold.serve.install.ours import PARTS, is_our_call
from foretold.serve.install.plan import InstallPlan, plan_install
from foretold.serve.install.targets import (
    BY_HAND,
    LOOSE,
    Installation,
    InstallPlace,
    find_installations,
    findings_of,
    install_of,
)

ABOUT = (
    "Let an agent run foretold: hooks (recall, rules, archive) and an MCP server, in the agent's own settings file. It "
    "shows what would change and asks; without a terminal it needs --yes. Everything else in the file stays: comments, "
    "order, other hooks. A backup is kept, and `foretold uninstall` restores it. Alone: what is installed where."
)
EXAMPLES = """\
  foretold install claude-code
  foretold install codex gemini-cli --mcp
  foretold install claude-code --events SessionStart,UserPromptSubmit
  foretold install                     what is installed, and does it still run?"""
#: variables that name folders of a home: with `--home`, they belong to another one
_MOVING = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")


def command(words: Sequence[str]) -> int:
    parser = parser_of("install", ABOUT, EXAMPLES)
    parser.add_argument("--events", metavar="A,B", help="only hooks for these events")
    parser.add_argument("--command", metavar="WORDS", help="how the agent starts foretold, e.g. /opt/bin/foretold")
    parser.add_argument("--list", action="store_true", help="what is installed where")
    options = parser.parse_args(words)
    place = place_of(options)
    if options.list or not options.agents:
        return _or_refuse(lambda: _list(place, options), options, place)
    argv = shlex.split(options.command or "")
    if argv and not is_our_call(shlex.join([*argv, "hook", "Stop"])):
        parser.error("--command must end with the program foretold, else uninstall would not recognize it")
    if argv and (loose := find_loose([*argv, "hook", "Stop"])):
        parser.error(f"--command is not isolated: {loose.why}; give the path of the program, or python -I")
    parts = parts_of(options, parser)
    events = tuple(filter(None, (word.strip() for word in (options.events or "").split(","))))
    if options.events is not None and not events:
        parser.error("--events needs names of events, e.g. --events SessionStart,Stop")
    if events and "hooks" not in (parts or ("hooks",)):
        parser.error("--events is about hooks, but only the MCP server is to be installed")
    make_plan = partial(plan_install, parts=parts, events=events, command=argv)
    return carry_out("install", make_plan, options, place)


def _list(place: InstallPlace, options: argparse.Namespace) -> int:
    wanted = {agent: install_of(agent) for agent in options.agents or INSTALLS}
    found = [each for each in find_installations(place) if each.agent in wanted]
    broken = any(not each.is_valid for each in found)
    if options.json:
        shown = {"installed": [each._asdict() for each in found], "agents": list(INSTALLS)}
        emit("installed", {**shown, "findings": findings_json(findings_of(found))})
        return 1 if broken else 0
    paint = Paint(place.cwd, place.home)
    if not found:
        agent = options.agents[0] if options.agents else "claude-code"
        print(f"foretold is not installed in {' or '.join(options.agents) or 'any agent'} yet.", end=" ")
        print("See what would change:")
        print(f"  foretold install {agent} --dry-run")
    for each in found:
        _print_installation(each, paint)
    return 1 if broken else 0


def _print_installation(each: Installation, paint: Paint) -> None:
    if not each.part:
        print(paint.bold(f"{each.agent} ({each.scope})"))
        print(paint.red(paint.wrap(f"{each.path}: {each.problem}".removeprefix(": "), 2)))
        return
    what = f"hooks for {plural(len(each.events), 'event')}" if each.part == "hooks" else "MCP server"
    print(f"{paint.bold(each.agent)} ({each.scope}): {what}  {paint.path(each.path)}")
    runs = paint.text(shlex.join(each.command))
    wrong = "command-not-isolated" if each.problem.startswith(LOOSE) else "cannot be started"
    print(paint.wrap(f"runs {runs}", 2) if each.is_valid else paint.red(paint.wrap(f"{wrong}: {runs}", 2)))
    if each.problem:
        print(paint.wrap(f"because {each.problem}", 2))
    if each.missing:
        print(paint.wrap(f"without: {', '.join(each.missing)}", 2))
    if not each.is_valid and not each.problem.endswith(BY_HAND):
        flag = " --project" if each.scope == "project" else ""
        print(f"  try: {printable(each.remedy) or f'foretold install {each.agent}{flag}'}")


# Shared by install and uninstall


def parser_of(command: str, about: str, examples: str) -> argparse.ArgumentParser:
    agents = textwrap.fill(f"agents: {', '.join(INSTALLS)}", 80, break_on_hyphens=False)
    helps = {"C": "the project's folder", "home": "the home folder the agent has"}
    epilog = f"{agents}\n\nexamples:\n{examples}"
    parser = make_parser(command, about, epilog, "-C --home --dry-run --yes --json", **helps)
    parser.add_argument("agents", nargs="*", metavar="AGENT", type=str.lower, help="e.g. claude-code")
    for part, what in (("hooks", "hooks, or everything but hooks"), ("mcp", "the MCP server, or everything but it")):
        parser.add_argument(f"--{part}", action=argparse.BooleanOptionalAction, help=f"only {what}")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--user", action="store_true", help="in your own settings (the default)")
    scope.add_argument("--project", action="store_true", help="in the settings of this project, for all who work on it")
    return parser


def place_of(options: argparse.Namespace) -> InstallPlace:
    home = os.path.abspath(options.home or os.path.expanduser("~"))
    env = {name: value for name, value in os.environ.items() if not (options.home and name in _MOVING)}
    return InstallPlace(home, os.path.realpath(options.cwd), env)


def parts_of(options: argparse.Namespace, parser: argparse.ArgumentParser) -> tuple[str, ...] | None:
    """The chosen parts: a part that is named is the only one, unless both are. None: nothing was chosen."""
    given = {part: getattr(options, part) for part in PARTS}
    if set(given.values()) == {None}:
        return None
    is_named = True in given.values()
    chosen = tuple(part for part, wish in given.items() if wish or (wish is None and not is_named))
    if not chosen:
        parser.error("without hooks and without the MCP server, there is nothing left to do")
    return chosen


def _or_refuse(do: Callable[[], int], options: argparse.Namespace, place: InstallPlace) -> int:
    """Do something; if it is refused, print why in lines that fit (for a program, as it is). The exit status."""
    try:
        return do()
    except ForetoldError as error:
        if options.json:
            raise
        print(Paint(place.cwd, place.home).wrap(f"foretold: {error}", 0), file=sys.stderr)
        return error.exit_code


def carry_out(
    kind: str, make_plan: Callable[..., InstallPlan], options: argparse.Namespace, place: InstallPlace
) -> int:
    """Plan what to do for each agent, show it, ask, do it. The exit status."""
    backups, scope = Backups(state_folder(place.home, place.env)), "project" if options.project else "user"

    def plan_and_finish() -> int:
        if not options.dry_run:
            remove_leftovers(place, backups)
        plans = [make_plan(agent, place, backups, scope=scope) for agent in dict.fromkeys(options.agents)]
        return _finish(kind, plans, backups, options, Paint(place.cwd, place.home))

    return _or_refuse(plan_and_finish, options, place)


def _finish(
    kind: str, plans: Sequence[InstallPlan], backups: Backups, options: argparse.Namespace, paint: Paint
) -> int:
    is_wanted = any(plan.edits for plan in plans)
    code = 1 if kind == "install" and not all(plan.edits or plan.same for plan in plans) else 0
    if options.json:
        done = is_wanted and options.yes and not options.dry_run
        if done:
            _apply(plans, backups)
        emit(kind, {"plans": [plan_json(plan, done=done) for plan in plans]})
        return code if done or options.dry_run or not is_wanted else 1
    for plan in plans:
        print_plan(plan, paint, kind)
    for summary in filter(None, (summarize_plan(plan, paint, kind) for plan in plans)):
        print(paint.wrap(summary, 0))
    if not is_wanted:
        return code
    if options.dry_run:
        print("Nothing was changed (--dry-run).")
        return code
    return _ask(kind, plans, options, backups, paint.width) or code


def _ask(kind: str, plans: Sequence[InstallPlan], options: argparse.Namespace, backups: Backups, width: int) -> int:
    count = plural(sum(len(plan.edits) for plan in plans), "file")
    if not confirm(f"Change {count}?", yes=options.yes):
        if sys.stdin.isatty():  # without a terminal, `confirm` has said so
            print("Nothing was changed.")
        return 1
    _apply(plans, backups)
    if kind == "install":
        print("To recall memories by other words for the same: foretold memory vectors build")
    print(f"Done: {count} changed.")
    if kind == "install":
        words = [plan.agent for plan in plans if plan.edits] + ["--project"] * options.project
        text, back = "New sessions have it. To undo:", f"foretold uninstall {' '.join(words)}"
        print(f"{text} {back}" if len(text) + len(back) < width else f"{text}\n  {back}")
    return 0


def _apply(plans: Sequence[InstallPlan], backups: Backups) -> None:
    """All plans as one, so that all files are changed, or none."""
    apply_plan(plans[0]._replace(edits=tuple(edit for plan in plans for edit in plan.edits)), backups)
