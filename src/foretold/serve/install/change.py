"""What a settings file becomes: with ours, and without. Text in, text out.

1. Only the places that are ours are changed. Afterwards the text is read again: its value must be the old one with ours
   added, or taken away, and nothing else; if it is not, `Unsafe` is raised.
2. An object or a list that is empty once ours is taken out goes with it, if it was made for ours (`made`).
3. A text that is not valid raises `Unsafe` with the line; so does one that has something else where ours must go.
4. With what a text was `before` ours, its white space around ours comes back, too, where that is still as we left it.
"""

from __future__ import annotations

from foretold.serve.install.formats import json, tables
from foretold.serve.install.formats.json import document_of
from foretold.serve.install.ours import Piece
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from foretold.serve.install.formats.json import Path


def added(text: str, form: str, pieces: Sequence[Piece]) -> str:
    """A text with these pieces.

    >>> added('{"a": 1}', "json", [Piece("mcp", ("mcpServers", "foretold"), {"command": "x"})])
    '{"a": 1,\\n  "mcpServers": {\\n    "foretold": {"command": "x"}\\n  }\\n}'
    """
    return _FORMS[form][0](text, form, pieces)


def removed(
    text: str,
    form: str,
    keys: tuple[str, ...],
    parts: Collection[str],
    made: Collection[Path] | None = None,
    before: str | None = None,
) -> str:
    """A text without ours. `keys` lead to the servers; `made` are the places that were made for ours (None: all).

    >>> removed('{"a": 2,\\n  "mcpServers": {"foretold": {}}\\n}', "json", ("mcpServers",), ["mcp"], before='{"a": 1}')
    '{"a": 2}'
    """
    return _FORMS[form][1](text, form, keys, parts, made, before)


def made_for(text: str, form: str, pieces: Sequence[Piece]) -> list[list[str]]:
    """The places that are not there yet and will be made for these pieces."""
    if not form.startswith("json"):
        return []
    document = document_of(text, form)
    places = dict.fromkeys(piece.keys[:end] for piece in pieces for end in range(1, len(piece.keys) + 1))
    servers = {piece.keys for piece in pieces if piece.part == "mcp"}
    return [list(keys) for keys in places if keys not in servers and document.find(keys) is None]


_FORMS = {
    "json": (json.add, json.remove),
    "jsonc": (json.add, json.remove),
    "toml": (tables.add_toml, tables.remove_toml),
    "yaml": (tables.add_yaml, tables.remove_yaml),
}
