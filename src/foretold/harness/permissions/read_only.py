"""Commands that only look: they need no permission beyond that to read what they name.

1. A command is on the list, and so are its options where some of them write or run something.
2. Every word that could be a path is one that may be read; what cannot be told is not free. A search through a folder
   is free where no rule refuses to read anything in it.
3. `cd` is free where the conversation works; git behind a `cd` is not, as another folder may bring hooks of its own.
"""

from __future__ import annotations

import os
import re

from foretold.text.shell.parse import Word
from foretold.text.shell.wrappers import FINDS, HARMLESS
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foretold.text.shell.parse import SimpleCommand

#: nothing that these are given names a file
PLAIN = frozenset("echo pwd true false which whoami id uname nproc basename dirname seq :".split())
#: all of their options only read
LOOKING = frozenset(
    "ls cat tac head tail wc stat du diff cmp comm grep egrep fgrep nl cut tr rev paste readlink realpath md5sum"
    " sha1sum sha256sum".split()
)
#: of these, only some: what each of their options must be
SOME = {
    "sort": re.compile(r"-[bdfghiMnrRsVuzcC]+|-k[\d.,bdfginrR]*|-t.?|--(?:reverse|unique|numeric-sort|version-sort)"),
    "date": re.compile(r"-u|--utc|-R|-I\w*|--iso-8601(?:=\w+)?|\+.*", re.DOTALL),
    "printf": re.compile(r"(?!-).*", re.DOTALL),
}
_RECURSIVE = re.compile(r"-[^-]*[rR]|--(?:dereference-)?rec")
GIT = frozenset("status log diff show rev-parse ls-files blame describe shortlog".split())
GIT_WRITES = re.compile(r"--(?:ou|ext|textconv|open|exec|upload|receive|no-index|contents)|-o")
_OUTSIDE = re.compile(r"^/|(?:^|/)\.\.(?:/|$)")
MOST = 1_000  #: files that a pattern may stand for
HERE = Word(".", ".")  #: what is searched if nothing is named


def is_free(
    part: SimpleCommand,
    folders: Sequence[str],
    may_read: Callable[[str], bool],
    home: str,
    may_search: Callable[[str], bool],
) -> bool:
    """Whether a command only looks at what may be read, from each folder that it may run in."""
    words = part.words
    if not words or not all(word.known and HARMLESS.fullmatch(word.raw) for word in part.assigned):
        return False
    name = words[0].text
    rest: Sequence[Word] = words[1:]
    if name in PLAIN:
        return True
    if name == "git":
        return _is_free_git(rest)
    if name == "find":
        if any(not word.known or word.globbed or word.text.startswith(FINDS) for word in rest):
            return False
    elif name == "cd":
        if len(rest) > 1 or any(word.globbed or word.text.startswith("-") for word in rest):
            return False
        if not rest:
            return may_read(home)
    elif name in SOME:
        return _is_free_some(name, rest, folders, may_read, home)
    elif name not in LOOKING:
        return False
    if name in ("grep", "egrep", "fgrep", "diff"):
        searches = any(_RECURSIVE.match(word.text) for word in rest)
        rest = _without_pattern(rest) if name != "diff" else rest
        places = [word for word in rest if not word.text.startswith("-")] or [HERE]
        if searches and not all(_may_read_word(word, folders, may_search, home) for word in places):
            return False
    return all(_may_read_word(word, folders, may_read, home) for word in rest)


def _is_free_some(
    name: str, words: Sequence[Word], folders: Sequence[str], may_read: Callable[[str], bool], home: str
) -> bool:
    """Whether a command only looks that could do more."""
    options = {"printf": words[:1], "date": words}.get(name, [one for one in words if one.text.startswith(("-", "+"))])
    if not all(word.known and SOME[name].fullmatch(word.text) for word in options):
        return False
    return name in ("date", "printf") or all(_may_read_word(word, folders, may_read, home) for word in words)


def _is_free_git(words: Sequence[Word]) -> bool:
    if words and words[0].text == "--no-pager":
        words = words[1:]
    if not words or words[0].text not in GIT:
        return False
    if any(word.tilde or _OUTSIDE.search(word.text) for word in words):  # then `git diff` compares any two files
        return False
    return all(word.known and not word.globbed and not GIT_WRITES.match(word.text) for word in words)


def _without_pattern(words: Sequence[Word]) -> list[Word]:
    """The words of a grep but its pattern, if that is the first that is no option."""
    options = [word.text for word in words if word.text.startswith("-")]
    if any(re.match(r"-[^-]*[ef]|--(?:re|fi)", option) for option in options) or not all(word.known for word in words):
        return list(words)
    first = next((at for at, word in enumerate(words) if not word.text.startswith("-")), len(words))
    if first < len(words) and not words[first].globbed:
        return [*words[:first], *words[first + 1 :]]
    return list(words)


def paths_of(word: Word, folder: str, home: str) -> list[str] | None:
    """The files that a word may stand for in a folder; None if that cannot be told."""
    if not word.known:
        return None
    text = word.text
    if text.startswith("-"):
        if "=" not in text and not re.search(r"[/~]|\.\.", text):
            return []
        text = text.partition("=")[2] if "=" in text else text[2:]
    if word.tilde:
        if text != "~" and not text.startswith("~/"):
            return None
        text = home + text[1:]
    path = os.path.join(folder, text)
    if not word.globbed:
        return [path]
    from glob import iglob

    found = []
    for one in iglob(path):
        found.append(one)
        if len(found) > MOST:
            return None
    return [path, *found]


def _may_read_word(word: Word, folders: Sequence[str], may_read: Callable[[str], bool], home: str) -> bool:
    for folder in folders:
        paths = paths_of(word, folder, home)
        if paths is None or not all(may_read(path) for path in paths):
            return False
    return True
