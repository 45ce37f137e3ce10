"""What a settings file becomes: with ours, and without. Text in, text out.

1. Only ours is changed. Afterwards the text is parsed again: its value must be the old one with ours added, or removed,
   and nothing else; else `Unsafe` is raised.
2. An object or a list that is empty once ours is removed goes with it, if it was made for ours (`made`).
3. A text that is not valid raises `Unsafe` with the line; so does one that has something else in the place of ours.
4. Given the text `before` ours, its white space around ours is restored, too, if that is still as we left it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from foretold.serve.install.formats import json, toml, yaml
from foretold.serve.install.formats.json import document_of
from foretold.serve.install.ours import InstallPiece
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.install.formats.json import Path


def add_ours(text: str, form: str, pieces: Sequence[InstallPiece]) -> str:
    """A text with these pieces.

    >>> add_ours('{"a": 1}', "json", [InstallPiece("mcp", ("mcpServers", "foretold"), {"command": "x"})])
    '{"a": 1,\\n  "mcpServers": {\\n    "foretold": {"command": "x"}\\n  }\\n}'
    """
    return _FORMS[form][0](text, form, pieces)


def remove_ours(
    text: str,
    form: str,
    keys: tuple[str, ...],
    parts: Collection[str],
    made: Collection[Path] | None = None,
    before: str | None = None,
) -> str:
    """A text without ours. `keys` lead to the servers; `made` are the objects and lists made for ours (None: all).

    >>> text = '{"a": 2,\\n  "mcpServers": {"foretold": {}}\\n}'
    >>> remove_ours(text, "json", ("mcpServers",), ["mcp"], before='{"a": 1}')
    '{"a": 2}'
    """
    return _FORMS[form][1](text, form, keys, parts, made, before)


def made_for(text: str, form: str, pieces: Sequence[InstallPiece]) -> list[list[str]]:
    """The objects and lists that are missing and will be made for these pieces."""
    if not form.startswith("json"):
        return []
    document = document_of(text, form)
    places = dict.fromkeys(piece.keys[:end] for piece in pieces for end in range(1, len(piece.keys) + 1))
    servers = {piece.keys for piece in pieces if piece.part == "mcp"}
    return [list(keys) for keys in places if keys not in servers and document.find(keys) is None]


_FORMS = {
    "json": (json.add, json.remove),
    "jsonc": (json.add, json.remove),
    "toml": (toml.add, toml.remove),
    "yaml": (yaml.add, yaml.remove),
}
