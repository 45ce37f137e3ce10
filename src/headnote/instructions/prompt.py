"""Files that a prompt mentions.

1. `@path` after white space or at the start, up to the next white space; then what is not a letter, digit or `_` of
   ASCII falls off the end, so `@a.ts,` and `@a.ts).` mean a.ts.
2. `@"path with spaces"`.
3. `#` and what follows is cut.

# claude-code: nest-mention, nest-mention2
"""

from __future__ import annotations

import re

from headnote.frontmatter import SPACE

_PLAIN = rf"(?:^|[{SPACE}])@([^{SPACE}]+)(?a:\b)"
_QUOTED = rf'(?:^|[{SPACE}])@"([^"]+)"'


def mentions_in(text: str) -> list[str]:
    """The paths mentioned in a prompt, each once, in their order.

    >>> mentions_in('look at @a/f.txt, and @"b c.md"')
    ['a/f.txt', 'b c.md']
    """
    plain = [found for found in re.finditer(_PLAIN, text) if not found[1].startswith('"')]
    both = sorted([*plain, *re.finditer(_QUOTED, text)], key=lambda found: found.start())
    paths = (found[1].partition("#")[0] for found in both)
    return list(dict.fromkeys(path for path in paths if path))
