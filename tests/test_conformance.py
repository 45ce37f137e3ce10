"""Every recorded case of the real agent, one test each."""

import difflib
import json
import os

import pytest

from foretold.proof.conform.cases import read_cases
from foretold.proof.conform.run import run_cases

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conformance")
FILES = (
    "claude-code@2.1.197.jsonl",
    "claude-code@2.1.325.jsonl",
    "claude-code-more.jsonl",
    "claude-code-memory.jsonl",
    "claude-code-sessions.jsonl",
    "seeds-instructions.jsonl",
    "seeds-memory.jsonl",
    *(f"{agent}.jsonl" for agent in "cline codex continue copilot-cli gemini-cli opencode qwen-code".split()),
)
CASES = [case for name in FILES for case in read_cases(os.path.join(FOLDER, name))]


def readable(value):
    """A recorded value as lines: texts stay texts."""
    text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False).replace("\\n", "\n")
    return text.split("\n")


def report(outcome):
    """A unified diff for every key that differs."""
    parts = [f"{outcome.id} {outcome.reason}".rstrip()]
    for each in outcome.differences:
        parts += ["", f"== {each['key']}"]
        names = ("recorded", "ours")
        parts += difflib.unified_diff(readable(each["expected"]), readable(each["actual"]), *names, lineterm="")
    return "\n".join(parts)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.get('version', case.get('profile'))}-{case['id']}")
def test_recorded_case(case):
    outcome = next(run_cases([case], allow_setup=True))
    if outcome.status == "skipped":
        pytest.skip(outcome.reason)
    assert outcome.status == "passed", report(outcome)


def test_every_recorded_case_is_here():
    """A file that lost lines would pass as well."""
    counts = {name: len(read_cases(os.path.join(FOLDER, name))) for name in FILES}
    assert counts == {
        "claude-code@2.1.197.jsonl": 274,
        "claude-code@2.1.325.jsonl": 534,
        "claude-code-more.jsonl": 1387,
        "claude-code-memory.jsonl": 130,
        "claude-code-sessions.jsonl": 62,
        "seeds-instructions.jsonl": 72,
        "seeds-memory.jsonl": 36,
        "cline.jsonl": 13,
        "codex.jsonl": 77,
        "continue.jsonl": 12,
        "copilot-cli.jsonl": 190,
        "gemini-cli.jsonl": 67,
        "opencode.jsonl": 54,
        "qwen-code.jsonl": 22,
    }
    assert len({(case.get("version"), case["id"]) for case in CASES}) == len(CASES)
