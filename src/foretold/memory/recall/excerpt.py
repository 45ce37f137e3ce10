"""Part of a memory that fits a budget: whole lines around its best stretch, or sentences, or at last words.

1. A body that fits is quoted whole.
2. Else the quotation begins with the line in which the stretch begins, and grows line by line, first to the end of the
   stretch, then before and after it, as long as it fits.
3. A line that is too long by itself is cut at the end of a sentence; a sentence that is too long, between words.
4. What was left out is marked by GAP.
"""

from __future__ import annotations

import re

from foretold.memory.recall.query import starts
from foretold.types import estimate_tokens

GAP = "[…]"
_LINE = r"[^\n]*\n?"
_SENTENCE = r"(?s:.+?)(?:[.!?。！？]+[\"')\]]*(?:\s+|$)|$)"
_SPACED = r"\S+\s*|\s+"


def excerpt(body: str, stretch: tuple[int, int], budget: int) -> str:
    """As much of a body as fits into a budget of tokens; empty if nothing does. A stretch is its first and last word.

    >>> excerpt("Use tabs.", (0, 1), 100)
    'Use tabs.'
    >>> print(excerpt("One line.\\nUse tabs in Go.\\nUse spaces in Python, four of them.", (3, 5), 8))
    […]
    Use tabs in Go.
    […]
    """
    if estimate_tokens(body) <= budget:
        return body
    begins = starts(body)
    if not begins:
        return ""
    first, last = (begins[min(at, len(begins) - 1)] for at in stretch)
    room = budget - 2 * estimate_tokens(f"\n{GAP}")
    for pieces in (_LINE, _SENTENCE, _SPACED):
        found = _grown(body, [match.span() for match in re.finditer(pieces, body) if match[0]], first, last, room)
        if found is not None:
            return _marked(body, *found)
    return ""


def _grown(body: str, pieces: list[tuple[int, int]], first: int, last: int, room: int) -> tuple[int, int] | None:
    """The span of the pieces that fit; None if not even the first does."""
    low = next(at for at, (_, end) in enumerate(pieces) if first < end)
    high = low + 1
    used = _cost(body, pieces[low])
    if used > room:
        return None
    turn = 0
    while low > 0 or high < len(pieces):
        forward = high < len(pieces) and (pieces[high][0] <= last or turn % 2 == 0 or low == 0)
        at = high if forward else low - 1
        used += _cost(body, pieces[at])
        if used > room:
            break
        low, high = (low, high + 1) if forward else (low - 1, high)
        turn += 1
    return pieces[low][0], pieces[high - 1][1]


def _cost(body: str, span: tuple[int, int]) -> int:
    return estimate_tokens(body[span[0] : span[1]])


def _marked(body: str, start: int, end: int) -> str:
    before = f"{GAP}\n" if body[:start].strip() else ""
    after = f"\n{GAP}" if body[end:].strip() else ""
    return f"{before}{body[start:end].strip()}{after}"
