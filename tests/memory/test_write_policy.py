"""Whether an agent may write a memory itself."""

from foretold.memory.write_policy import ASK, WriteDecision, decide_write, written_text


def test_decide_write():
    assert (
        decide_write("confirm", "Use tabs.", is_team=False)[:2] == ("ask", ASK),
        decide_write("auto", "", is_team=False),
    ) == (True, WriteDecision(decision="", reason="", note=""))


def test_written_text():
    assert written_text({"edits": [{"old_string": "old", "new_string": "new"}]}) == "new"
