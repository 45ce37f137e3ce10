"""Ours in settings that are TOML: a table that is added and removed; every other byte stays.

1. A table goes to the end, after an empty line, whatever the text ends with.
2. A table is removed with the tables below it: from its header to the next header of another table. Comments and
   empty lines right before that header stay with it.
3. Headers are found by parsing strings, arrays and comments as TOML does; a header inside a string is not one.
4. A table that is written in another way (inline, with dotted keys) is not removed: `Unsafe` says so.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise

from foretold.dialects.install_targets import NAME
from foretold.serve.install.formats import TOUCHED, Unsafe, end_as_before, place_of, value_at
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.serve.install.formats.json import Path
    from foretold.serve.install.ours import InstallPiece

_SKIP = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n'
)
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


class Header(NamedTuple):
    """Where a table begins."""

    start: int
    keys: tuple[str, ...]


def add(text: str, _form: str, pieces: Sequence[InstallPiece]) -> str:
    for piece in pieces:
        before = value_of(text)
        there = value_at(before, piece.keys)
        if there == piece.value:
            continue
        if not isinstance(before.get(piece.keys[0], {}), dict):
            raise Unsafe(f"{place_of(text, piece.keys[0])}{piece.keys[0]} is not a table")
        text = without_table(text, piece.keys) if there is not None else text
        text = with_table(text, piece.keys, piece.value)
        if value_of(text) != _with_value(before, piece):
            raise Unsafe(TOUCHED)
    return text


def _with_value(value: dict[str, object], piece: InstallPiece) -> dict[str, object]:
    value = deepcopy(value)
    inner: object = value
    for key in piece.keys[:-1]:
        assert isinstance(inner, dict)
        inner = inner.setdefault(key, {})
    assert isinstance(inner, dict)
    inner[piece.keys[-1]] = dict(piece.value)
    return value


def remove(
    text: str,
    _form: str,
    keys: tuple[str, ...],
    parts: Collection[str],
    _made: Collection[Path] | None,
    before: str | None = None,
) -> str:
    there = value_of(text)
    if "mcp" not in parts or value_at(there, (*keys, NAME)) is None:
        return text
    text = end_as_before(before, text, without_table(text, (*keys, NAME)))
    expected = deepcopy(there)
    servers = value_at(expected, keys)
    assert isinstance(servers, dict)
    del servers[NAME]
    after = value_of(text)
    if not servers and value_at(after, keys) is None:
        del expected[keys[0]]  # a table that had only ours needs no header
    if after != expected:
        raise Unsafe(TOUCHED)
    return text


def value_of(text: str) -> dict[str, object]:
    """The table of a text."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said, _, where = str(error).partition(" (at line ")
        raise Unsafe(f"line {where.partition(',')[0]}: {said}" if where else said) from None


def with_table(text: str, keys: Sequence[str], table: Mapping[str, object]) -> str:
    """A text with one more table at its end.

    >>> print(with_table('model = "x"', ("mcp_servers", "foretold"), {"command": "hn", "args": ["mcp"]}), end="")
    model = "x"
    <BLANKLINE>
    [mcp_servers.foretold]
    command = "hn"
    args = ["mcp"]
    """
    eol = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(map(_key, keys))}]", *(f"{_key(key)} = {_written(value)}" for key, value in table.items())]
    bare = text.removeprefix("\ufeff")
    gap = "" if not bare.strip() else eol if text.endswith("\n") else eol * 2
    return text + gap + eol.join(lines) + eol


def without_table(text: str, keys: Sequence[str]) -> str:
    """A text without a table and those below it.

    >>> without_table('a = 1\\n\\n[x.y]\\nb = 2\\n\\n# of z\\n[z]\\n', ("x", "y"))
    'a = 1\\n\\n# of z\\n[z]\\n'
    """
    headers = [*_headers(text), Header(len(text), ())]
    found = text
    for header, after in reversed(list(pairwise(headers))):
        if header.keys[: len(keys)] == tuple(keys):
            end = after.start if after.keys[: len(keys)] == tuple(keys) else _before_comments(text, after.start)
            found = found[: header.start] + found[max(end, header.start) :]
    if found == text:
        raise Unsafe(f"{'.'.join(keys)} is not written as its own table")
    if headers[-2].keys[: len(keys)] == tuple(keys):
        found = _without_gap(found)
    return found


def _without_gap(text: str) -> str:
    """Without the empty line before a table at the end."""
    for eol in ("\r\n", "\n"):
        if text.endswith(eol * 2):
            return text[: -len(eol)]
    return text


def _before_comments(text: str, at: int) -> int:
    """Where the comments and empty lines right before a place begin; at the end of a text, only the place."""
    if at == len(text):
        return at
    while at > 0:
        line = text.rfind("\n", 0, at - 1) + 1
        if not text[line:at].lstrip().startswith("#"):
            break
        at = line
    return at


def _headers(text: str) -> Iterator[Header]:
    """The headers of all tables, in order."""
    depth, at, is_new = 0, 1 if text.startswith("\ufeff") else 0, True
    while at < len(text):
        if is_new and depth == 0:
            found = re.compile(r"[ \t]*(?=\[)").match(text, at)
            if found:
                line = text[at : (text.find("\n", at) + 1 or len(text)) - 1]
                yield Header(at, _keys(line))
                at, is_new = at + len(line), False
                continue
        is_new = False
        piece = _SKIP.search(text, at)
        if piece is None:
            return
        at, mark = piece.end(), piece[0]
        depth += (mark in ("[", "{")) - (mark in ("]", "}"))
        is_new = mark == "\n"


def _keys(line: str) -> tuple[str, ...]:
    """The keys of a header; those of an array of tables do not count."""
    if line.lstrip().startswith("[["):
        return ("",)
    table: object = value_of(line + "\n")
    keys: list[str] = []
    while isinstance(table, dict) and table:
        key, table = next(iter(table.items()))
        keys.append(key)
    return tuple(keys)


def _key(key: str) -> str:
    return key if _BARE.match(key) else json.dumps(key)


def _written(value: object) -> str:
    """A string or a list of strings: what JSON writes for them is TOML as well."""
    assert isinstance(value, str | list)
    return json.dumps(value)
