"""PostToolUse: instructions that the agent misses, and memories that name a file which was just changed.

1. What the agent itself attaches for a call is noted, not said. Other calls touch files too: shell commands that do
   more than read, searches in one file, tools of MCP servers; in an older version, everything that is not a read. For
   those, the rules that match the file and the nested files above it are quoted here, each once.
2. A file that was written, moved or deleted, and that memories name, is reported once, with the names of the memories.
   Those that were added since the conversation began are among them (`path_index`). A missing file whose folder did
   not change just now was missing before.
3. All of it together has BUDGET tokens; what does not fit is only named.
"""

from __future__ import annotations

import os
import time

from foretold.serve.hooks.agent_protocols import HookOutput
from foretold.serve.hooks.events.rules_here import (
    fit_texts,
    inside_texts,
    instructions_here,
    load_nested,
    nested_for,
    rules_for,
)
from foretold.serve.hooks.events.touched_files import LOOKS, READS, WRITES, own_paths, touch_of
from foretold.serve.hooks.path_index import MemoryLookup
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import HookContext
    from foretold.serve.hooks.events.rules_here import LoadedInstructions
    from foretold.serve.hooks.events.touched_files import Touch

BUDGET = 2000  #: tokens
MANY = 5  #: memories that are named
SLACK = 5.0  #: seconds before the end of a call in which a file counts as changed by it
MISSED = "These instructions apply to files that were just touched, and were not attached by the tool:"


def handle(context: HookContext) -> HookOutput:
    """What to say after a tool call."""
    touch = touch_of(context)
    if not touch.paths:
        return context.say_nothing("the call names no file")
    parts = [_quote_missed(context, touch), _report_drift(context, touch)]
    return HookOutput("\n\n".join(part for part in parts if part))


# Instructions


def _quote_missed(context: HookContext, touch: Touch) -> str:
    if not context.settings.rules:
        context.why.append("instructions: switched off (hooks.rules)")
        return ""
    here = instructions_here(context)
    own = own_paths(touch, here, context.shell_folder)
    known = {note[1] for note in context.notes.since("attached")} | set(here.started)
    found: dict[str, str] = {}
    for path in touch.paths:
        if path in own or _is_file(path, context, touch):
            found.update(_find_instructions(context, here, path, known | found.keys(), is_own=path in own))
    attached = [("attached", path, "agent") for path, text in found.items() if not text]
    missed = [(path, text) for path, text in found.items() if text]
    read = [("read", path) for path in touch.paths if touch.tool in READS and ("read", path) not in context.notes.all]
    context.notes.add(*read, *attached)
    claimed = {note[1] for note in context.notes.claim(*(("attached", path, "hook") for path, _ in missed))}
    missed = [(path, text) for path, text in missed if path in claimed]
    quoted = {path for path, _ in missed}
    names = [name for _, path, _ in attached for name in _name_files(path, quoted, is_own=bool(own))]
    context.why += [f"instructions: {name}, which the agent attaches itself" for name in names]
    context.why += [f"instructions: {path}, which the agent misses" for path, _ in missed]
    if not found:
        context.why.append("instructions: nothing new applies to the files of this call")
    return fit_texts(MISSED, inside_texts(context, missed), here.template, BUDGET)


def _name_files(path: str, quoted: set[str], *, is_own: bool) -> list[str]:
    """A file, or the rules of a folder that was only looked for: the agent attaches those that match, if any."""
    if not os.path.isdir(path):
        return [path]
    rules = sorted(f"{path}/{name}" for name in os.listdir(path) if name.endswith(".md")) if is_own else []
    return [f"{rule} (if its paths match)" for rule in rules if rule not in quoted]


def _is_file(path: str, context: HookContext, touch: Touch) -> bool:
    """Whether a path that a call names is a file of this project. Many words of a shell command are not."""
    if not path.startswith(context.folder.rstrip("/") + "/"):
        return False
    return touch.tool in WRITES or os.path.isfile(path)


def _find_instructions(
    context: HookContext, here: LoadedInstructions, path: str, known: set[str], *, is_own: bool
) -> dict[str, str]:
    """What applies to a file and was not attached yet: path and text; no text, if the agent itself attaches it."""
    found: dict[str, str] = {}
    waiting = [rule for rule in rules_for(here, path) if rule.path not in known]
    nested = [each for each in nested_for(here, context.folder, path) if each not in known]
    if is_own:
        return dict.fromkeys([*(rule.path for rule in waiting), *nested], "")
    if nested or any(not rule.text for rule in waiting):
        found.update((each, text) for each, text in load_nested(context, path, frozenset(known)))
        found.update(dict.fromkeys((each for each in nested if each not in found), ""))
    found.update((rule.path, rule.text) for rule in waiting if rule.text)
    return found


# Drift


def _report_drift(context: HookContext, touch: Touch) -> str:
    if not context.settings.drift:
        context.why.append("drift: switched off (hooks.drift)")
        return ""
    root = context.place.root.rstrip("/")
    lookup = MemoryLookup(context)
    reported = {note[1] for note in context.notes.since("drift")}
    lines, files = [], []
    for path in touch.paths:
        inside = path[len(root) + 1 :] if path.startswith(f"{root}/") else ""
        if touch.tool in WRITES and any(path.startswith(f"{folder}/") for folder, _ in context.place.stores):
            context.refresh("this call wrote a memory")
        if not inside or path in reported or context.place.store in path:
            continue
        change = _change_of(context, touch, path)
        found = _readable(context, lookup.find(inside)) if change else []
        if found and context.notes.claim(("drift", path)):
            lines.append(_line(inside, change, found))
            files += [file for file, _ in found]
            names = "1 memory names it" if len(found) == 1 else f"{len(found)} memories name it"
            context.why.append(f"drift: {inside} was {change}, and {names}")
    if not lines:
        context.why.append("drift: no memory names a file that this call has changed")
        return ""
    return "\n".join([*lines, _advice(context, files)])


def _readable(context: HookContext, naming: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Memories without those of a team that the user does not accept, or no longer."""
    place = context.place
    if place.is_accepted or not place.team:
        return naming
    return [(file, said) for file, said in naming if not file.startswith(f"{place.team}/")]


def _advice(context: HookContext, files: list[str]) -> str:
    """What to do about memories that may be wrong, as a command that needs no terminal."""
    if_wrong = f"If {'it' if len(files) == 1 else 'one of them'} is no longer true,"
    if context.place.policy in ("manual", "read-only"):
        return f"{if_wrong} tell the user."
    team = [
        file.rpartition("/")[2] for file in files if context.place.team and file.startswith(f"{context.place.team}/")
    ]
    shared = f" (--team for {', '.join(dict.fromkeys(team))})" if team else ""
    return f'{if_wrong} say so, and correct it: foretold memory edit NAME -b "TEXT" --by agent{shared}'


def _change_of(context: HookContext, touch: Touch, path: str) -> str:
    """What a call did to a file: changed or deleted; empty if nothing is visible."""
    if touch.tool in LOOKS:
        return ""
    lasted = context.payload.get("duration_ms")
    since = time.time() - SLACK - (lasted / 1000 if isinstance(lasted, int | float) else 0)
    try:
        about = os.stat(path)
    except ValueError:  # no file can have such a name
        return ""
    except OSError:
        return "deleted" if touch.tool in WRITES or _changed_above(path) >= since else ""
    return "changed" if touch.tool in WRITES or about.st_mtime >= since else ""


def _changed_above(path: str) -> float:
    """When a name was last added or removed in the nearest folder that exists."""
    while path not in ("", "/"):
        path = os.path.dirname(path)
        try:
            return os.stat(path).st_mtime
        except OSError:
            continue
    return 0.0


def _line(path: str, change: str, naming: list[tuple[str, str]]) -> str:
    names = [(file.rpartition("/")[2], said.replace("<", "&lt;")) for file, said in naming[:MANY]]
    shown = [f"{name} ({said})" if said else name for name, said in names]
    more = f", and {len(naming) - MANY} more" if len(naming) > MANY else ""
    who = "A memory names" if len(naming) == 1 else "Memories name"
    return f"{who} {path}, which was just {change}: {'; '.join(shown)}{more}."
