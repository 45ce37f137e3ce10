"""Cases about compaction."""

import os

import pytest

from foretold.proof.conform.answers import KINDS
from foretold.proof.conform.cases import read_cases
from foretold.proof.conform.state import run_state_case

CASES = os.path.join(os.path.dirname(__file__), "..", "..", "conformance", "claude-code-sessions.jsonl")


@pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
def test_files_that_come_back(version):
    cases = [case for case in read_cases(CASES) if case.get("kind") == "compaction_restore"]
    assert len(cases) == 6
    outcomes = [run_state_case({**case, "version": version}, KINDS) for case in cases]
    assert {outcome.status for outcome in outcomes} == {"passed"}, outcomes


def test_a_wrong_order_fails():
    case = next(case for case in read_cases(CASES) if case["id"] == "cr-mtime-rev")
    expected = {"restored_in_order": list(reversed(case["expected"]["restored_in_order"]))}
    assert run_state_case({**case, "expected": expected}, KINDS).status == "failed"
