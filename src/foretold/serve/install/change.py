"""What a settings file becomes: with ours, and without. Text in, text out.

1. Only ours is changed. Afterwards the text is parsed again: its value must be the old one with ours added, or removed,
   and nothing else; else `Unsafe` is raised.
2. An object or a list that is empty once ours is removed goes with it, if it was made for ours (`made`).
3. A text that is not valid raises `Unsafe` with the line; so does one that has something else in the place of ours.
4. Given the text `before` ours, its white space around ours is restored, too, if that is still as we left it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from foretold.dialects.install_targets import NAME
from foretold.serve.install.formats import end_as_before, json, toml, yaml
from foretold.serve.install.formats.json import document_of
from foretold.serve.install.ours import InstallPiece
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
