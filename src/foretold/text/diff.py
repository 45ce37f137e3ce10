"""Differences between two texts: as a unified diff, and as the number of lines added and removed.

1. A line ends with a newline, which belongs to it; what follows the last newline is a line too.
2. The count is minimal and exact (Myers' algorithm) up to `MOST_STEPS` changed lines; beyond, lines are matched without
   regard to their order, which is fast and never counts more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from io import BytesIO, StringIO

from foretold.types import NamedTuple

MOST_STEPS = 2_000
MOST_BYTES = 16 * 1024 * 1024  #: of a file whose lines are counted


class LineCount(NamedTuple):
    """Lines that a change adds and removes."""

    added: int = 0
    removed: int = 0


def count_lines(before: bytes, after: bytes) -> LineCount:
    """The lines that lead from one content to another."""
    old, new = BytesIO(before).readlines(), BytesIO(after).readlines()
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    steps = _steps(old, new)
    same = (Counter(old) & Counter(new)).total() if steps is None else (len(old) + len(new) - steps) // 2
    return LineCount(len(new) - same, len(old) - same)


def _steps(old: Sequence[bytes], new: Sequence[bytes]) -> int | None:
    """The fewest lines to remove and to add; None if they are too many to count."""
    if not old or not new:
        return len(old) + len(new)
    furthest = {1: 0}
    for steps in range(min(len(old) + len(new), MOST_STEPS) + 1):
        for diagonal in range(-steps, steps + 1, 2):
            is_down = diagonal == -steps or (
                diagonal != steps and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            at = furthest[diagonal + 1] if is_down else furthest[diagonal - 1] + 1
            other = at - diagonal
            while at < len(old) and other < len(new) and old[at] == new[other]:
                at, other = at + 1, other + 1
            furthest[diagonal] = at
            if at >= len(old) and other >= len(new):
                return steps
    return None


def unified(before: str, after: str, name: str, new_name: str = "") -> str:
    """A unified diff; empty if the texts are equal. One name stands for both sides, as in `git diff`."""
    from difflib import unified_diff

    names = (name, new_name) if new_name else (f"a/{name}", f"b/{name}")
    lines = unified_diff(StringIO(before).readlines(), StringIO(after).readlines(), *names)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
