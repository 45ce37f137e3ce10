"""The part of a text that shows why it was found, on one line, and where in it the words stand."""

from __future__ import annotations

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 160  #: letters
_BEFORE = 40


class Snippet(NamedTuple):
    """A line of text, and the words in it that were looked for."""

    text: str
    marks: tuple[tuple[int, int], ...]  #: from which letter to which


def snippet_of(text: str, spans: Sequence[tuple[int, int]], width: int = WIDTH) -> Snippet:
    """A snippet around the place where most of the words stand; white space becomes single spaces.

    >>> snippet_of("Set the\\n  pool size", [(10, 14)])
    Snippet(text='Set the pool size', marks=((8, 12),))
    >>> snippet_of("a" * 50 + " pool " + "b" * 50, [(51, 55)], 30)
    Snippet(text='…aaaaaaa pool bbbbbbbbbbbbbbb…', marks=((9, 13),))
    """
    at = _best(spans, width)
    start = max(0, (spans[at][0] if spans else 0) - min(_BEFORE, width // 3) * 2)
    length = 2 * width
    letters, marks = _line(text, start, spans, length)
    first = marks[0][0] if marks else 0
    cut = max(0, min(first - min(_BEFORE, width // 4 + 1), len(letters) - width)) if len(letters) > width else 0
    has_head, has_tail = bool(start or cut), False
    line = letters[cut:]
    if len(line) + has_head > width or start + length < len(text):
        line, has_tail = line[: width - 1 - has_head], True
    if has_head:
        line = "…" + line
    moved = [(a - cut + has_head, b - cut + has_head) for a, b in marks]
    kept = tuple((a, min(b, len(line))) for a, b in moved if has_head <= a < len(line))
    return Snippet(line + "…" * has_tail, kept)


def _best(spans: Sequence[tuple[int, int]], width: int) -> int:
    """The span after which most others follow within a width."""
    best, most, end = 0, 0, 0
    for at, (start, _) in enumerate(spans):
        while end < len(spans) and spans[end][1] <= start + width - _BEFORE:
            end += 1
        if end - at > most:
            best, most = at, end - at
    return best


def _line(text: str, start: int, spans: Sequence[tuple[int, int]], length: int) -> tuple[str, list[tuple[int, int]]]:
    """Some letters of a text with single spaces, and where the spans are then."""
    made: list[str] = []
    place: dict[int, int] = {}
    for at in range(start, min(len(text), start + length)):
        sign = text[at]
        if sign.isspace():
            if made and made[-1] != " ":
                made.append(" ")
            place[at] = len(made)
            continue
        place[at] = len(made)
        made.append(sign if sign.isprintable() else "·")
    marks = [(place[a], place[b - 1] + 1) for a, b in spans if a in place and b - 1 in place]
    return "".join(made).rstrip(), marks
