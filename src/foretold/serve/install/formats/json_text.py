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

    @property
    def end(self) -> int:
        return self.node.end if self.comma < 0 else self.comma + 1


def parse(text: str, *, comments: bool = False) -> Node:
    """The value of a text."""
    reader = _Reader(text, comments=comments)
    node = reader.value(0)
    if reader.kind:
        raise reader.wrong("the end")
    return node


class _Reader:
    """A text and its current token."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self.text, self.comments = text, comments
        self.start = self.end = 1 if text.startswith("\ufeff") else 0
        self.kind = self.piece = ""
        self.step()

    def step(self) -> int:
        """Go on to the next token that is not space or a comment; where the current one ends."""
        end = self.end
        while self.end < len(self.text):
            found, self.start = _TOKEN.match(self.text, self.end), self.end
            if not found or (found.lastgroup == "comment" and not self.comments):
                self.kind, self.piece = "?", self.text[self.end : self.end + 10].split("\n")[0]
                raise self.wrong("JSON")
            self.end = found.end()
            if found.lastgroup not in ("space", "comment"):
                self.kind, self.piece = str(found.lastgroup), found[0]
                return end
        self.start, self.kind, self.piece = len(self.text), "", ""
        return end

    def wrong(self, wanted: str) -> Unsafe:
        found = self.piece if len(self.piece) < 20 else self.piece[:17] + "..."
        found = repr(found) if self.kind else "the end"
        return Unsafe(f"line {line_of(self.text, self.start)}: expected {wanted}, found {found}")

    def value(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise Unsafe(f"line {line_of(self.text, self.start)}: it is nested too deeply")
        start, token = self.start, self.piece
        if token in ("{", "["):
            return self.container(depth)
        if self.kind not in ("string", "word"):
            raise self.wrong("a value")
        value = self.string() if self.kind == "string" else _WORDS.get(token, Number(token))
        return Node("scalar", start, self.step(), value)

    def string(self) -> str:
        try:
            return str(json.loads(self.piece))
        except ValueError:
            raise self.wrong("a string") from None

    def container(self, depth: int) -> Node:
        start, kind, closing = self.start, *(("object", "}") if self.piece == "{" else ("array", "]"))
        members: list[Member] = []
        self.step()
        while self.piece != closing:
            if members and members[-1].comma < 0:
                raise self.wrong(f"a comma or {closing!r}")
            members.append(self.member(depth, kind))
        if members and members[-1].comma >= 0 and not self.comments:
            raise self.wrong("another entry")
        return Node(kind, start, self.step(), None, tuple(members))

    def member(self, depth: int, kind: str) -> Member:
        start, key, comma = self.start, "", -1
        if kind == "object":
            if self.kind != "string":
                raise self.wrong("a key")
            key = self.string()
            self.step()
            if self.piece != ":":
                raise self.wrong("a colon")
            self.step()
        node = self.value(depth + 1)
        if self.piece == ",":
            comma = self.start
            self.step()
        return Member(key, start, node, comma)
