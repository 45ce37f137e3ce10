"""What a settings file becomes: with ours, and without. Text in, text out.

1. Only ours is changed. Afterwards the text is parsed again: its value must be the old one with ours added, or removed,
   and nothing else; else `Unsafe` is raised.
2. An object or a list that is empty once ours is removed goes with it, if it was made for ours (`made`).
3. A text that is not valid raises `Unsafe` with the line; so does one that has something else in the place of ours.
4. Given the text `before` ours, its white space around ours is restored, too, if that is still as we left it.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence

from foretold.dialects.install_targets import NAME, Install
from foretold.serve.install.formats import end_as_before, json, toml, value_at, yaml
from foretold.serve.install.formats.json import document_of
from foretold.serve.install.isolation import find_loose
from foretold.serve.install.ours import InstallPiece, server_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.install.formats.json import Path


def value_of(text: str, form: str) -> dict[str, object]:
    """The settings of a text."""
    if form in ("toml", "yaml"):
        return toml.value_of(text) if form == "toml" else yaml.value_of(text)
    return document_of(text, form).table()


def add_ours(text: str, form: str, pieces: Sequence[InstallPiece]) -> str:
    """A text with these pieces."""
    if form.startswith("json"):
        return json.add(text, form, pieces)
    for keys, value in ((piece.keys, piece.value) for piece in pieces):
        text = toml.add(text, keys, value) if form == "toml" else yaml.add(text, keys[0], value)
    return text


def isolate_ours(text: str, form: str, install: Install, command: Sequence[str]) -> str:
    """A text in which this command replaces those that run foretold and are not isolated, whatever wrote them.

    A line that does something else, too, stays: only its author knows what it is for.
    """
    value, keys = value_of(text, form), install.mcp.keys if install.mcp else ()
    server = server_of(install.mcp, command) if install.mcp else {}
    if not form.startswith("json"):
        entry = server_entries(value, keys).get(NAME)
        is_loose = entry is not None and find_loose(server_words(entry), entry.get("env"))
        pieces = [InstallPiece("mcp", (*keys, NAME), server)]
        return add_ours(text, form, pieces) if is_loose else text
    after = install.hooks.after if install.hooks else ""
    values: dict[Path, object] = {}
    for path, handler in handlers_in(value.get("hooks")):
        loose = find_loose(handler.get("command"))
        if loose and loose.is_alone and loose.words[:1] == ("hook",):
            values["hooks", *path, "command"] = shlex.join([*command, *loose.words]) + after
    for name, entry in server_entries(value, keys).items():
        if server and find_loose(server_words(entry), entry.get("env")):
            values[*keys, name] = server
    return json.replace(text, form, values) if values else text


def handlers_in(hooks: object) -> Iterator[tuple[Path, dict[str, object]]]:
    """Every handler of the hooks of settings, and its place below them."""
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for number, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict):
                    yield (event, at, "hooks", number), handler


def server_entries(value: object, keys: tuple[str, ...]) -> dict[str, dict[str, object]]:
    """The servers of settings, by their names."""
    value = value_at(value, keys) if keys else None
    if isinstance(value, list):
        value = {item.get("name"): item for item in value if isinstance(item, dict)}
    table = value if isinstance(value, dict) else {}
    return {name: entry for name, entry in table.items() if isinstance(entry, dict)}


def server_words(entry: Mapping[str, object]) -> tuple[str, ...]:
    """The command that starts a server."""
    command, args = entry.get("command"), entry.get("args")
    first = [command] if isinstance(command, str) else command if isinstance(command, list) else []
    return tuple(str(word) for word in [*first, *(args if isinstance(args, list) else [])]) or ("?",)


def remove_ours(
    text: str,
    form: str,
    keys: tuple[str, ...],
    parts: Collection[str],
    made: Collection[Path] | None = None,
    before: str | None = None,
) -> str:
    """A text without ours. `keys` lead to the servers; `made` are the objects and lists made for ours (None: all)."""
    if form.startswith("json"):
        return json.remove(text, form, keys, parts, made, before)
    if "mcp" not in parts:
        return text
    left = toml.remove(text, (*keys, NAME)) if form == "toml" else yaml.remove(text, keys[0])
    return end_as_before(before, text, left)


def made_for(text: str, form: str, pieces: Sequence[InstallPiece]) -> list[list[str]]:
    """The objects and lists that are missing and will be made for these pieces."""
    if not form.startswith("json"):
        return []
    document = document_of(text, form)
    places = dict.fromkeys(piece.keys[:end] for piece in pieces for end in range(1, len(piece.keys) + 1))
    servers = {piece.keys for piece in pieces if piece.part == "mcp"}
    return [list(keys) for keys in places if keys not in servers and document.find(keys) is None]
