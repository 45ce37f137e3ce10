"""Changing a JSON text in one place; every other byte stays.

1. A new entry goes behind the last one, on lines of its own, indented as its neighbours are; a comment behind that
   neighbour stays with it. Line ends are those of the text.
2. What is put in stands on one line; objects that are made around it have lines of their own.
3. An entry that is taken out goes with the lines that it has to itself, and the comma that is too many.
4. Taking out what was put in last gives the text back as it was, if that had its entries on lines of their own. For any
   other, `close_as` puts a closing bracket back where it stood.
"""

from __future__ import annotations

import json
import re

from foretold.serve.install.formats.json_text import Member, Node, line_of, parse
from foretold.serve.install.unsafe import Unsafe
from foretold.types import TYPE_CHECKING

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
                node = self._get(node, key) if node.kind == "object" else None
        return node

    def _get(self, node: Node, key: str) -> Node | None:
        found = [member for member in node.members if member.key == key]
        if len(found) > 1:
            first, second = (line_of(self.text, member.start) for member in found[:2])
            raise Unsafe(f"line {second}: the key {key!r} is there twice, first in line {first}")
        return found[0].node if found else None

    def put(self, keys: Sequence[str], value: object) -> None:
        """Set a key, below objects that are made where they are missing."""
        missing = next((at for at in range(len(keys)) if self.find(keys[: at + 1]) is None), None)
        if missing is None:
            self._replace(self._there(keys), value)
            return
        self._insert(self._container(keys[:missing], "object"), value, keys[missing:])

    def append(self, keys: Sequence[str], value: object) -> None:
        """Add to a list, below objects that are made where they are missing."""
        if self.find(keys) is None:
            self.put(keys, [value])
        else:
            self._insert(self._container(keys, "array"), value, ())

    def remove(self, keys: Keys) -> bool:
        """Take out what stands below these keys; whether it was the last entry there."""
        parent = self._there(keys[:-1])
        last = keys[-1]
        at = last if isinstance(last, int) else [member.key for member in parent.members].index(last)
        member = parent.members[at]
        before = parent.members[at - 1] if at else None
        pieces = [self._span(member)]
        is_last = at + 1 == len(parent.members)
        if before is not None and is_last and member.comma < 0:
            pieces.append((before.comma, before.comma + 1))
        for start, end in sorted(pieces, reverse=True):
            self.text = self.text[:start] + self.text[end:]
        self._again()
        return is_last

    def close_as(self, keys: Keys, was: Text) -> None:
        """White space before a closing bracket as in another text, if the entry before it stands as it does there."""
        node, old = self.find(keys), was.find(keys)
        if node is None or old is None or node.kind != old.kind or bool(node.members) != bool(old.members):
            return
        if node.members and self._is_first_on_line(node.members[-1].start) != was._is_first_on_line(
            old.members[-1].start
        ):
            return
        start, gap = self._gap(node)
        _, wanted = was._gap(old)
        if gap.split() == wanted.split():
            self.text = self.text[:start] + wanted + self.text[node.end - 1 :]
            self._again()

    def _gap(self, node: Node) -> tuple[int, str]:
        """What stands between the last entry and the closing bracket, and where."""
        last = node.members[-1] if node.members else None
        start = node.start + 1 if last is None else last.comma + 1 if last.comma >= 0 else last.node.end
        return start, self.text[start : node.end - 1]

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
            raise Unsafe(f"line {line_of(self.text, node.start)}: {said} is no {kind}")
        return node

    def _replace(self, node: Node, value: object) -> None:
        self.text = self.text[: node.start] + _written(value) + self.text[node.end :]
        self._again()

    def _insert(self, parent: Node, value: object, keys: Sequence[str]) -> None:
        """Put a value into an array, or below these keys into an object."""
        outer = self._indent_at(parent.start)
        indent = outer + self.unit
        if parent.members:
            last = parent.members[-1]
            if self._is_first_on_line(last.start):
                indent = self._indent_at(last.start)
        new = self.eol + indent + self._below(keys, value, indent)
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

    def _below(self, keys: Sequence[str], value: object, indent: str) -> str:
        if len(keys) < 2:
            return "".join(f"{_written(key)}: " for key in keys) + _written(value)
        inner = self.eol + indent + self.unit + self._below(keys[1:], value, indent + self.unit)
        return f"{_written(keys[0])}: {{{inner}{self.eol}{indent}}}"

    def _again(self) -> None:
        self.root = parse(self.text, comments=self.comments)


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
