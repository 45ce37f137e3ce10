"""The files that a command line names: enough to refuse one, never enough to allow.

1. Words of commands that are known to read or change files; `of=x` is `x`, and so is `HEAD:x` for git.
2. A word may be written in pieces: braces are unfolded, and `$HOME` and `$PWD` are what they are.
3. A folder stands for more than itself: for a command that brings files there, what they will be; for one that shows
   or changes what is in it, a file of any name.
"""

from __future__ import annotations

import os
import re

from foretold.harness.permissions.read_only import paths_of
from foretold.text.shell.command import Word
from foretold.text.shell.parse import read_command
from foretold.text.shell.wrappers import refusable
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foretold.text.shell.command import CommandLine

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
