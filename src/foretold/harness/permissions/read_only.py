"""Commands that only look: they need no permission other than to read the files they name.

1. A command is in the table (`text/shell/commands.py`), and so are its options where some of them write or run.
2. Every word that could be a path may be read; what is not known is not free. A recursive search of a folder is free if
   no rule refuses to read anything in it.
3. `cd` is free where the conversation works. Git after a `cd` is not: another folder may have hooks of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from foretold.text.shell.commands import COMMANDS, FREE_GIT, FREE_OPTIONS, GIT_WRITES, UNKNOWN
from foretold.text.shell.parse import Word
from foretold.text.shell.wrappers import has_find_action, has_harmless_variables
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.harness.permissions.check import Permission
    from foretold.text.shell.parse import SimpleCommand

_RECURSIVE = re.compile(r"-[^-]*[rR]|--(?:dereference-)?rec")
_PATTERN_OPTION = re.compile(r"-[^-]*[ef]|--(?:re|fi)")
_OUTSIDE = re.compile(r"^/|(?:^|/)\.\.(?:/|$)")
MAX_FILES = 1_000  #: that a pattern may match
_HERE = Word(".", ".")  #: what is searched if nothing is named


class _Call(NamedTuple):
    """A command, the folders that it may run in, and what is permitted."""

    name: str
    words: Sequence[Word]
    folders: Sequence[str]
    permission: Permission

    def may_read(self, words: Sequence[Word]) -> bool:
        return self._may(words, self.permission.may_read)

    def may_search(self, words: Sequence[Word]) -> bool:
        return self._may(words, self.permission.may_search)

    def _may(self, words: Sequence[Word], may: Callable[[str], bool]) -> bool:
        for word in words:
            for folder in self.folders:
                paths = paths_of(word, folder, self.permission.home)
                if paths is None or not all(may(path) for path in paths):
                    return False
        return True


def is_free(part: SimpleCommand, folders: Sequence[str], permission: Permission) -> bool:
    """Whether a command only looks at what may be read, from each folder that it may run in."""
    if not part.words or not has_harmless_variables(part):
        return False
    name = part.words[0].text
    is_kind_free = _FREE.get(COMMANDS.get(name, UNKNOWN).free)
    return is_kind_free is not None and is_kind_free(_Call(name, part.words[1:], folders, permission))


def _is_free_reader(call: _Call) -> bool:
    """A command of which all options only read."""
    words = call.words
    if call.name in ("grep", "egrep", "fgrep", "diff"):
        is_recursive = any(_RECURSIVE.match(word.text) for word in words)
        words = _without_pattern(words) if call.name != "diff" else words
        places = [word for word in words if not word.text.startswith("-")] or [_HERE]
        if is_recursive and not call.may_search(places):
            return False
    return call.may_read(words)


def _has_free_options(call: _Call) -> bool:
    """A command of which some options only read."""
    options = [word for word in call.words if word.text.startswith(("-", "+"))]
    options = {"printf": list(call.words[:1]), "date": list(call.words)}.get(call.name, options)
    if not all(word.known and FREE_OPTIONS[call.name].fullmatch(word.text) for word in options):
        return False
    return call.name in ("date", "printf") or call.may_read(call.words)


def _is_free_special(call: _Call) -> bool:
    words = call.words
    if call.name == "git":
        return _is_free_git(words)
    if call.name == "find":
        return not has_find_action(words) and call.may_read(words)
    if len(words) > 1 or any(word.globbed or word.text.startswith("-") for word in words):
        return False
    return call.may_read(words) if words else call.permission.may_read(call.permission.home)


def _is_free_git(words: Sequence[Word]) -> bool:
    if words and words[0].text == "--no-pager":
        words = words[1:]
    if not words or words[0].text not in FREE_GIT:
        return False
    if any(word.tilde or _OUTSIDE.search(word.text) for word in words):  # then `git diff` compares any two files
        return False
    return all(word.known and not word.globbed and not GIT_WRITES.match(word.text) for word in words)


_FREE: dict[str, Callable[[_Call], bool]] = {
    "always": lambda _: True,
    "reads": _is_free_reader,
    "some": _has_free_options,
    "own": _is_free_special,
}


def _without_pattern(words: Sequence[Word]) -> list[Word]:
    """The words of a grep without its pattern, if that is its first word that is not an option."""
    options = [word.text for word in words if word.text.startswith("-")]
    if any(_PATTERN_OPTION.match(option) for option in options) or not all(word.known for word in words):
        return list(words)
    first = next((at for at, word in enumerate(words) if not word.text.startswith("-")), len(words))
    if first < len(words) and not words[first].globbed:
        return [*words[:first], *words[first + 1 :]]
    return list(words)


def paths_of(word: Word, folder: str, home: str) -> list[str] | None:
    """The files that a word may name in a folder; None if that is not known."""
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
    from itertools import islice

    found = list(islice(iglob(path), MAX_FILES + 1))
    return [path, *found] if len(found) <= MAX_FILES else None
