"""`foretold sessions resume`: a conversation as its agent would load it, and the command that goes on with it."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from foretold.cli.json import emit, findings_json
from foretold.cli.output import Paint, for_terminal, plural, print_findings, printable
from foretold.cli.sessions.list import message_json
from foretold.cli.sessions.options import homes_of, parser_of, period_of, session_of, stored_json
from foretold.sessions.exporters.formatting import format_call, format_json
from foretold.sessions.model import Message, Part, StoredSession
from foretold.sessions.resumption.conversation import LoadedConversation, commands_to_continue, load_conversation

JOIN, LINE = " && ", "\n  "  #: a shell continues a line that ends so
NAMES = {"user": "You", "assistant": "Agent", "tool": "Output"}


def command_resume(words: Sequence[str]) -> int:
    parser = parser_of(
        "resume",
        "Print a conversation as its agent would load it to go on, what it would leave out, and the command that goes "
        "on with it. Nothing is started or copied.",
        "  foretold sessions resume 118ca5f9\n"
        "  foretold sessions resume backup/talk.jsonl     any transcript file\n"
        "  foretold sessions resume 118ca5f9 --command    only the command\n"
        "  foretold sessions resume 118ca5f9 --json | jq .messages",
    )
    parser.add_argument("session", metavar="SESSION", help="its id or how it begins, its title, or any transcript file")
    parser.add_argument("--command", action="store_true", help="print only the command that goes on with it")
    options = parser.parse_args(list(words))
    stored, homes = session_of(options), homes_of(options)
    commands = commands_to_continue(stored, homes)
    line = JOIN.join(shlex.join(each) for each in commands)
    if options.command:
        if not line:
            print(f"foretold: {stored.agent} cannot go on with this file: export it instead", file=sys.stderr)
            return 3
        print(printable(line))
        return 0
    found = load_conversation(stored)
    if options.json:
        emit("sessions-resume", _resumed_json(stored, found, commands, line))
    else:
        _print(stored, found, line, Paint(stored.cwd or "/", homes.home))
    return 1 if found.findings or found.refused else 0


def _resumed_json(
    stored: StoredSession, found: LoadedConversation, commands: list[tuple[str, ...]], line: str
) -> dict[str, object]:
    messages = [message_json(each) if isinstance(each, Message) else each for each in found.messages]
    return {
        "session": {**stored_json(stored), "command": line},
        "messages": json.loads(format_json(messages)),
        "exact": found.is_exact,
        "refused": found.refused or None,
        "dropped": [{"record": record, "reason": reason} for record, reason in found.dropped],
        "commands": [list(words) for words in commands],
        "findings": findings_json(found.findings),
    }


def _print(stored: StoredSession, found: LoadedConversation, line: str, paint: Paint) -> None:
    print(paint.bold(printable(stored.title or stored.id)))
    print(f"{stored.agent} {printable(stored.version)}".rstrip() + f", {period_of(stored)}")
    if found.refused:
        print(paint.red(paint.wrap(f"{stored.agent} does not resume it: {found.refused}", 0)))
    last = ""
    for role, text in _rows(found, paint.width):
        who = NAMES.get(role, role.capitalize())
        print((f"\n{paint.bold(who)}\n" if who != last else "") + for_terminal(text))
        last = who
    print(f"\n{plural(len(found.messages), 'message')} would be loaded", end="")
    print(f"; not loaded: {_count(found)}" if found.dropped else "")
    if not found.is_exact:
        print(paint.wrap(f"What {stored.agent} itself leaves out is not recorded: these are all of the file.", 0))
    if found.findings:
        print(f"\n{paint.bold('Damage')}: {plural(len(found.findings), 'record')} cannot be read")
        print_findings(list(found.findings)[:10], paint)
    if line:
        print(f"\ngo on with it:\n  {printable(line).replace(JOIN, JOIN.rstrip() + LINE)}")
    else:
        print(f"\n{stored.agent} cannot go on with this file: foretold sessions export writes it for another agent")
    sys.stdout.flush()


def _count(found: LoadedConversation) -> str:
    reasons = Counter(reason for _, reason in found.dropped)
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))


def _rows(found: LoadedConversation, width: int) -> Iterator[tuple[str, str]]:
    """Each piece of the conversation in words, and who says it."""
    for message in found.messages:
        if isinstance(message, Message):
            for part in message.parts:
                yield from _row(message.role, part, width)
        elif isinstance(message, dict):
            for role, part in _parts_of(message):
                yield from _row(role, part, width)


def _row(role: str, part: Part, width: int) -> Iterator[tuple[str, str]]:
    if part.kind == "call":
        yield role, f"  → {format_call(part, width - 4)}"
    elif part.kind == "result":
        yield "tool", f"  │ {plural(len(part.text), 'character')} of output"
    elif part.kind == "text" and part.text.strip():
        yield role, part.text
    elif part.kind != "text":
        yield role, f"  ({part.kind})"


def _parts_of(message: dict[str, object]) -> Iterator[tuple[str, Part]]:
    """The parts of a message as it is sent: of Anthropic's messages, or of an input of OpenAI's responses."""
    role, content, kind = str(message.get("role", "")), message.get("content"), str(message.get("type", ""))
    if kind.endswith("_call_output"):
        yield "tool", Part("result", str(message.get("output", "")))
    elif kind.endswith("_call"):
        yield "assistant", Part("call", tool=str(message.get("name", kind)), input=_arguments(message))
    elif isinstance(content, str):
        yield role, Part("text", content)
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_use":
            given = block.get("input")
            called = given if isinstance(given, dict) else {}
            yield role, Part("call", tool=str(block.get("name", "")), input=called)
        elif block.get("type") == "tool_result":
            yield role, Part("result", _result_text(block.get("content")))
        elif isinstance(block.get("text"), str):
            yield role, Part("text", str(block["text"]))
        else:
            yield role, Part(str(block.get("type", "other")))


def _arguments(message: dict[str, object]) -> dict[str, object]:
    given = message.get("arguments", message.get("input", message.get("action")))
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"input": given}


def _result_text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return content if isinstance(content, str) else ""
