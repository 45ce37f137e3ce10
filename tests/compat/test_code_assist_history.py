"""code-assist's file history: entries as it keeps them, and contents where a history of ours is behind it."""

import pytest

from foretold.compat.code_assist.session import FileAction, FileHistoryTracker
from foretold.errors import StoreFailed
from foretold.files.history.history import FileHistory


def test_entries():
    tracker = FileHistoryTracker()
    tracker.record("/w/a", FileAction.CREATE, tool_use_id="t1")
    tracker.record("/w/b", FileAction.WRITE)
    tracker.record("/w/a", FileAction.DELETE, tool_use_id="t3")
    assert [(each.path, each.action, each.tool_use_id) for each in tracker.entries] == [
        ("/w/a", "create", "t1"),
        ("/w/b", "write", ""),
        ("/w/a", "delete", "t3"),
    ]
    times = [each.timestamp for each in tracker.entries]
    assert times == sorted(times)
    assert tracker.modified_files == {"/w/a", "/w/b"}
    assert [each.action for each in tracker.get_entries_for("/w/a")] == ["create", "delete"]
    assert len(tracker) == 3
    tracker.entries.clear()
    assert len(tracker) == 3
    tracker.clear()
    assert (tracker.entries, tracker.modified_files, len(tracker)) == ([], set(), 0)
    with pytest.raises(ValueError, match="rename"):
        tracker.record("/w/a", "rename")


def test_with_a_history_it_can_be_taken_back(place):
    history = FileHistory(place.path("history"), "s", place.proj)
    history.prompt("U1")
    tracker = FileHistoryTracker(history)
    path = place.write("proj/a", "old\n", 0o644)
    tracker.record(path, FileAction.EDIT)
    tracker.record(path, FileAction.EDIT)
    assert [each["trackingPath"] for each in tracker.records] == ["a"]
    place.write("proj/a", "new\n")
    history.rewind("U1")
    with open(path, encoding="utf-8") as file:
        assert file.read() == "old\n"


def test_what_cannot_be_kept_is_not_written_down(place):
    history = FileHistory(place.path("history"), "s", place.proj)
    history.prompt("U1")
    tracker = FileHistoryTracker(history)
    with pytest.raises(StoreFailed):
        tracker.record(place.folder("proj/a"), FileAction.WRITE)
    assert len(tracker) == 0
