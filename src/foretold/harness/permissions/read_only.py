"""Commands that only look: they need no permission other than to read the files they name.

1. A command is in the table (`text/shell/commands.py`), and so are its options where some of them write or run.
2. Every word that could be a path may be read; what is not known is not free. A recursive search of a folder is free if
   no rule refuses to read anything in it.
3. `cd` is free where the conversation works. Git after a `cd` is not: another folder may have hooks of its own.
4. Git is free where the repository's own configuration names no program that it would run to look: a filter, a monitor
   of the file system, a program for differences or signatures, in `.git/config`, in a file that this includes, in a
   submodule or in a bare repository that a clone brought. Else it is asked about, and the setting is named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from foretold.text.shell.commands import COMMANDS, FREE_GIT, FREE_OPTIONS, GIT_WRITES, UNKNOWN
from foretold.text.shell.parse import Word
from foretold.text.shell.wrappers import has_find_action, has_harmless_variables
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.permissions.check import Permission
    from foretold.text.shell.parse import SimpleCommand

_RECURSIVE = re.compile(r"-[^-]*[rR]|--(?:dereference-)?rec")
_PATTERN_OPTION = re.compile(r"-[^-]*[ef]|--(?:re|fi)")
_OUTSIDE = re.compile(r"^/|(?:^|/)\.\.(?:/|$)")
MAX_FILES = 1_000  #: that a pattern may match
MAX_NAMED = 5  #: settings that a question names
_HERE = Word(".", ".")  #: what is searched if nothing is named


def is_free(part: SimpleCommand, folders: Sequence[str], permission: Permission) -> bool:
    """Whether a command only looks at what may be read, from each folder that it may run in."""
    if not part.words or not has_harmless_variables(part):
        return False
    name, words = part.words[0].text, list(part.words[1:])

    def may(words: Sequence[Word], permitted: Callable[[str], bool]) -> bool:
        named = (paths_of(word, folder, permission.home) for word in words for folder in folders)
        return all(paths is not None and all(permitted(path) for path in paths) for paths in named)

    kind = COMMANDS.get(name, UNKNOWN).free
    if kind == "reads":  # all its options only read
        if name in ("grep", "egrep", "fgrep", "diff"):
            is_recursive = any(_RECURSIVE.match(word.text) for word in words)
            words = _without_pattern(words) if name != "diff" else words
            places = [word for word in words if not word.text.startswith("-")] or [_HERE]
            if is_recursive and not may(places, permission.may_search):
                return False
        return may(words, permission.may_read)
    if kind == "some":  # some of its options only read
        options = [word for word in words if word.text.startswith(("-", "+"))]
        options = {"printf": words[:1], "date": words}.get(name, options)
        is_known = all(word.known and FREE_OPTIONS[name].fullmatch(word.text) for word in options)
        return is_known and (name in ("date", "printf") or may(words, permission.may_read))
    if kind == "own":
        if name == "git":
            return _is_free_git(words) and not find_git_programs(words, folders)
        if name == "find":
            return not has_find_action(words) and may(words, permission.may_read)
        if len(words) > 1 or any(word.globbed or word.text.startswith("-") for word in words):
            return False
        return may(words, permission.may_read) if words else permission.may_read(permission.home)
    return kind == "always"


def find_git_programs(words: Sequence[Word], folders: Sequence[str]) -> str:
    """Why a git command that only looks is not free; empty if it is."""
    if not _is_free_git(words):
        return ""
    from foretold.git.programs import programs_that_looking_runs

    for folder in folders:
        named = programs_that_looking_runs(folder) if os.path.isdir(folder) else []
        if named is None:
            return (
                "the configuration of this repository cannot be read, so it is not known which programs git would run"
            )
        if named:
            shown = ", ".join(named[:MAX_NAMED]) + (" and others" if len(named) > MAX_NAMED else "")
            return f"the configuration of this repository names programs that git may run: {shown}"
    return ""


def _is_free_git(words: Sequence[Word]) -> bool:
    if words and words[0].text == "--no-pager":
        words = words[1:]
    if not words or words[0].text not in FREE_GIT:
        return False
    if any(word.tilde or _OUTSIDE.search(word.text) for word in words):  # then `git diff` compares any two files
        return False
    return all(word.known and not word.globbed and not GIT_WRITES.match(word.text) for word in words)


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
