"""Which files git would not show: `.gitignore`, as git reads it, and `.ignore` files, which say the same to searches.

1. A line loses trailing spaces, unless a backslash keeps them. Empty lines and those that begin with `#` say nothing;
   `!` takes back what an earlier line ignores.
2. A `/` at the end asks for a folder; any other one anchors the line at the folder of its file, else it holds at every
   depth. `*` and `?` stay in a name, `**` between slashes matches any folders, `[…]` is one character.
3. The last line that matches decides; deeper files are stronger. What is below an ignored folder is ignored.
4. `.gitignore` counts only inside a repository, up to its root, and `.git/info/exclude` with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from foretold.storage.tree import open_regular
from foretold.types import NamedTuple

MOST = 1_000_000  #: bytes of a file with patterns
_PART = re.compile(r"\\(.)|(\*+)|(\?)|\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]|(.)", re.DOTALL)
_IN_CLASS = re.compile(r"\[:(\w+):\]|\\(.)|(.)", re.DOTALL)
_CLASSES = {"alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "digit": "0-9", "lower": "a-z", "space": r"\s", "upper": "A-Z"}


class IgnoreLine(NamedTuple):
    """One line, as what it matches: a path relative to the folder of its file."""

    pattern: re.Pattern[str]
    negated: bool
    folder: bool


def parse_ignore(text: str) -> list[IgnoreLine]:
    """The lines of a file."""
    found = (_parse_line(line) for line in text.removeprefix("\ufeff").splitlines())
    return [line for line in found if line is not None]


def _parse_line(text: str) -> IgnoreLine | None:
    text = re.sub(r"(?<!\\)[ \t]+$", "", text.rstrip("\r"))
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folder = text.endswith("/")
    text = text.rstrip("/") if folder else text
    anchored = "/" in text
    try:
        pattern = re.compile(("" if anchored else "(?:.*/)?") + translate_glob(text.removeprefix("/")), re.DOTALL)
    except re.error:
        return None
    return IgnoreLine(pattern, negated, folder) if text else None


def translate_glob(glob: str) -> str:
    """A pattern as a regular expression that matches whole paths."""
    made: list[str] = []
    for match in _PART.finditer(glob):
        escaped, stars, question, negation, inside, other = match.groups()
        if stars:
            made.append(_stars(glob, match.start(), match.end()))
        elif question:
            made.append("[^/]")
        elif inside is not None:
            made.append(_translate_class(inside, negated=bool(negation)))
        else:
            made.append(re.escape(escaped or other))
    return "".join(made).replace("\0/", "")


def _stars(glob: str, start: int, end: int) -> str:
    """`*`, or `**` that fills a name. The mark is a slash that is left out with the folders before it."""
    alone = end - start >= 2 and (start == 0 or glob[start - 1] == "/") and (end == len(glob) or glob[end] == "/")
    if not alone:
        return "[^/]*"
    return ".+" if end == len(glob) else "(?:.*/)?\0"


def _translate_class(inside: str, *, negated: bool) -> str:
    made = ""
    for name, escaped, other in _IN_CLASS.findall(inside):
        made += _CLASSES.get(name, "") if name else other if other == "-" else re.escape(escaped or other)
    return f"(?!/)[{'^' if negated else ''}{made}]"


class IgnoreRules:
    """What is ignored in one folder: the lines of its files and of those above it, the strongest last."""

    __slots__ = ("in_repository", "rules")

    def __init__(self, rules: Sequence[tuple[str, list[IgnoreLine]]], *, in_repository: bool) -> None:
        self.rules, self.in_repository = tuple(rules), in_repository

    def below(self, folder: str) -> IgnoreRules:
        """What is ignored in a folder, given what is in the one above it."""
        is_root = os.path.lexists(folder + "/.git")
        rules = [] if is_root else list(self.rules)
        inside = is_root or self.in_repository
        if is_root:
            rules += [rule for rule in self.rules if rule[0].startswith("ignore:")]
            rules += _read(folder, ".git/info/exclude", "git:")
        if inside:
            rules += _read(folder, ".gitignore", "git:")
        for name in (".ignore", ".rgignore"):
            rules += _read(folder, name, "ignore:")
        return IgnoreRules(rules, in_repository=inside)

    def has(self, path: str, *, is_folder: bool) -> bool:
        """Whether an entry of this folder is ignored. Lines of `.ignore` are stronger than those of git."""
        for kind in ("ignore:", "git:"):
            for place, lines in reversed(self.rules):
                if not place.startswith(kind):
                    continue
                relative = path[len(place) - len(kind) + 1 :]
                for line in reversed(lines):
                    if (is_folder or not line.folder) and line.pattern.fullmatch(relative):
                        return not line.negated
        return False


def ignore_rules(folder: str) -> IgnoreRules:
    """What is ignored in a folder, by files in it and above it."""
    above = [folder]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    found = IgnoreRules((), in_repository=False)
    for place in reversed(above):
        found = found.below(place)
    return found


def _read(folder: str, name: str, kind: str) -> list[tuple[str, list[IgnoreLine]]]:
    try:
        with open(f"{folder}/{name}", "rb", opener=open_regular) as file:
            lines = parse_ignore(file.read(MOST).decode("utf-8", "replace"))
    except OSError:
        return []
    return [(kind + folder.rstrip("/"), lines)] if lines else []
