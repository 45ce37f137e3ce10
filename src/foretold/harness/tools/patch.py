"""What an edit changed, as the hunks that transcripts of Claude Code hold.

1. Three lines of context stand around what changed; hunks that would touch are one.
2. A last line without a newline is followed by a line that says so.
3. Of very long changes only the two ends that are the same are found, and all between them counts as replaced.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Code = tuple[str, int, int, int, int]

CONTEXT = 3
LONG = 2_000  #: lines between the ends that are the same
NO_NEWLINE = "\\ No newline at end of file"


def hunks_of(before: str, after: str) -> list[dict[str, object]]:
    r"""The hunks that lead from one text to another.

    >>> hunks_of("a\nb\n", "c\nb\n")
    [{'oldStart': 1, 'oldLines': 2, 'newStart': 1, 'newLines': 2, 'lines': ['-a', '+c', ' b']}]
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return [_hunk(group, old, new) for group in _grouped(_codes(old, new))]


def _codes(old: list[str], new: list[str]) -> list[Code]:
    """What is done to which lines: `equal`, `replace`, `delete` or `insert`."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    ends = len(old) - tail, len(new) - tail
    middle: list[Code] = [("replace", head, ends[0], head, ends[1])]
    if max(ends) - head <= LONG:
        from difflib import SequenceMatcher  # only where something was edited

        matcher = SequenceMatcher(None, old[head : ends[0]], new[head : ends[1]], autojunk=False)
        middle = [(tag, i + head, j + head, k + head, m + head) for tag, i, j, k, m in matcher.get_opcodes()]
    codes: list[Code] = [("equal", 0, head, 0, head), *middle, ("equal", ends[0], len(old), ends[1], len(new))]
    return [code for code in codes if code[1] < code[2] or code[3] < code[4]]


def _grouped(codes: Sequence[Code]) -> list[list[Code]]:
    """Changes that are near each other, with their context."""
    groups: list[list[Code]] = []
    near = False
    for number, (tag, i, j, k, m) in enumerate(codes):
        if tag != "equal":
            if not near:
                groups.append([])
                if number:
                    _, start, end, first, last = codes[number - 1]
                    groups[-1].append(("equal", max(start, end - CONTEXT), end, max(first, last - CONTEXT), last))
            groups[-1].append((tag, i, j, k, m))
            near = True
        elif near:
            near = j - i <= 2 * CONTEXT and number + 1 < len(codes)
            most = j - i if near else min(j - i, CONTEXT)
            groups[-1].append(("equal", i, i + most, k, k + most))
    return groups


def _hunk(group: list[Code], old: list[str], new: list[str]) -> dict[str, object]:
    lines: list[str] = []
    for tag, i, j, k, m in group:
        lines += _marked(" ", old[i:j]) if tag == "equal" else [*_marked("-", old[i:j]), *_marked("+", new[k:m])]
    start, first = group[0][1], group[0][3]
    sizes = {"oldStart": start + 1, "oldLines": group[-1][2] - start}
    return {**sizes, "newStart": first + 1, "newLines": group[-1][4] - first, "lines": lines}


def _marked(mark: str, lines: list[str]) -> list[str]:
    made: list[str] = []
    for line in lines:
        text = line.removesuffix("\n")
        made += [mark + text] if text != line else [mark + text, NO_NEWLINE]
    return made
