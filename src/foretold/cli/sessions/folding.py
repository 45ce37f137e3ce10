"""Prose in lines that fit a terminal; what has a form of its own stays as it is.

1. A line that fits stays. A longer one is broken at its spaces; a word that is wider than the terminal stays whole, so
   that an address can be copied.
2. What follows a bullet or a number is set under its first word.
3. Code stays: between fences, and lines that begin with four spaces. So do the rows of tables.
"""

from __future__ import annotations

import re

from foretold.cli.paint import column

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_MARK = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)]|>)\s+)?")


def folded(text: str, width: int) -> str:
    r"""A text in lines of at most so many cells.

    >>> print(folded("- one two three\n```\none two three four\n```\nfour five six", 11))
    - one two
      three
    ```
    one two three four
    ```
    four five
    six
    """
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
        is_kept = bool(fence or mark) or line.startswith(("    ", "\t")) or line.lstrip().startswith("|")
        lines += [line] if is_kept or _fits(line, width) else _broken(line, width)
    return "\n".join(lines)


def _broken(line: str, width: int) -> list[str]:
    found = _MARK.match(line)
    head = found[0] if found else ""
    under = " " * len(head)
    lines, now = [], head
    for word in line[len(head) :].split(" "):
        grown = f"{now} {word}" if now.strip() and now != head else now + word
        if _fits(grown, width) or now in (head, under):
            now = grown
        else:
            lines.append(now)
            now = under + word
    return [*lines, now]


def _fits(text: str, width: int) -> bool:
    return len(text) <= width and (text.isascii() or column(text, width).startswith(text))
