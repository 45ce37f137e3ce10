"""Whether a shell command may run: every simple command of the line is checked.

1. Refused: if a rule refuses any of them, or anything that one of them may run, or a file that one names or redirects.
2. Asked: if a rule says so; if rules refuse or ask about commands and it is not known which commands the line runs
   (`text/shell/dynamic_names.py`), unless a rule allows exactly this line; and before it removes what no one removes
   on purpose: the root, a folder in it, home, the working folder and those above it.
3. Allowed: if a rule is about the whole tool or is exactly this command; else if it is certain what runs, and a rule
   allows each command, or the command only looks, or, where edits are accepted, it only arranges files that may be
   changed; and the files that it writes may be changed, those that it reads may be read.

The files that a line names are enough to refuse it, never enough to allow it:

1. Words of commands that are known to read or change files; `of=x` is `x`, and so is `HEAD:x` for git.
2. Braces are expanded, and so are `$HOME` and `$PWD`.
3. A folder also names what is in it: for a command that brings files there, those; for one that shows or changes its
   content, a file of any name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from foretold.harness.permissions.read_only import find_git_programs, is_free, paths_of
from foretold.storage.tree import folders_above
from foretold.text.shell.commands import COMMANDS, UNKNOWN, find_command
from foretold.text.shell.dynamic_names import find_dynamic_name, is_static
from foretold.text.shell.parse import CommandLine, Redirect, SimpleCommand, Word, read_command
from foretold.text.shell.wrappers import (
    allowed_texts,
    needs_exact_rule,
    possible_commands,
    possible_texts,
    strip_wrappers,
)
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.permissions.check import Permission
    from foretold.harness.permissions.rules import PermissionRule

HARMLESS_TARGETS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
MAX_FOLDERS = 64  #: that `cd`s may lead to
MAX_WORDS = 64  #: that one with braces expands to
ANY_NAME = "\1"  #: a file of any name in a folder
_EMPTY_VARIABLE = re.compile(r'"?\$\{?\w+\}?"?/?(?:\*|"\*)?"?')
_VARIABLE = re.compile(r"\$(?:(HOME|PWD)(?!\w)|\{(HOME|PWD)\})")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class CommandCheck:
    """A command line, as a permission sees it."""

    def __init__(self, permission: Permission, command: str, cwd: str) -> None:
        self.permission, self.command, self.cwd = permission, command, cwd
        self.line = read_command(command)
        self.folders = self._find_folders()
        self.git_programs = ""  #: why git is asked about, where it would be free elsewhere

    def _find_folders(self) -> list[str]:
        """The folders that parts of the line may run in: where it begins, and where each `cd` leads."""
        folders = [self.cwd]
        for part in self.line.parts:
            words = part.words
            if len(words) == 2 and words[0].text in ("cd", "pushd") and words[1].known:
                text = self._expand_home(words[1])
                folders += [os.path.join(folder, text) for folder in folders]
            if len(folders) > MAX_FOLDERS:
                break
        return list(dict.fromkeys(folders))

    def _expand_home(self, word: Word) -> str:
        return self.permission.home + word.text[1:] if word.tilde else word.text

    def first_rule(self, rules: Sequence[PermissionRule]) -> PermissionRule | None:
        """The first rule, among those that refuse or ask, about the line or any command in it."""
        if not rules:
            return None
        parts = (*self.line.parts, *_find_hidden(self.line))
        texts = dict.fromkeys((self.command.strip(), *(text for part in parts for text in possible_texts(part))))
        return next((rule for rule in rules if any(rule.fits_command(text) for text in texts)), None)

    def unknown_command(self, rules: Sequence[PermissionRule]) -> str:
        """Why it is not known whether rules, which refuse or ask, are about this line; empty if it is known."""
        named = [rule for rule in rules if rule.about]
        if not named:
            return ""
        if why := find_dynamic_name(self.line):
            return why
        for words in (words for part in self.line.parts for words in possible_commands(part)):
            for rule in named:
                if (at := _first_unknown(words, rule.about)) is not None:
                    return f"it is not known whether the rule {rule.text} is about it: {words[at].raw}"
        return ""

    def refused_file(self) -> PermissionRule | None:
        """The rule that refuses a file that the line names."""
        for folder in self.folders:
            for path, changes in named_files(self.line, folder, self.permission.home):
                for tool in ("Read", "Edit") if changes else ("Read",):
                    if found := self.permission.refusal(tool, path):
                        return found
        return None

    def parts_to_ask(self, rules: Sequence[PermissionRule]) -> list[str] | None:
        """The commands that are not allowed; None if it is not even certain what runs."""
        if any(not rule.about or (rule.is_exact and rule.about == self.command.strip()) for rule in rules):
            return []
        if self.line.opaque:
            return None
        named = [part.words for part in self.line.parts if part.words]
        moves = [words for words in named if words[0].text in ("cd", "pushd", "popd")]
        targets = [words[1] if words[0].text == "cd" and len(words) == 2 else None for words in moves]
        knows_folder = all(target is not None and target.known and not target.globbed for target in targets)
        asked = []
        for part in self.line.parts:
            is_moved_git = bool(moves) and bool(part.words) and part.words[0].text == "git"
            allowed = _is_allowed_by_rule(part, rules) or (
                not is_moved_git and self._is_harmless(part, knows_folder=knows_folder)
            )
            if not allowed or not all(self._may_redirect(redirect) for redirect in part.redirects):
                asked.append(part.text)
                if part.words and part.words[0].text == "git":
                    self.git_programs = self.git_programs or find_git_programs(part.words[1:], self.folders)
        return asked

    def _is_harmless(self, part: SimpleCommand, *, knows_folder: bool) -> bool:
        if not part.words:
            return True
        if not knows_folder:
            return False
        if is_free(part, self.folders, self.permission):
            return True
        words = strip_wrappers(part.words)
        arranges = COMMANDS.get(words[0].text, UNKNOWN).arranges
        if self.permission.mode != "acceptEdits" or not arranges or part.assigned:
            return False
        home, targets = self.permission.home, [(word, folder) for folder in self.folders for word in words[1:]]
        named = (None if word.globbed else paths_of(word, folder, home) for word, folder in targets)
        return all(paths is not None and all(map(self.permission.may_edit, paths)) for paths in named)

    def _may_redirect(self, redirect: Redirect) -> bool:
        target, operator = redirect.target, redirect.operator
        if operator in (">&", "<&") and target.known and re.fullmatch(r"\d+-?|-", target.text):
            return True
        if target.known and target.text in HARMLESS_TARGETS:
            return True
        if not target.known or target.globbed:
            return False
        may = self.permission.may_read if operator == "<" else self.permission.may_edit
        home = self.permission.home
        return all(may(path) for folder in self.folders for path in paths_of(target, folder, home) or ["/"])

    def removes_too_much(self) -> str:
        """What the line removes that no one removes on purpose; empty if nothing."""
        above = {self.permission.home.rstrip("/") or "/"}
        for start in (self.cwd, os.path.realpath(self.cwd), *self.permission.folders[:1]):
            above |= {start, *folders_above(start)}
        for part in self.line.parts:
            for words in possible_commands(part):
                if os.path.basename(words[0].text) in ("rm", "rmdir"):
                    for word in words[1:]:
                        if not word.text.startswith("-") and self._is_critical(word, above):
                            return word.raw
        return ""

    def _is_critical(self, word: Word, above: set[str]) -> bool:
        if not word.known:
            return bool(_EMPTY_VARIABLE.fullmatch(word.raw)) and ("/" in word.raw or word.raw.strip('"${}') == "HOME")
        text = self._expand_home(word)
        stem = re.sub(r"/?\*+$", "", text) if word.globbed else text
        is_all = word.globbed and stem != text
        for folder in self.folders:
            path = os.path.normpath(os.path.join(folder, stem or ("/" if text.startswith("/") else ".")))
            if path in above or os.path.dirname(path) == "/" or (is_all and path in self.permission.folders):
                return True
        return False


def _first_unknown(words: Sequence[Word], about: str) -> int | None:
    """The first word after a command's name that may be what a rule names, and may not.

    >>> _first_unknown(read_command("git $X origin").parts[0].words, "git push:*")
    1
    """
    for at, wanted in enumerate(about.removesuffix(":*").partition("*")[0].split()[: len(words)]):
        if at and not is_static(words[at]):
            return at
        if wanted != (words[at].text if at else os.path.basename(words[at].text)):
            break
    return None


def _find_hidden(line: CommandLine) -> Iterator[SimpleCommand]:
    """Commands in the input of a shell; in what variables are set to, if one is the name of a command."""
    texts: list[str] = []
    if any(_reads_commands(words[0].text) for part in line.parts for words in possible_commands(part)):
        texts += line.fed
        for part in line.parts:
            if part.words and part.words[0].text in ("echo", "printf"):
                texts.append(" ".join(word.text for word in part.words[1:]))
    if any(part.words and not part.words[0].known for part in line.parts):
        texts += [word.text.partition("=")[2] for part in line.parts for word in part.assigned]
    for text in texts:
        yield from read_command(text).parts


def _reads_commands(name: str) -> bool:
    return find_command(name).runs == "shell" or os.path.basename(name) in ("source", ".", "parallel")


def _is_allowed_by_rule(part: SimpleCommand, rules: Sequence[PermissionRule]) -> bool:
    texts = allowed_texts(part)
    found = [rule for rule in rules if any(rule.fits_command(text) for text in texts)]
    return any(rule.is_exact for rule in found) or (bool(found) and not needs_exact_rule(part))


def named_files(line: CommandLine, folder: str, home: str) -> Iterator[tuple[str, bool]]:
    """Files that a line names, and whether it changes them.

    >>> list(named_files(read_command("dd if={a,b} > $PWD/c"), "/repo", "/home"))
    [('/repo/c', True), ('/repo/if=a', True), ('/repo/a', True), ('/repo/if=b', True), ('/repo/b', True)]
    """
    for part in line.parts:
        for redirect in part.redirects:
            for path in _paths(redirect.target, folder, home):
                yield path, redirect.operator != "<"
        for words in possible_commands(part):
            name = os.path.basename(words[0].text)
            files = find_command(name).files
            for path in _named_by(name, files, words[1:], folder, home) if files else ():
                yield path, files in ("changes", "brings")


def _named_by(name: str, files: str, words: Sequence[Word], folder: str, home: str) -> Iterator[str]:
    """The files that the words of a command name, and the content of those that are folders."""
    inner = ":" if name == "git" else "=" if name == "dd" else ""
    paths = []
    for one in (each for word in words for each in _expand(word, folder, home)):
        paths += _paths(one, folder, home)
        if inner and inner in one.text and not one.text.startswith("-"):
            paths += _paths(one._replace(text=one.text.rpartition(inner)[2]), folder, home)
    yield from paths
    for path in paths if files != "names" else ():
        if os.path.isdir(path):
            yield os.path.join(path, ANY_NAME)
            if files == "brings":
                yield from (os.path.join(path, os.path.basename(other.rstrip("/"))) for other in paths if other != path)


def _paths(word: Word, folder: str, home: str) -> list[str]:
    return [path for each in _expand(word, folder, home) for path in paths_of(each, folder, home) or ()]


def _expand(word: Word, folder: str, home: str) -> list[Word]:
    """The words that one expands to, as far as that is known."""
    if word.known:
        return [word]
    values = {"HOME": home, "PWD": folder}
    raw = _VARIABLE.sub(lambda found: re.sub(r"([^\w/.-])", r"\\\1", values[found[1] or found[2]]), word.raw)
    pieces, done = [raw], list[str]()
    while pieces and len(pieces) + len(done) < MAX_WORDS:
        piece = pieces.pop()
        if (braces := _BRACES.search(piece)) is None:
            done.append(piece)
        else:
            choices = braces[1].split(",")
            pieces += [piece[: braces.start()] + one + piece[braces.end() :] for one in reversed(choices)]
    found = [each for piece in done for part in read_command(f": {piece}").parts for each in part.words[1:]]
    return [each._replace(known=True) for each in found if each.known or not re.search(r"\$[^']|`|[<>]\(", each.raw)]
