"""Which files a shell command plainly reads.

1. Each simple command reads exactly one file (`cat`, `head`, `tail`, `sed -n`, `nl`, or a `grep` by itself) or only
   prints (`true`, `echo`, `printf`). Any other command beside them, and any option that is not known, makes the whole
   command opaque.
2. A command that only prints counts as another command where it is the first in a group.

The forms are known by asking the agent, several hundred of them. # claude-code@2.1.325: n325-bash-*, nest-bash
"""

from __future__ import annotations

import re

from foretold.dialects.surroundings import join
from foretold.text.patterns import lazy
from foretold.text.shell.words import Word, simple_commands
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

PRINTS = ("true", "echo", "printf")
GREPS = ("grep", "egrep", "fgrep", "rg")
#: command -> its options: those that stand alone, and those that take the next word, which must be a number
ALONE = {
    "cat": r"-n|--number",
    "head": r"-n?0*[1-9]\d*|--lines=0*[1-9]\d*",
    "tail": r"-n?0*[1-9]\d*|--lines=0*[1-9]\d*",
    "nl": r"(?!)",
    "sed": r"-[nErsuz]+e?|-l\d+|--(?:quiet|silent|posix|debug|line-length=\d+|null-data|regexp-extended|separate"
    r"|unbuffered)|--",
    "grep": r"-[niEFGPwxHh]+|-[ABC]\d+|--(?:line-number|ignore-case|extended-regexp|fixed-strings|basic-regexp"
    r"|perl-regexp|word-regexp|line-regexp|with-filename|no-filename|color=(?:never|auto)|(?:after-|before-)?context=\d+)",
    "rg": r"-[niFPwxHsNSU]+|-[ABC]\d+|--(?:line-number|no-line-number|ignore-case|smart-case|fixed-strings|word-regexp"
    r"|line-regexp|with-filename|no-filename|multiline|(?:after-|before-)?context=\d+)",
}
WITH_NUMBER = {
    "head": ("-n", "--lines"),
    "tail": ("-n", "--lines"),
    "grep": ("-A", "-B", "-C"),
    "rg": ("-A", "-B", "-C", "--context"),
}
_QUIET = lazy(r"-\w*n\w*|--quiet|--silent")
_LINES = lazy(r"0*([1-9]\d*)(?:,\d+)?p")


class Reading(NamedTuple):
    """A file that a command reads, and the first line of it that it asks for."""

    path: str
    first: int = 1


def files_read(command: str) -> list[Reading]:
    """The files a command reads, as it names them; empty if it does anything else.

    >>> files_read("true && head -n 3 src/a.ts"), files_read("cat a | head")
    ([Reading(path='src/a.ts', first=1)], [])
    """
    found: list[Reading] = []
    commands = simple_commands(command)
    for words, inside in commands:
        name = words[0].text
        if name in PRINTS and words[0].plain and not inside:
            continue
        reading = _reading(name, words[1:])
        if reading is None or (name in GREPS and len(commands) > 1):
            return []
        if reading.path and not reading.path.endswith("/"):
            found.append(reading)
    return found


def folder_after(command: str, folder: str) -> str:
    """The shell's folder after a command that succeeded: plain `cd`s are followed."""
    for words, inside in simple_commands(command):
        if words[0].text == "cd" and len(words) == 2 and words[1].known and not inside:
            folder = join(folder, words[1].text)
    return folder


def _reading(name: str, words: Sequence[Word]) -> Reading | None:
    """The one file that a simple command reads; None if it does anything else. A file not known has an empty path."""
    kind = "grep" if name in ("egrep", "fgrep") else name
    options = ALONE.get(kind)
    if options is None:
        return None
    given, rest = _parted(words, options, WITH_NUMBER.get(kind, ()))
    if given is None:
        return None
    first = 1
    if kind == "sed":
        lines = _LINES.fullmatch(rest[0].text) if rest and rest[0].known else None
        if lines is None or not any(_QUIET.fullmatch(option) for option in given):
            return None
        first, rest = int(lines[1]), rest[1:]
    elif kind in GREPS:
        rest = rest[1:]
    known = [word.text for word in rest if word.known]
    if not rest or len(known) > 1:
        return None
    return Reading(known[0] if known else "", first)


def _parted(words: Sequence[Word], alone: str, with_number: tuple[str, ...]) -> tuple[list[str] | None, list[Word]]:
    """Options and other words; no options at all, not even an empty list, if one of them is not known."""
    given: list[str] = []
    rest: list[Word] = []
    at = 0
    while at < len(words):
        text = words[at].text
        at += 1
        if text in with_number and at < len(words) and re.fullmatch(r"0*[1-9]\d*", words[at].text):
            given.append(text)
            at += 1
        elif len(text) < 2 or text[0] != "-":
            rest.append(words[at - 1])
        elif re.fullmatch(alone, text) and not (rest and re.fullmatch(r"-\d+", text)):
            given.append(text)
        else:
            return None, []
    return given, rest
