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
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from foretold.serve.install.formats import Unsafe, checked, delete_at, place_of, put_at, value_at

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n'
)
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def add(text: str, keys: tuple[str, ...], table: Mapping[str, object]) -> str:
    """A text that has this table."""
    expected = value_of(text)
    there = value_at(expected, keys)
    if there == table:
        return text
    if not isinstance(expected.get(keys[0], {}), dict):
        raise Unsafe(f"{place_of(text, keys[0])}{keys[0]} is not a table")
    text = with_table(without_table(text, keys) if there is not None else text, keys, table)
    put_at(expected, keys, table)
    return checked(text, value_of(text), expected)


def remove(text: str, keys: tuple[str, ...]) -> str:
    """A text that does not have this table."""
    expected = value_of(text)
    if value_at(expected, keys) is None:
        return text
    text = without_table(text, keys)
    delete_at(expected, keys)
    after = value_of(text)
    if not value_at(expected, keys[:-1]) and value_at(after, keys[:-1]) is None:
        del expected[keys[0]]  # a table that had only ours needs no header
    return checked(text, after, expected)


def value_of(text: str) -> dict[str, object]:
    """The table of a text."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said, _, where = str(error).partition(" (at line ")
        raise Unsafe(f"line {where.partition(',')[0]}: {said}" if where else said) from None


def with_table(text: str, keys: Sequence[str], table: Mapping[str, object]) -> str:
    """A text with one more table at its end."""
    eol = "\r\n" if "\r\n" in text else "\n"
    # strings and lists of strings, which JSON writes as TOML does
    rows = [f"{_key(key)} = {json.dumps(value)}" for key, value in table.items()]
    lines = [f"[{'.'.join(map(_key, keys))}]", *rows]
    bare = text.removeprefix("\ufeff")
    gap = "" if not bare.strip() else eol if text.endswith("\n") else eol * 2
    return text + gap + eol.join(lines) + eol


def without_table(text: str, keys: Sequence[str]) -> str:
    """A text without a table and those below it."""

    def is_ours(header: tuple[int, tuple[str, ...]]) -> bool:
        return header[1][: len(keys)] == tuple(keys)

    headers = [*_headers(text), (len(text), ())]
    found = text
    for header, after in reversed(list(pairwise(headers))):
        if is_ours(header):
            end = after[0] if is_ours(after) else _before_comments(text, after[0])
            found = found[: header[0]] + found[max(end, header[0]) :]
    if found == text:
        raise Unsafe(f"{'.'.join(keys)} is not written as its own table")
    if is_ours(headers[-2]):  # it was at the end: without the empty line before it
        eol = "\r\n" if found.endswith("\r\n") else "\n"
        found = found.removesuffix(eol) if found.endswith(eol * 2) else found
    return found


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


def _headers(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where each table begins, and its keys; those of an array of tables do not count."""
    depth, start = 0, 1 if text.startswith("\ufeff") else 0
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark == "[" and depth == 0 and not text[start : token.start()].strip(" \t"):
            line = text[start:].partition("\n")[0].strip()
            yield start, ("",) if line.startswith("[[") else _keys(value_of(line))
        depth += (mark in ("[", "{")) - (mark in ("]", "}"))
        start = token.end() if mark == "\n" else start


def _keys(table: object) -> tuple[str, ...]:
    """The keys of nested tables that have one key each."""
    for key, inner in table.items() if isinstance(table, dict) else ():
        return (key, *_keys(inner))
    return ()


def _key(key: str) -> str:
    return key if _BARE.match(key) else json.dumps(key)
