"""docs/seeds.md: no row is missing, and every proof that it names is there."""

import ast
import json
import os
import re

import pytest

TESTS = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(os.path.dirname(TESTS), "docs", "seeds.md")
ROWS = {"M": 53, "C": 51, "A": 50, "N": 56, "E": 22}


def rows():
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(r"^\| ([A-Z]-\d\d) \| (.+?) \| (.+) \|$", file.read(), re.MULTILINE)


def names_in(path):
    with open(os.path.join(TESTS, path), encoding="utf-8") as file:
        return {node.name for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.FunctionDef)}


def cases():
    """id -> the rows that a case says it shows."""
    found = {}
    for name in ("seeds-instructions.jsonl", "seeds-memory.jsonl"):
        with open(os.path.join(TESTS, "conformance", name), encoding="utf-8") as file:
            found |= {case["id"]: case["inventory"] for case in map(json.loads, file)}
    return found


CASES = cases()


def test_no_row_is_missing():
    expected = [f"{letter}-{number:02}" for letter, count in ROWS.items() for number in range(1, count + 1)]
    assert [row for row, _, _ in rows()] == expected
    assert len(expected) == 232


@pytest.mark.parametrize(("row", "what", "proof"), rows(), ids=lambda value: value if value[1:2] == "-" else "")
def test_a_row_has_a_proof_that_is_there(row, what, proof):
    assert what
    tests = re.findall(r"`([\w/]+\.py)::(test_\w+)`", proof)
    named = re.findall(r"case `([\w-]+)`", proof)
    assert [f"{path}::{name}" for path, name in tests if name not in names_in(path)] == []
    assert [name for name in named if name not in CASES] == []
    if tests or named:
        return
    kind, _, rest = proof.partition(": ")
    assert kind == "out of scope" and rest, proof  # noqa: PT018 - one claim


def test_every_row_that_a_case_shows_names_a_proof():
    proofs = {row: proof for row, _, proof in rows()}
    shown = {row for inventory in CASES.values() for row in inventory}
    assert [row for row in sorted(shown) if "`" not in proofs[row]] == []
