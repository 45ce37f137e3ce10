"""What an agent hides in a text before it sends it: passwords and tokens, as it knows them.

1. Patterns are replaced one after the other, so a later one sees what the earlier ones left.
2. Letters, digits and the ends of words are those of ASCII.
3. The text is the whole that is sent, so a mask may reach beyond a file: what follows `Bearer` at its end is the tag
   after it. # copilot-cli: copilot-mask-last-word
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foretold.dialects.schema import Nested
from foretold.instructions.render.escape import escape_html
from foretold.types import Entry, Finding


def mask_secrets(text: str, nested: Nested) -> str:
    """A text as the agent sends it."""
    for _, pattern in nested.masks:
        text = re.sub(pattern, nested.masked, text, flags=re.ASCII)
    return text


def find_masked(entries: Sequence[Entry], nested: Nested) -> Iterator[Finding]:
    """A finding for each line of an entry in which something is hidden; without a line if that is in an import."""
    for entry in entries:
        found = _lines_of(entry.raw, nested)
        if not found and (inside := _lines_of(entry.text, nested)):
            found = {None: next(iter(inside.values()))}
        for line, what in found.items():
            said = f"the agent sends {nested.masked} in place of {what}; the model does not see it"
            yield Finding(entry.path, line, "text-masked", said)


def _lines_of(text: str, nested: Nested) -> dict[int | None, str]:
    """The lines on which something is hidden, and what it is."""
    text = escape_html(text) if nested.escapes else text
    found: dict[int | None, str] = {}
    for what, pattern in nested.masks:
        line, counted = 1, 0
        for match in re.finditer(pattern, text, re.ASCII):
            start = match.end() - len(match[0].lstrip())
            line += text.count("\n", counted, start)
            counted = start
            found.setdefault(line, what)
    return dict(sorted(found.items(), key=lambda each: each[0] or 0))
