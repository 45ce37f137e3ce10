"""Masking credentials in what hooks quote: a mark with their kind takes their place.

1. A memory is written by hand, or by other people: a credential in it would go to a model with the quotation.
2. The whole memory is searched, because an excerpt may begin in the middle of a credential.
3. A private key is masked to the end of its last line; if that was cut off, to the first line of words after what looks
   like a key. Too much is masked rather than too little.
"""

from __future__ import annotations

LEAST = 8  #: characters of a line of a credential that is masked by itself


def mask_credentials(text: str, whole: str = "") -> tuple[str, tuple[str, ...]]:
    """A text without credentials, and their kinds; `whole` is what it is a part of."""
    kinds: dict[str, None] = {}
    parts = []
    for kind, value in values_in(whole) if whole else ():
        parts += [(kind, line) for line in map(str.strip, value.split("\n")) if len(line) >= LEAST and line in text]
    for kind, value in (*values_in(text), *sorted(parts, key=lambda part: -len(part[1]))):
        kinds[kind] = None
        text = text.replace(value, mark(kind))
    for kind in kinds:
        while f"{mark(kind)}\n{mark(kind)}" in text:
            text = text.replace(f"{mark(kind)}\n{mark(kind)}", mark(kind))
    return text, tuple(kinds)


def mark(kind: str) -> str:
    """What takes the place of a credential."""
    return f"[credential: {kind}]"


def values_in(text: str) -> list[tuple[str, str]]:
    """What looks like a credential: kind, and value."""
    from foretold.secrets.forms import credentials_in

    return [
        (kind, text[start : _end_of_key(text, start, end) if kind == "private key" else end].rstrip())
        for kind, start, end, *_ in credentials_in(text)
    ]


def _end_of_key(text: str, start: int, end: int) -> int:
    """Where masking ends for the private key that was found from `start` to `end`."""
    from foretold.secrets.tokens import end_of_key

    at = text.find("-----", start + 5, end) + 5 if text.startswith("-----BEGIN", start) else start
    last = text.find("-----END", at)
    if last >= 0:
        after = text.find("\n", last)
        return max(after, end) if after >= 0 else len(text)
    at = end_of_key(text, at)
    for line in text[at:].split("\n"):
        if " " in line.strip():
            break
        at += len(line) + 1
    return max(min(at, len(text)), end)
