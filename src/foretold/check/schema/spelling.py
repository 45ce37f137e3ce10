"""Whether a name is a slip of a known one: other capitals, other joints, or a character or two wrong."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST = 4  #: characters of a name that can be a slip by one character; names that short are often others
LONG = 8  #: characters of a name in which two may be wrong
LONGEST = 64


def find_near(name: str, known: Iterable[str]) -> str:
    """The known name that a name is a slip of; empty if there is none.

    >>> known = ("allowed-tools", "description", "model", "PreToolUse")
    >>> [find_near(name, known) for name in ("allowed_tools", "discription", "modle", "pretooluse", "topic")]
    ['allowed-tools', 'description', 'model', 'PreToolUse', '']
    """
    if not SHORTEST <= len(name) <= LONGEST:
        return ""
    folded, best = fold(name), ""
    letters = {*folded}
    nearest = (2 if len(folded) >= LONG else 1) + 1
    for each in known:
        other = fold(each)
        if other == folded:
            return each
        # each edit changes at most two of the characters that occur
        is_like = abs(len(other) - len(folded)) < nearest and len({*other} ^ letters) <= 2 * nearest
        if is_like and len(other) >= SHORTEST:
            distance = count_edits(folded, other)
            if distance < nearest:
                best, nearest = each, distance
    return best


def fold(name: str) -> str:
    """A name without capitals and joints."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def count_edits(one: str, two: str) -> int:
    """How many characters must be added, removed, replaced, or exchanged with the next one.

    >>> count_edits("modle", "model"), count_edits("tool", "tools"), count_edits("a", "a")
    (1, 1, 0)
    """
    before: list[int] = []
    row = list(range(len(two) + 1))
    for at, char in enumerate(one, 1):
        older, before, row = before, row, [at]
        for other, counterpart in enumerate(two, 1):
            cost = min(before[other] + 1, row[-1] + 1, before[other - 1] + (char != counterpart))
            if at > 1 and other > 1 and char == two[other - 2] and one[at - 2] == counterpart:
                cost = min(cost, older[other - 2] + 1)
            row.append(cost)
    return row[-1]
