"""Ours in settings that are TOML or YAML: added and taken out. See `change.py`."""

from __future__ import annotations

from copy import deepcopy

from headnote.dialects.installs import NAME
from headnote.serve.install import tomledit, yamledit
from headnote.serve.install.in_json import below
from headnote.serve.install.pieces import Piece
from headnote.serve.install.unsafe import Unsafe
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from headnote.serve.install.in_json import Path, Table


def add_toml(text: str, _form: str, pieces: Sequence[Piece]) -> str:
    for piece in pieces:
        before = tomledit.value_of(text)
        there = _table_at(before, piece.keys)
        if there == piece.value:
            continue
        text = tomledit.without_table(text, piece.keys) if there is not None else text
        text = tomledit.with_table(text, piece.keys, piece.value)
        if tomledit.value_of(text) != _with_table(before, piece):
            raise Unsafe("the change would have touched something else")
    return text


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
    text: str, _form: str, keys: tuple[str, ...], parts: Collection[str], _made: Collection[Path] | None
) -> str:
    before = tomledit.value_of(text)
    if "mcp" not in parts or _table_at(before, (*keys, NAME)) is None:
        return text
    text = tomledit.without_table(text, (*keys, NAME))
    expected = deepcopy(before)
    servers = below(expected, keys)
    assert servers is not None
    del servers[NAME]
    after = tomledit.value_of(text)
    if not servers and below(after, keys) is None:
        del expected[keys[0]]  # a table that had only ours needs no header
    if after != expected:
        raise Unsafe("the change would have touched something else")
    return text


def _items(value: Table, key: str) -> list[object]:
    items = value.get(key) or []
    if not isinstance(items, list):
        raise Unsafe(f"{key} is no list")
    return items


def _is_our_item(item: object) -> bool:
    return isinstance(item, dict) and item.get("name") == NAME


def add_yaml(text: str, _form: str, pieces: Sequence[Piece]) -> str:
    for piece in pieces:
        key, before = piece.keys[0], yamledit.value_of(text)
        items = _items(before, key)
        if [item for item in items if _is_our_item(item)] == [dict(piece.value)]:
            continue
        for _ in filter(_is_our_item, items):
            text = yamledit.without_item(text, key, NAME)
        text = yamledit.with_item(text, key, piece.value)
        expected = {**before, key: [dict(piece.value), *(item for item in items if not _is_our_item(item))]}
        if yamledit.value_of(text) != expected:
            raise Unsafe("the change would have touched something else")
    return text


def remove_yaml(
    text: str, _form: str, keys: tuple[str, ...], parts: Collection[str], _made: Collection[Path] | None
) -> str:
    before, key = yamledit.value_of(text), keys[0]
    items = _items(before, key)
    if "mcp" not in parts or not any(map(_is_our_item, items)):
        return text
    for _ in filter(_is_our_item, items):
        text = yamledit.without_item(text, key, NAME)
    expected = {**before, key: [item for item in items if not _is_our_item(item)]}
    if not expected[key]:
        del expected[key]
    if yamledit.value_of(text) != expected:
        raise Unsafe("the change would have touched something else")
    return text
