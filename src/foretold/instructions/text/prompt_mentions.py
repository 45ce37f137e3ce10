"""Which paths a prompt mentions with `@`, and which of their lines.

1. `@"path with spaces"`, and `@path` after white space or at the start, up to the next white space; then what is not a
   letter, digit or `_` of ASCII falls off the end, so `@a.ts,` and `@a.ts).` mean a.ts.
2. Those in quotes come first, wherever they are; the same text counts once.
3. `#L2` or `#L2-3` at the end (inside the quotes) is a range of lines. Anything else after a `#` is cut off.

# claude-code: nest-mention, nest-mention2, at-01; tests/context/mentions.jsonl
"""

from __future__ import annotations

import re

from foretold.text.frontmatter import SPACE
from foretold.types import NamedTuple

_QUOTED = rf'(?:^|[{SPACE}])@"([^"]+)"'
_PLAIN = rf'(?:^|[{SPACE}])@(?!")([^{SPACE}]+)(?a:\b)'
_RANGE = r"#L(\d+)(?:-(\d+))?"


class PromptMention(NamedTuple):
    """What follows an `@`: a path, and the first and last line of a range."""

    path: str
    first: int | None = None
    last: int | None = None


def parse_mentions(prompt: str) -> list[PromptMention]:
    """The mentions of a prompt, each once."""
    words = [found[1] for pattern in (_QUOTED, _PLAIN) for found in re.finditer(pattern, prompt)]
    return [_mention(word) for word in dict.fromkeys(words) if word.partition("#")[0]]


def _mention(word: str) -> PromptMention:
    path, mark, rest = word.partition("#")
    found = re.fullmatch(_RANGE, mark + rest)
    if found is None:
        return PromptMention(path)
    first = int(found[1])
    return PromptMention(path, first, int(found[2]) if found[2] else first)


def mentions_in(text: str) -> list[str]:
    """The paths mentioned in a prompt, each once."""
    return list(dict.fromkeys(mention.path for mention in parse_mentions(text)))
