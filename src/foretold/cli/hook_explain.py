"""What a hook would say, and why: for people, in 80 columns. Nothing is changed but caches.

1. A payload may come on standard input. Else one is made up, and described.
2. What is said after a tool call depends on the call: without a payload, several are made up for one file.
3. Lines are broken between words. What has no spaces, such as a path, stays whole.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping

from foretold.cli.json import emit
from foretold.cli.output import plural, printable
from foretold.serve.hooks import EVENTS
from foretold.serve.hooks.agent_protocols import PROTOCOLS, encode_output, protocol_of
from foretold.serve.hooks.context import Caller, HookContext
from foretold.serve.hooks.dispatch import handle_event, read_input
from foretold.serve.hooks.json import payload_of
from foretold.serve.hooks.log import NAME, read_lines
from foretold.serve.hooks.settings import SWITCHES
from foretold.types import TYPE_CHECKING, estimate_tokens

if TYPE_CHECKING:
    from foretold.serve.hooks.agent_protocols import HookOutput
    from foretold.serve.hooks.json import Payload
    from foretold.serve.hooks.settings import HookSettings

WIDTH = 80
ENDS = {
    "PreCompact": "a compaction",
    "Stop": "the end of a turn",
    "SubagentStop": "the end of a subagent's turn",
    "SessionEnd": "the end of a conversation",
}
EVER = 10**12  #: milliseconds of a call that is made up: whatever it names was changed by it


def explain(event: str, given: Mapping[str, str], caller: Caller, *, as_json: bool = False) -> int:
    """Print what the answer to an event would be, and why."""
    event = protocol_of(caller.agent).events.get(event, event)
    if event not in EVENTS:
        print(f"foretold: {event!r} is not an event; the events are: {', '.join(EVENTS)}", file=sys.stderr)
        return 2
    try:
        data = read_input() or b""
        cases = [(payload_of(data), "")] if data.strip() else example_events(event, given)
    except (OSError, ValueError) as error:
        print(f"foretold: the payload cannot be read: {error}", file=sys.stderr)
        return 2
    answers = [(*handle_event(event, payload, caller), about) for payload, about in cases]
    if as_json:
        emit("hook-explain", explanation_json(answers))
        return 0
    lines: list[str] = []
    for output, context, about in answers:
        lines += [*([""] if lines else describe_place(context)), *describe_output(output, context, about)]
    for line in lines:
        print(printable(line))
    return 0


# Payloads


def example_events(event: str, given: Mapping[str, str]) -> list[tuple[Payload, str]]:
    """Payloads as Claude Code would write them here, and their descriptions."""
    cwd = os.path.realpath(given.get("-C", "."))
    base: Payload = {"session_id": "explained", "transcript_path": "", "cwd": cwd, "hook_event_name": event}
    file, shown = given.get("--file", ""), " ".join(given.get("--prompt", "").split())
    prompt = f"the prompt {shown if len(shown) <= WIDTH else f'{shown[:WIDTH]}…'}"
    loaded: Payload = {"file_path": os.path.join(cwd, file), "load_reason": "session_start"}
    cases: dict[str, list[tuple[Payload, str]]] = {
        "SessionStart": [({"source": "startup"}, "a new conversation")],
        "UserPromptSubmit": [
            ({"prompt": given.get("--prompt", "")}, prompt if shown else "an empty prompt (give one with --prompt)")
        ],
        "PreToolUse": _calls(cwd, file)[:1],
        "PostToolUse": _calls(cwd, file)[-3:],
        "InstructionsLoaded": [(loaded, f"{file or 'no file'}, loaded")],
    }
    found = cases.get(event, [({"agent_type": "Explore"}, ENDS.get(event, ""))])
    return [({**base, **payload}, about) for payload, about in found]


def _calls(cwd: str, file: str) -> list[tuple[Payload, str]]:
    """Calls for a file: one before it, and three after which different things are said."""
    if not file:
        shell: Payload = {"tool_name": "Bash", "tool_input": {"command": "true"}}
        return [(shell, "the shell command `true` (name a file with --file)")]
    path = os.path.join(cwd, file)
    shown = file if os.path.lexists(path) else f"{file}, which does not exist"
    shell = {"tool_name": "Bash", "tool_input": {"command": f"sed -i s/a/b/ {file}"}, "duration_ms": EVER}
    return [
        ({"tool_name": "Write", "tool_input": {"file_path": path, "content": ""}}, f"Write {file}, with no text"),
        ({"tool_name": "Read", "tool_input": {"file_path": path}}, f"Read {shown}"),
        ({"tool_name": "Edit", "tool_input": {"file_path": path}}, f"Edit {shown}"),
        (shell, f"the shell command sed -i s/a/b/ {shown}"),
    ]


# What is printed


def explanation_json(answers: list[tuple[HookOutput, HookContext, str]]) -> dict[str, object]:
    """The same as data: the place, what is on and off, and each answer as the agent would get it."""
    _, context, _ = answers[0]
    on, off = switches(context.settings)
    team = context.place.team if context.place.team and os.path.isdir(context.place.team) else ""
    return {
        "event": context.event,
        "agent": context.caller.agent,
        "folder": context.folder,
        "memories": context.place.store or None,
        "team": {"folder": team, "accepted": context.place.is_accepted} if team else None,
        "on": on,
        "off": off,
        "problems": list(context.problems),
        "answers": [
            {
                "made_up": about or None,
                "why": list(each.why),
                **output._asdict(),
                "tokens": estimate_tokens(output.context),
                "output": encode_output(output, each.event, each.event, each.protocol) or None,
            }
            for output, each, about in answers
        ],
    }


def describe_place(context: HookContext) -> list[str]:
    """The place, and what is on and off."""
    known = context.caller.agent.partition("@")[0] in PROTOCOLS
    lines = [f"{context.event} of {context.caller.agent}{'' if known else ', treated like claude-code'}"]
    lines += _pair("folder", context.folder) + _pair("memories", context.place.store or "none: they are switched off")
    if context.place.team and os.path.isdir(context.place.team):
        accepted = "" if context.place.is_accepted else " (not accepted: foretold memory trust)"
        lines += _pair("team", f"{context.place.team}{accepted}")
    on, off = switches(context.settings)
    lines += _pair("on", ", ".join(on) or "nothing") + _pair("off", ", ".join(off) or "nothing")
    return [*lines, *(line for problem in context.problems for line in _pair("settings", problem)), ""]


def switches(settings: HookSettings) -> tuple[list[str], list[str]]:
    """What is on and what is off, in words.

    >>> from foretold.serve.hooks.settings import HookSettings
    >>> for words in switches(HookSettings(drift=False, extract="openai:gpt-5", off=("Stop",))):
    ...     print(", ".join(words))
    recall (at most 1200 tokens), team, rules, guard, extract (by openai:gpt-5; it costs money)
    drift, archive, the event Stop
    """
    notes = {"recall": f"recall (at most {settings.budget} tokens)"}
    notes["extract"] = f"extract (by {settings.extract}; it costs money)" if settings.extract else "extract"
    names = (*(name for name in settings._fields if name in (*SWITCHES, "guard")), "extract")
    on = [notes.get(name, name) for name in names if getattr(settings, name)]
    off = [name for name in names if not getattr(settings, name)]
    return on, [*off, *(f"the event {event}" for event in settings.off)]


def describe_output(output: HookOutput, context: HookContext, made: str = "") -> list[str]:
    """What it would say, and why."""
    form = encode_output(output, context.event, context.event, context.protocol)
    lines = [*_wrap(f"Made up: {made}", "  "), ""] if made else []
    lines += [line for why in context.why for line in _wrap(f"- {_short(why)}", "  ")]
    lines += [""] if context.why else []
    if not form:
        return [*lines, "It says nothing."]
    if output.verdict:
        return [*lines, *_wrap(f"It says {output.verdict}: {output.reason}", "  ")]
    lines += [f"It says, in about {plural(estimate_tokens(output.context), 'token')}:", ""]
    shown = [line for text in output.context.split("\n") for line in (_wrap(text, "", WIDTH - 2) or [""])]
    return [*lines, *(f"  {line}".rstrip() for line in shown)]


def _pair(name: str, value: str) -> list[str]:
    line = f"  {name:<9} {_short(value)}"
    return _wrap(line, " " * 12) if " " in value else [line]


def _short(text: str) -> str:
    """A text with `~` for the home folder."""
    home = os.path.expanduser("~").rstrip("/")
    return text.replace(f"{home}/", "~/") if len(home) > 1 else text


def _wrap(text: str, indent: str, width: int = WIDTH) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def print_log(caller: Caller, *, as_json: bool = False) -> int:
    """Print the log, the oldest line first."""
    from foretold.paths import foretold_folders

    state = foretold_folders(caller.home, caller.env).state
    lines = read_lines(state)
    if as_json:
        emit("hook-log", {"path": f"{state}/{NAME}", "lines": list(lines)})
        return 0
    for line in lines:
        print("\n".join(_wrap(printable(_short(line)), "    ")))
    if not lines:
        print("\n".join(_wrap(f"The log is empty: {_short(state)}/{NAME}", "  ")))
    return 0
