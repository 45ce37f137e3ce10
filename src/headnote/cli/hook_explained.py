"""What a hook would say, and why: for people, in 80 columns. Nothing is written."""

from __future__ import annotations

import os
import sys
import textwrap

from headnote.cli.paint import printable
from headnote.serve.hooks import EVENTS
from headnote.serve.hooks.answer import heard, read_input
from headnote.serve.hooks.log import NAME, lines_of
from headnote.serve.hooks.scene import Asking, Scene
from headnote.serve.hooks.settings import plain
from headnote.serve.hooks.speech import SPEECHES, speech_of, wire_form
from headnote.serve.hooks.wire import payload_of
from headnote.types import TYPE_CHECKING, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headnote.serve.hooks.speech import Said
    from headnote.serve.hooks.wire import Payload

WIDTH = 80


def explain(event: str, given: Mapping[str, str], asking: Asking) -> int:
    """Print what an event would be answered, and why."""
    event = speech_of(asking.agent).events.get(event, event)
    if event not in EVENTS:
        print(f"headnote: {event!r} is no event; there are: {', '.join(EVENTS)}", file=sys.stderr)
        return 2
    try:
        data = read_input() or b""
        payload = payload_of(data) if data.strip() else made_up(event, given)
    except (OSError, ValueError) as error:
        print(f"headnote: the payload cannot be read: {error}", file=sys.stderr)
        return 2
    said, scene = heard(event, payload, asking)
    for line in told(said, scene):
        print(printable(line))
    return 0


def made_up(event: str, given: Mapping[str, str]) -> Payload:
    """A payload as Claude Code would write it here."""
    cwd = os.path.realpath(given.get("-C", "."))
    payload: Payload = {"session_id": "explained", "transcript_path": "", "cwd": cwd, "hook_event_name": event}
    path = os.path.join(cwd, given["--file"]) if "--file" in given else ""
    more: dict[str, Payload] = {
        "SessionStart": {"source": "startup"},
        "UserPromptSubmit": {"prompt": given.get("--prompt", "")},
        "PreToolUse": {"tool_name": "Write", "tool_input": {"file_path": path, "content": ""}},
        "PostToolUse": {"tool_name": "MultiEdit", "tool_input": {"file_path": path}},
        "InstructionsLoaded": {"file_path": path, "load_reason": "session_start"},
    }
    return {**payload, **more.get(event, {})}


def told(said: Said, scene: Scene) -> list[str]:
    """The explanation, line by line."""
    form = wire_form(said, scene.event, scene.event, scene.speech)
    known = scene.asking.agent.partition("@")[0] in SPEECHES
    lines = [f"{scene.event} of {scene.asking.agent}{'' if known else ', taken for claude-code'}"]
    lines += _pair("folder", scene.folder) + _pair("memories", scene.where.store)
    if scene.where.team and os.path.isdir(scene.where.team):
        lines += _pair("team", scene.where.team)
    off = [name for name, value in plain(scene.settings).items() if value is False]
    lines += _pair("settings", f"{', '.join(f'{name} off' for name in off)}; budget {scene.settings.budget} tokens")
    lines += [line for complaint in scene.complaints for line in _pair("settings", complaint)]
    lines.append("")
    lines += [line for why in scene.why for line in _wrapped(f"- {why}", "  ")]
    lines.append("")
    if not form:
        return [*lines, "It says nothing."]
    if said.verdict:
        return [*lines, *_wrapped(f"It says {said.verdict}: {said.reason}", "  ")]
    lines.append(f"It says, in about {estimate_tokens(said.context)} tokens:")
    lines.append("")
    shown = [line for text in said.context.split("\n") for line in (textwrap.wrap(text, WIDTH - 2) or [""])]
    return [*lines, *(f"  {line}".rstrip() for line in shown)]


def _pair(name: str, value: str) -> list[str]:
    home = os.path.expanduser("~").rstrip("/")
    shown = f"~{value[len(home) :]}" if home and value.startswith(f"{home}/") else value
    return _wrapped(f"  {name:<9} {shown}", " " * 12)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False, replace_whitespace=True
    )


def print_log(asking: Asking) -> int:
    """Print the log, the oldest line first."""
    from headnote.ours import our_folders

    state = our_folders(asking.home, asking.env).state
    lines = lines_of(state)
    for line in lines:
        print(printable(line))
    if not lines:
        print(f"The log is empty: {state}/{NAME}")
    return 0
