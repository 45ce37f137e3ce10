"""The simple commands of a shell command line, as far as plain reading needs them.

1. Words are unquoted; a word with an expansion (`$x`, `$(…)`, backquotes) is not known.
2. A group, a loop or a branch stands for its first simple command.
3. What is not understood, or runs in the background, or has `|`, `<` or `>` anywhere, even in quotes or a comment,
   gives nothing at all.
"""

from __future__ import annotations

import re

from foretold.text.patterns import lazy
from foretold.types import NamedTuple


class Word(NamedTuple):
    """A word as the shell would pass it on; `known` unless it depends on an expansion, `plain` if nothing is quoted."""

    text: str
    known: bool = True
    plain: bool = True


class Simple(NamedTuple):
    """A simple command: its words without leading assignments, and whether it stands in a group or loop."""

    words: list[Word]
    inside: bool


_TOKEN = lazy(r"(?:[ \t]|\\\n)+|(?P<comment>#[^\n]*)|(?P<operator>&&|;;|[;\n()])|(?P<word>[^\s;&()])")
_PART = lazy(
    r"""'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\[\s\S])*)"|\\(?P<escaped>[^\n])|(?P<plain>[^\s;&()'"\\$`]+)"""
    r"""|(?P<expansion>\$\{[^}]*\}|\$\w+|\$[?#@*!$-]|`[^`]*`)|(?P<open>\$\()|(?P<dollar>\$)|(?P<line>\\\n)"""
)
_ASSIGNMENT = lazy(r"[A-Za-z_]\w*(?:\[[^\]]*\])?=")
_OPENS = {"{": "}", "if": "fi", "for": "done", "while": "done", "until": "done", "case": "esac"}
_CLOSES = ("}", "fi", "done", "esac")


def simple_commands(command: str) -> list[Simple]:
    """The simple commands of a command line; empty if it is not plain.

    >>> [[word.text for word in simple.words] for simple in simple_commands("X=1 cat 'a b' && echo $HOME")]
    [['cat', 'a b'], ['echo', '']]
    """
    tokens = None if re.search(r"[|<>]", command) else _tokens(command)
    return [] if tokens is None else _read(tokens, 0, len(tokens), inside=False) or []


def _tokens(command: str) -> list[Word | str] | None:
    """Words, and operators as plain strings; None if there is anything else."""
    found: list[Word | str] = []
    at = 0
    while at < len(command):
        match = _TOKEN.match(command, at)
        if match is None:
            return None
        if match["word"]:
            read = _word(command, at)
            if read is None:
                return None
            word, at = read
            found.append(word)
            continue
        if match["operator"]:
            found.append(match["operator"])
        at = match.end()
    return found


def _word(command: str, at: int) -> tuple[Word, int] | None:
    """The word that begins here, and where it ends."""
    text, known, start = "", True, at
    if command.startswith(("$'", '$"'), at):
        return None
    while at < len(command) and (part := _PART.match(command, at)):
        at = part.end()
        if part["open"]:
            end = _closing(command, at)
            if end < 0:
                return None
            at, known = end, False
        elif part["double"] is not None:
            text += re.sub(r'\\([$`"\\])', r"\1", part["double"])
            known = known and not re.search(r"[$`]", part["double"])
        else:
            text += part["single"] or part["escaped"] or part["plain"] or ""
            known = known and not (part["expansion"] or part["dollar"])
    return (Word(text, known, command[start:at] == text), at) if at > start else None  # an open quote ends nowhere


def _closing(command: str, at: int) -> int:
    """Behind the bracket that closes the one before; -1 if there is none."""
    depth = 1
    while depth and at < len(command):
        depth += {"(": 1, ")": -1}.get(command[at], 0)
        at += 1
    return -1 if depth else at


def _read(tokens: list[Word | str], at: int, end: int, *, inside: bool) -> list[Simple] | None:
    """The simple commands between two places; None if they are not plain."""
    found: list[Simple] = []
    while at < end:
        here = tokens[at]
        if here in (";", "&&", "\n"):
            at += 1
        elif here == "(" or (isinstance(here, Word) and here.text in _OPENS):
            close = _matching(tokens, at, end)
            first = _first_inside(tokens, at, close) if close else None
            if first is None:
                return None
            found.append(first)
            at = close + 1
        else:
            words, at = _simple(tokens, at, end)
            if words is None:
                return None
            found.append(Simple(words, inside))
            if inside:
                return found
    return found


def _simple(tokens: list[Word | str], at: int, end: int) -> tuple[list[Word] | None, int]:
    words: list[Word] = []
    assigns = False
    while at < end and isinstance(token := tokens[at], Word):
        if words or not _ASSIGNMENT.match(token.text):
            words.append(token._replace(plain=token.plain and not assigns))
        else:
            assigns = True
        at += 1
    plain = bool(words) and (at == end or tokens[at] in (";", "&&", "\n", ")", ";;"))
    return (words if plain else None), at


def _matching(tokens: list[Word | str], at: int, end: int) -> int:
    """Where the group, loop or branch that begins here ends; 0 if it does not."""
    depth = 0
    for place in range(at, end):
        token = tokens[place]
        text = token if isinstance(token, str) else token.text
        begins = place == at or tokens[place - 1] in (";", "\n", "&&", "(", ")", ";;") or _is_keyword(tokens[place - 1])
        if text == "(" or (begins and text in _OPENS):
            depth += 1
        elif (text == ")" and not _is_case_pattern(tokens, place)) or (begins and text in _CLOSES):
            depth -= 1
            if depth == 0:
                return place
    return 0


def _is_keyword(token: Word | str) -> bool:
    return isinstance(token, Word) and token.text in ("do", "then", "else", "{", "if", "while", "until", "!")


def _is_case_pattern(tokens: list[Word | str], place: int) -> bool:
    """Whether a `)` ends a pattern of a `case`: one word stands before it, behind `in` or `;;`."""
    before = tokens[place - 2] if place >= 2 else ""
    return before == ";;" or (isinstance(before, Word) and before.text == "in")


def _first_inside(tokens: list[Word | str], at: int, close: int) -> Simple | None:
    """The first simple command of a group, loop or branch."""
    opener = tokens[at]
    start = at + 1
    if isinstance(opener, Word) and opener.text == "for":
        head = tokens[at:close]
        do = next((place for place, token in enumerate(head) if isinstance(token, Word) and token.text == "do"), 0)
        over = [token for token in head[3:do] if isinstance(token, Word)]
        if not over or not all(token.known for token in over):
            return None
        start = at + do + 1
    elif isinstance(opener, Word) and opener.text == "case":
        if tokens[at + 1] != tokens[at + 3]:  # only a branch that is surely taken
            return None
        start = at + 5
    found = _read(tokens, start, close, inside=True)
    return found[0]._replace(inside=True) if found else None
