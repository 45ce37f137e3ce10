"""Every way in which a text may be spelled in a file: plain, escaped as JSON any number of times, in a page, in a URL.

1. A character is itself in UTF-8, or an escape of JSON (`\\u00e9`, `\\n`, `\\/`, half pairs), after one or more
   backslashes: transcripts hold JSON in JSON. `"` and `\\` may have backslashes before them, `'` may be doubled (YAML).
2. HTML writes `& < > " '` as entities, URLs write what is not a letter or digit as `%XX`.
3. A line break is any of `\\n`, `\\r\\n`, and their escapes; a space at the start of a line is not added.
4. The whole text may be a part of base64, at any of three offsets.

A pattern is linear: each character has few alternatives, and nothing repeats but backslashes, at most 16 of them: JSON
in JSON, four deep.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterator

SHORTEST = 4  #: characters; a shorter text would be found in other words
LONGEST = 64 * 1024  #: characters; a text may be a private key, not a book
CODED = 9  #: bytes of a text that is looked for in base64: what is left of a shorter one is too little to go by
MARK = b"(erased)"  #: what takes the place of a text: plain in YAML, JSON, Markdown and HTML


class Spellings:
    """Every way in which some texts may be spelled. ValueError if one is too short or too long."""

    def __init__(self, *texts: str) -> None:
        ways: list[bytes] = []
        self._signs: list[bytes] = []  #: bytes without which none of the texts is there; empty: look at everything
        for text in sorted(set(texts), key=len, reverse=True):
            if len(text.strip()) < SHORTEST or len(text) > LONGEST:
                raise ValueError(f"a text to erase has {SHORTEST} to {LONGEST:,} characters")
            coded = list(_coded(text.encode("utf-8", "surrogatepass")))
            ways += [b"".join(map(_spell, re.findall(r"\r?\n|.", text, re.DOTALL))), *map(re.escape, coded)]
            word = max(re.findall(r"[A-Za-z0-9]*", text), key=len).encode()
            self._signs += [word, *coded]
        self._pattern = re.compile(b"|".join(ways), re.DOTALL)
        self.reach = 24 * max(map(len, texts)) + 64  #: more bytes than any spelling has

    def find(self, data: bytes) -> list[tuple[int, int]]:
        """Where the texts are."""
        return [match.span() for match in self._pattern.finditer(data)] if self._may_be_in(data) else []

    def replace(self, data: bytes, mark: Callable[[bytes], bytes] | None = None) -> tuple[bytes, int]:
        """The bytes without the texts, and how often these were in them."""
        if not self._may_be_in(data):
            return data, 0
        return self._pattern.subn(lambda match: mark(match[0]) if mark else MARK, data)

    def replace_text(self, text: str, mark: str = MARK.decode()) -> tuple[str, int]:
        """The same for a text."""
        data, count = self.replace(text.encode("utf-8", "surrogatepass"), lambda _: mark.encode())
        return (data.decode("utf-8", "surrogatepass"), count) if count else (text, 0)

    def _may_be_in(self, data: bytes) -> bool:
        """Whether the slow pattern is worth trying: letters and digits are themselves, or `\\u00XX`."""
        return rb"\u00" in data or any(sign in data for sign in self._signs)


def _spell(char: str) -> bytes:
    if char in ("\n", "\r\n"):
        return rb"(?:\r?\n|(?:\\{1,16}r)?\\{1,16}n|(?:\\{1,16}u000d)?\\{1,16}u000a|(?:%0D)?%0A)"
    units = char.encode("utf-16-be", "surrogatepass")
    pairs = [units[at : at + 2].hex().encode() for at in range(0, len(units), 2)]
    escaped = b"".join(rb"\\{1,16}u(?i:" + pair + b")" for pair in pairs)
    data = char.encode("utf-8", "surrogatepass")
    ways = [escaped, re.escape(data)]
    if char == "\\":
        return rb"(?:" + escaped + rb"|\\{1,16}|%5[Cc])"
    if char in "\"/'":
        ways[1] = rb"\\{0,16}" + ways[1]
    if char == "'":
        ways += [rb"''", rb"&#x27;", rb"&#39;", rb"&apos;"]
    elif char in "\r\t\b\f":
        ways.append(rb"\\{1,16}" + {"\r": b"r", "\t": b"t", "\b": b"b", "\f": b"f"}[char])
    entity = html.escape(char).encode()
    if entity != data and char != "'":
        ways.append(entity)
    if not (char.isascii() and char.isalnum()):
        ways.append(b"(?i:" + b"".join(b"%%%02X" % byte for byte in data) + b")")
    if char == " ":
        ways.append(rb"\+")
    return b"(?:" + b"|".join(ways) + b")"


def _coded(data: bytes) -> Iterator[bytes]:
    """What base64 of anything with these bytes in it must have, by their offset in it."""
    if len(data) < CODED:
        return
    for offset in range(3):
        start = (3 - offset) % 3
        whole = data[start : start + (len(data) - start) // 3 * 3]
        plain = base64.b64encode(whole)
        yield plain
        if plain.translate(None, b"+/") != plain:
            yield plain.translate(bytes.maketrans(b"+/", b"-_"))


def blank(found: bytes) -> bytes:
    """As many bytes as were found, for files in which nothing may move.

    >>> blank(b"s3cret")
    b'xxxxxx'
    """
    return b"x" * len(found)
