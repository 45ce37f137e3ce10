"""Frontmatter as flat lines of `key: value`, as mink and code-assist parse it.

They do not use YAML: a value is the text after the first colon, without the quotes around it. The engine itself reads
the frontmatter of rules as YAML; this is for programs that call the parsers by name.

1. It opens with a line `---` at the very start, after a byte order mark if there is one, and closes with the next.
2. Lines that are empty, a comment, or have no colon are ignored.
"""

from __future__ import annotations

import re


def header_of(text: str) -> tuple[list[str], list[str]] | None:
    """The lines of a frontmatter, and those after it; None if there is none, or one that does not close."""
    lines = re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff"))
    if lines[0].rstrip() != "---":
        return None
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == "---":
            return lines[1:number], lines[number + 1 :]
    return None


def pair_of(line: str) -> tuple[str, str] | None:
    """Key and raw value of a line.

    >>> pair_of("name: x # c"), pair_of("# note: none")
    (('name', 'x # c'), None)
    """
    key, colon, value = line.partition(":")
    key = key.strip()
    return (key, value.strip()) if colon and key and not key.startswith("#") else None


def unquote(value: str) -> str:
    """A value without the quotes around it, if they match."""
    is_quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def parse_list(value: str) -> list[str]:
    """The items of `[a, 'b']`; a comma in quotes or braces does not separate.

    >>> parse_list("['**/*.{ts,tsx}', src/**]")
    ['**/*.{ts,tsx}', 'src/**']
    """
    items, depth, quote, start = [], 0, "", 1
    is_begun = False  #: whether the item has more than white space
    for at, char in enumerate(value[1:-1], 1):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not is_begun:
            quote = char
        elif char in "{}":
            depth += 1 if char == "{" else -1
        elif char == "," and depth <= 0:
            items.append(value[start:at])
            start, is_begun = at + 1, False
            continue
        is_begun = is_begun or not char.isspace()
    items.append(value[start:-1])
    return [unquote(item.strip()) for item in items if item.strip()]
