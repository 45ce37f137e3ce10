"""Which of several spans of a text holds, where they overlap.

1. A token that its own form betrays wins, then a value that was found before, then what its surroundings betray: so a
   key is the same key wherever it stands, and has one fingerprint.
2. Of the same strength they become one, with the kind of the first.
3. What a weaker span has beside a stronger one goes too, unless it is only a name and signs (`ID=` before a key).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from foretold.secrets.by_context import URL, Span
from foretold.secrets.forms import FORMS

TOKENS = frozenset(kind for kind, _, _ in FORMS) - {URL}
_NAME = re.compile(r"[\W_]*(?:[A-Za-z][\w.-]{0,60}[\"'`\s\\]{0,8}[=:][\W_]*|\w{0,3}[\W_]*)")


def holding(text: str, found: Iterable[Span], known: Iterable[Span] = ()) -> list[Span]:
    """The spans to take out of a text, in its order, none of them overlapping.

    >>> text = "AWS_ACCESS_KEY_ID=AK0123"
    >>> holding(text, [("assigned secret", 15, 24), ("AWS access key", 18, 24)])
    [('AWS access key', 18, 24)]
    """
    every = list(found)
    tokens = [span for span in every if span[0] in TOKENS]
    others = [span for span in every if span[0] not in TOKENS]
    held: list[Span] = []
    for spans in (tokens, list(known), others):
        held = sorted([*held, *_beside(text, _merged(spans), held)], key=_place) if spans else held
    return held


def _merged(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for kind, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
        if found and start < found[-1][2]:
            first = found.pop()
            kind, start, end = first[0], first[1], max(end, first[2])
        found.append((kind, start, end))
    return found


def _beside(text: str, weaker: list[Span], held: list[Span]) -> Iterator[Span]:
    """What is left of weaker spans beside those that hold; both are in the order of the text."""
    first = 0
    for kind, start, end in weaker:
        while first < len(held) and held[first][2] <= start:
            first += 1
        at, number = start, first
        while number < len(held) and held[number][1] < end:
            yield from _rest(text, kind, at, held[number][1])
            at, number = max(at, held[number][2]), number + 1
        if at == start:
            yield kind, start, end
        else:
            yield from _rest(text, kind, at, end)


def _rest(text: str, kind: str, start: int, end: int) -> Iterator[Span]:
    if start < end and not _NAME.fullmatch(text, start, end):
        yield kind, start, end


def _place(span: Span) -> int:
    return span[1]
