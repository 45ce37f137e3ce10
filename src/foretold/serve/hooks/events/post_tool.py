"""PostToolUse: instructions that the agent misses, and memories that speak of what was just changed.

1. What the agent itself attaches for a call is written down, not said. Other calls touch files too: shell commands that
   do more than read, searches in one file, tools of other programs; in an older version, whatever is not a read. For
   those the rules that wait for the file and the nested files above it are said here, each once.
2. A file that was written, moved or deleted, and that memories name, is told of once, with the names of the memories.
   Those that were added since the conversation began are among them (`named`). What a folder's own stamp does not
   show as gone just now was gone before.
3. All of it together has BUDGET tokens; what does not fit is named.
"""

from __future__ import annotations

import os
import time

from foretold.serve.hooks.agent_protocols import SILENCE, Said
from foretold.serve.hooks.events.rules_here import nested_for, nested_texts, rules_for, told_here, within
from foretold.serve.hooks.events.touched_files import LOOKS, READS, WRITES, own_paths, touch_of
from foretold.serve.hooks.memories_naming import Naming
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import Scene
    from foretold.serve.hooks.events.rules_here import Told
    from foretold.serve.hooks.events.touched_files import Touch

BUDGET = 2000  #: tokens
MANY = 5  #: memories that are named
SLACK = 5.0  #: seconds before the end of a call in which a file counts as changed by it
MISSED = "These instructions speak for files that were just touched, and were not attached by the tool:"


def hear(scene: Scene) -> Said:
    """What to say after a tool call."""
    touch = touch_of(scene)
    if not touch.paths:
        scene.why.append("the call names no file")
        return SILENCE
    parts = [_missed(scene, touch), _drifted(scene, touch)]
    return Said("\n\n".join(part for part in parts if part))


# Instructions


def _missed(scene: Scene, touch: Touch) -> str:
    if not scene.settings.rules:
        scene.why.append("instructions: switched off (hooks.rules)")
        return ""
    told = told_here(scene)
    own = own_paths(touch, told, scene.shell_folder)
    known = {note[1] for note in scene.notes.since("attached")} | set(told.started)
    found: dict[str, str] = {}
    for path in touch.paths:
        if path in own or _is_file(path, scene, touch):
            found.update(_speaking_for(scene, told, path, known | found.keys(), is_own=path in own))
    attached = [("attached", path, "agent") for path, text in found.items() if not text]
    missed = [(path, text) for path, text in found.items() if text]
    read = [("read", path) for path in touch.paths if touch.tool in READS and ("read", path) not in scene.notes.all]
    scene.notes.add(*read, *attached)
    claimed = {note[1] for note in scene.notes.claim(*(("attached", path, "hook") for path, _ in missed))}
    missed = [(path, text) for path, text in missed if path in claimed]
    scene.why += [f"instructions: {path}, which the agent attaches itself" for _, path, _ in attached]
    scene.why += [f"instructions: {path}, which the agent misses" for path, _ in missed]
    if not found:
        scene.why.append("instructions: nothing new speaks for the files of this call")
    return within(MISSED, missed, told.template, BUDGET)


def _is_file(path: str, scene: Scene, touch: Touch) -> bool:
    """Whether a path that a call names is a file of this place. A shell has many words that are none."""
    if not path.startswith(scene.folder.rstrip("/") + "/"):
        return False
    return touch.tool in WRITES or os.path.isfile(path)


def _speaking_for(scene: Scene, told: Told, path: str, known: set[str], *, is_own: bool) -> dict[str, str]:
    """What speaks for a file and was not attached yet: path and text; no text, if the agent itself attaches it."""
    found: dict[str, str] = {}
    waiting = [rule for rule in rules_for(told, path) if rule.path not in known]
    nested = [each for each in nested_for(told, scene.folder, path) if each not in known]
    if is_own:
        return dict.fromkeys([*(rule.path for rule in waiting), *nested], "")
    if nested or any(not rule.text for rule in waiting):
        found.update((each, text) for each, text in nested_texts(scene, path, frozenset(known)))
        found.update(dict.fromkeys((each for each in nested if each not in found), ""))
    found.update((rule.path, rule.text) for rule in waiting if rule.text)
    return found


# Drift


def _drifted(scene: Scene, touch: Touch) -> str:
    if not scene.settings.drift:
        scene.why.append("drift: switched off (hooks.drift)")
        return ""
    root = scene.where.root.rstrip("/")
    naming = Naming(scene)
    told = {note[1] for note in scene.notes.since("drift")}
    lines, files = [], []
    for path in touch.paths:
        inside = path[len(root) + 1 :] if path.startswith(f"{root}/") else ""
        if touch.tool in WRITES and any(path.startswith(f"{folder}/") for folder, _ in scene.where.stores):
            scene.refresh("this call wrote a memory")
        if not inside or path in told or scene.where.store in path:
            continue
        change = _change(scene, touch, path)
        found = naming.of(inside) if change else []
        if found and scene.notes.claim(("drift", path)):
            lines.append(_line(inside, change, found))
            files += [file for file, _ in found]
            names = "1 memory names it" if len(found) == 1 else f"{len(found)} memories name it"
            scene.why.append(f"drift: {inside} was {change}, and {names}")
    if not lines:
        scene.why.append("drift: no memory names a file that this call has changed")
        return ""
    return "\n".join([*lines, _advice(scene, files)])


def _advice(scene: Scene, files: list[str]) -> str:
    """What to do about memories that may be wrong, in a form that needs no terminal."""
    if_wrong = f"If {'it' if len(files) == 1 else 'one of them'} is no longer true,"
    if scene.where.policy in ("manual", "read-only"):
        return f"{if_wrong} tell the user."
    team = [file.rpartition("/")[2] for file in files if scene.where.team and file.startswith(f"{scene.where.team}/")]
    shared = f" (--team for {', '.join(dict.fromkeys(team))})" if team else ""
    return f'{if_wrong} say so, and correct it: foretold memory edit NAME -b "TEXT" --by agent{shared}'


def _change(scene: Scene, touch: Touch, path: str) -> str:
    """What a call did to a file: changed or deleted; empty if nothing that shows."""
    if touch.tool in LOOKS:
        return ""
    lasted = scene.payload.get("duration_ms")
    since = time.time() - SLACK - (lasted / 1000 if isinstance(lasted, int | float) else 0)
    try:
        about = os.stat(path)
    except ValueError:  # no file can have such a name
        return ""
    except OSError:
        return "deleted" if touch.tool in WRITES or _changed_above(path) >= since else ""
    return "changed" if touch.tool in WRITES or about.st_mtime >= since else ""


def _changed_above(path: str) -> float:
    """When a name last came or went in the nearest folder that is there."""
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
