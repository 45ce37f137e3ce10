"""Searching the lines of files with Python's own regular expressions, where there is no ripgrep.

It runs as a program of its own: an expression can take for ever, and only a process can be ended. The request is one
JSON text behind its name; answers go to standard output, one JSON text per file.

1. A file that holds a NUL byte is binary and passed over; one above a size is named, not searched.
2. Lines end with a newline; a carriage return before it belongs to the line, but is not shown.
3. Across lines: every line that a match touches matches; `.` stands for newlines, too.
"""

from __future__ import annotations

import json
import os
import re
import sys

from foretold.harness.tools.walk import Walk
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_BYTES = 20_000_000
LONG = 500  #: characters of a line that is shown


def compiled(asked: Mapping[str, object]) -> re.Pattern[str]:
    """The expression that is asked for; re.error if it is none."""
    flags = re.IGNORECASE if asked.get("ignore_case") else 0
    flags |= re.MULTILINE | re.DOTALL if asked.get("multiline") else 0
    return re.compile(str(asked["pattern"]), flags)


def matching(pattern: re.Pattern[str], text: str, *, multiline: bool) -> list[int]:
    r"""The numbers of the lines that match, from 0.

    >>> matching(re.compile("b"), "ab\nc\nb", multiline=False)
    [0, 2]
    >>> matching(re.compile(r"c\nb"), "ab\nc\nb", multiline=True)
    [1, 2]
    """
    lines = lines_of(text)
    if not multiline:
        return [number for number, line in enumerate(lines) if pattern.search(line)]
    found: set[int] = set()
    at = first = 0
    for match in pattern.finditer(text):
        first, at = first + text.count("\n", at, match.start()), match.start()
        found.update(range(first, first + text.count("\n", at, max(match.end() - 1, at)) + 1))
    return sorted(number for number in found if number < len(lines))


def lines_of(text: str) -> list[str]:
    """The lines of a text; there is none behind its last newline."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def with_context(numbers: list[int], before: int, after: int, count: int) -> list[tuple[int, bool]]:
    """Lines to show: their numbers, and whether they match.

    >>> with_context([1], 1, 2, 3)
    [(0, False), (1, True), (2, False)]
    """
    around = {near for one in numbers for near in range(max(one - before, 0), min(one + after + 1, count))}
    found = set(numbers)
    return [(number, number in found) for number in sorted(around | found)]


def cut_line(line: str, *, matches: bool) -> str:
    """A line as it is shown."""
    line = line.removesuffix("\r")
    return line if len(line) <= LONG else f"[Omitted long {'matching' if matches else 'context'} line]"


def search(asked: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """What is found in each file, and at the end whether all were looked at."""
    pattern, multiline = compiled(asked), bool(asked.get("multiline"))
    place = str(asked["place"])
    walk = Walk(place, ignores=True)
    paths = [place] if os.path.isfile(place) else (entry.path for entry in walk.files())
    endings = asked.get("names")
    names = [re.compile(str(name)) for name in endings] if isinstance(endings, list) else []
    for path in paths:
        if names and not any(name.fullmatch(os.path.basename(path)) for name in names):
            continue
        found = _in_file(asked, pattern, path, multiline=multiline)
        if found is not None:
            yield found
    if not walk.is_complete:
        yield {"incomplete": True}


def _in_file(
    asked: Mapping[str, object], pattern: re.Pattern[str], path: str, *, multiline: bool
) -> dict[str, object] | None:
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        return None
    if len(data) > MOST_BYTES:
        return {"path": path, "too_large": True}
    text = "" if b"\0" in data else data.decode("utf-8", "replace")
    numbers = matching(pattern, text, multiline=multiline)
    if not numbers:
        return None
    return {"path": path, "count": len(numbers), "lines": _lines(asked, text, numbers)}


def _lines(asked: Mapping[str, object], text: str, numbers: list[int]) -> list[tuple[int, bool, str]]:
    if not asked.get("content"):
        return []
    lines = lines_of(text)
    before, after = (int(str(asked.get(key, 0))) for key in ("before", "after"))
    shown = with_context(numbers, before, after, len(lines))
    return [(number + 1, matches, cut_line(lines[number], matches=matches)) for number, matches in shown]


def main() -> None:
    """Answer the request that stands behind the name."""
    for found in search(json.loads(sys.argv[-1])):
        sys.stdout.write(json.dumps(found) + "\n")
