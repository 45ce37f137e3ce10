"""Which definitions a history had and removed: one pass over its diffs, newest first, as far as it is needed.

1. Git lists the commits whose diffs have a line that defines one of the names (`log -G`), with those lines and nothing
   around them. What they remove is read, newest first, until every name was met or the time is over.
2. Documents, lock files and data are left out: no name is defined there, and their diffs are most of what git would
   read.
3. A name that is defined again by the same commit elsewhere is a removal all the same: what is there now is for the
   caller to see.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator

from foretold.git.runner import GitRepository, stream_lines
from foretold.types import NamedTuple

MOST_NAMES = 120  #: in one expression, with which git compares every line
LONGEST_NAME = 120
LONGEST_LINE = 2_000  #: bytes; a longer one is not code that someone wrote
#: words before a name that make it a definition, in the languages of `memory.drift.definitions`
KEYWORDS = (
    "class|def|func|function|fn|interface|type|struct|enum|trait|const|let|var|val|static|module|namespace|record"
    "|protocol|object|defmodule|defp|defmacro|define|union|typedef"
)
_LEFT_OUT = (
    *("*.md", "*.mdx", "*.rst", "*.txt", "*.adoc", "*.po", "*.html", "*.csv", "*.jsonl", "*.json", "*.lock", "*.svg"),
    *("*.snap", "*.map", "*.min.js", "*.css", "*-lock.yaml", "*.sum", "*.xml", "*.ipynb"),
)
_LOG = (
    *("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", "--no-decorate", "--no-notes"),
    *("--no-renames", "-p", "-U0", "--no-prefix", "--format=%x01%H %cs"),
)
_HEADER = re.compile(rb"\x01([0-9a-f]{40,64}) (\d{4}-\d\d-\d\d)")


class RemovedDefinition(NamedTuple):
    """A definition that a commit removed."""

    name: str
    path: str  #: from the folder that was asked for
    commit: str
    date: str


def find_removed(
    git: GitRepository,
    names: Collection[str],
    *,
    flags: Collection[str] = (),
    seconds: float,
    is_enough: Callable[[RemovedDefinition], bool] = lambda _: True,
) -> dict[str, list[RemovedDefinition]]:
    """The removals of definitions of these names, and of lines with these flags, newest first; each until one
    `is_enough`.

    Names that git never defined, or not within these seconds, are left out.
    """
    given = [name for name in names if len(name) <= LONGEST_NAME and re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)]
    given += [flag for flag in flags if len(flag) <= LONGEST_NAME and re.fullmatch(r"--[\w-]+", flag, re.ASCII)]
    ordered, end = sorted({*given}), time.monotonic() + seconds
    found: dict[str, list[RemovedDefinition]] = {}
    for start in range(0, len(ordered), MOST_NAMES):
        left = end - time.monotonic()
        if left > 0:
            found |= _find_some(git, {*ordered[start : start + MOST_NAMES]}, left, is_enough)
    return found


def _find_some(
    git: GitRepository, wanted: set[str], seconds: float, is_enough: Callable[[RemovedDefinition], bool]
) -> dict[str, list[RemovedDefinition]]:
    """The same, for so few names that git compares with one expression."""
    found: dict[str, list[RemovedDefinition]] = {}
    removed, commit, date, path = _pattern_of_removed(wanted), "", "", ""
    for line in _read_diffs(git, wanted, seconds):
        if line.startswith(b"\x01"):
            header = _HEADER.fullmatch(line)
            commit, date = (header[1].decode(), header[2].decode()) if header else ("", "")
        elif line.startswith(b"--- "):
            path = os.fsdecode(line[4:]).rstrip("\t").removeprefix(git.prefix)
        elif line.startswith(b"-"):
            for name in _names_in(line, removed, wanted):
                each = RemovedDefinition(name, path, commit, date)
                found.setdefault(name, []).append(each)
                if is_enough(each):
                    wanted.discard(name)
        if not wanted:
            break
    return found


def _names_in(line: bytes, removed: re.Pattern[bytes], wanted: Collection[str]) -> list[str]:
    """The names that a removed line defined."""
    found = removed.match(line) if len(line) < LONGEST_LINE else None
    names = [each.decode() for each in found.groups() if each] if found else []
    return [name for name in names if name in wanted]


def _read_diffs(git: GitRepository, names: Collection[str], seconds: float) -> Iterator[bytes]:
    left_out = (f":(exclude,icase){pattern}" for pattern in _LEFT_OUT)
    words = ("log", *_LOG, f"-G{_expression(names)}", "HEAD", "--", ".", *left_out)
    return stream_lines(git.root, *words, seconds=seconds)


def _expression(names: Collection[str]) -> str:
    """What git looks for: a POSIX expression, in which there is no `\\b`."""
    plain, flags = _split(names)
    defined = f"(({KEYWORDS})[[:space:]]+(\\([^)]*\\)[[:space:]]*)?|^[[:space:]]*)({plain})"
    return f"({'|'.join(filter(None, (defined if plain else '', flags)))})([^A-Za-z0-9_]|$)"


def _pattern_of_removed(names: Collection[str]) -> re.Pattern[bytes]:
    """The same, narrower: a name alone at the start of a line is defined if it is assigned."""
    plain, flags = _split(names)
    parts = []
    if plain:
        parts.append(rf".*?(?<![\w.])(?:{KEYWORDS})\s+(?:\([^)\n]*\)\s*)?({plain})(?!\w)")
        parts.append(rf"\s*(?:export\s+)?({plain})\s*(?::[^=\n]*)?=(?!=)")
    if flags:
        parts.append(rf".*?(?<![\w-])({flags})(?![\w-])")
    return re.compile(f"-(?:{'|'.join(parts)})".encode())


def _split(names: Collection[str]) -> tuple[str, str]:
    """The names, and the flags, of which one is looked for."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    plain = (name for name in ordered if not name.startswith("--"))
    return "|".join(plain), "|".join(name for name in ordered if name.startswith("--"))
