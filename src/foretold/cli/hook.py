"""`foretold hook EVENT`: what agents call at each event of a conversation. For people: `--explain` and `--log`.

Without argparse: an agent waits for this, thousands of times a day.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from foretold.cli import split_options
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import Caller

VALUES = ("--agent", "--home", "--managed", "--work", "--session", "--prompt", "--file", "-C")
FLAGS = ("--explain", "--dry-run", "--log", "--json", "-h", "--help")
INTERNAL = ("--work", "--session", "--dry-run")  #: not for people

HELP = """\
usage: foretold hook EVENT [--agent NAME] [--home DIR] [--managed DIR]
       foretold hook EVENT --explain [-C DIR] [--prompt TEXT] [--file PATH]
                                     [--json]
       foretold hook --log [--json]

What an agent calls at each event of a conversation: one JSON object on
standard input, at most one on standard output, exit status 0, whatever goes
wrong. `foretold install` sets it up.

events:
  SessionStart        the team's memories; what a compaction dropped
  UserPromptSubmit    memories that the prompt is about
  PreToolUse          who may write memories
  PostToolUse         instructions that the agent misses; memories that
                      name a file that was just changed
  PreCompact, Stop, SubagentStop, SessionEnd
                      archive the transcript, learn from it (if you want)
  InstructionsLoaded  compare with what was expected, in the log

options:
  --agent NAME        the caller: claude-code (default), codex, gemini-cli, …
  --explain           print what it would say here, and why; only caches
                      are written. A payload may come on standard input;
                      else one is made up, with --prompt or --file
                      (PostToolUse: a read, an edit and a shell command)
  --log               print the log of faults and notices
  --json              with --explain and --log: data for programs
  -C DIR              the folder of a made-up payload

examples:
  foretold hook UserPromptSubmit --explain --prompt "how do we deploy?"
  foretold hook PostToolUse --explain --file src/api/users.ts

Switch it off: [hooks] in config.toml; see docs/hooks.md
"""


def was_answered(words: Sequence[str]) -> bool:
    """Answer an agent; whether it was an agent that asked. This never raises."""
    given, flags, rest, _ = split_options(words, VALUES, FLAGS)
    rest = [word for word in rest if not word.startswith("-")]  # an agent cannot fix what is not understood
    if set(flags) - {"--json"} or not (rest or "--work" in given):
        return False
    try:
        caller = _caller(given)
        if "--work" in given:
            from foretold.serve.hooks.jobs import run_jobs

            run_jobs(given["--work"], given.get("-C", "."), given.get("--session", ""), caller)
        else:
            _answer(rest[0], caller)
    except BaseException as error:  # an agent is waiting: it never sees our faults
        _log_fault(rest, error, given)
    return True


def _answer(event: str, caller: Caller) -> None:
    from foretold.serve.hooks.dispatch import HookTimeout, answer, log_error, read_input, refuse_unjudged, set_timeout

    set_timeout()
    try:
        said = answer(event, read_input(), caller)
    except HookTimeout as error:  # the agent does not end what it sends
        log_error(event, "", error, caller)
        said = refuse_unjudged(event, error, caller)
    if said and os.isatty(1):  # a person tries it
        from foretold.cli.output import escape_json

        said = escape_json(said)
    data = f"{said}\n".encode() if said else b""
    while data:
        data = data[os.write(1, data) :]


def _log_fault(words: Sequence[str], error: BaseException, given: dict[str, str]) -> None:
    try:
        from foretold.serve.hooks.dispatch import log_error

        log_error(next(iter(words), ""), "", error, _caller(given))
    except BaseException:  # there is nothing left to do
        return


def _caller(given: dict[str, str], *, is_dry: bool = False) -> Caller:
    from foretold.serve.hooks.context import Caller

    env = dict(os.environ)
    home = os.path.abspath(given.get("--home") or env.get("HOME") or os.path.expanduser("~"))
    if "--home" in given:
        env["HOME"] = home
    managed = given.get("--managed", "")
    return Caller(
        given.get("--agent", "claude-code").lower(), home, os.path.abspath(managed) if managed else "", env, is_dry
    )


def command(words: Sequence[str]) -> int:
    """The commands for people: help, the log, an explanation."""
    given, flags, rest, _ = split_options(words, VALUES, FLAGS)
    rest = [word for word in rest if not word.startswith("-")]  # an agent cannot fix what is not understood
    if "--log" in flags:
        from foretold.cli.hook_explain import print_log

        return print_log(_caller(given), as_json="--json" in flags)
    if "-h" in flags or "--help" in flags:
        print(HELP, end="")
        return 0
    if not rest:
        print(HELP, end="", file=sys.stderr)
        return 2
    if not set(flags) - {"--json"}:
        return 0 if was_answered(words) else 2
    from foretold.cli.hook_explain import explain

    return explain(rest[0], given, _caller(given, is_dry=True), as_json="--json" in flags)
