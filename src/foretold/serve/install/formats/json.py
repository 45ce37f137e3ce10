"""Ours in settings that are JSON: added and removed in the text; every other byte stays.

1. A new entry goes after the last one, on its own line, indented like its neighbours; a comment after that neighbour
   stays with it. Line ends are those of the text.
2. An inserted value is on one line; objects that are made around it have lines of their own.
3. An entry is removed with the lines that have nothing else, and with the comma that is then too many.
4. Removing what was inserted last restores the text, if that had its entries on separate lines. For any other,
   `close_as` moves a closing bracket back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence

from foretold.dialects.install_targets import NAME
from foretold.serve.install.formats import Unsafe, checked, delete_at, line_of, put_at, value_at
from foretold.serve.install.formats.json_text import Member, Node, parse, parse_again
from foretold.serve.install.ours import InstallPiece, is_installed_handler, is_installed_server, is_our_handler
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str | int, ...]

_INDENTED = re.compile(r'\n([ \t]+)["\[{]')
_INDENT = re.compile(r"[ \t]*")
_TRIVIA = re.compile(r"(?:[ \t]|/\*[^\n]*?\*/)*(?://[^\n\r]*)?")
_BREAKS = ("\n", "\r\n")


def document_of(text: str, form: str) -> JsonText:
    bare = text.removeprefix("\ufeff")
    if bare.strip():
        return JsonText(text, comments=form == "jsonc")
    return JsonText(text[: len(text) - len(bare)] + "{}\n")


def add(text: str, form: str, pieces: Sequence[InstallPiece]) -> str:
    document = document_of(text, form)
    expected = document.table()
    _check(document, pieces)
    for piece in pieces:
        value, there = parse(_written(piece.value)).plain(), value_at(expected, piece.keys)
        if piece.part == "mcp":
            if there != value:
                document.put(piece.keys, piece.value)
                put_at(expected, piece.keys, value)
            continue
        groups = there if isinstance(there, list) else []
        paths = _our_paths(groups, piece.keys, is_our_handler)
        numbers = {path[len(piece.keys)] for path in paths}
        if [group for number, group in enumerate(groups) if number in numbers] == [value]:
            continue
        for path in paths:
            document.remove(path)
            delete_at(expected, path)
        document.put(piece.keys, piece.value, is_item=True)
        put_at(expected, piece.keys, [*groups, value])
    return document.result(expected)


def _check(document: JsonText, pieces: Sequence[InstallPiece]) -> None:
    """Refuse a text that has something else in the place of ours."""
    for piece in pieces:
        for end in range(1, len(piece.keys) + 1):
            kind = "object" if end < len(piece.keys) else "array" if piece.part == "hooks" else ""
            node = document.find(piece.keys[:end])
            if node and kind and node.kind != kind:
                said = f"{'.'.join(piece.keys[:end])} is not {'a list' if kind == 'array' else 'an object'}"
                raise Unsafe(f"line {line_of(document.text, node.start)}: {said}")


def _our_paths(groups: object, keys: tuple[str, ...], is_ours: Callable[[object], bool]) -> list[Path]:
    """What to remove from the list of an event, the last first: groups that have only ours, or handlers of a group."""
    found: list[Path] = []
    for at, group in enumerate(groups if isinstance(groups, list) else []):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        if isinstance(handlers, list):
            ours = [number for number, handler in enumerate(handlers) if is_ours(handler)]
            is_whole = ours and len(ours) == len(handlers)
            found += [(*keys, at)] if is_whole else [(*keys, at, "hooks", number) for number in ours]
    return found[::-1]


def remove(
    text: str,
    form: str,
    keys: tuple[str, ...],
    parts: Collection[str],
    made: Collection[Path] | None,
    before: str | None = None,
) -> str:
    if not text.removeprefix("\ufeff").strip():
        return text
    document = document_of(text, form)
    expected = document.table()

    def or_container(place: tuple[str, ...], paths: list[Path]) -> list[Path]:
        """If nothing is left in an object or list that was made for ours, remove that instead."""
        if not paths or value_at(expected, place) or not (made is None or place in made):
            return paths
        delete_at(expected, place)
        return [place]

    def take_out(place: tuple[str, ...], paths: list[Path]) -> list[Path]:
        for path in paths:
            delete_at(expected, path)
        return or_container(place, paths)

    hooks, servers, paths = expected.get("hooks"), value_at(expected, keys), []
    if "hooks" in parts and isinstance(hooks, dict):
        for event, groups in list(hooks.items()):
            paths += take_out(("hooks", event), _our_paths(groups, ("hooks", event), is_installed_handler))
        paths = or_container(("hooks",), paths)
    if "mcp" in parts and isinstance(servers, dict) and is_installed_server(servers.get(NAME)):
        paths += take_out(keys, [(*keys, NAME)])
    ends = dict.fromkeys([path[:-1] for path in paths if document.remove(path)])
    if before and before.removeprefix("\ufeff").strip():
        was = document_of(before, form)
        for place in ends:
            if all(isinstance(key, str) for key in place):
                document.close_as(place, was)
    return document.result(expected)


def replace(text: str, form: str, values: Mapping[Path, object]) -> str:
    """A text with other values in these places, which are there."""
    document = document_of(text, form)
    expected: Any = document.table()
    for path, value in values.items():
        document.put(path, value)
        place = expected
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = parse(_written(value)).plain()
    return document.result(expected)


class JsonText:
    """A JSON text that is changed step by step."""

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self.comments = comments
        self.eol = "\r\n" if "\r\n" in text else "\n"
        found = _INDENTED.search(text)
        self.unit = found[1] if found else "  "
        self.text, self.root = text, parse(text, comments=comments)

    def _set(self, text: str, start: int) -> None:
        """Take a text that is as the one before up to a position; what was seen there is not looked at again."""
        self.text, self.root = text, parse_again(text, self.root.members_before(start), comments=self.comments)

    def result(self, expected: object) -> str:
        """The text, if it is valid, and its value is the expected one."""
        return checked(self.text, parse(self.text, comments=self.comments).plain(), expected)

    def table(self) -> dict[str, object]:
        """The value, which must be an object."""
        value = self.root.plain()
        if not isinstance(value, dict):
            raise Unsafe(f"line {line_of(self.text, self.root.start)}: it is not an object")
        return value

    def find(self, keys: Sequence[str | int]) -> Node | None:
        """The node below these keys; None if there is none."""
        node = self.root
        for key in keys:
            if isinstance(key, int):
                node = node.members[key].node
                continue
            found = [member for member in node.members if member.key == key and node.kind == "object"]
            if len(found) > 1:
                first, second = (line_of(self.text, member.start) for member in found[:2])
                raise Unsafe(f"line {second}: the key {key!r} occurs twice, first in line {first}")
            if not found:
                return None
            node = found[0].node
        return node

    def put(self, keys: Sequence[str | int], value: object, *, is_item: bool = False) -> None:
        """Set a key, or add to a list, below objects that are made where they are missing."""
        at, node = 0, self.root
        while at < len(keys) and (inner := self.find(keys[: at + 1])):
            at, node = at + 1, inner
        if at < len(keys):
            self._insert(node, [value] if is_item else value, keys[at:])
        elif is_item:
            self._insert(node, value, ())
        else:
            self._set(self.text[: node.start] + _written(value) + self.text[node.end :], node.start)

    def _insert(self, parent: Node, value: object, keys: Sequence[str | int]) -> None:
        """Put a value at the end of an array, or below these keys into an object."""
        text, outer, last = self.text, self._indent_at(parent.start), None
        indent, closing, comma = outer + self.unit, self.eol + outer, ("", "")
        if parent.members:
            last = parent.members[-1]
            indent = self._indent_at(last.start) if self._is_first_on_line(last.start) else indent
            comma = (",", "") if last.comma < 0 else ("", ",")
            end = last.end
            trivia = _match_end(_TRIVIA, text, end)
            at = trivia if text.startswith(_BREAKS, trivia) else end
            rest = text[at:].lstrip(" \t")
            if rest.startswith(_BREAKS):
                closing, rest = "", text[at:]
        else:  # after any comments
            end = parent.start + 1
            at, rest = end + len(text[end : parent.end - 1].rstrip(" \t\r\n")), text[parent.end - 1 :]
        new = self.eol + indent + self._below(keys, value, indent)
        self._set(text[:end] + comma[0] + text[end:at] + new + comma[1] + closing + rest, end)

    def _below(self, keys: Sequence[str | int], value: object, indent: str) -> str:
        if len(keys) < 2:
            return "".join(f"{_written(key)}: " for key in keys) + _written(value)
        inner = self.eol + indent + self.unit + self._below(keys[1:], value, indent + self.unit)
        return f"{_written(keys[0])}: {{{inner}{self.eol}{indent}}}"

    def remove(self, keys: Sequence[str | int]) -> bool:
        """Remove what is below these keys; whether it was the last entry there."""
        parent, node = self.find(keys[:-1]), self.find(keys)
        assert parent
        assert node
        at = [member.node.start for member in parent.members].index(node.start)
        member, is_last = parent.members[at], at + 1 == len(parent.members)
        start, end = self._span(member)
        before = self.text[:start]
        if at and is_last and member.comma < 0:
            comma = parent.members[at - 1].comma
            before, start = before[:comma] + before[comma + 1 :], comma
        self._set(before + self.text[end:], start)
        return is_last

    def _span(self, member: Member) -> tuple[int, int]:
        """What is removed with an entry: its comma, and its lines if nothing else is on them."""
        text, start, end = self.text, member.start, member.end
        rest = _match_end(_INDENT, text, end)
        if self._is_first_on_line(start):
            line = text.rfind("\n", 0, start) + 1
            if text.startswith(_BREAKS, rest):
                return line, rest + (2 if text[rest] == "\r" else 1)
            if text.startswith(("}", "]"), rest):  # it ends on the line of the bracket that closes it all
                return line - (2 if text[line - 2 : line] == "\r\n" else 1), end
        return start, (rest if member.comma >= 0 else end)

    def close_as(self, keys: Sequence[str | int], was: JsonText) -> None:
        """Restore the white space before a closing bracket from another text, if the entry before it is as there."""
        node, old = self.find(keys), was.find(keys)
        if node is None or old is None or node.kind != old.kind:
            return
        (start, gap, is_first), (_, wanted, was_first) = self._gap(node), was._gap(old)
        if is_first == was_first and gap.split() == wanted.split():
            self._set(self.text[:start] + wanted + self.text[node.end - 1 :], start)

    def _gap(self, node: Node) -> tuple[int, str, bool | None]:
        """The text before a closing bracket, its position, and whether the last entry is the first on its line."""
        last = node.members[-1] if node.members else None
        start = last.end if last else node.start + 1
        return start, self.text[start : node.end - 1], self._is_first_on_line(last.start) if last else None

    def _is_first_on_line(self, at: int) -> bool:
        line = self.text.rfind("\n", 0, at) + 1
        return line > 0 and self.text[line:at].strip(" \t") == ""

    def _indent_at(self, at: int) -> str:
        """The indentation of the line of a position."""
        line = self.text.rfind("\n", 0, at) + 1
        return self.text[line : _match_end(_INDENT, self.text, line)]


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a pattern that matches anything ends."""
    found = pattern.match(text, at)
    assert found is not None
    return found.end()


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
