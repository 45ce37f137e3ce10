"""Ours in settings that are JSON: added and taken out. See `change.py`."""

from __future__ import annotations

import json
from copy import deepcopy

from foretold.dialects.install_targets import NAME
from foretold.serve.install.formats.json_edit import Text
from foretold.serve.install.formats.json_text import line_of, parse
from foretold.serve.install.ours import Piece, is_our_handler, without_ours
from foretold.serve.install.unsafe import Unsafe
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    Path = tuple[str | int, ...]
    Table = dict[str, object]


def document_of(text: str, form: str) -> Text:
    bare = text.removeprefix("\ufeff")
    if bare.strip():
        return Text(text, comments=form == "jsonc")
    return Text(text[: len(text) - len(bare)] + "{}\n")


def object_of(document: Text) -> Table:
    value = document.value()
    if not isinstance(value, dict):
        raise Unsafe(f"line {line_of(document.text, document.root.start)}: it is no object")
    return value


def add(text: str, form: str, pieces: Sequence[Piece]) -> str:
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
        raise Unsafe("the change would have touched something else")
    return document.text


def _plain(value: object) -> object:
    return parse(json.dumps(value)).plain()


def _check(document: Text, pieces: Sequence[Piece]) -> None:
    """Refuse a text that has something else where ours must go."""
    object_of(document)
    for piece in pieces:
        kinds = ["object"] * (len(piece.keys) - 1) + ["array"] * (piece.part == "hooks")
        for end, kind in enumerate(kinds, 1):
            node = document.find(piece.keys[:end])
            if node is not None and node.kind != kind:
                said = f"{'.'.join(piece.keys[:end])} is no {'list' if kind == 'array' else kind}"
                raise Unsafe(f"line {line_of(document.text, node.start)}: {said}")


def _with(value: Table, pieces: Sequence[Piece]) -> Table:
    """A value with the pieces: what the text must say afterwards."""
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


def _has_only(document: Text, piece: Piece, value: object) -> bool:
    node = document.find(piece.keys)
    groups = node.plain() if node else None
    return isinstance(groups, list) and _ours(groups) == [value]


def _our_paths(document: Text, keys: tuple[str, ...]) -> list[Path]:
    """What to take out of the list of an event, the last first."""
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
    document = Text(text, comments=form == "jsonc")
    expected = deepcopy(object_of(document))
    paths: list[Path] = []
    hooks = expected.get("hooks")
    if "hooks" in parts and isinstance(hooks, dict):
        for event in list(hooks):
            paths += _without_event(document, hooks, event, made)
        paths = _emptied(hooks, expected, ("hooks",), paths, made)
    servers = below(expected, keys)
    if "mcp" in parts and servers is not None and NAME in servers:
        del servers[NAME]
        parent = below(expected, keys[:-1])
        assert parent is not None
        paths += _emptied(servers, parent, keys, [(*keys, NAME)], made)
    _take_out(document, paths, before, form)
    if document.value() != expected:
        raise Unsafe("the change would have touched something else")
    return document.text


def _take_out(document: Text, paths: Sequence[Path], before: str | None, form: str) -> None:
    """Take these places out; where ours was the last entry, the closing bracket stands again as it did before."""
    ends = dict.fromkeys([path[:-1] for path in paths if document.remove(path)])
    if not before or not before.removeprefix("\ufeff").strip():
        return
    was = document_of(before, form)
    for place in ends:
        if all(isinstance(key, str) for key in place):
            document.close_as(place, was)


def below(value: Table, keys: tuple[str, ...]) -> Table | None:
    for key in keys:
        inner = value.get(key)
        if not isinstance(inner, dict):
            return None
        value = inner
    return value


def _without_event(document: Text, hooks: Table, event: str, made: Collection[Path] | None) -> list[Path]:
    """Take ours out of an event's list; the paths of what goes."""
    groups, place = hooks[event], ("hooks", event)
    if not isinstance(groups, list) or not _ours(groups):
        return []
    hooks[event] = left = without_ours(groups)
    return _emptied(left, hooks, place, _our_paths(document, place), made)


def _emptied(
    inner: object, outer: Table, place: tuple[str, ...], paths: list[Path], made: Collection[Path] | None
) -> list[Path]:
    """If nothing is left in a place that was made for ours, the place itself goes instead of what was in it."""
    if inner or not paths or not (made is None or place in made):
        return paths
    del outer[place[-1]]
    return [place]
