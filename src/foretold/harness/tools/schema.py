"""Does an input fit the schema of a tool? In the words that the agent has for its model.

1. All that is wrong is told at once: what is missing, what has another type or value, what is not known.
2. A number or a truth value that was written as a text is taken as what was meant, as the agent does.
"""

from __future__ import annotations

import re

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foretold.harness.tools.base import Input

_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


def fitted(name: str, schema: Mapping[str, object], given: object) -> tuple[Input, str]:
    """The input as a tool takes it, and what is wrong with it, empty if nothing is.

    >>> schema = {"properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["path"]}
    >>> fitted("Read", schema, {"path": "a", "limit": "3"})
    ({'path': 'a', 'limit': 3}, '')
    >>> print(fitted("Read", schema, {"limit": 1, "file": "a"})[1])
    InputValidationError: Read failed due to the following issues:
    The required parameter `path` is missing
    An unexpected parameter `file` was provided
    """
    if not isinstance(given, dict):
        return {}, _said(name, [f"The input must be an object but is {_kind(given)}"])
    properties = schema.get("properties")
    known: dict[str, dict[str, object]] = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    wrong = [f"The required parameter `{key}` is missing" for key in _listed(required) if key not in given]
    taken: Input = {}
    for key, value in given.items():
        if key not in known:
            wrong.append(f"An unexpected parameter `{key}` was provided")
            continue
        taken[key] = _meant(value, str(known[key].get("type")))
        wrong += _faults(key, taken[key], known[key])
    return taken, _said(name, wrong) if wrong else ""


def _said(name: str, wrong: list[str]) -> str:
    issues = "issue" if len(wrong) == 1 else "issues"
    return f"InputValidationError: {name} failed due to the following {issues}:\n" + "\n".join(wrong)


def _listed(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def _meant(value: object, wanted: str) -> object:
    if isinstance(value, str):
        if wanted in ("integer", "number") and _NUMBER.fullmatch(value):
            return int(value) if "." not in value else float(value)
        if wanted == "boolean" and value in ("true", "false"):
            return value == "true"
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _faults(key: str, value: object, rule: Mapping[str, object]) -> list[str]:
    wanted = rule.get("type")
    if wanted is not None and not _is_a(value, str(wanted)):
        named = "number" if wanted == "integer" and not isinstance(value, int | float) else wanted
        return [f"The parameter `{key}` type is expected as `{named}` but provided as `{_kind(value)}`"]
    choices = _listed(rule.get("enum"))
    if choices and value not in choices:
        return [f"The parameter `{key}` must be one of {', '.join(f'`{one}`' for one in choices)}"]
    least = rule.get("minimum")
    if isinstance(least, int) and isinstance(value, int | float) and value < least:
        return [f"The parameter `{key}` must be at least {least}"]
    if isinstance(value, str) and "\0" in value:
        return [f"The parameter `{key}` must not hold a NUL character"]
    return []


def _is_a(value: object, wanted: str) -> bool:
    if wanted in ("integer", "number"):
        kinds: type | tuple[type, ...] = int if wanted == "integer" else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    kind = {"string": str, "boolean": bool, "array": list, "object": dict}.get(wanted)
    return kind is None or isinstance(value, kind)


def _kind(value: object) -> str:
    """The name of a type, as JSON has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    kinds = ((str, "string"), (int, "number"), (float, "number"), (list, "array"), (dict, "object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), type(value).__name__)
