"""Does an input fit the schema of a tool?"""

from __future__ import annotations

import random

import pytest

from foretold.harness.tools.registry import DEFAULT_TOOLS, fit_input

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1},
        "share": {"type": "number"},
        "all": {"type": "boolean"},
        "mode": {"type": "string", "enum": ["a", "b"]},
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "The input must be an object but is array"),
        (None, "The input must be an object but is null"),
        ({}, "The required parameter `path` is missing"),
        ({"path": None}, "The parameter `path` type is expected as `string` but provided as `null`"),
        ({"path": 5}, "The parameter `path` type is expected as `string` but provided as `number`"),
        ({"path": "a", "limit": "x"}, "The parameter `limit` type is expected as `number` but provided as `string`"),
        ({"path": "a", "limit": 1.5}, "The parameter `limit` type is expected as `integer` but provided as `number`"),
        ({"path": "a", "limit": True}, "The parameter `limit` type is expected as `integer` but provided as `boolean`"),
        ({"path": "a", "limit": 0}, "The parameter `limit` must be at least 1"),
        ({"path": "a", "all": 1}, "The parameter `all` type is expected as `boolean` but provided as `number`"),
        ({"path": "a", "mode": "c"}, "The parameter `mode` must be one of `a`, `b`"),
        ({"path": "a\0b"}, "The parameter `path` must not hold a NUL character"),
        ({"path": "a", "size": 1}, "An unexpected parameter `size` was provided"),
    ],
)
def test_what_does_not_fit_is_said(given: object, problem: str) -> None:
    said = f"InputValidationError: Read failed due to the following issue:\n{problem}"
    assert fit_input("Read", SCHEMA, given)[1] == said


def test_numbers_and_truth_values_may_be_texts() -> None:
    given = {"path": "7", "limit": "7", "share": "0.5", "all": "true"}
    assert fit_input("Read", SCHEMA, given) == ({"path": "7", "limit": 7, "share": 0.5, "all": True}, "")
    assert fit_input("Read", SCHEMA, {"path": "a", "limit": 3.0}) == ({"path": "a", "limit": 3}, "")


VALUES: list[object] = [None, True, 0, -1, 1.5, "", "a", "7", "\0", [], ["a"], {}, {"a": 1}, 10**400, "9" * 5000]


def test_whatever_is_given_it_fits_or_it_is_said_why_not() -> None:
    rnd = random.Random(7)
    fits = 0
    for _ in range(3_000):
        tool = rnd.choice(DEFAULT_TOOLS)
        properties = tool.schema["properties"]
        assert isinstance(properties, dict)
        given = {rnd.choice([*properties, "other"]): rnd.choice(VALUES) for _ in range(rnd.randint(0, 4))}
        taken, problem = fit_input(tool.name, tool.schema, given)
        if problem:
            assert problem.startswith(f"InputValidationError: {tool.name} failed")
            continue
        fits += 1
        kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
        assert set(taken) <= set(properties)
        assert all(isinstance(value, kinds[properties[key]["type"]]) for key, value in taken.items())
    assert fits > 50
