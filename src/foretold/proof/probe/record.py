"""A probe as a case: what `foretold conform` can play from now on.

1. The files are those that we know the agent to look at, below the folder (or the top of its repository) and below the
   home; their paths, and those in texts, become `{proj}` and `{home}`.
2. What is expected is what the agent was told, not what we expected.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Sequence

import foretold
from foretold.dialects.surroundings import find_git
from foretold.proof.probe.recipes import RECIPES
from foretold.proof.probe.run import Probe
from foretold.proof.probe.told import Segment
from foretold.storage.tree import Disk


def case_of(found: Probe, read: Sequence[str] = (), home: str = "") -> dict[str, object]:
    """The case that a probe shows."""
    home = os.path.abspath(home or os.path.expanduser("~"))
    view = foretold.load(found.cwd, agent=f"{found.agent}@{found.version}" if found.version else found.agent, home=home)
    git = find_git(Disk(), found.cwd)
    top = git.top if git else found.cwd
    places = {top: "{proj}", found.home: "{home}", home: "{home}"}
    case: dict[str, object] = {
        "id": f"{found.agent}-probe",
        "agent": found.agent,
        "version": found.version or view.dialect.version,
        "question": "recorded by foretold probe",
        "files": {_placed(path, places): content for path, content in _files(view, read, top, home)},
    }
    if git:
        case["git"] = ["{proj}"]
    if found.cwd != top:
        case["cwd"] = _placed(found.cwd, places)
    turns = [_turn(found.agent, _placed(os.path.join(found.cwd, path), places)) for path in read]
    if turns:
        case["turns"] = turns
    case["expect"] = _expected(found, places)
    return case


def _turn(agent: str, path: str) -> object:
    names, form = RECIPES[agent].reads
    given = json.loads(form.replace("{path}", path))
    if agent == "claude-code":
        return [{"name": names[0], "input": given}]
    return {"tool": list(names) if len(names) > 1 else names[0], "args": given}


def _expected(found: Probe, places: dict[str, str]) -> dict[str, object]:
    segments = [Segment(each.request, each.role, _placed(each.text, places)) for each in found.told]
    if found.agent != "claude-code":
        return {"exit": found.exit, "segments": [segment._asdict() for segment in segments]}
    first = [segment.text for segment in segments if segment.request == 0]
    last = max((segment.request for segment in segments), default=0)
    later = [
        [[segment.role, "text", segment.text] for segment in segments if segment.request == number]
        for number in range(1, last + 1)
    ]
    return {"memory": first[0] if first else None, **({"later": later} if later else {})}


def _placed(text: str, places: dict[str, str]) -> str:
    for path in sorted(places, key=len, reverse=True):
        text = text.replace(path, places[path])
    return text


def _files(view: foretold.View, read: Sequence[str], top: str, home: str) -> Iterator[tuple[str, object]]:
    """The files that matter, with their texts."""
    paths = [entry.path for entry in (*view.entries, *(rule.entry for rule in view.waiting))]
    paths += [path for entry in view.entries for path in entry.includes] + [skip.path for skip in view.skips]
    session = foretold.Session(view.surroundings.cwd, agent=view.dialect.name, home=view.surroundings.home)
    for path in read:
        paths.append(os.path.join(view.surroundings.cwd, path))
        paths += [entry.path for entry in session.read(path).entries]
    for path in dict.fromkeys(paths):
        if path.startswith((top + "/", home + "/")) and os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read()
            try:
                yield path, data.decode("utf-8")
            except UnicodeDecodeError:
                yield path, {"b64": base64.b64encode(data).decode()}
