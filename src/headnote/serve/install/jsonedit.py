"""Changing a JSON text in one place; every other byte stays.

1. A new entry goes behind the last one, on lines of its own, indented as its neighbours are; a comment behind that
   neighbour stays with it. Line ends are those of the text.
2. An entry that is taken out goes with the lines that it has to itself, and the comma that is too many.
3. Taking out what was put in last gives the text back as it was, if that had its entries on lines of their own.
"""

from __future__ import annotations

import json
import re

from headnote.serve.install.jsontext import Member, Node, parse
from headnote.serve.install.unsafe import Unsafe
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Keys = Sequence[str | int]

_INDENTED = re.compile(r'\n([ \t]+)["\[{]')
_TRIVIA = re.compile(r"(?:[ \t]|/\*[^\n]*?\*/)*(?://[^\n\r]*)?")


class Text:
    """A JSON text that is changed step by step."""

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self.text, self.comments = text, comments
        self.root = parse(text, comments=comments)
        self.eol = "\r\n" if "\r\n" in text else "\n"
        found = _INDENTED.search(text)
        self.unit = found[1] if found else "  "

    def value(self) -> object:
        return self.root.plain()

    def find(self, keys: Keys) -> Node | None:
        """What stands below these keys; None if nothing does."""
        node: Node | None = self.root
        for key in keys:
            if node is None:
                return None
            if isinstance(key, int):
                node = node.members[key].node if node.kind == "array" else None
            else:
                node = node.get(key) if node.kind == "object" else None
        return node

    def put(self, keys: Sequence[str], value: object) -> None:
        """Set a key, below objects that are made where they are missing."""
        missing = next((at for at in range(len(keys)) if self.find(keys[: at + 1]) is None), None)
        if missing is None:
            self._replace(self._there(keys), value)
            return
        for key in reversed(keys[missing + 1 :]):
            value = {key: value}
        self._insert(self._container(keys[:missing], "object"), value, keys[missing])

    def append(self, keys: Sequence[str], value: object) -> None:
        """Add to a list, below objects that are made where they are missing."""
        if self.find(keys) is None:
            self.put(keys, [value])
        else:
            self._insert(self._container(keys, "array"), value, None)

    def remove(self, keys: Keys) -> None:
        """Take out what stands below these keys."""
        parent = self._there(keys[:-1])
        last = keys[-1]
        at = last if isinstance(last, int) else [member.key for member in parent.members].index(last)
        member = parent.members[at]
        before = parent.members[at - 1] if at else None
        pieces = [self._span(member)]
        if before is not None and at + 1 == len(parent.members) and member.comma < 0:
            pieces.append((before.comma, before.comma + 1))
        for start, end in sorted(pieces, reverse=True):
            self.text = self.text[:start] + self.text[end:]
        self._again()

    def _span(self, member: Member) -> tuple[int, int]:
        """What goes with an entry: its comma, and its lines if it has them to itself."""
        start, end = member.start, (member.comma + 1 if member.comma >= 0 else member.node.end)
        line = self.text.rfind("\n", 0, start) + 1
        behind = re.compile(r"[ \t]*").match(self.text, end)
        assert behind is not None
        rest = behind.end()
        if self.text[line:start].strip(" \t") == "" and line > 0:
            if self.text.startswith(("\n", "\r\n"), rest):
                return line, rest + (2 if self.text[rest] == "\r" else 1)
            if self.text.startswith(("}", "]"), rest):  # it ends on the line of the bracket that closes it all
                return line - (2 if self.text[line - 2 : line] == "\r\n" else 1), end
        return start, (rest if member.comma >= 0 else end)

    def _there(self, keys: Keys) -> Node:
        node = self.find(keys)
        assert node is not None
        return node

    def _container(self, keys: Sequence[str], kind: str) -> Node:
        node = self._there(keys)
        if node.kind != kind:
            said = ".".join(keys) or "the whole"
            raise Unsafe(f"{said} is no {kind}")
        return node

    def _replace(self, node: Node, value: object) -> None:
        line = self._indent_at(node.start)
        self.text = self.text[: node.start] + self._written(value, line) + self.text[node.end :]
        self._again()

    def _insert(self, parent: Node, value: object, key: str | None) -> None:
        outer = self._indent_at(parent.start)
        indent = outer + self.unit
        if parent.members:
            last = parent.members[-1]
            if self._is_first_on_line(last.start):
                indent = self._indent_at(last.start)
        written = ("" if key is None else json.dumps(key, ensure_ascii=False) + ": ") + self._written(value, indent)
        new = self.eol + indent + written
        if not parent.members:
            self._fill(parent, new, outer)
            return
        end = last.node.end if last.comma < 0 else last.comma + 1
        trivia = _TRIVIA.match(self.text, end)
        assert trivia is not None
        at = trivia.end() if self.text.startswith(("\n", "\r\n"), trivia.end()) else end
        closing = "" if self.text[at : parent.end - 1].lstrip(" \t").startswith(("\n", "\r\n")) else self.eol + outer
        comma = "," if last.comma < 0 else ""
        rest = self.text[at:] if not closing else self.text[at:].lstrip(" \t")
        self.text = (
            self.text[:end] + comma + self.text[end:at] + new + ("," if last.comma >= 0 else "") + closing + rest
        )
        self._again()

    def _fill(self, parent: Node, new: str, outer: str) -> None:
        """The first entry of something empty, behind the comments that it may have."""
        inside = self.text[parent.start + 1 : parent.end - 1].rstrip(" \t\r\n")
        start = parent.start + 1
        self.text = self.text[:start] + inside + new + self.eol + outer + self.text[parent.end - 1 :]
        self._again()

    def _is_first_on_line(self, at: int) -> bool:
        line = self.text.rfind("\n", 0, at) + 1
        return line > 0 and self.text[line:at].strip(" \t") == ""

    def _indent_at(self, at: int) -> str:
        """The white space that the line of a place begins with."""
        line = self.text.rfind("\n", 0, at) + 1
        found = re.compile(r"[ \t]*").match(self.text, line)
        assert found is not None
        return found[0]

    def _written(self, value: object, indent: str) -> str:
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.eol + indent).join(lines)

    def _again(self) -> None:
        self.root = parse(self.text, comments=self.comments)
