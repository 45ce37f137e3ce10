"""Parses JSON into values with their positions, so that a text can be changed in place.

1. A text may begin with a byte order mark. With `comments`, it may have `//` and `/* */` comments and a comma before a
   closing bracket; else it is standard JSON.
2. Anything else raises `Unsafe` with its line.
3. Numbers are compared as they are written, so that none is rounded.
"""

from __future__ import annotations

import json
import re

from foretold.serve.install.formats import Unsafe, line_of
from foretold.types import NamedTuple

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<comment>//[^\n]*|/\*[\s\S]*?\*/)|"
    r'(?P<string>"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*")'
    r"|(?P<mark>[{}\[\],:])|(?P<word>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b)"
)
_WORDS = {"true": True, "false": False, "null": None}
DEEPEST = 200


class Number(NamedTuple):
    """A number as it is written."""

    text: str


class Node(NamedTuple):
    """A value and its position."""

    kind: str  #: object, array, scalar
    start: int
    end: int
    value: object  #: of a scalar
    members: tuple[Member, ...] = ()

    def plain(self) -> object:
        """The value without positions."""
        if self.kind == "object":
            return {member.key: member.node.plain() for member in self.members}
        return [member.node.plain() for member in self.members] if self.kind == "array" else self.value


class Member(NamedTuple):
    """An entry of an object or of an array."""

    key: str
    start: int  #: of its key, or of its value in an array
    node: Node
    comma: int  #: the position of the comma after it; -1: there is none


def parse(text: str, *, comments: bool = False) -> Node:
    """The value of a text.

    >>> parse('{"a": [1.50, "1.50"]}').plain()
    {'a': [Number(text='1.50'), '1.50']}
    >>> parse('[true, ] // x', comments=True).plain()
    [True]
    """
    return _Reader(text, comments=comments).whole()


class _Reader:
    def __init__(self, text: str, *, comments: bool) -> None:
        self.text, self.comments = text, comments
        self.at = 1 if text.startswith("\ufeff") else 0
        self.start, self.kind, self.piece = 0, "", ""
        self._next()

    def whole(self) -> Node:
        node = self._value(0)
        if self.kind:
            raise self._wrong("the end")
        return node

    def _wrong(self, wanted: str) -> Unsafe:
        found = self.piece if len(self.piece) < 20 else self.piece[:17] + "..."
        found = repr(found) if self.kind else "the end"
        return Unsafe(f"line {line_of(self.text, self.start)}: expected {wanted}, found {found}")

    def _next(self) -> None:
        """Advance to the next token that is not space or a comment."""
        while self.at < len(self.text):
            found = _TOKEN.match(self.text, self.at)
            self.start = self.at
            if not found or (found.lastgroup == "comment" and not self.comments):
                self.kind, self.piece = "?", self.text[self.at : self.at + 10].split("\n")[0]
                raise self._wrong("JSON")
            self.at = found.end()
            if found.lastgroup not in ("space", "comment"):
                self.kind, self.piece = str(found.lastgroup), found[0]
                return
        self.start, self.kind, self.piece = len(self.text), "", ""

    def _value(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise Unsafe(f"line {line_of(self.text, self.start)}: it is nested too deeply")
        start, token = self.start, self.piece
        if token in ("{", "["):
            return self._container(depth)
        if self.kind == "string":
            value: object = self._string(token)
        elif self.kind == "word":
            value = _WORDS.get(token, Number(token))
        else:
            raise self._wrong("a value")
        end = self.at
        self._next()
        return Node("scalar", start, end, value)

    def _string(self, token: str) -> str:
        try:
            value: str = json.loads(token)
        except ValueError:
            raise self._wrong("a string") from None
        return value

    def _container(self, depth: int) -> Node:
        start, is_object = self.start, self.piece == "{"
        closing = "}" if is_object else "]"
        members: list[Member] = []
        self._next()
        while self.piece != closing or self.kind != "mark":
            members.append(self._member(depth, is_object=is_object))
            if members[-1].comma < 0 and (self.piece != closing or self.kind != "mark"):
                raise self._wrong(f"a comma or {closing!r}")
        if members and members[-1].comma >= 0 and not self.comments:
            raise self._wrong("another entry")
        end = self.at
        self._next()
        return Node("object" if is_object else "array", start, end, None, tuple(members))

    def _member(self, depth: int, *, is_object: bool) -> Member:
        start, key = self.start, ""
        if is_object:
            if self.kind != "string":
                raise self._wrong("a key")
            key = self._string(self.piece)
            self._next()
            if self.piece != ":" or self.kind != "mark":
                raise self._wrong("a colon")
            self._next()
        node, comma = self._value(depth + 1), -1
        if self.piece == "," and self.kind == "mark":
            comma = self.start
            self._next()
        return Member(key, start, node, comma)
