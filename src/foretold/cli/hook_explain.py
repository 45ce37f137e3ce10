"""What a hook would say, and why: for people, in 80 columns. Nothing is written.

1. A payload may come on standard input. Else one is made up, and it is said what it is.
2. What is said after a tool call depends on the call: without a payload, several are made up for one file.
3. Lines are broken between words. What has no spaces, such as a path, stays whole.
"""

from __future__ import annotations

import os
import sys
import textwrap

from foretold.cli.paint import printable
from foretold.serve.hooks import EVENTS
from foretold.serve.hooks.agent_protocols import SPEECHES, speech_of, wire_form
from foretold.serve.hooks.context import Asking, Scene
from foretold.serve.hooks.dispatch import heard, read_input
from foretold.serve.hooks.json import payload_of
from foretold.serve.hooks.log import NAME, lines_of
from foretold.serve.hooks.settings import SWITCHES
from foretold.types import TYPE_CHECKING, NamedTuple, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foretold.serve.hooks.agent_protocols import Said
    from foretold.serve.hooks.json import Payload
    from foretold.serve.hooks.settings import Settings

WIDTH = 80
ENDS = {
    "PreCompact": "a compaction",
    "Stop": "the end of a turn",
    "SubagentStop": "the end of a subagent's turn",
    "SessionEnd": "the end of a conversation",
}
EVER = 10**12  #: milliseconds of a call that is made up: whatever it names was changed by it


class Case(NamedTuple):
    """A payload, and what it is in words; no words if somebody gave it."""

    payload: Payload
    said: str = ""


def explain(event: str, given: Mapping[str, str], asking: Asking) -> int:
    """Print what an event would be answered, and why."""
    event = speech_of(asking.agent).events.get(event, event)
    if event not in EVENTS:
        print(f"foretold: {event!r} is no event; there are: {', '.join(EVENTS)}", file=sys.stderr)
        return 2
    try:
        data = read_input() or b""
        cases = [Case(payload_of(data))] if data.strip() else made_up(event, given)
    except (OSError, ValueError) as error:
        print(f"foretold: the payload cannot be read: {error}", file=sys.stderr)
        return 2
    lines: list[str] = []
    for case in cases:
        said, scene = heard(event, case.payload, asking)
        lines += [*([""] if lines else opening(scene)), *told(said, scene, case.said)]
    for line in lines:
        print(printable(line))
    return 0


# Payloads


def made_up(event: str, given: Mapping[str, str]) -> list[Case]:
    """Payloads as Claude Code would write them here."""
    cwd = os.path.realpath(given.get("-C", "."))
    base: Payload = {"session_id": "explained", "transcript_path": "", "cwd": cwd, "hook_event_name": event}
    file = given.get("--file", "")
    cases = {
        "SessionStart": [Case({"source": "startup"}, "a new conversation")],
        "UserPromptSubmit": [_prompt(given.get("--prompt", ""))],
        "PreToolUse": _calls(cwd, file)[:1],
        "PostToolUse": _calls(cwd, file)[-3:],
        "InstructionsLoaded": [
            Case({"file_path": os.path.join(cwd, file), "load_reason": "session_start"}, f"{file or 'no file'}, loaded")
        ],
    }.get(event, [Case({"agent_type": "Explore"}, ENDS.get(event, ""))])
    return [Case({**base, **case.payload}, case.said) for case in cases]


def _prompt(text: str) -> Case:
    shown = " ".join(text.split())
    cut = shown if len(shown) <= WIDTH else f"{shown[:WIDTH]}…"
    return Case({"prompt": text}, f"the prompt {cut}" if cut else "an empty prompt (give one with --prompt)")


def _calls(cwd: str, file: str) -> list[Case]:
    """Calls for a file: one before it, and three after which different things are said."""
    if not file:
        return [_call("the shell command `true` (name a file with --file)", "Bash", command="true")]
    path = os.path.join(cwd, file)
    shown = file if os.path.lexists(path) else f"{file}, which is not there"
    shell = _call(f"the shell command sed -i s/a/b/ {shown}", "Bash", command=f"sed -i s/a/b/ {file}")
    return [
        _call(f"Write {file}, with no text", "Write", file_path=path, content=""),
        _call(f"Read {shown}", "Read", file_path=path),
        _call(f"Edit {shown}", "Edit", file_path=path),
        shell._replace(payload={**shell.payload, "duration_ms": EVER}),
    ]


def _call(said: str, tool: str, **given: str) -> Case:
    return Case({"tool_name": tool, "tool_input": given}, said)


# What is printed


def opening(scene: Scene) -> list[str]:
    """Where it is, and what is on and off."""
    known = scene.asking.agent.partition("@")[0] in SPEECHES
    lines = [f"{scene.event} of {scene.asking.agent}{'' if known else ', taken for claude-code'}"]
    lines += _pair("folder", scene.folder) + _pair("memories", scene.where.store or "none: they are switched off")
    if scene.where.team and os.path.isdir(scene.where.team):
        lines += _pair("team", scene.where.team)
    on, off = switches(scene.settings)
    lines += _pair("on", ", ".join(on) or "nothing") + _pair("off", ", ".join(off) or "nothing")
    return [*lines, *(line for complaint in scene.complaints for line in _pair("settings", complaint)), ""]


def switches(settings: Settings) -> tuple[list[str], list[str]]:
    """What is on and what is off, in words.

    >>> from foretold.serve.hooks.settings import Settings
    >>> for words in switches(Settings(drift=False, extract="openai:gpt-5", off=("Stop",))):
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


def told(said: Said, scene: Scene, made: str = "") -> list[str]:
    """What would be said, and why."""
    form = wire_form(said, scene.event, scene.event, scene.speech)
    lines = [*_wrapped(f"Made up: {made}", "  "), ""] if made else []
    lines += [line for why in scene.why for line in _wrapped(f"- {_short(why)}", "  ")]
    lines += [""] if scene.why else []
    if not form:
        return [*lines, "It says nothing."]
    if said.verdict:
        return [*lines, *_wrapped(f"It says {said.verdict}: {said.reason}", "  ")]
    lines.append(f"It says, in about {estimate_tokens(said.context)} tokens:")
    lines.append("")
    shown = [line for text in said.context.split("\n") for line in (_wrapped(text, "", WIDTH - 2) or [""])]
    return [*lines, *(f"  {line}".rstrip() for line in shown)]


def _pair(name: str, value: str) -> list[str]:
    line = f"  {name:<9} {_short(value)}"
    return _wrapped(line, " " * 12) if " " in value else [line]


def _short(text: str) -> str:
    """A text with `~` for the home folder."""
    home = os.path.expanduser("~").rstrip("/")
    return text.replace(f"{home}/", "~/") if len(home) > 1 else text


def _wrapped(text: str, indent: str, width: int = WIDTH) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def print_log(asking: Asking) -> int:
    """Print the log, the oldest line first."""
    from foretold.paths import our_folders

    state = our_folders(asking.home, asking.env).state
    lines = lines_of(state)
    for line in lines:
        print("\n".join(_wrapped(printable(_short(line)), "    ")))
    if not lines:
        print("\n".join(_wrapped(f"The log is empty: {_short(state)}/{NAME}", "  ")))
    return 0
