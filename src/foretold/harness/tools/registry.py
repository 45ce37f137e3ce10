"""The tools of the harness, and how a call of one is answered.

1. A call is answered in this order: the tool is known, the input fits its schema, it is permitted, it runs.
2. All faults of an input are named at once, in the words that the agent has for its model: what is missing, what has
   another type or value, what is not known. A number or a boolean that was written as a text is converted, as the agent
   does.
3. Where a person has to decide, `context.ask` is called; without it the answer is no. The model learns which it was.
4. Whatever a model does wrong is an answer that says so; nothing raises. A fault of the machine is an answer, too.
5. So is a fault of a custom tool: it raises, or returns something that no model can be sent. It is in `Result.fault`,
   for the harness to report. The middle of a long text that such a tool returns is left out, and the text says so. A
   plain text is as good as a `Result`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from foretold.errors import ForetoldError
from foretold.harness.permissions.check import NOT_ASKED, USER_REFUSED
from foretold.harness.permissions.rules import PATHS
from foretold.harness.tools.base import Result, Tool, ToolContext, failure
from foretold.harness.tools.bash import BASH
from foretold.harness.tools.files import EDIT, READ, WRITE
from foretold.harness.tools.glob import GLOB
from foretold.harness.tools.grep import GREP
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.permissions.check import PermissionVerdict
    from foretold.harness.tools.base import Input


#: the names that types have in JSON; a boolean is not a number
_TYPES = {bool: "boolean", str: "string", int: "number", float: "number", list: "array", dict: "object"}
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


def fit_input(name: str, schema: Mapping[str, object], given: object) -> tuple[Input, str]:
    """The input as a tool takes it, and what is wrong with it, empty if nothing is."""
    if not isinstance(given, dict):
        return {}, _describe_faults(name, [f"The input must be an object but is {_type_name(given)}"])
    properties = schema.get("properties")
    known: dict[str, dict[str, object]] = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    wrong = [f"The required parameter `{key}` is missing" for key in _texts(required) if key not in given]
    taken: Input = {}
    for key, value in given.items():
        if key not in known:
            wrong.append(f"An unexpected parameter `{key}` was provided")
            continue
        taken[key] = _convert(value, str(known[key].get("type")))
        wrong += _find_faults(key, taken[key], known[key])
    return taken, _describe_faults(name, wrong) if wrong else ""


def _describe_faults(name: str, wrong: list[str]) -> str:
    issues = "issue" if len(wrong) == 1 else "issues"
    return f"InputValidationError: {name} failed due to the following {issues}:\n" + "\n".join(wrong)


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def _convert(value: object, wanted: str) -> object:
    if isinstance(value, str):
        if wanted in ("integer", "number") and _NUMBER.fullmatch(value):
            return int(value) if "." not in value else float(value)
        if wanted == "boolean" and value in ("true", "false"):
            return value == "true"
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _find_faults(key: str, value: object, rule: Mapping[str, object]) -> list[str]:
    wanted, name = rule.get("type"), _type_name(value)
    is_fit = name == "number" and not isinstance(value, float) if wanted == "integer" else name == wanted
    if not is_fit and wanted in (*_TYPES.values(), "integer"):
        named = "number" if wanted == "integer" and not isinstance(value, int | float) else wanted
        return [f"The parameter `{key}` type is expected as `{named}` but provided as `{name}`"]
    choices = _texts(rule.get("enum"))
    if choices and value not in choices:
        return [f"The parameter `{key}` must be one of {', '.join(f'`{one}`' for one in choices)}"]
    least = rule.get("minimum")
    if isinstance(least, int) and isinstance(value, int | float) and value < least:
        return [f"The parameter `{key}` must be at least {least}"]
    if isinstance(value, str) and "\0" in value:
        return [f"The parameter `{key}` must not hold a NUL character"]
    return []


def _type_name(value: object) -> str:
    """The name of a type, as JSON has it."""
    if value is None:
        return "null"
    return next((name for kind, name in _TYPES.items() if isinstance(value, kind)), type(value).__name__)


__all__ = ["DEFAULT_TOOLS", "Result", "Tool", "ToolContext", "run_tool", "tool_definitions"]

DEFAULT_TOOLS: tuple[Tool, ...] = (READ, WRITE, EDIT, GLOB, GREP, BASH)
MOST = 100_000  #: characters of a text that a custom tool returns


def tool_definitions(tools: Iterable[Tool]) -> tuple[dict[str, object], ...]:
    """The definitions of tools, as a model gets them."""
    return tuple({"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools)


def run_tool(context: ToolContext, tools: Sequence[Tool], call: Mapping[str, object]) -> Result:
    """Answer a call, given as a `tool_use` block.

    >>> context = ToolContext("/repo", home="/home/ann", env={})
    >>> run_tool(context, DEFAULT_TOOLS, {"type": "tool_use", "id": "t1", "name": "Paint", "input": {}}).content
    '<tool_use_error>Error: No such tool available: Paint</tool_use_error>'
    """
    name = str(call.get("name"))
    tool = next((one for one in tools if one.name == name), None)
    if tool is None:
        return _error(f"Error: No such tool available: {name}")
    given, problem = fit_input(name, tool.schema, call.get("input"))
    if problem:
        return _error(problem)
    verdict = context.permission.check(name, given, cwd=context.cwd)
    tagged = verdict.decision == "deny" and bool(verdict.rule) and name in PATHS  # the agent sees these before it asks
    if verdict.decision == "ask":
        verdict = _ask_user(context, {**call, "input": given}, verdict)
    if verdict.decision != "allow":
        return failure(verdict.reason, is_tagged=tagged)._replace(verdict=verdict)
    try:
        done = tool.run(context, given)
        if isinstance(done, Result) and any(tool is one for one in DEFAULT_TOOLS):
            return done
        return _validate_result(name, done)
    except (OSError, ValueError, ForetoldError) as error:  # what the machine refuses, paths that no system call takes
        return failure(f"{name} failed: {error}")
    except Exception as error:
        return _fault(f"{name} failed: {type(error).__name__}: {error}")


def _ask_user(context: ToolContext, call: Mapping[str, object], verdict: PermissionVerdict) -> PermissionVerdict:
    """What a person decides, if there is one to be asked."""
    if context.ask is None:
        return verdict.refuse(NOT_ASKED)
    return verdict._replace(decision="allow") if context.ask(call, verdict) else verdict.refuse(USER_REFUSED)


def _error(said: str) -> Result:
    return Result(f"<tool_use_error>{said}</tool_use_error>", is_error=True, value=said)


def _fault(said: str) -> Result:
    return failure(said, fault=said)


def _validate_result(name: str, given: object) -> Result:
    """What a tool gave, if it can be written down and sent."""
    result = Result(given) if isinstance(given, str) else given
    if not isinstance(result, Result):
        return _fault(f"{name} failed: it returned no Result but {type(given).__name__}")
    content = result.content
    if isinstance(content, str):
        content = _shorten(content)
    elif isinstance(content, list) and all(isinstance(block, dict) and _is_block(block) for block in content):
        content = [
            {**each, "text": _shorten(str(each["text"]))} if each["type"] == "text" else each for each in content
        ]
    else:
        return _fault(f"{name} failed: the content of its Result is neither a text nor blocks")
    try:
        if isinstance(content, list) or result.value is not None:
            json.dumps([content, result.value])
    except (TypeError, ValueError, RecursionError) as error:
        return _fault(f"{name} failed: its Result cannot be written as JSON: {error}")
    return result._replace(content=content)


def _is_block(block: dict[str, object]) -> bool:
    return isinstance(block.get("text"), str) if block.get("type") == "text" else "type" in block


def _shorten(text: str) -> str:
    if len(text) <= MOST:
        return text
    half = MOST // 2
    return f"{text[:half]}\n\n... [{len(text) - 2 * half} characters truncated] ...\n\n{text[-half:]}"
