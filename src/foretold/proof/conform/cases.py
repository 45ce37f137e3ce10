"""Cases: one recorded behaviour of a real agent per line (`docs/formats/cases.md`).

Placeholders in paths, contents and answers stand for folders of the stage. Only these names are replaced; other braces
are text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from foretold.errors import BadCase

Case = dict[str, object]
_NAMES = re.compile(r"\{(root|home|proj|managed|fsroot|base|url|date|root-slug)\}")


class CaseOutcome(NamedTuple):
    """The outcome of a case: passed, failed (with the differences) or skipped (with the reason)."""

    id: str
    status: str
    reason: str = ""
    differences: tuple[dict[str, object], ...] = ()


def outcome_of(case: Case, differences: list[dict[str, object]]) -> CaseOutcome:
    """The outcome of a case that was run."""
    return CaseOutcome(str(case["id"]), "failed" if differences else "passed", differences=tuple(differences))


def read_cases(path: str) -> list[Case]:
    """The cases of a `.jsonl` file."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise BadCase(f"{path} cannot be read: {said}") from None
    return [_parse(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _parse(path: str, number: int, line: str) -> Case:
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadCase(f"{path}:{number}: not valid JSON: {error}") from None
    if not isinstance(case, dict) or not isinstance(case.get("id"), str):
        raise BadCase(f"{path}:{number}: a case must be an object with an id")
    return case


def list_at(values: Mapping[str, object], key: str) -> list[Any]:
    """A list of a case; empty if it has none."""
    found = values.get(key) or []
    if not isinstance(found, list):
        raise BadCase(f"{key} is not a list")
    return found


def dict_at(values: Mapping[str, object], key: str) -> dict[str, Any]:
    """An object of a case; empty if it has none."""
    found = values.get(key) or {}
    if not isinstance(found, dict):
        raise BadCase(f"{key} is not an object")
    return found


def fill(value: object, places: dict[str, str]) -> object:
    """A value with its placeholders replaced, all the way down.

    >>> fill({"{proj}/a": ["{date}", "{other}"]}, {"proj": "/p", "date": "2026-01-02"})
    {'/p/a': ['2026-01-02', '{other}']}
    """
    if isinstance(value, str):
        return _NAMES.sub(lambda found: places.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [fill(item, places) for item in value]
    if isinstance(value, dict):
        return {fill(key, places): fill(item, places) for key, item in value.items()}
    return value


def content_of(value: object) -> bytes:
    """The bytes of a staged file: a text, or an object that describes one."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if not isinstance(value, dict):
        raise BadCase(f"not a file content: {value!r}")
    if "b64" in value:
        return base64.b64decode(value["b64"])
    if "hex" in value:
        return bytes.fromhex(value["hex"])
    if "json" in value:
        return json.dumps(value["json"], ensure_ascii=False).encode()
    text = value.get("head", "") + value.get("text", "") * value.get("repeat", 1) + value.get("tail", "")
    return str(text).encode("utf-8", "surrogatepass")


def is_same(expected: object, actual: object) -> bool:
    """Whether an answer is the recorded one. A long text is recorded by its ends and its digest."""
    if isinstance(expected, dict) and "sha256" in expected and isinstance(actual, str):
        names: dict[str, str] = expected.get("digest_placeholders", {})
        for path in sorted(names, key=len, reverse=True):
            actual = actual.replace(path, names[path])
        digest = hashlib.sha256(actual.encode("utf-8", "surrogatepass")).hexdigest()
        return bool(digest == expected["sha256"])
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(is_same(expected[key], actual[key]) for key in expected)
    if isinstance(expected, list) and isinstance(actual, list | tuple):
        pairs = zip(expected, actual, strict=False)
        return len(expected) == len(actual) and all(is_same(one, other) for one, other in pairs)
    return expected == actual
