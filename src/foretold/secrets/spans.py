"""Spans of secrets in a text, and what to do where they overlap.

A token with a form of its own wins, then a value that was found before, then what its surroundings mark. Spans of equal
rank become one, with the kind of the first. What a weaker span has outside a stronger one stays a span, unless it is
only a name and punctuation (`ID=` before a key).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foretold.secrets.tokens import FORMS
from foretold.text.patterns import lazy

Span = tuple[str, int, int]  #: kind, start, end

URL = "password in a URL"
TOKENS = frozenset(kind for kind, _, _ in FORMS)
_ONLY_NAME = lazy(r"[\W_]*(?:[A-Za-z][\w.-]{0,60}[\"'`\s\\]{0,8}[=:][\W_]*|\w{0,3}[\W_]*)")


def resolve_overlaps(text: str, found: Iterable[Span], known: Iterable[Span] = ()) -> list[Span]:
    """The spans to replace in a text, sorted and without overlaps."""
    ranks: tuple[list[Span], ...] = ([], list(known), [])
    for span in found:
        ranks[0 if span[0] in TOKENS else 2].append(span)
    held: list[Span] = []
    for spans in filter(None, ranks):
        held = sorted([*held, *_cut_out(text, _merge(spans), held)], key=lambda span: span[1])
    return held


def _merge(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for kind, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
        if found and start < found[-1][2]:
            first = found.pop()
            kind, start, end = first[0], first[1], max(end, first[2])
        found.append((kind, start, end))
    return found


def _cut_out(text: str, weaker: list[Span], held: list[Span]) -> Iterator[Span]:
    """What is left of weaker spans outside the held ones; both are sorted."""
    first = 0
    for kind, start, end in weaker:
        while first < len(held) and held[first][2] <= start:
            first += 1
        pieces, at, number = [], start, first
        while number < len(held) and held[number][1] < end:
            pieces.append((at, held[number][1]))
            at, number = max(at, held[number][2]), number + 1
        for begin, stop in (*pieces, (at, end)):
            if not pieces or (begin < stop and not _ONLY_NAME.fullmatch(text, begin, stop)):
                yield kind, begin, stop
