"""Going back to before a prompt: said first, then done, and to be taken back."""

import os

import pytest

from foretold.errors import NoCheckpoint, RestoreRefused
from foretold.files.history.recorded import find_session
from foretold.files.restore.restore import Undo, state_folder

from .scene import harness, live, resumed, stored, types

VERSIONS = ("2.1.197", "2.1.325")


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def begun(place, version="2.1.325", lines=()):
    path = place.write("proj/a.txt", "one\n")
    script = [("Read", {"file_path": path}), ("Edit", {"file_path": path, "old_string": "one", "new_string": "two"})]
    script += ["Two.", ("Write", {"file_path": place.path("proj/new.txt"), "content": "new\n"})]
    script += [("Edit", {"file_path": path, "old_string": "two", "new_string": "three"}), "Three.", *lines]
    agent = harness(place, script, version)
    return agent, agent.prompt("Make it two."), agent.prompt("Make it three."), path


@pytest.mark.parametrize("version", VERSIONS)
def test_it_says_first_what_it_would_do(place, version):
    agent, _, second, path = begun(place, version)
    before, count = live(agent), len(types(agent))
    said = agent.rewind(second.id)
    assert (said.prompt, said.is_done, said.undo) == ("Make it three.", False, "")
    assert [(change.action, place.short(change.path)) for change in said.files.changes] == [
        ("write", "proj/a.txt"),
        ("delete", "proj/new.txt"),
    ]
    assert (text(path), live(agent), len(types(agent))) == ("three\n", before, count)


@pytest.mark.parametrize("version", VERSIONS)
def test_files_and_conversation_go_back_and_on(place, version):
    agent, first, second, path = begun(place, version, ["Otherwise."])
    done = agent.rewind(second.id, dry_run=False)
    assert done.is_done
    assert text(path) == "two\n"
    assert not os.path.exists(place.path("proj/new.txt"))
    assert live(agent) == [*first.messages]
    agent.prompt("Do something else.")
    assert "Make it three." not in str(agent.model.requests[-1].messages)
    assert live(agent) == stored(agent)
    assert resumed(place, agent, [], version).dialogue.messages == live(agent)


def test_it_can_be_taken_back(place):
    agent, _, second, _ = begun(place)
    done = agent.rewind(second.id, dry_run=False)
    store = Undo(state_folder(place.home, agent.options.environ))
    assert [each.id for each in store.restores()] == [done.undo]


def test_the_first_prompt(place):
    agent, first, _, path = begun(place, lines=["Begun anew."])
    agent.rewind(first.id, dry_run=False)
    assert (text(path), live(agent)) == ("one\n", [])
    agent.prompt("Hello.")
    assert "Use" not in str(agent.model.requests[-1].messages[0])
    assert [message["role"] for message in agent.model.requests[-1].messages] == ["user", "system"]
    assert live(agent) == stored(agent)


def test_only_files_or_only_the_conversation(place):
    agent, _, second, path = begun(place)
    before = live(agent)
    said = agent.rewind(second.id, dry_run=False, conversation=False)
    assert (text(path), live(agent), said.dropped) == ("two\n", before, ())
    agent, _, second, path = begun(place)
    said = agent.rewind(second.id, dry_run=False, files=False)
    assert (text(path), said.files) == ("three\n", None)
    assert len(live(agent)) < len(before)


def test_a_file_that_was_put_back_is_known_as_it_is(place):
    """After going back, the model may edit what it had read before."""
    agent, _, second, path = begun(
        place, "2.1.197", [("Edit", {"file_path": "a.txt", "old_string": "two", "new_string": "four"}), "Four."]
    )
    agent.rewind(second.id, dry_run=False)
    agent.prompt("Make it four.")
    assert text(path) == "four\n"


def test_what_stands_in_the_way_changes_nothing(place):
    agent, _, second, path = begun(place)
    os.unlink(path)
    os.mkdir(path)
    before = live(agent)
    assert agent.rewind(second.id).files.problems
    with pytest.raises(RestoreRefused):
        agent.rewind(second.id, dry_run=False)
    assert live(agent) == before


def test_what_is_no_prompt(place):
    agent, first, _, _ = begun(place, lines=["<summary>It is three.</summary>"])
    with pytest.raises(NoCheckpoint, match="no prompt"):
        agent.rewind("nothing")
    agent.compact()
    with pytest.raises(NoCheckpoint, match="compacted"):
        agent.rewind(first.id)
    assert agent.rewind(first.id, conversation=False).files.changes


def test_after_a_resume(place):
    agent, _, second, path = begun(place)
    agent.close()
    again = resumed(place, agent, ["Otherwise."])
    again.rewind(second.id, dry_run=False)
    assert text(path) == "two\n"
    again.prompt("Something else.")
    assert live(again) == stored(again)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_command_finds_the_checkpoints(place, version):
    agent, first, second, _ = begun(place, version)
    agent.close()
    found = find_session(agent.options.homes, agent.session)
    assert [snapshot.message for snapshot in found.snapshots] == [first.id, second.id]


def test_the_text_of_a_dry_run_says_that_nothing_was_changed(place):
    path = place.write("proj/a.txt", "one\n")
    agent = harness(place, [("Write", {"file_path": path, "content": "two\n"}), "Written."], memory=False)
    turn = agent.prompt("Write it.")
    said = agent.rewind(turn.id).text.split("\n")
    assert (said[0], said[2:]) == (
        "would go back to before: Write it.",
        [f"write: {path}", "nothing was changed; pass dry_run=False to do it"],
    )
    with open(path, encoding="utf-8") as file:
        assert file.read() == "two\n"
    done = agent.rewind(turn.id, dry_run=False)
    assert done.text.split("\n")[0] == "went back to before: Write it."
    assert done.text.endswith(f"foretold files undo {done.undo} brings the files back")
