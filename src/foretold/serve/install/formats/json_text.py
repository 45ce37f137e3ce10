"""Parses JSON into values with their positions, so that a text can be changed in place.

1. A text may begin with a byte order mark. With `comments`, it may have `//` and `/* */` comments and a comma before a
   closing bracket; else it is standard JSON.
2. Anything else raises `Unsafe` with its line.
3. Numbers are compared as they are written, so that none is rounded.
4. The work grows with the size of a text, not with what is in it: the standard library's scanner, in C, finds where a
   value ends, and the members of an object are looked at when they are asked for. Comments are blanked for it, which
   moves nothing. A text that it refuses is read again, by a reader that says what is wrong with it, and where.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence

from foretold.serve.install.formats import Unsafe, line_of
from foretold.types import NamedTuple

_STRING = r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*"'
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<comment>//[^\n]*|/\*[\s\S]*?\*/)|"
    rf"(?P<string>{_STRING})"
    r"|(?P<mark>[{}\[\],:])|(?P<word>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b)"
)
#: an open comment takes the rest, so that a text with many is not searched to its end for each
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)")
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[}}\]])")
_SPACE = re.compile(r"[ \t\r\n]*")
DEEPEST = 200


class Number(NamedTuple):
    """A number as it is written."""

    text: str


def _refuse(word: str) -> object:
    raise ValueError(word)


_scan = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_refuse).raw_decode
_pass = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode  #: to find ends: it makes nothing of numbers
_KEY = re.compile(rf"({_STRING})[ \t\r\n]*:[ \t\r\n]*")
_BETWEEN = re.compile(r"[ \t\r\n]*(,?)[ \t\r\n]*")


def _text_of(string: str) -> str:
    return str(json.loads(string)) if "\\" in string else string[1:-1]


class Source(NamedTuple):
    """A text for the scanner: without comments, and without commas before a closing bracket."""

    text: str
    commas: tuple[int, ...] = ()  #: where those were


class Node:
    """A value and its position."""

    def __init__(self, source: Source, start: int, end: int, known: Sequence[Member] = ()) -> None:
        self.source, self.start, self.end = source, start, end
        self.kind = {"{": "object", "[": "array"}.get(source.text[start], "scalar")
        self._known = known  #: the first members, if they were seen before
        self._members: tuple[Member, ...] | None = None

    def plain(self) -> object:
        """The value without positions; a new one each time."""
        value: object = _scan(self.source.text, self.start)[0]
        return value

    @property
    def members(self) -> tuple[Member, ...]:
        """The entries of an object or an array."""
        if self._members is None:
            self._members = tuple(self._scan_members()) if self.kind != "scalar" else ()
        return self._members

    def _scan_members(self) -> list[Member]:
        text, found, key = self.source.text, list(self._known), ""
        at = _skip(text, found[-1].comma + 1 if found else self.start + 1)
        while text[at] not in "}]":
            start = at
            if self.kind == "object":
                label = _KEY.match(text, at)
                assert label is not None
                key, at = _text_of(label[1]), label.end()
            node = Node(self.source, at, _pass(text, at)[1])
            mark = _BETWEEN.match(text, node.end)
            assert mark is not None
            at = mark.end()
            found.append(Member(key, start, node, mark.start(1) if mark[1] else -1))
        number = bisect_left(self.source.commas, found[-1].node.end) if found else 0
        if found and number < len(self.source.commas) and self.source.commas[number] < at:
            found[-1] = found[-1]._replace(comma=self.source.commas[number])
        return found

    def members_before(self, place: int) -> list[Member]:
        """The members, as far as they are known, that end with a comma before a place."""
        return [member for member in self._members or () if 0 <= member.comma < place]


class Member(NamedTuple):
    """An entry of an object or of an array."""

    key: str
    start: int  #: of its key, or of its value in an array
    node: Node
    comma: int  #: the position of the comma after it; -1: there is none

    @property
    def end(self) -> int:
        return self.node.end if self.comma < 0 else self.comma + 1


def parse_again(text: str, known: Sequence[Member], *, comments: bool = False) -> Node:
    """The value of a text that is valid; `known` are its first members, if it begins like one that was parsed."""
    source = _blank(text) if comments else Source(text)
    start = _skip(source.text, 1 if text.startswith("\ufeff") else 0)
    return Node(source, start, len(source.text.rstrip(" \t\r\n")), known)


def parse(text: str, *, comments: bool = False) -> Node:
    """The value of a text."""
    try:
        source = _blank(text) if comments else Source(text)
        start = _skip(source.text, 1 if text.startswith("\ufeff") else 0)
        value, end = _scan(source.text, start)
        if _skip(source.text, end) == len(text) and not _is_too_deep(value):
            return Node(source, start, end)
    except (ValueError, RecursionError):
        pass
    reader = _Reader(text, comments=comments)
    reader.value(0)
    if reader.kind:
        raise reader.wrong("the end")
    raise Unsafe("it cannot be read")


def _blank(text: str) -> Source:
    """A text with spaces for comments and for commas before a closing bracket. ValueError: a comment does not end."""
    commas = []

    def blank_comment(found: re.Match[str]) -> str:
        piece = found[0]
        if piece[0] == '"':
            return piece
        if piece.startswith("/*") and (len(piece) < 4 or not piece.endswith("*/")):
            raise ValueError("an open comment")
        return re.sub(r"[^\n]", " ", piece)

    def blank_comma(found: re.Match[str]) -> str:
        if found[0] != ",":
            return found[0]
        commas.append(found.start())
        return " "

    text = _LAST_COMMA.sub(blank_comma, _COMMENT.sub(blank_comment, text))
    return Source(text, tuple(commas))


def _is_too_deep(value: object) -> bool:
    """Whether objects and lists are nested too deeply; only they are visited, level by level."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _skip(text: str, at: int) -> int:
    """Where the white space at a position ends."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _Reader:
    """A text that is not valid, and its current token: it says what is wrong."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self.text, self.comments = text, comments
        self.start = self.end = 1 if text.startswith("\ufeff") else 0
        self.kind = self.piece = ""
        self.step()

    def step(self) -> None:
        """Go on to the next token that is not space or a comment."""
        while self.end < len(self.text):
            found, self.start = _TOKEN.match(self.text, self.end), self.end
            if not found or (found.lastgroup == "comment" and not self.comments):
                self.kind, self.piece = "?", self.text[self.end : self.end + 10].split("\n")[0]
                raise self.wrong("JSON")
            self.end = found.end()
            if found.lastgroup not in ("space", "comment"):
                self.kind, self.piece = str(found.lastgroup), found[0]
                return
        self.start, self.kind, self.piece = len(self.text), "", ""

    def wrong(self, wanted: str) -> Unsafe:
        found = self.piece if len(self.piece) < 20 else self.piece[:17] + "..."
        found = repr(found) if self.kind else "the end"
        return Unsafe(f"line {line_of(self.text, self.start)}: expected {wanted}, found {found}")

    def value(self, depth: int) -> None:
        if depth > DEEPEST:
            raise Unsafe(f"line {line_of(self.text, self.start)}: it is nested too deeply")
        if self.piece in ("{", "["):
            self.container(depth)
            return
        if self.kind not in ("string", "word"):
            raise self.wrong("a value")
        if self.kind == "string":
            self.string()
        self.step()

    def string(self) -> None:
        try:
            json.loads(self.piece)
        except ValueError:
            raise self.wrong("a string") from None

    def container(self, depth: int) -> None:
        kind, closing = ("object", "}") if self.piece == "{" else ("array", "]")
        has_any, has_comma = False, True
        self.step()
        while self.piece != closing:
            if not has_comma:
                raise self.wrong(f"a comma or {closing!r}")
            has_any, has_comma = True, self.member(depth, kind)
        if has_any and has_comma and not self.comments:
            raise self.wrong("another entry")
        self.step()

    def member(self, depth: int, kind: str) -> bool:
        """Read an entry; whether a comma follows it."""
        if kind == "object":
            if self.kind != "string":
                raise self.wrong("a key")
            self.string()
            self.step()
            if self.piece != ":":
                raise self.wrong("a colon")
            self.step()
        self.value(depth + 1)
        has_comma = self.piece == ","
        if has_comma:
            self.step()
        return has_comma
