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
from collections.abc import Collection, Sequence
from copy import deepcopy

from foretold.dialects.install_targets import NAME
from foretold.serve.install.formats import TOUCHED, Unsafe, line_of, value_at
from foretold.serve.install.formats.json_text import Member, Node, parse
from foretold.serve.install.ours import InstallPiece, is_our_handler, without_ours
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    Path = tuple[str | int, ...]
    Table = dict[str, object]


def document_of(text: str, form: str) -> JsonText:
    bare = text.removeprefix("\ufeff")
    if bare.strip():
        return JsonText(text, comments=form == "jsonc")
    return JsonText(text[: len(text) - len(bare)] + "{}\n")


def object_of(document: JsonText) -> Table:
    value = document.value()
    if not isinstance(value, dict):
        raise Unsafe(f"line {line_of(document.text, document.root.start)}: it is not an object")
    return value


def add(text: str, form: str, pieces: Sequence[InstallPiece]) -> str:
    document = document_of(text, form)
    _check(document, pieces)
    expected = _with(object_of(document), pieces)
    if document.value() == expected and text.strip():
        return text
    for piece in pieces:
        value = _plain(piece.value)
        if piece.part == "mcp":
            found = document.find(piece.keys)
            if found is None or found.plain() != value:
                document.put(piece.keys, piece.value)
        elif not _has_only(document, piece, value):
            for path in _our_paths(document, piece.keys):
                document.remove(path)
            document.append(piece.keys, piece.value)
    if document.value() != expected:
        raise Unsafe(TOUCHED)
    return document.text


def _plain(value: object) -> object:
    return parse(json.dumps(value)).plain()


def _check(document: JsonText, pieces: Sequence[InstallPiece]) -> None:
    """Refuse a text that has something else in the place of ours."""
    object_of(document)
    for piece in pieces:
        kinds = ["object"] * (len(piece.keys) - 1) + ["array"] * (piece.part == "hooks")
        for end, kind in enumerate(kinds, 1):
            node = document.find(piece.keys[:end])
            if node is not None and node.kind != kind:
                said = f"{'.'.join(piece.keys[:end])} is not {'a list' if kind == 'array' else 'an object'}"
                raise Unsafe(f"line {line_of(document.text, node.start)}: {said}")


def _with(value: Table, pieces: Sequence[InstallPiece]) -> Table:
    """A value with the pieces: what the text must contain afterwards."""
    value = deepcopy(value)
    for piece in pieces:
        parent = value
        for key in piece.keys[:-1]:
            inner = parent.setdefault(key, {})
            assert isinstance(inner, dict)
            parent = inner
        last = piece.keys[-1]
        if piece.part == "mcp":
            parent[last] = _plain(piece.value)
            continue
        groups = parent.get(last, [])
        assert isinstance(groups, list)
        if _ours(groups) != [_plain(piece.value)]:
            parent[last] = [*without_ours(groups), _plain(piece.value)]
    return value


def _ours(groups: Sequence[object]) -> list[object]:
    """The groups that have a handler of ours."""
    return [group for group in groups if without_ours([group]) != [group]]


def _has_only(document: JsonText, piece: InstallPiece, value: object) -> bool:
    node = document.find(piece.keys)
    groups = node.plain() if node else None
    return isinstance(groups, list) and _ours(groups) == [value]


def _our_paths(document: JsonText, keys: tuple[str, ...]) -> list[Path]:
    """The paths to remove from the list of an event, the last first."""
    node = document.find(keys)
    groups = node.plain() if node else None
    found: list[Path] = []
    for at, group in reversed(list(enumerate(groups if isinstance(groups, list) else []))):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(handlers, list) or not any(map(is_our_handler, handlers)):
            continue
        if all(map(is_our_handler, handlers)):
            found.append((*keys, at))
        else:
            numbers = [number for number, handler in enumerate(handlers) if is_our_handler(handler)]
            found += [(*keys, at, "hooks", number) for number in reversed(numbers)]
    return found


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
    document = JsonText(text, comments=form == "jsonc")
    expected = deepcopy(object_of(document))
    paths: list[Path] = []
    hooks = expected.get("hooks")
    if "hooks" in parts and isinstance(hooks, dict):
        for event in list(hooks):
            paths += _without_event(document, hooks, event, made)
        paths = _or_container(hooks, expected, ("hooks",), paths, made)
    servers = _table_at(expected, keys)
    if "mcp" in parts and servers is not None and NAME in servers:
        del servers[NAME]
        parent = _table_at(expected, keys[:-1])
        assert parent is not None
        paths += _or_container(servers, parent, keys, [(*keys, NAME)], made)
    _take_out(document, paths, before, form)
    if document.value() != expected:
        raise Unsafe(TOUCHED)
    return document.text


def _take_out(document: JsonText, paths: Sequence[Path], before: str | None, form: str) -> None:
    """Remove these paths; if ours was the last entry, the closing bracket is placed as before."""
    ends = dict.fromkeys([path[:-1] for path in paths if document.remove(path)])
    if not before or not before.removeprefix("\ufeff").strip():
        return
    was = document_of(before, form)
    for place in ends:
        if all(isinstance(key, str) for key in place):
            document.close_as(place, was)


def _table_at(value: Table, keys: tuple[str, ...]) -> Table | None:
    found = value_at(value, keys)
    return found if isinstance(found, dict) else None


def _without_event(document: JsonText, hooks: Table, event: str, made: Collection[Path] | None) -> list[Path]:
    """Remove ours from an event's list; the paths to remove."""
    groups, place = hooks[event], ("hooks", event)
    if not isinstance(groups, list) or not _ours(groups):
        return []
    hooks[event] = left = without_ours(groups)
    return _or_container(left, hooks, place, _our_paths(document, place), made)


def _or_container(
    inner: object, outer: Table, place: tuple[str, ...], paths: list[Path], made: Collection[Path] | None
) -> list[Path]:
    """If nothing is left in an object or list that was made for ours, remove that instead."""
    if inner or not paths or not (made is None or place in made):
        return paths
    del outer[place[-1]]
    return [place]


if TYPE_CHECKING:
    from collections.abc import Sequence

    Keys = Sequence[str | int]

_INDENTED = re.compile(r'\n([ \t]+)["\[{]')
_TRIVIA = re.compile(r"(?:[ \t]|/\*[^\n]*?\*/)*(?://[^\n\r]*)?")


class JsonText:
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
        """The node below these keys; None if there is none."""
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
            raise Unsafe(f"line {second}: the key {key!r} occurs twice, first in line {first}")
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
        """Remove what is below these keys; whether it was the last entry there."""
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

    def close_as(self, keys: Keys, was: JsonText) -> None:
        """Restore the white space before a closing bracket from another text, if the entry before it is as there."""
        node, old = self.find(keys), was.find(keys)
        if node is None or old is None or node.kind != old.kind or bool(node.members) != bool(old.members):
            return
        if node.members and self._is_first_on_line(node.members[-1].start) != was._is_first_on_line(
            old.members[-1].start
        ):
            return
        start, gap = self._gap(node)
        _, wanted_pieces = was._gap(old)
        if gap.split() == wanted_pieces.split():
            self.text = self.text[:start] + wanted_pieces + self.text[node.end - 1 :]
            self._again()

    def _gap(self, node: Node) -> tuple[int, str]:
        """The text between the last entry and the closing bracket, and its position."""
        last = node.members[-1] if node.members else None
        start = node.start + 1 if last is None else last.comma + 1 if last.comma >= 0 else last.node.end
        return start, self.text[start : node.end - 1]

    def _span(self, member: Member) -> tuple[int, int]:
        """What is removed with an entry: its comma, and its lines if nothing else is on them."""
        start, end = member.start, (member.comma + 1 if member.comma >= 0 else member.node.end)
        line = self.text.rfind("\n", 0, start) + 1
        after = re.compile(r"[ \t]*").match(self.text, end)
        assert after is not None
        rest = after.end()
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
            raise Unsafe(f"line {line_of(self.text, node.start)}: {said} is not an {kind}")
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
        """Insert the first entry, after any comments."""
        inside = self.text[parent.start + 1 : parent.end - 1].rstrip(" \t\r\n")
        start = parent.start + 1
        self.text = self.text[:start] + inside + new + self.eol + outer + self.text[parent.end - 1 :]
        self._again()

    def _is_first_on_line(self, at: int) -> bool:
        line = self.text.rfind("\n", 0, at) + 1
        return line > 0 and self.text[line:at].strip(" \t") == ""

    def _indent_at(self, at: int) -> str:
        """The indentation of the line of a position."""
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
