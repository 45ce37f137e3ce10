"""Positions of the Language Server Protocol: lines from 0, and in a line code units of an encoding that was agreed on.

Lines end with LF, CRLF or CR, and with nothing else: `str.splitlines` knows a dozen more.
"""

from __future__ import annotations

import re

from foretold.types import NamedTuple

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"
_ENDS = re.compile(r"\r\n|\n|\r")
_STRAY = re.compile(r"\r(?!\n)")


class TextSpan(NamedTuple):
    """A part of a text: lines and characters, both from 0."""

    line: int
    start: int
    last_line: int
    end: int


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends.

    >>> split_lines("a\\r\\nb\\u2028c\\rd\\n")
    ['a', 'b\\u2028c', 'd', '']
    """
    return _ENDS.split(text)


def has_stray_returns(text: str) -> bool:
    """Whether a text has carriage returns that end a line here, and do not where line feeds are counted."""
    return "\r" in text and _STRAY.search(text) is not None


def list_rows(text: str) -> list[int]:
    """For each row of a text, where rows end with LF, the line that it begins with.

    >>> list_rows("a\\rb\\nc\\r\\nd")
    [0, 2, 3]
    """
    ends = enumerate(_ENDS.finditer(text), 1)
    return [0, *(line for line, end in ends if end[0].endswith("\n"))]


class EditorText:
    """A text, cut into lines once."""

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.rows = list_rows(text) if has_stray_returns(text) else None  #: None: they are the lines


def count_units(line: str, character: int, encoding: str = UTF16) -> int:
    """The code units before a character of a line.

    >>> count_units("𝒳 @a.md", 2), count_units("é𝒳", 2, "utf-8"), count_units("é𝒳", 2, "utf-32")
    (3, 6, 2)
    """
    before = line[:character]
    if before.isascii() or encoding == UTF32:
        return len(before)
    if encoding == UTF8:
        return len(before.encode("utf-8", "replace"))
    return len(before) + sum(char > "\uffff" for char in before)


def find_character(line: str, units: int, encoding: str = UTF16) -> int:
    """The character of a line that a number of code units leads to; its end, if there are not as many.

    >>> find_character("𝒳 @a.md", 3), find_character("𝒳", 1), find_character("a", 99)
    (2, 0, 1)
    """
    if line.isascii() or encoding == UTF32:
        return min(units, len(line))
    for at in range(len(line)):
        units -= count_units(line[at], 1, encoding)
        if units < 0:
            return at
    return len(line)


def span_of_bytes(data: bytes, start: int, end: int) -> TextSpan:
    """The part of a text that some of its bytes are.

    >>> span_of_bytes("a\\né @b".encode(), 5, 7)
    TextSpan(line=1, start=2, last_line=1, end=4)
    """
    first, last = (split_lines(data[:at].decode("utf-8", "replace")) for at in (start, end))
    return TextSpan(len(first) - 1, len(first[-1]), len(last) - 1, len(last[-1]))
