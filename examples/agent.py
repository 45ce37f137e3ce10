"""A coding agent on foretold. Start it in a project; it is told CLAUDE.md, rules and memories as Claude Code is.

Commands: /compact [WISHES], /rewind [yes], /memory, /agent TASK, /explore TASK (without instructions), /quit
"""

import argparse
import os
import sys

import foretold
from foretold.harness.events import CompactEvent, ExtractionEvent, ReplyEvent, ToolCallEvent, TurnEndEvent


def note(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def read(question="> "):
    try:
        return input(question).strip()
    except (EOFError, KeyboardInterrupt):
        return "/quit"


def show(event):
    match event:
        case ReplyEvent(text) if text:
            print(text, flush=True)
        case ToolCallEvent(_, name, given):
            note(f"{name} {next(iter(given.values()), '')}")
        case CompactEvent(_, reason):
            note(f"not compacted: {reason}" if reason else "compacted")
        case ExtractionEvent(done):
            note(f"remembered: {', '.join((*done.added, *done.updated)) or 'nothing new'}")
            if done.proposed:
                note(f"waits for you: {', '.join(done.proposed)} (foretold memory inbox)")
        case TurnEndEvent(turn):
            for finding in turn.findings:
                note(f"{finding.path}: {finding.message}")


def obey(agent, line):
    command, _, rest = line.partition(" ")
    if command == "/compact":
        show(agent.compact(rest))
    elif command == "/memory":
        print(agent.memory.index(), flush=True)
    elif command in ("/agent", "/explore"):
        print(agent.subagent(rest, name="Explore" if command == "/explore" else "").text, flush=True)
    elif command == "/rewind" and agent.prompts:
        back = agent.rewind(agent.prompts[-1].id, dry_run=rest != "yes")
        note(f"{'went' if back.is_done else '/rewind yes goes'} back to before: {back.prompt}")
    elif command.startswith("/"):
        note(__doc__)
    elif line:
        for event in agent.run(line):
            show(event)


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("-p", "--prompt", help="answer this and end")
options.add_argument("--model", default=os.environ.get("AGENT_MODEL", "anthropic:claude-opus-5-5"))
options.add_argument("--resume", metavar="ID", help="go on with this session")
options.add_argument("--mode", default="", help="acceptEdits or bypassPermissions: ask less, or never")
given, memory = options.parse_args(), foretold.memory.open(".")
parts = {"model": given.model, "memory": memory, "extractor": foretold.Extractor(memory)}
parts |= {"permission": given.mode or None, "agents": True, "skills": True}
parts["ask"] = lambda call, verdict: read(f"  {call['name']} {call['input']}: {verdict.reason}\n  Allow? [y/N] ") == "y"
try:
    agent = foretold.Harness.resume(given.resume, ".", **parts) if given.resume else foretold.Harness(".", **parts)
except (foretold.ForetoldError, ValueError) as error:
    sys.exit(str(error))
with agent:
    for line in [given.prompt] if given.prompt else iter(read, "/quit"):
        try:
            obey(agent, line)
        except (foretold.ForetoldError, KeyboardInterrupt) as error:
            (sys.exit if given.prompt else note)(str(error) or "interrupted")
    note(f"go on with it: --resume {agent.session}")
