"""Every secret in a text: by its form, by its surroundings, also where an escape or a hidden character disguises it.

1. One search for all: what a hook masks, what the guard refuses and what an export replaces is the same.
2. A text may be quoted in another: escapes of JSON, URLs and HTML are decoded, every character at its place.
3. Terminal colours and invisible characters hide nothing.
4. The time is linear: a text is searched at most four times, and each search is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from foretold.secrets.arguments import find_arguments
from foretold.secrets.by_context import find_assigned
from foretold.secrets.commands import find_in_commands
from foretold.secrets.documents import find_in_documents
from foretold.secrets.headers import KEY, find_in_headers
from foretold.secrets.tokens import HIDDEN, Span, first_lines_of_keys, key_tails, keys_in, tokens_in
from foretold.text.patterns import lazy

_ESCAPED = lazy(r"\\[nrtu\"'/]|%[2-7][0-9A-Fa-f]|%0[9ADad]|&(?:quot|apos|amp|lt|gt|#34|#39|#x2[27]);")
_BACKSLASHES: tuple[tuple[str, str], ...] = (
    ("\\n", " \n"),
    ("\\r", " \r"),
    ("\\t", " \t"),
    ('\\"', ' "'),
    ("\\'", " '"),
    ("\\/", " /"),
)
_BACKSLASHES += tuple(
    (f"\\u00{code}", f"     {chr(int(code, 16))}") for code in "22 26 27 3d 3D 3a 3A 3c 3C 3e 3E".split()
)
_PERCENTS = tuple(
    (f"%{code}", f"  {chr(int(code, 16))}")
    for code in "0A 0a 0D 0d 20 22 26 27 2B 2b 2C 2c 2F 2f 3A 3a 3B 3b 3D 3d 3F 3f 40 5B 5b 5D 5d 7B 7b 7D 7d".split()
)
_ENTITIES = tuple(
    (name, char.rjust(len(name)))
    for name, char in zip(
        "&quot; &#34; &#x22; &apos; &#39; &#x27; &amp; &lt; &gt;".split(), "\"\"\"'''&<>", strict=True
    )
)


def find_secrets(text: str) -> list[Span]:
    """Kind and place of every secret, unsorted; places may overlap."""
    found = list(_find_plain(text))
    if not text.isascii() or "\x1b" in text:
        hidden = [match.span() for match in islice(re.finditer(HIDDEN, text), FEW)]
        found += _find_around(text, hidden) if len(hidden) < FEW else _find_shown(text)
    return found


FEW, AROUND = 2_000, 1_000  #: hidden characters whose surroundings are searched, not the whole text; and how far


def _find_around(text: str, hidden: list[tuple[int, int]]) -> Iterator[Span]:
    """Secrets around what is hidden in a text, as if it were not there, at their places in the whole text."""
    pieces: list[tuple[int, str]] = []
    last = 0  #: how far the text is in the pieces
    for number, (start, end) in enumerate(hidden):
        if start - AROUND > last:
            pieces.append((last, "\n"))
        pieces.append((max(last, start - AROUND), text[max(last, start - AROUND) : start]))
        following = hidden[number + 1][0] if number + 1 < len(hidden) else len(text)
        last = min(following, end + AROUND)
        pieces.append((end, text[end:last]))
    yield from _find_in_pieces([piece for piece in pieces if piece[1]], "", _find_plain) if pieces else ()


def _find_shown(text: str) -> Iterator[Span]:
    """Secrets of a text without what is hidden in it, at their places in the whole text."""
    found = sorted(_find_plain(re.sub(HIDDEN, "", text)), key=lambda span: span[1])
    wanted = sorted({at for _, start, end in found for at in (start, end - 1)}, reverse=True)
    places, removed = {}, 0
    for match in re.finditer(HIDDEN, text) if found else ():
        while wanted and wanted[-1] < match.start() - removed:
            places[wanted[-1]] = wanted.pop() + removed
        removed += match.end() - match.start()
    places |= {at: at + removed for at in wanted}
    yield from ((kind, places[start], places[end - 1] + 1) for kind, start, end in found)


def _find_plain(text: str) -> Iterator[Span]:
    """Secrets of a text as it is, and with its escapes decoded."""
    yield from _spans(text)
    lines = [(at, unescape(line)) for at, line in _escaped_lines(text)]
    for kind, start, end in _find_in_pieces(lines, "\n", _spans) if lines else ():
        while start < end and text[start] in " \\":
            start += 1
        while end > start and text[end - 1] in " \\":  # an escaped quote after a value is not part of it
            end -= 1
        yield kind, start, end


def _escaped_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that have escapes, and where they begin."""
    at = 0
    while match := _ESCAPED.search(text, at):
        start, at = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        at = len(text) if at < 0 else at
        yield start, text[start:at]


def _find_in_pieces(pieces: list[tuple[int, str]], joint: str, find: Callable[[str], Iterable[Span]]) -> Iterator[Span]:
    """What is found in pieces of a text, joined, at their places in that text."""
    from bisect import bisect_right

    starts, length = [], 0
    for _, piece in pieces:
        starts.append(length)
        length += len(piece) + len(joint)

    def place_of(at: int) -> int:
        number = bisect_right(starts, at) - 1
        return pieces[number][0] + at - starts[number]

    for kind, start, end in find(joint.join(piece for _, piece in pieces)):
        yield kind, place_of(start), place_of(end - 1) + 1


def _spans(text: str) -> Iterator[Span]:
    # a byte per character: searching it takes half the time, and the places are the same
    plain = text if text.isascii() else text.encode("latin-1", "replace").decode("latin-1")
    low = plain.lower()
    yield from tokens_in(plain, low)
    yield from ((KEY, start, end) for start, end in keys_in(plain, first_lines_of_keys(text)))
    yield from ((KEY, start, end) for start, end in key_tails(plain))
    yield from find_assigned(text, low)
    yield from find_in_headers(plain, low)
    yield from find_in_commands(plain, low)
    yield from find_arguments(plain, low)
    yield from find_in_documents(plain, low)


def unescape(text: str) -> str:
    """A text with its escapes decoded, every character at its place.

    >>> unescape('{\\\\"a\\\\": 1}'), unescape("a%3Db")
    ('{ "a ": 1}', 'a  =b')
    """
    for mark, escapes in (("\\", _BACKSLASHES), ("%", _PERCENTS), ("&", _ENTITIES)):
        if mark in text:
            for escape, meant in escapes:
                text = text.replace(escape, meant)
    return text.replace("\\", " ")
