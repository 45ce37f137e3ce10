"""What of a project's own settings could lead an agent away from our server, and copies without it.

A repository of a stranger can name another server, another provider, a proxy, a login, or programs to start, and agents
without a terminal obey many of them without a question (measured with the releases that `tests/system/live.py` names).

1. A recipe lists the files that its agent reads in the folder and above it, up to the top of the repository; variables
   of `.env` files are looked for up to the top of the file system.
2. Of a settings file everything stays but: keys whose name says that they start a program, name a server or choose a
   provider, at any depth; values that are addresses; variables other than the few that concern instructions.
3. Of a file with variables or code, of a folder with code, and of a settings file that we cannot read, nothing stays.
4. A file that loses nothing is left alone.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foretold.dialects.settings_files import without_json_comments
from foretold.dialects.surroundings import find_git
from foretold.proof.conform.instructions import toml_lines
from foretold.proof.probe.recipes import ProjectFile
from foretold.storage.tree import Disk

#: names of settings that start a program, lead to a server, or choose who answers
LEADING = re.compile(
    r"url|uri$|proxy|server|mcp|hook|helper|command|plugin|marketplace|extension|provider|auth|login|sandbox|telemetry"
    r"|otel|endpoint|lsp|formatter|refresh|credential|statusline|filesuggestion|enterprise|npm|notify|shell|exec"
    r"|host|port$|certificate|headers|\Ashare\Z|\Aapi|\Aenv\Z",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
#: a setting that is a table -> what of it stays: variables that only concern instructions or choose the model; plugins
#: that are the agent's own code, of which one reads AGENTS.md (claude-code: ag-mode-project-settings)
STAYING = {
    "env": re.compile(
        r"CLAUDE_CODE_DISABLE_\w+|CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD|CLAUDE_CODE_SIMPLE|ANTHROPIC_MODEL"
    ),
    "enabledPlugins": re.compile(r".*@builtin"),
    "pluginConfigs": re.compile(r".*@builtin"),
}
MOST_NAMED = 8


class Cover(NamedTuple):
    """A file or folder of the project that the agent must not see as it is."""

    path: str
    names: tuple[str, ...]  #: settings that are left out; empty = all of it
    text: str | None  #: what it sees instead; None = an empty folder
    obeyed: bool = True  #: whether the agent is known to obey it

    def describe(self, folder: str) -> str:
        """The file, seen from a folder, and what of it is left out."""
        path = os.path.relpath(self.path, folder)
        shown = path if path.count("../") < 3 else self.path
        if not self.names:
            return shown
        rest = len(self.names) - MOST_NAMED
        return f"{shown}: {', '.join(self.names[:MOST_NAMED])}{f' and {rest} more' if rest > 0 else ''}"


def find_covers(folder: str, files: Sequence[ProjectFile]) -> list[Cover]:
    """What must be covered in a folder and above it."""
    git = find_git(Disk(), folder)
    top, found = git.top if git else folder, list[Cover]()
    for place, is_inside in _walk_up(folder, top):
        for file in files:
            if is_inside or file.climbs:
                found += _cover(os.path.join(place, file.path), file)
    return found


def _walk_up(folder: str, top: str) -> Iterator[tuple[str, bool]]:
    """A folder and those above it, and whether each is in the project."""
    inside = True
    while True:
        yield folder, inside
        inside, above = inside and folder != top, os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _cover(path: str, file: ProjectFile) -> Iterator[Cover]:
    if os.path.isdir(path):
        if file.form == "whole" and os.listdir(path):
            yield Cover(path, (), None, file.obeyed)
        return
    if not os.path.isfile(path):  # a pipe or a device is not read by the agents either
        return
    if file.form == "whole":
        if os.path.getsize(path):
            yield Cover(path, (), "", file.obeyed)
        return
    empty = "{}" if file.form == "json" else ""
    values = _read(path, file.form)
    if values is None:
        yield Cover(path, (), empty, file.obeyed)
        return
    kept, names = filter_settings(values)
    if names:
        yield Cover(path, tuple(names), _dump(kept, file.form) or empty, file.obeyed)


def _read(path: str, form: str) -> dict[str, object] | None:
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
        values = tomllib.loads(text) if form == "toml" else _parse_json(text)
    except (OSError, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(without_json_comments(text))


def _dump(values: dict[str, object], form: str) -> str:
    """The text of settings; empty where our TOML cannot say it."""
    if form == "json":
        return json.dumps(values, indent=2)
    try:
        text = "\n".join(toml_lines(values)) + "\n"
        return text if tomllib.loads(text) == values else ""
    except (TypeError, ValueError):
        return ""


def filter_settings(values: dict[str, object], above: str = "") -> tuple[dict[str, object], list[str]]:
    """Settings without what leads an agent away, and the names of what is left out.

    >>> filter_settings({"model": "m", "env": {"HTTP_PROXY": "x", "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}})
    ({'model': 'm', 'env': {'CLAUDE_CODE_DISABLE_CLAUDE_MDS': '1'}}, ['env.HTTP_PROXY'])
    >>> filter_settings({"$schema": "https://a", "instructions": ["a.md", "https://b/c"], "tools": {"callCommand": ""}})
    ({'$schema': 'https://a', 'instructions': ['a.md'], 'tools': {}}, ['instructions[1]', 'tools.callCommand'])
    """
    kept, names = dict[str, object](), list[str]()
    for key, value in values.items():
        name = above + key
        if key == "$schema":
            kept[key] = value
        elif key in STAYING and isinstance(value, dict):
            kept[key] = {each: item for each, item in value.items() if STAYING[key].fullmatch(each)}
            gone = {each: item for each, item in value.items() if not STAYING[key].fullmatch(each)}
            names += _leaves(name, gone) if gone else []
        elif LEADING.search(key) or (isinstance(value, str) and ADDRESS.match(value)):
            names += _leaves(name, value)
        else:
            kept[key], more = _filter_value(value, name)
            names += more
    return kept, names


def _filter_value(value: object, name: str) -> tuple[object, list[str]]:
    if isinstance(value, dict):
        return filter_settings(value, name + ".")
    if not isinstance(value, list):
        return value, []
    kept, names = list[object](), list[str]()
    for at, item in enumerate(value):
        if isinstance(item, str) and ADDRESS.match(item):
            names.append(f"{name}[{at}]")
        else:
            part, more = _filter_value(item, f"{name}[{at}]")
            kept.append(part)
            names += more
    return kept, names


def _leaves(name: str, value: object) -> list[str]:
    """The names of the values below a setting."""
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in _leaves(f"{name}.{key}", item)]
    return [name]


def write_covers(root: str, covers: Iterable[Cover]) -> list[tuple[str, str]]:
    """Write what the agent sees instead into a folder; pairs of that and the path it covers."""
    pairs = []
    for number, cover in enumerate(covers):
        source = os.path.join(root, f"cover-{number}")
        if cover.text is None:
            os.mkdir(source)
        else:
            with open(source, "w", encoding="utf-8") as file:
                file.write(cover.text)
        pairs.append((source, cover.path))
    return pairs
