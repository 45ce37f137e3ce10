from __future__ import annotations

import json

import pytest

from foretold.proof.conform.cases import CaseOutcome
from foretold.proof.conform.run import run_case


def case(messages):
    """A transcript whose first prompt is lost, as 2.1.197 was given it."""
    said = {"role": "assistant", "id": "m", "model": "m", "content": [{"type": "text", "text": "answer"}]}
    record = {"type": "assistant", "uuid": "2", "parentUuid": None, "message": said}
    record |= {"timestamp": "2026-11-15T08:36:46.184Z", "sessionId": "s", "isSidechain": False}
    given = {"session_id": "s", "jsonl": json.dumps(record) + "\n", "next_prompt": "next"}
    return {
        "id": "resume-missing_first_user",
        "kind": "transcript_resume",
        "input": given,
        "expected": {"messages": messages},
        "agent": "claude-code",
        "version": "2.1.197",
    }


SAID = [{"role": "assistant", "blocks": ["text:answer"]}, {"role": "user", "blocks": ["text:next"]}]


@pytest.mark.parametrize("first", [[], [{"role": "user", "blocks": []}]])
def test_a_message_of_the_context_block_alone_may_be_there_or_not(first):
    assert run_case(case([*first, *SAID]), allow_setup=False) == CaseOutcome("resume-missing_first_user", "passed")


def test_any_other_message_counts():
    outcome = run_case(case([{"role": "user", "blocks": ["text:first"]}, *SAID]), allow_setup=False)
    assert outcome.status == "failed"
    (difference,) = outcome.differences
    assert difference["actual"] == SAID
