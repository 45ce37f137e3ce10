"""`foretold install AGENT`: hooks and the MCP server in an agent's settings. Alone: what is installed where."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence

from foretold.cli.installing import Parser, finish, here_of, kept_of, parser_of, parts_of, say_refused
from foretold.cli.paint import Paint, printable
from foretold.cli.schema import emit
from foretold.dialects.install_targets import INSTALLS
from foretold.errors import ForetoldError
from foretold.serve.install import Here, Installed, installed, plan_install
from foretold.serve.install.ours import is_our_call
from foretold.serve.install.targets import install_of

ABOUT = (
    "Let an agent run foretold: hooks (recall, rules, archive) and an MCP server, in the agent's own settings file. It "
    "shows what would change and asks; without a terminal it needs --yes. What is there stays: comments, order, other "
    "hooks. What the file was is kept, and `foretold uninstall` gives it back. Alone: what is installed where."
)
EXAMPLES = """\
  foretold install claude-code
  foretold install codex gemini-cli --mcp
  foretold install claude-code --events SessionStart,UserPromptSubmit
  foretold install                     what is installed, and does it still run?"""


def command(words: Sequence[str]) -> int:
    parser = parser_of("install", ABOUT, EXAMPLES)
    parser.add_argument("--events", metavar="A,B", help="only hooks for these events")
    parser.add_argument("--command", metavar="WORDS", help="how the agent calls foretold, e.g. 'uvx foretold'")
    parser.add_argument("--list", action="store_true", help="what is installed where")
    options = parser.parse_args(words)
    here = here_of(options)
    if options.list or not options.agents:
        try:
            return _list(here, options)
        except ForetoldError as error:
            return say_refused(error, options, here)
    command = shlex.split(options.command or "")
    if command and not is_our_call(shlex.join([*command, "hook", "Stop"])):
        parser.error("--command must end with the program foretold, else uninstall would not know it again")
    parts, events = parts_of(options, parser), _events(options, parser)
    kept, scope = kept_of(here), "project" if options.project else "user"
    try:
        plans = [
            plan_install(agent, here, kept, scope=scope, parts=parts, events=events, command=command)
            for agent in dict.fromkeys(options.agents)
        ]
        return finish("install", plans, options, here, kept)
    except ForetoldError as error:
        return say_refused(error, options, here)


def _events(options: argparse.Namespace, parser: Parser) -> tuple[str, ...]:
    if options.events is None:
        return ()
    events = tuple(filter(None, (word.strip() for word in options.events.split(","))))
    if not events:
        parser.error("--events needs names of events, e.g. --events SessionStart,Stop")
    if "hooks" not in (parts_of(options, parser) or ("hooks",)):
        parser.error("--events is about hooks, and only the MCP server is asked for")
    return events


def _list(here: Here, options: argparse.Namespace) -> int:
    wanted = {agent: install_of(agent) for agent in options.agents or INSTALLS}
    found = [each for each in installed(here) if each.agent in wanted]
    broken = any(not each.is_valid for each in found)
    if options.json:
        rows = [
            {
                **each._asdict(),
                "events": list(each.events),
                "missing": list(each.missing),
                "command": list(each.command),
            }
            for each in found
        ]
        emit("installed", {"installed": rows, "agents": list(INSTALLS)})
        return 1 if broken else 0
    paint = Paint(here.cwd, here.home)
    if not found:
        agent = options.agents[0] if options.agents else "claude-code"
        print(f"foretold is not installed in {' or '.join(options.agents) or 'any agent'} yet.", end=" ")
        print("Look first, nothing is changed:")
        print(f"  foretold install {agent} --dry-run")
    for each in found:
        _print_installed(each, paint)
    return 1 if broken else 0


def _print_installed(each: Installed, paint: Paint) -> None:
    if not each.part:
        print(paint.bold(f"{each.agent} ({each.scope})"))
        print(paint.red(paint.wrap(f"{each.path}: {each.problem}".removeprefix(": "), 2)))
        return
    what = f"hooks for {len(each.events)} events" if each.part == "hooks" else "MCP server"
    print(f"{paint.bold(each.agent)} ({each.scope}): {what}  {paint.path(each.path)}")
    runs = paint.text(shlex.join(each.command))
    print(paint.wrap(f"runs {runs}", 2) if each.is_valid else paint.red(paint.wrap(f"cannot be started: {runs}", 2)))
    if each.problem:
        print(paint.wrap(f"because {each.problem}", 2))
    if each.missing:
        print(paint.wrap(f"without: {', '.join(each.missing)}", 2))
    if not each.is_valid:
        flag = " --project" if each.scope == "project" else ""
        print(f"  try: {printable(each.remedy) or f'foretold install {each.agent}{flag}'}")
