"""Ours in settings that are TOML or YAML: added and taken out. See `change.py`."""

from __future__ import annotations

import re
from copy import deepcopy

from foretold.dialects.install_targets import NAME
from foretold.serve.install.formats import toml, yaml
from foretold.serve.install.formats.json import below
from foretold.serve.install.ours import Piece
from foretold.serve.install.unsafe import Unsafe
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from foretold.serve.install.formats.json import Path, Table


def add_toml(text: str, _form: str, pieces: Sequence[Piece]) -> str:
    for piece in pieces:
        before = toml.value_of(text)
        there = _table_at(before, piece.keys)
        if there == piece.value:
            continue
        if not isinstance(before.get(piece.keys[0], {}), dict):
            raise Unsafe(f"{_line_of(text, piece.keys[0])}{piece.keys[0]} is no table")
        text = toml.without_table(text, piece.keys) if there is not None else text
        text = toml.with_table(text, piece.keys, piece.value)
        if toml.value_of(text) != _with_table(before, piece):
            raise Unsafe("the change would have touched something else")
    return text


def _line_of(text: str, key: str) -> str:
    """`line 3: ` for a key at the outermost level, if it is written plainly."""
    found = re.search(rf"^{re.escape(key)}[ \t]*[:=]", text, re.MULTILINE)
    return f"line {text.count(chr(10), 0, found.start()) + 1}: " if found else ""


def _table_at(value: object, keys: Sequence[str]) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _with_table(value: Table, piece: Piece) -> Table:
    value = deepcopy(value)
    inner: object = value
    for key in piece.keys[:-1]:
        assert isinstance(inner, dict)
        inner = inner.setdefault(key, {})
    assert isinstance(inner, dict)
    inner[piece.keys[-1]] = dict(piece.value)
    return value


def remove_toml(
    text: str,
    _form: str,
    keys: tuple[str, ...],
    parts: Collection[str],
    _made: Collection[Path] | None,
    before: str | None = None,
) -> str:
    there = toml.value_of(text)
    if "mcp" not in parts or _table_at(there, (*keys, NAME)) is None:
        return text
    text = _ended_as(before, text, toml.without_table(text, (*keys, NAME)))
    expected = deepcopy(there)
    servers = below(expected, keys)
    assert servers is not None
    del servers[NAME]
    after = toml.value_of(text)
    if not servers and below(after, keys) is None:
        del expected[keys[0]]  # a table that had only ours needs no header
    if after != expected:
        raise Unsafe("the change would have touched something else")
    return text


def _ended_as(before: str | None, text: str, left: str) -> str:
    """What is left of a text; without the line end that ours needed, if ours was at its end."""
    was_last = not text.endswith(left.splitlines(keepends=True)[-1:][0] if left else "")
    if before and not before.endswith("\n") and was_last:
        return left.removesuffix("\n").removesuffix("\r")
    return left


def _items(text: str, value: Table, key: str) -> list[object]:
    items = value.get(key) or []
    if not isinstance(items, list):
        raise Unsafe(f"{_line_of(text, key)}{key} is no list")
    return items


def _is_our_item(item: object) -> bool:
    return isinstance(item, dict) and item.get("name") == NAME


def add_yaml(text: str, _form: str, pieces: Sequence[Piece]) -> str:
    for piece in pieces:
        key, before = piece.keys[0], yaml.value_of(text)
        items = _items(text, before, key)
        if [item for item in items if _is_our_item(item)] == [dict(piece.value)]:
            continue
        for _ in filter(_is_our_item, items):
            text = yaml.without_item(text, key, NAME)
        text = yaml.with_item(text, key, piece.value)
        expected = {**before, key: [dict(piece.value), *(item for item in items if not _is_our_item(item))]}
        if yaml.value_of(text) != expected:
            raise Unsafe("the change would have touched something else")
    return text


def remove_yaml(
    text: str,
    _form: str,
    keys: tuple[str, ...],
    parts: Collection[str],
    _made: Collection[Path] | None,
    before: str | None = None,
) -> str:
    there, key = yaml.value_of(text), keys[0]
    items = _items(text, there, key)
    if "mcp" not in parts or not any(map(_is_our_item, items)):
        return text
    left = text
    for _ in filter(_is_our_item, items):
        left = yaml.without_item(left, key, NAME)
    text = _ended_as(before, text, left)
    expected = {**there, key: [item for item in items if not _is_our_item(item)]}
    if not expected[key]:
        del expected[key]
    if yaml.value_of(text) != expected:
        raise Unsafe("the change would have touched something else")
    return text
