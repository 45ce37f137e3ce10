"""Ours in settings that are YAML: an item of a list that is added and removed; every other byte stays.

1. If the list is missing, it is appended with the item; if it has its items on separate lines, the item goes before the
   others, indented as they are. Any other form is refused (`Unsafe`).
2. An item is removed with its lines: up to the next item, or to the next line that is indented less.
3. The values before and after are compared: anything but exactly the change is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from foretold.dialects.install_targets import NAME
from foretold.serve.install.formats import Unsafe, checked, place_of


def add(text: str, key: str, item: Mapping[str, object]) -> str:
    """A text that has this item of ours in a list."""
    value, ours, others = _split(text, key)
    if ours == [item]:
        return text
    for _ in ours:
        text = without_item(text, key, NAME)
    text = with_item(text, key, item)
    return checked(text, value_of(text), {**value, key: [item, *others]})


def remove(text: str, key: str) -> str:
    """A text without our items of a list."""
    value, ours, others = _split(text, key)
    for _ in ours:
        text = without_item(text, key, NAME)
    rest = {name: each for name, each in value.items() if name != key or not ours}
    return checked(text, value_of(text), {**rest, key: others} if ours and others else rest)


def _split(text: str, key: str) -> tuple[dict[str, object], list[object], list[object]]:
    """The mapping of a text, and our items and the others of this list of it."""
    value = value_of(text)
    items = value.get(key) or []
    if not isinstance(items, list):
        raise Unsafe(f"{place_of(text, key)}{key} is not a list")
    ours: list[object] = [item for item in items if isinstance(item, dict) and item.get("name") == NAME]
    return value, ours, [item for item in items if item not in ours]


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
    """A text without the item of a list that has this name; without the list, if it was the only one."""
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
