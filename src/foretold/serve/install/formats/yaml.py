"""Ours in settings that are YAML: an item of a list that is added and removed; every other byte stays.

1. If the list is missing, it is appended with the item; if it has its items on separate lines, the item goes before the
   others, indented as they are. Any other form is refused (`Unsafe`).
2. An item is removed with its lines: up to the next item, or to the next line that is indented less.
3. The values before and after are compared: anything but exactly the change is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence

from foretold.dialects.install_targets import NAME
from foretold.serve.install.formats import TOUCHED, Unsafe, end_as_before, place_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.install.formats.json import Path
    from foretold.serve.install.ours import InstallPiece


def add(text: str, _form: str, pieces: Sequence[InstallPiece]) -> str:
    for piece in pieces:
        key, before = piece.keys[0], value_of(text)
        items = _items(text, before, key)
        if [item for item in items if _is_ours(item)] == [dict(piece.value)]:
            continue
        for _ in filter(_is_ours, items):
            text = without_item(text, key, NAME)
        text = with_item(text, key, piece.value)
        expected = {**before, key: [dict(piece.value), *(item for item in items if not _is_ours(item))]}
        if value_of(text) != expected:
            raise Unsafe(TOUCHED)
    return text


def remove(
    text: str,
    _form: str,
    keys: tuple[str, ...],
    parts: Collection[str],
    _made: Collection[Path] | None,
    before: str | None = None,
) -> str:
    there, key = value_of(text), keys[0]
    items = _items(text, there, key)
    if "mcp" not in parts or not any(map(_is_ours, items)):
        return text
    left = text
    for _ in filter(_is_ours, items):
        left = without_item(left, key, NAME)
    text = end_as_before(before, text, left)
    expected = {**there, key: [item for item in items if not _is_ours(item)]}
    if not expected[key]:
        del expected[key]
    if value_of(text) != expected:
        raise Unsafe(TOUCHED)
    return text


def _items(text: str, value: dict[str, object], key: str) -> list[object]:
    items = value.get(key) or []
    if not isinstance(items, list):
        raise Unsafe(f"{place_of(text, key)}{key} is not a list")
    return items


def _is_ours(item: object) -> bool:
    return isinstance(item, dict) and item.get("name") == NAME


def value_of(text: str) -> dict[str, object]:
    """The mapping of a text."""
    from foretold.text.frontmatter import parse

    bare = text.removeprefix("\ufeff")
    if not bare.strip():
        return {}
    front = parse(bare)
    if front.problem:
        raise Unsafe(f"line {front.line}: {front.problem}" if front.line else front.problem)
    return front.values


def with_item(text: str, key: str, item: Mapping[str, object]) -> str:
    """A text with one more item in a list.

    >>> print(with_item("name: x\\n", "mcpServers", {"name": "foretold", "args": ["mcp"]}), end="")
    name: x
    mcpServers:
      - name: "foretold"
        args: ["mcp"]
    """
    eol = "\r\n" if "\r\n" in text else "\n"
    head = re.search(rf"^{re.escape(key)}:[ \t]*(?:#[^\n]*)?\r?$", text, re.MULTILINE)
    if head is None:
        if re.search(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*:", text, re.MULTILINE):
            raise Unsafe(f"the list {key} does not have lines of its own")
        start = text if not text or text.endswith("\n") else text + eol
        return start + f"{key}:{eol}" + _lines(item, "  ", eol)
    first = re.compile(r"\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*([ \t]*)- ").match(
        text, head.end() - text[: head.end()].endswith("\r")
    )
    if first is None:
        raise Unsafe(f"the list {key} does not have its items on separate lines")
    at = first.end() - 2 - len(first[1])
    return text[:at] + _lines(item, first[1], eol) + text[at:]


def _lines(item: Mapping[str, object], indent: str, eol: str) -> str:
    starts = ["- ", *["  "] * (len(item) - 1)]
    rows = [
        f"{indent}{start}{key}: {json.dumps(value)}" for start, (key, value) in zip(starts, item.items(), strict=True)
    ]
    return "".join(row + eol for row in rows)


def without_item(text: str, key: str, name: str) -> str:
    """A text without the item of a list that has this name; without the list, if it was the only one.

    >>> without_item('a: 1\\nm:\\n  - name: "x"\\n    b: 2\\n', "m", "x")
    'a: 1\\n'
    """
    lines = text.splitlines(keepends=True)
    head = next((at for at, line in enumerate(lines) if re.match(rf"{re.escape(key)}:\s*(#.*)?$", line)), None)
    if head is None:
        raise Unsafe(f"the list {key} does not have lines of its own")
    end = next((at for at in range(head + 1, len(lines)) if re.match(r"[^\s#-]", lines[at])), len(lines))
    starts = [at for at in range(head + 1, end) if re.match(r"[ \t]*- ", lines[at])]
    depth = min((len(lines[at]) - len(lines[at].lstrip()) for at in starts), default=0)
    starts = [at for at in starts if len(lines[at]) - len(lines[at].lstrip()) == depth]
    for at, after in zip(starts, [*starts[1:], end], strict=True):
        if re.search(rf"^\s*(?:- )?name:\s*[\"']?{re.escape(name)}[\"']?\s*(?:#.*)?$", "".join(lines[at:after]), re.M):
            while after > at + 1 and after == end and not lines[after - 1].strip():
                after -= 1
            return "".join(lines[: head if len(starts) == 1 else at] + lines[after:])
    raise Unsafe(f"no item of {key} is called {name}")
