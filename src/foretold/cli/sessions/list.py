"""`foretold sessions list` and `show`: straight from disk, independent of the agents' own pickers."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from itertools import islice

from foretold.cli.json import emit, findings_json
from foretold.cli.output import Paint, column, fold, for_terminal, plural, print_findings, printable, size
from foretold.cli.sessions.options import (
    agents_of,
    count,
    home_option,
    homes_of,
    name_in_command,
    paint_of,
    parser_of,
    period_of,
    resume_command,
    session_of,
    stored_json,
)
from foretold.errors import NotAFolder
from foretold.sessions.archive.retention import find_expiring_sessions, read_retention
from foretold.sessions.catalog import KINDS, iter_sessions, messages_of, newest_first, sort_by_time
from foretold.sessions.exporters.formatting import DEEP, format_call, format_json, format_time, is_deep, untag_text
from foretold.sessions.model import Homes, Message, Part, StoredSession
from foretold.types import Finding

MANY = 20
SOON = 7.0  #: days
TYPED = "a command"  #: of which a person, not the agent, asked for the result


def command_list(words: Sequence[str]) -> int:
    parser = parser_of(
        "list",
        "List sessions, newest first, with the command that resumes each. They are found on disk; no agent is started.",
        "  foretold sessions                  those of this folder, of all agents\n"
        "  foretold sessions --all -n 100\n"
        "  foretold sessions --agent codex --json | jq -r '.sessions[].command'",
    )
    parser.add_argument("--all", action="store_true", help="of every project, not only of this folder")
    parser.add_argument("--subagents", action="store_true", help="also the conversations of subagents")
    parser.add_argument("-n", dest="limit", type=count, default=MANY, metavar="N", help=f"at most N ({MANY}); 0 = all")
    options = parser.parse_args(list(words))
    homes, agents = homes_of(options), agents_of(options)
    kinds = (*KINDS, "subagent") if options.subagents else KINDS
    project = None if options.all else options.cwd
    left: list[Finding] = []
    found = iter_sessions(homes, agents=agents, project=project, kinds=kinds, findings=left)
    listed = sort_by_time(islice(found, options.limit) if options.limit > 0 else found)
    paint = paint_of(options)
    if left:
        print_findings(left, paint, sys.stderr)
    if options.json:
        emit("sessions", {"sessions": [stored_json(stored) for stored in listed]})
        return 1 if left else 0
    if not listed and project is not None and not os.path.isdir(project):
        raise NotAFolder(f"{printable(project)} is not a folder, and has no sessions")
    if not listed:
        elsewhere = sum(stored.kind in kinds for stored in newest_first(homes, agents))
        none = f"of this folder. In others: {elsewhere:,}; see foretold sessions --all" if elsewhere else "here."
        print(f"There are no sessions {'on this machine.' if options.all else none}")
        return 1 if left else 0
    for stored in listed:
        _print_row(stored, paint, with_folder=options.all)
    if options.limit > 0 and next(found, None) is not None:
        print(f"\nMore: -n {max(MANY, options.limit * 5)}, or -n 0 for all")
    _warn_of_deletion(homes, agents, paint)
    return 1 if left else 0


def _warn_of_deletion(homes: Homes, agents: tuple[str, ...] | None, paint: Paint) -> None:
    """Warn if an agent is about to delete sessions, which it does silently."""
    if agents is not None and "claude-code" not in agents:
        return
    rule = read_retention(homes)
    soon = find_expiring_sessions(homes, time.time(), within=SOON, rule=rule)
    if not soon or rule.days is None:
        return
    from foretold.sessions.archive.archive import find_unarchived

    if lost := find_unarchived(homes, soon):
        said = f"Claude Code keeps sessions for {rule.days:g} days. Within {SOON:g} days it will delete"
        said += f" {plural(len(lost), 'file')} of all folders that {'is' if len(lost) == 1 else 'are'} not archived."
        print("\n" + paint.wrap(said, 0) + "\nArchive them: foretold sessions archive --all")


def _print_row(stored: StoredSession, paint: Paint, *, with_folder: bool) -> None:
    head = f"{format_time(stored.changed)}  {stored.agent:11}  {size(stored.size):>9}  "
    kind = "" if stored.kind == "main" else f"({stored.kind}) "
    room = paint.width - len(head)
    if room < 20:  # a narrow window: the title gets its own line
        head, room = f"{head.rstrip()}\n", paint.width
    title = column(printable(kind + stored.title or "(nothing was said)"), room).rstrip()
    print(head + paint.bold(title))
    if with_folder and stored.cwd:
        there = "" if os.path.isdir(stored.cwd) else "  (this folder is gone: foretold sessions relocate)"
        print(paint.faint(f"  in {printable(paint.path(stored.cwd))}{there}"))
    command = resume_command(stored)
    if stored.id not in shlex.split(command):  # it is resumed by its file
        print(paint.faint(f"  id {printable(stored.id)}"))
    print(paint.faint(f"  {printable(command)}"))


def command_show(words: Sequence[str]) -> int:
    parser = parser_of(
        "show",
        "Read a session: messages and tool calls. Credentials are not removed: to share it, export it.",
        "  foretold sessions show 118ca5f9          prompts, answers, calls in a line\n"
        "  foretold sessions show 118ca5f9 --full   with the output of tools\n"
        "  foretold sessions show 118ca5f9 --last 5",
    )
    parser.add_argument("session", metavar="SESSION", help="its id or how it begins, its title, or any transcript file")
    parser.add_argument("--full", action="store_true", help="also results of tools, thinking, attachments, notices")
    parser.add_argument("--last", type=count, metavar="N", help="only the last N messages")
    options = parser.parse_args(list(words))
    stored = session_of(options)
    findings: list[Finding] = []
    messages = (each for each in messages_of(stored, findings) if options.full or _is_shown(each))
    if options.last is not None:
        from collections import deque

        messages = (each for each in deque(messages, options.last))
    if options.json:
        rows = [message_json(message) for message in messages]
        emit("session", {"session": stored_json(stored), "messages": rows, "findings": findings_json(findings)})
        return 1 if findings else 0
    paint = Paint(stored.cwd or "/", homes_of(options).home)
    print(paint.bold(_fold_text(printable(stored.title or stored.id), paint)))
    held = f" in {printable(paint.path(stored.cwd))}" if stored.cwd else ""
    print(f"{stored.agent} {printable(stored.version)}".rstrip() + f"{held}, {period_of(stored)}")
    last = ""
    for message in messages:
        last = _print_message(message, paint, last, full=options.full)
    if findings:
        print(f"\n{paint.bold('Damage')}: {plural(len(findings), 'record')} cannot be read")
        hint = f"foretold sessions repair {name_in_command(stored, options)}{home_option(options)}"
        print_findings([each._replace(hint=hint) for each in findings[:10]], paint)
    sys.stdout.flush()
    return 1 if findings else 0


def _is_shown(message: Message) -> bool:
    """Whether a message says something to a person, or calls a tool."""
    return message.kind in ("", "summary") and any(
        part.kind in ("call", "image") or (part.kind == "text" and bool(part.text.strip())) for part in message.parts
    )


def message_json(message: Message) -> dict[str, object]:
    """A message as `--json` prints it."""
    parts = [{name: value for name, value in part._asdict().items() if name != "raw"} for part in message.parts]
    for part in parts:
        part["input"] = {"": DEEP} if is_deep(part["input"]) else part["input"]
    fields: dict[str, object] = json.loads(format_json({**message._asdict(), "parts": parts}))  # NaN is not JSON
    return fields


def _print_message(message: Message, paint: Paint, last: str, *, full: bool) -> str:
    """Print a message; its heading only if it is not the `last` one, which is returned."""
    said = [_as_typed(part, message.role) for part in message.parts if full or part.kind in ("text", "call", "image")]
    said = [part for part in said if part.kind != "text" or part.text.strip()]
    if not said:
        return last
    who = "Summary" if message.kind == "summary" else {"user": "You", "assistant": "Agent"}.get(message.role, "System")
    if all(part.kind == "result" for part in said):
        who = "Output" if all(part.tool == TYPED for part in said) else "Agent"
    kind = f", {message.kind}" if message.kind not in ("", "summary") else ""
    heading = f"{paint.bold(who)}{paint.faint(f'  {format_time(message.time)}{kind}')}"
    if heading != last or who != "Agent":
        print(f"\n{heading}")
    for part in said:
        if part.kind == "call":
            print(paint.faint(f"  → {printable(format_call(part, paint.width - 4))}"))
        elif part.kind == "result":
            print(paint.faint(_indent(for_terminal(part.text), "  │ ")))
        elif part.kind == "text":
            print(_fold_text(part.text, paint))
        elif part.text:
            print(_indent(for_terminal(part.text), f"  {part.kind}: "))
        elif part.kind == "image":
            print("  (a picture)")
        elif part.raw is not None:
            print(paint.faint("  " + printable(format_json(part.raw)[: paint.width - 2])))
    return heading


def _as_typed(part: Part, role: str) -> Part:
    """A part for people: a command as it was typed, and its output as a result."""
    if role == "assistant" or part.kind not in ("text", "other") or not part.text:
        return part
    text, is_output = untag_text(part.text)
    typed = Part("result", text, TYPED) if is_output else Part("text", text)
    return part if text == part.text else typed


def _fold_text(text: str, paint: Paint) -> str:
    return fold(for_terminal(text), paint.width) if sys.stdout.isatty() else text


def _indent(text: str, before: str) -> str:
    return "\n".join(before + line for line in text.split("\n"))
