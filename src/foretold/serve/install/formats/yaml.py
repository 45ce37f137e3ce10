"""Adding an item to a list of a YAML text, and taking it out; every other byte stays.

1. Without the list, it goes to the end, with its item; with one that has its items on lines of their own, the item goes
   before the others, indented as they are. Any other form is refused (`Unsafe`).
2. An item is taken out with its lines: up to the next item, or to the next line that is indented less.
3. Whoever calls compares the values before and after: what is not exactly the change is refused.
"""

from __future__ import annotations

import json
import re

from foretold.serve.install.unsafe import Unsafe
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    """A text with one more item in a list of its own.

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
            raise Unsafe(f"the list {key} has no lines of its own")
        start = text if not text or text.endswith("\n") else text + eol
        return start + f"{key}:{eol}" + _lines(item, "  ", eol)
    first = re.compile(r"\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*([ \t]*)- ").match(
        text, head.end() - text[: head.end()].endswith("\r")
    )
    if first is None:
        raise Unsafe(f"the list {key} has no items on lines of their own")
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
        raise Unsafe(f"the list {key} has no lines of its own")
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
