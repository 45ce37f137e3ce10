"""The order of `localeCompare` in JavaScript, as far as names of files need it: root collation, without a locale.

1. White space and punctuation come first, in a fixed order, then digits, then letters.
2. Letters are compared by what they are based on; accents decide between equal ones, and then lower before upper case.

Seen by asking Cline 3.0.65 with names of all kinds.
"""

from __future__ import annotations

import unicodedata

PUNCTUATION = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"


def collation_key(text: str) -> tuple[list[tuple[int, int, str]], str, list[bool]]:
    """What to sort by.

    >>> sorted(["b", "Ab", "aB", "é", "_u", ".x", "9", "10"], key=collation_key)
    ['_u', '.x', '10', '9', 'aB', 'Ab', 'b', 'é']
    """
    marks, primary, upper = "", [], []
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.combining(char):
            marks += char
            continue
        for part in char.casefold():
            place = PUNCTUATION.find(part)
            kind = 0 if place >= 0 else 1 if part.isdigit() else 2 if part.isalpha() else 3
            primary.append((kind, max(place, 0), "" if place >= 0 else part))
        upper.append(char != char.lower())
    return primary, marks, upper
