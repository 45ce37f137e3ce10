"""The recorded cases about file history pass, and fail when an answer is another one."""

import json
import os

import pytest

from foretold.proof.conform.files import KINDS
from foretold.proof.conform.state import run_state_case

CASES = os.path.join(os.path.dirname(__file__), "../../conformance/claude-code-sessions.jsonl")
with open(CASES, encoding="utf-8") as file:
    OURS = [case for case in map(json.loads, file) if case["kind"].startswith("file_history")]


@pytest.mark.parametrize("case", OURS, ids=lambda case: case["id"])
def test_recorded(case):
    assert run_state_case(case, KINDS).differences == ()


def test_a_wrong_answer_is_noticed():
    case = next(case for case in OURS if case["id"] == "fh-session")
    expected = json.loads(json.dumps(case["expected"]))
    expected["snapshots"][3]["tracked"]["a.txt"][1] = 9
    expected["rewind"]["U1"]["a.txt"] = ["other\n", "644"]
    found = run_state_case({**case, "expected": expected}, KINDS).differences
    assert [difference["key"] for difference in found] == ["snapshots", "rewind"]
