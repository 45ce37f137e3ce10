"""ToolSearch: the definitions of deferred tools, by name or by words.

1. `select:A,B` are these tools. Other queries are words: a tool counts each that is in its name twice and each that is
   in its description once; a word with `+` must be in the name. The best come first, five unless told otherwise.
2. The result has the definitions as JSON, one a line, in which no tag can be: `<`, and what looks like it, is
   written as an escape.
3. What was found is loaded: its definition is sent with every further request, and it can be called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from foretold.harness.tools.base import Result, Tool, ToolContext, input_schema
from foretold.instructions.render.escape import BRACKETS
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.tools.base import Input

MOST = 5
_ESCAPES = {ord(bracket): f"\\u{ord(bracket):04x}" for bracket in BRACKETS}
NOTHING = "No matching deferred tools found"
NOT_LOADED = (
    "Error: {name} is a deferred tool, and its definition is not loaded. Call ToolSearch with the query"
    ' "select:{name}", then call it again.'
)


def find_tools(query: str, tools: Mapping[str, Tool], most: int = MOST) -> list[Tool]:
    """The deferred tools that a query is about, the best first."""
    if query.startswith("select:"):
        wanted = dict.fromkeys(name.strip() for name in query.removeprefix("select:").split(","))
        return [tools[name] for name in wanted if name in tools]
    words = query.lower().split()
    needed = [word[1:] for word in words if word.startswith("+") and len(word) > 1]
    found = []
    for tool in tools.values():
        score = sum(_score(word.lstrip("+"), tool) for word in words)
        if score and all(word in tool.name.lower() for word in needed):
            found.append((-score, tool.name, tool))
    return [tool for *_, tool in sorted(found, key=lambda each: each[:2])[: max(1, most)]]


def _score(word: str, tool: Tool) -> int:
    names, said = (re.split(r"[^a-z0-9]+", text.lower()) for text in (tool.name, tool.description))
    return 2 * (word in tool.name.lower() or word in names) + (word in said) if word else 0


def describe_tools(tools: Sequence[Tool]) -> str:
    """The definitions of tools, one a line."""
    lines = []
    for tool in tools:
        definition = {"description": tool.description, "name": tool.name, "parameters": tool.schema}
        text = json.dumps(definition, ensure_ascii=False).translate(_ESCAPES)
        lines.append(f"<function>{text}</function>")
    return "\n".join(("<functions>", *lines, "</functions>"))


def make_tool_search(deferred: Callable[[], Mapping[str, Tool]], load: Callable[[Sequence[str]], None]) -> Tool:
    """The tool of one conversation, given its deferred tools and what loads some of them."""

    def run(_: ToolContext, given: Input) -> Result:
        tools, most = deferred(), given.get("max_results")
        found = find_tools(str(given["query"]), tools, most if isinstance(most, int) else MOST)
        names = [tool.name for tool in found]
        load(names)
        value = {"matches": names, "query": given["query"], "total_deferred_tools": len(tools)}
        return Result(describe_tools(found) if found else NOTHING, value=value)

    return Tool(
        "ToolSearch",
        "Load the definitions of deferred tools. Such tools are listed by name only, in a reminder, and cannot be"
        " called until this tool has given you their definitions; then they are called like any other.\n\nQueries:"
        ' "select:NAME,NAME" loads tools by their names; "words to look for" finds the best matches; "+slack send" only'
        " those with slack in their name.",
        input_schema(
            "query",
            {
                "query": {"type": "string", "description": "Which tools"},
                "max_results": {"type": "number", "description": f"How many at most: {MOST} unless given"},
            },
        ),
        run,
    )
