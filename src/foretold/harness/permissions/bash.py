"""The files that a command line names: enough to refuse one, never enough to allow.

1. Words of commands that are known to read or change files; `of=x` is `x`, and so is `HEAD:x` for git.
2. A word may be written in pieces: braces are unfolded, and `$HOME` and `$PWD` are what they are.
3. A folder stands for more than itself: for a command that brings files there, what they will be; for one that shows
   or changes what is in it, a file of any name.

Whether a shell command may run: each of its parts is asked about (`shell_parts`).

1. Refused: if a rule refuses any part, or anything that a part may run, or a file that a part names or redirects.
2. Asked: if a rule says so; and before anything is removed that nobody removes on purpose: the root, a folder in it,
   home, the folder worked in and those above it.
3. Permitted: if a rule is about the whole tool or is this very command; else if it is known what runs, and a rule
   permits each part, or the part only looks, or, where edits are accepted, it only arranges files that may be changed;
   and where it writes to files, those may be changed, where it reads from them, read.
"""

from __future__ import annotations

import os
import re

from foretold.harness.permissions.read_only import is_free, paths_of
from foretold.text.shell.parse import CommandLine, Redirect, SimpleCommand, Word, read_command
from foretold.text.shell.wrappers import SHELLS, allowable, refusable, refusable_texts, runs_others, unwrapped
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foretold.harness.permissions.rules import Rule
    from foretold.text.shell.parse import CommandLine


#: these show names, sizes and the like, not what is in a file
NAMES = frozenset("ls cd pushd du stat git file".split())
READS = NAMES | frozenset(
    "cat tac head tail sed awk gawk mawk grep egrep fgrep rg nl less more bat batcat view wc diff cmp comm sort uniq"
    " cut paste fold rev split xxd od hexdump strings base64 base32 jq yq cp mv ln dd tar zip gzip zcat source ."
    " install rsync scp".split()
)
BRINGS = frozenset("cp mv ln install rsync".split())
CHANGES = BRINGS | frozenset("sed rm rmdir touch mkdir tee chmod chown truncate dd unlink shred".split())
MOST = 64  #: words that one with braces unfolds to
ANY = "\1"  #: stands for a file of any name
_VARIABLE = re.compile(r"\$(?:(HOME|PWD)(?!\w)|\{(HOME|PWD)\})")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def named(line: CommandLine, folder: str, home: str) -> Iterator[tuple[str, bool]]:
    """Files that a command names, and whether it changes them.

    >>> list(named(read_command("dd if={a,b} > $PWD/c"), "/repo", "/home"))
    [('/repo/c', True), ('/repo/if=a', True), ('/repo/a', True), ('/repo/if=b', True), ('/repo/b', True)]
    """
    for part in line.parts:
        for redirect in part.redirects:
            for path in _paths(redirect.target, folder, home):
                yield path, redirect.operator != "<"
        for words in refusable(part):
            name = os.path.basename(words[0].text)
            if name in READS or name in CHANGES:
                for path in _meant(name, words[1:], folder, home):
                    yield path, name in CHANGES


def _meant(name: str, words: Sequence[Word], folder: str, home: str) -> Iterator[str]:
    """The files that the words of a command are, and what is in those that are folders."""
    inner = ":" if name == "git" else "=" if name == "dd" else ""
    paths = []
    for one in (each for word in words for each in spelled(word, folder, home)):
        paths += _paths(one, folder, home)
        if inner and inner in one.text and not one.text.startswith("-"):
            paths += _paths(one._replace(text=one.text.rpartition(inner)[2]), folder, home)
    yield from paths
    for path in paths if name not in NAMES else ():
        if os.path.isdir(path):
            yield os.path.join(path, ANY)
            if name in BRINGS:
                yield from (os.path.join(path, os.path.basename(other.rstrip("/"))) for other in paths if other != path)


def _paths(word: Word, folder: str, home: str) -> list[str]:
    return [path for each in spelled(word, folder, home) for path in paths_of(each, folder, home) or ()]


def spelled(word: Word, folder: str, home: str) -> list[Word]:
    """The words that one stands for, as far as that can be told."""
    if word.known:
        return [word]
    values = {"HOME": home, "PWD": folder}
    raw = _VARIABLE.sub(lambda found: re.sub(r"([^\w/.-])", r"\\\1", values[found[1] or found[2]]), word.raw)
    pieces, done = [raw], list[str]()
    while pieces and len(pieces) + len(done) < MOST:
        piece = pieces.pop()
        if (braces := _BRACES.search(piece)) is None:
            done.append(piece)
        else:
            choices = braces[1].split(",")
            pieces += [piece[: braces.start()] + one + piece[braces.end() :] for one in reversed(choices)]
    found = [each for piece in done for part in read_command(f": {piece}").parts for each in part.words[1:]]
    told = [each for each in found if each.known or not re.search(r"\$[^']|`|[<>]\(", each.raw)]
    return [each._replace(known=True) for each in told]


ARRANGES = frozenset("mkdir touch rm rmdir mv cp".split())
NOWHERE = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_EMPTY_VARIABLE = re.compile(r'"?\$\{?\w+\}?"?/?(?:\*|"\*)?"?')


class Judge(NamedTuple):
    """What a permission says of files and commands."""

    cwd: str
    home: str
    folders: tuple[str, ...]  #: that the conversation works in
    refused_read: Callable[[str], Rule | None]
    refused_edit: Callable[[str], Rule | None]
    may_read: Callable[[str], bool]
    may_edit: Callable[[str], bool]
    may_search: Callable[[str], bool]
    accepts_edits: bool = False


def refusing(line: CommandLine, command: str, rules: Sequence[Rule]) -> Rule | None:
    """The rule among those that refuse, or ask, that is about a command line or any part of it."""
    if not rules:
        return None
    parts = (*line.parts, *_hidden(line))
    texts = dict.fromkeys((command.strip(), *(text for part in parts for text in refusable_texts(part))))
    return next((rule for rule in rules if any(rule.fits_command(text) for text in texts)), None)


def _hidden(line: CommandLine) -> Iterator[SimpleCommand]:
    """Commands in what a shell is given to read; in what variables are set to, if one is the name of a command."""
    texts: list[str] = []
    if any(os.path.basename(words[0].text) in SHELLS for part in line.parts for words in refusable(part)):
        texts += line.fed
        for part in line.parts:
            if part.words and part.words[0].text in ("echo", "printf"):
                texts.append(" ".join(word.text for word in part.words[1:]))
    if any(part.words and not part.words[0].known for part in line.parts):
        texts += [word.text.partition("=")[2] for part in line.parts for word in part.assigned]
    for text in texts:
        yield from read_command(text).parts


def refused_file(line: CommandLine, judge: Judge) -> Rule | None:
    """The rule that refuses a file that a command names."""
    for folder in folders_of(line, judge):
        for path, changes in named(line, folder, judge.home):
            found = judge.refused_read(path) or (judge.refused_edit(path) if changes else None)
            if found is not None:
                return found
    return None


def folders_of(line: CommandLine, judge: Judge) -> list[str]:
    """The folders that parts of a command may run in: where it begins, and where each `cd` leads."""
    folders = [judge.cwd]
    for part in line.parts:
        if part.words and part.words[0].text in ("cd", "pushd") and len(part.words) == 2:
            target = part.words[1]
            if target.known:
                text = judge.home + target.text[1:] if target.tilde else target.text
                folders += [os.path.join(folder, text) for folder in folders]
        if len(folders) > 64:
            break
    return list(dict.fromkeys(folders))


def not_permitted(command: str, line: CommandLine, rules: Sequence[Rule], judge: Judge) -> list[str] | None:
    """The parts that are not permitted; None if it is not even known what runs."""
    if any(not rule.about or (rule.is_exact and rule.about == command.strip()) for rule in rules):
        return []
    if line.opaque:
        return None
    folders = folders_of(line, judge)
    changes_folder = [part for part in line.parts if part.words and part.words[0].text in ("cd", "pushd", "popd")]
    asked = []
    for part in line.parts:
        goes_with_cd = bool(changes_folder) and bool(part.words) and part.words[0].text == "git"
        permitted = _by_rule(part, rules) or (
            not goes_with_cd and _by_nature(part, folders, judge, knows_folder=_are_told(changes_folder))
        )
        if not permitted or not all(_may_redirect(redirect, folders, judge) for redirect in part.redirects):
            asked.append(part.text)
    return asked


def _are_told(parts: Sequence[SimpleCommand]) -> bool:
    """Whether it is known where each `cd` leads."""
    return all(
        part.words[0].text == "cd" and len(part.words) == 2 and part.words[1].known and not part.words[1].globbed
        for part in parts
    )


def _by_rule(part: SimpleCommand, rules: Sequence[Rule]) -> bool:
    texts = allowable(part)
    found = [rule for rule in rules if any(rule.fits_command(text) for text in texts)]
    return any(rule.is_exact for rule in found) or (bool(found) and not runs_others(part))


def _by_nature(part: SimpleCommand, folders: Sequence[str], judge: Judge, *, knows_folder: bool) -> bool:
    if not part.words:
        return True
    if not knows_folder:
        return False
    if is_free(part, folders, judge.may_read, judge.home, judge.may_search):
        return True
    words = unwrapped(part.words)
    if not judge.accepts_edits or words[0].text not in ARRANGES or part.assigned:
        return False
    return all(_may_edit(word, folder, judge) for folder in folders for word in words[1:])


def _may_edit(word: Word, folder: str, judge: Judge) -> bool:
    paths = None if word.globbed else paths_of(word, folder, judge.home)
    return paths is not None and all(judge.may_edit(path) for path in paths)


def _may_redirect(redirect: Redirect, folders: Sequence[str], judge: Judge) -> bool:
    target, operator = redirect.target, redirect.operator
    if operator in (">&", "<&") and target.known and re.fullmatch(r"\d+-?|-", target.text):
        return True
    if target.known and target.text in NOWHERE:
        return True
    if not target.known or target.globbed:
        return False
    may = judge.may_read if operator == "<" else judge.may_edit
    return all(may(path) for folder in folders for path in paths_of(target, folder, judge.home) or ["/"])


def removes_too_much(line: CommandLine, judge: Judge) -> str:
    """What a command removes that nobody removes on purpose; empty if nothing."""
    above = {judge.home.rstrip("/") or "/"}
    for start in (judge.cwd, os.path.realpath(judge.cwd), *judge.folders[:1]):
        while start not in above:
            above.add(start)
            start = os.path.dirname(start)
    for part in line.parts:
        for words in refusable(part):
            if os.path.basename(words[0].text) in ("rm", "rmdir"):
                for word in words[1:]:
                    if not word.text.startswith("-") and _is_critical(word, above, line, judge):
                        return word.raw
    return ""


def _is_critical(word: Word, above: set[str], line: CommandLine, judge: Judge) -> bool:
    if not word.known:
        return bool(_EMPTY_VARIABLE.fullmatch(word.raw)) and ("/" in word.raw or word.raw.strip('"${}') == "HOME")
    text = judge.home + word.text[1:] if word.tilde else word.text
    stem = re.sub(r"/?\*+$", "", text) if word.globbed else text
    is_all = word.globbed and stem != text
    for folder in folders_of(line, judge):
        path = os.path.normpath(os.path.join(folder, stem or ("/" if text.startswith("/") else ".")))
        if path in above or os.path.dirname(path) == "/" or (is_all and path in judge.folders):
            return True
    return False
