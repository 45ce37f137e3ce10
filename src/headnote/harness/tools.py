"""The tools of the harness, and how a call of one is answered.

1. A call is answered in this order: the tool is known, the input fits its schema, it is permitted, it runs.
2. Where a person has to decide, `hands.ask` is called; without it the answer is no.
3. Whatever a model does wrong is an answer that says so; nothing raises. A fault of the machine is an answer, too.
"""

from __future__ import annotations

from headnote.errors import HeadnoteError
from headnote.harness.hands import Hands, Result, Tool
from headnote.harness.permission_rules import PATHS
from headnote.harness.tool_bash import BASH
from headnote.harness.tool_files import EDIT, READ, WRITE
from headnote.harness.tool_glob import GLOB
from headnote.harness.tool_grep import GREP
from headnote.harness.tool_input import fitted
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["DEFAULT_TOOLS", "Hands", "Result", "Tool", "definitions", "run_tool"]

DEFAULT_TOOLS: tuple[Tool, ...] = (READ, WRITE, EDIT, GLOB, GREP, BASH)


def definitions(tools: Iterable[Tool]) -> tuple[dict[str, object], ...]:
    """What a model is told of tools.

    >>> [tool["name"] for tool in definitions(DEFAULT_TOOLS)]
    ['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash']
    """
    return tuple({"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools)


def run_tool(hands: Hands, tools: Sequence[Tool], call: Mapping[str, object]) -> Result:
    """Answer a call, given as a `tool_use` block.

    >>> hands = Hands("/repo", home="/home/ann", env={})
    >>> run_tool(hands, DEFAULT_TOOLS, {"type": "tool_use", "id": "t1", "name": "Paint", "input": {}}).content
    '<tool_use_error>Error: No such tool available: Paint</tool_use_error>'
    """
    name = str(call.get("name"))
    tool = next((one for one in tools if one.name == name), None)
    if tool is None:
        return _wrong(f"Error: No such tool available: {name}")
    given, problem = fitted(name, tool.schema, call.get("input"))
    if problem:
        return _wrong(problem)
    verdict = hands.permission.check(name, given, cwd=hands.cwd)
    tagged = verdict.decision == "deny" and bool(verdict.rule) and name in PATHS  # the agent sees these before it asks
    if verdict.decision == "ask":
        granted = hands.ask is not None and hands.ask({**call, "input": given}, verdict)
        verdict = verdict._replace(decision="allow" if granted else "deny")
    if verdict.decision != "allow":
        said = f"<tool_use_error>{verdict.reason}</tool_use_error>" if tagged else verdict.reason
        return Result(said, is_error=True, value=f"Error: {verdict.reason}", verdict=verdict)
    try:
        return tool.run(hands, given)
    except (
        OSError,
        ValueError,
        HeadnoteError,
    ) as error:  # what the machine refuses, and paths that no system call takes
        return Result(f"{name} failed: {error}", is_error=True, value=f"Error: {name} failed: {error}")


def _wrong(said: str) -> Result:
    return Result(f"<tool_use_error>{said}</tool_use_error>", is_error=True, value=said)
