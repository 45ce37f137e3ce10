"""Checks of the cases of interfaces."""

import pytest

from foretold.errors import BadCase
from foretold.proof.conform.seeds import holds


def one_of(*checks):
    return {"check": "any_of", "value": [{"check": kind, "value": value} for kind, value in checks]}


@pytest.mark.parametrize(
    ("checks", "is_held"),
    [
        ([("contains", "b")], True),
        ([("contains", "x"), ("not_contains", "y")], True),
        ([("contains", "x"), ("not_contains", "a")], False),
        ([("eq", "abc"), ("contains", "x")], True),
    ],
)
def test_one_of_several_checks_holds(checks, is_held):
    assert holds(one_of(*checks), "abc", {}) is is_held


def test_a_check_among_several_may_look_into_the_result():
    inner = {"check": "eq", "at": ["*", "a"], "value": [1, 2]}
    assert holds({"check": "any_of", "value": [{"check": "len", "value": 5}, inner]}, [{"a": 1}, {"a": 2}], {})


@pytest.mark.parametrize("value", [[], ["x"], "contains"])
def test_several_checks_are_a_list_of_them(value):
    with pytest.raises(BadCase):
        holds({"check": "any_of", "value": value}, "abc", {})
