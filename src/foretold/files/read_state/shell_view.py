"""What a shell command that succeeded shows of the files it reads.

1. `cat` and `nl` show a whole file, `head` and `sed -n` lines of it from a known one on, `tail` lines from somewhere.
2. `grep` counts as a look at the whole file, though it shows only some lines.
3. Which commands count at all is known by `instructions/shell.py`. A command that failed, or printed nothing, counts
   for nothing; and a file that is known already stays as it was known.
"""

from __future__ import annotations

import re

from foretold.instructions.discover.shell_reads import GREPS, PRINTS, files_read
from foretold.text.patterns import lazy
from foretold.text.shell.words import simple_commands
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL = 10  #: lines that head and tail show
_COUNT = lazy(r"-n?(\d+)|--lines=(\d+)")
_RANGE = lazy(r"(\d+)(?:,(\d+))?p")


class View(NamedTuple):
    """A look at a file: its path as the command has it, and the lines that it shows."""

    path: str
    first: int | None = 1  #: None: not known
    most: int | None = None  #: how many; None: all
    shown: bool = True  #: whether the model sees all of these lines


def views(command: str) -> list[View]:
    """The looks that a command takes.

    >>> views("cat a; head -n 3 b; sed -n 2,4p c")
    [View(path='a', first=1, most=None, shown=True), View(path='b', first=1, most=3, shown=True), \
View(path='c', first=2, most=3, shown=True)]
    >>> views("grep -n x a"), views("wc -l a")
    ([View(path='a', first=1, most=None, shown=False)], [])
    """
    readings = files_read(command)
    found: list[View] = []
    for words, inside in simple_commands(command) if readings else ():
        texts = [word.text for word in words]
        if len(found) == len(readings) or (texts[0] in PRINTS and words[0].plain and not inside):
            continue
        path = readings[len(found)].path
        if path in texts[1:]:
            found.append(_view(texts[0], texts[1:], path))
    return found


def _view(name: str, words: Sequence[str], path: str) -> View:
    if name in GREPS:
        return View(path, shown=False)
    if name in ("head", "tail"):
        return View(path, 1 if name == "head" else None, _count(words))
    lines = next(filter(None, map(_RANGE.fullmatch, words)), None) if name == "sed" else None
    if lines is None:
        return View(path)
    first, last = int(lines[1]), int(lines[2] or lines[1])
    return View(path, first, max(last - first, 0) + 1)


def _count(words: Sequence[str]) -> int:
    for at, word in enumerate(words):
        if met := _COUNT.fullmatch(word):
            return int(met[1] or met[2])
        if word in ("-n", "--lines") and re.fullmatch(r"\d+", "".join(words[at + 1 : at + 2])):
            return int(words[at + 1])
    return USUAL
