"""Which files a shell command reads, and which of their lines it shows.

1. Each simple command reads exactly one file (`cat`, `head`, `tail`, `sed -n`, `nl`, or a `grep` by itself) or only
   prints (`true`, `echo`, `printf`). Any other command, and any option that is not known, makes the whole line opaque.
2. A group, a loop or a branch counts as its first simple command; there, a command that only prints is opaque too.
   A loop counts if all it loops over is known, a `case` if its first pattern is the word itself.
3. `cat` and `nl` show a whole file, `head` and `sed -n` lines from a known one on, `tail` the last ones. A `grep`
   counts as a look at the whole file, though it shows only some lines.

The commands are those that Claude Code takes for reading a file, with the options that it accepts for each: found by
asking it about several hundred forms. # claude-code@2.1.325: n325-bash-*, nest-bash
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foretold.dialects.surroundings import join
from foretold.text.patterns import lazy
from foretold.text.shell.parse import Word, read_tokens
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    Tokens = list[Word | str]
    #: a simple command: its words without leading assignments, whether it is in a group or loop, and has assignments
    Simple = tuple[list[Word], bool, bool]

#: commands that only print; any other command makes the whole line opaque
PRINTS = ("true", "echo", "printf")
GREPS = ("grep", "egrep", "fgrep", "rg")
#: command -> its options that take no further word
OPTIONS = {
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
#: command -> its options whose next word is a number
NUMBER_OPTIONS = {
    "head": ("-n", "--lines"),
    "tail": ("-n", "--lines"),
    "grep": ("-A", "-B", "-C"),
    "rg": ("-A", "-B", "-C", "--context"),
}
DEFAULT_LINES = 10  #: lines that head and tail show

_ASSIGNMENT = lazy(r"[A-Za-z_]\w*(?:\[[^\]]*\])?=")
_OPENING = ("{", "if", "for", "while", "until", "case")
_CLOSING = ("}", "fi", "done", "esac")
_BEFORE_COMMAND = ("do", "then", "else", "{", "if", "while", "until", "!")
_QUIET = lazy(r"-\w*n\w*|--quiet|--silent")
_RANGE = lazy(r"0*([1-9]\d*)(?:,(\d+))?p")
_COUNT = lazy(r"(?:-n?|--lines)=?(\d+)")


class ShellRead(NamedTuple):
    """A file that a command reads, by the path that the command has, and the lines that it asks for."""

    path: str
    first: int = 1
    most: int | None = None  #: how many lines; None: all
    from_end: bool = False  #: the last lines, so the first one is not known
    searches: bool = False  #: only lines that match a pattern are shown


def files_read(command: str) -> list[ShellRead]:
    """The files that a command reads; empty if it does anything else."""
    found: list[ShellRead] = []
    commands = _simple_commands(command)
    for words, inside, assigns in commands:
        name = words[0].text
        if name in PRINTS and words[0].raw == name and not inside and not assigns:
            continue
        read = _find_read(name, words[1:])
        if read is None or (name in GREPS and len(commands) > 1):
            return []
        if read.path and not read.path.endswith("/"):
            found.append(read)
    return found


def folder_after(command: str, folder: str) -> str:
    """The shell's folder after a command that succeeded: plain `cd`s are followed."""
    for words, inside, _ in _simple_commands(command):
        if words[0].text == "cd" and len(words) == 2 and words[1].known and not inside:
            folder = join(folder, words[1].text)
    return folder


def _find_read(name: str, words: Sequence[Word]) -> ShellRead | None:
    """The file that a simple command reads; None if it does anything else. A file not known has an empty path."""
    kind = "grep" if name in ("egrep", "fgrep") else name
    if kind not in OPTIONS:
        return None
    given, rest = _split_options(words, OPTIONS[kind], NUMBER_OPTIONS.get(kind, ()))
    if given is None:
        return None
    read = ShellRead("")
    if kind == "sed":
        lines = _RANGE.fullmatch(rest[0].text) if rest and rest[0].known else None
        if lines is None or not any(_QUIET.fullmatch(option) for option in given):
            return None
        first, last = int(lines[1]), int(lines[2] or lines[1])
        read, rest = ShellRead("", first, max(last - first, 0) + 1), rest[1:]
    elif kind in GREPS:
        read, rest = ShellRead("", searches=True), rest[1:]
    elif kind in ("head", "tail"):
        counts = [int(met[1]) for option in given if (met := _COUNT.fullmatch(option))]
        read = ShellRead("", most=counts[0] if counts else DEFAULT_LINES, from_end=kind == "tail")
    known = [word.text for word in rest if word.known]
    if not rest or len(known) > 1:
        return None
    return read._replace(path=known[0] if known else "")


def _split_options(
    words: Sequence[Word], alone: str, with_number: tuple[str, ...]
) -> tuple[list[str] | None, list[Word]]:
    """Options, with their numbers, and other words; None for the options if one of them is not known."""
    given: list[str] = []
    rest: list[Word] = []
    at = 0
    while at < len(words):
        text = words[at].text
        at += 1
        if text in with_number and at < len(words) and re.fullmatch(r"0*[1-9]\d*", words[at].text):
            given.append(f"{text}={words[at].text}")
            at += 1
        elif len(text) < 2 or text[0] != "-":
            rest.append(words[at - 1])
        elif re.fullmatch(alone, text) and not (rest and re.fullmatch(r"-\d+", text)):
            given.append(text)
        else:
            return None, []
    return given, rest


def _simple_commands(command: str) -> list[Simple]:
    """The simple commands of a line; empty if it is opaque."""
    tokens = read_tokens(command)
    return _read(tokens, 0, len(tokens), inside=False) or []


def _text(token: Word | str) -> str:
    """The text of a word; nothing for an operator."""
    return token.text if isinstance(token, Word) else ""


def _read(tokens: Tokens, at: int, end: int, *, inside: bool) -> list[Simple] | None:
    """The simple commands between two places; None if they are opaque."""
    found: list[Simple] = []
    while at < end:
        here = tokens[at]
        if here in (";", "&&", "\n"):
            at += 1
        elif here == "(" or _text(here) in _OPENING:
            close = _find_close(tokens, at, end)
            first = _first_inside(tokens, at, close) if close else None
            if first is None:
                return None
            found.append(first)
            at = close + 1
        else:
            simple, at = _read_simple(tokens, at, end, inside=inside)
            if simple is None:
                return None
            found.append(simple)
            if inside:
                return found
    return found


def _read_simple(tokens: Tokens, at: int, end: int, *, inside: bool) -> tuple[Simple | None, int]:
    words: list[Word] = []
    assigns = False
    while at < end and isinstance(token := tokens[at], Word):
        if words or not _ASSIGNMENT.match(token.text):
            words.append(token)
        else:
            assigns = True
        at += 1
    is_whole = bool(words) and (at == end or tokens[at] in (";", "&&", "\n", ")", ";;"))
    return ((words, inside, assigns) if is_whole else None), at


def _find_close(tokens: Tokens, at: int, end: int) -> int:
    """Where the group, loop or branch that begins here ends; 0 if it does not."""
    depth = 0
    for place in range(at, end):
        token, before = tokens[place], tokens[place - 1]
        text = token if isinstance(token, str) else token.text
        begins = place == at or before in (";", "\n", "&&", "(", ")", ";;") or _text(before) in _BEFORE_COMMAND
        if text == "(" or (begins and text in _OPENING):
            depth += 1
        elif text == ")" and (_text(two := tokens[max(place - 2, 0)]) == "in" or two == ";;"):
            continue  # the end of a pattern of a `case`: one word is before it, after `in` or `;;`
        elif text == ")" or (begins and text in _CLOSING):
            depth -= 1
            if depth == 0:
                return place
    return 0


def _first_inside(tokens: Tokens, at: int, close: int) -> Simple | None:
    """The first simple command of a group, loop or branch."""
    start, opener = at + 1, _text(tokens[at])
    if opener == "for":
        head = tokens[at:close]
        do = next((place for place, token in enumerate(head) if _text(token) == "do"), 0)
        over = [token for token in head[3:do] if isinstance(token, Word)]
        if not over or not all(token.known for token in over):
            return None
        start = at + do + 1
    elif opener == "case":
        words = tokens[at + 1 : at + 4]
        keys = [each if isinstance(each, str) else (each.text, each.known, each.raw == each.text) for each in words]
        if len(keys) < 3 or keys[0] != keys[2]:  # only a branch that is certainly taken
            return None
        start = at + 5
    found = _read(tokens, start, close, inside=True)
    return (found[0][0], True, found[0][2]) if found else None
