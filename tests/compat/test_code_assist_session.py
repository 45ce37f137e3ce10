"""C-45: the session memory of code-assist."""

import os

import pytest

from foretold.compat.code_assist import SessionEntry, SessionMemory
from foretold.compat.code_assist.session import MAX_ENTRIES
from foretold.errors import ForetoldError, StoreFailed


def test_at_most_a_hundred():
    memory = SessionMemory()
    gone = [memory.add(str(number), now=float(number)) for number in range(MAX_ENTRIES + 2)]
    assert gone[-3:] == [None, SessionEntry("0", "normal", 0.0), SessionEntry("1", "normal", 1.0)]
    assert (len(memory.entries), memory.entries[0].content) == (100, "2")
    assert len(SessionMemory([SessionEntry("x")] * 101).entries) == 100


def test_importance():
    memory = SessionMemory()
    memory.add("a", "high", now=1.0)
    memory.add("b", now=2.0)
    memory.add("c", "low", now=3.0)
    assert [entry.content for entry in memory.get("high")] == ["a"]
    assert [entry.content for entry in memory.get()] == ["a", "b", "c"]
    with pytest.raises(ForetoldError, match="importance is 'urgent'; it can be high, normal, low"):
        memory.add("d", "urgent")


def test_the_context_has_the_last_twenty():
    memory = SessionMemory([SessionEntry(str(number)) for number in range(25)])
    assert memory.context() == "Session context:\n" + "\n".join(f"- {number}" for number in range(5, 25))
    assert SessionMemory().context() == ""


def test_saved_and_loaded(tmp_path):
    path = tmp_path / "session.json"
    memory = SessionMemory([SessionEntry("é 😀", "high", 1.5), SessionEntry("b")])
    memory.save(path)
    memory.save(path)
    assert SessionMemory.load(path).entries == memory.entries
    assert os.listdir(tmp_path) == ["session.json"]


@pytest.mark.parametrize("text", ["", "{", '[{"content": "a", "mood": 1}]', "[1]"])
def test_what_is_damaged_is_refused(tmp_path, text):
    path = tmp_path / "session.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ForetoldError, match="is not a saved session"):
        SessionMemory.load(path)


def test_the_disk_refuses(tmp_path):
    with pytest.raises(StoreFailed, match="cannot be read"):
        SessionMemory.load(tmp_path / "none")
    with pytest.raises(StoreFailed, match="cannot be written"):
        SessionMemory().save(tmp_path / "none" / "x.json")
