"""Subagents begin with nothing, forks with everything."""

import json
import os

import pytest

from foretold.sessions.catalog import list_sessions
from foretold.sessions.model import Homes

from .scene import harness, is_prefix, live, resumed, stored, texts

VERSIONS = ("2.1.197", "2.1.325")


def begun(place, lines, version="2.1.325", **more):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    path = place.write("proj/a.txt", "one\n")
    agent = harness(place, [("Read", {"file_path": path}), "Read.", *lines], version, **more)
    agent.prompt("Read it.")
    return agent, path


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "instructions", "told"),
    [("", None, True), ("Explore", None, False), ("Explore", True, True), ("", False, False)],
)
def test_a_subagent_is_told_instructions_or_not(place, version, name, instructions, told):
    agent, _ = begun(place, ["Looked."], version)
    before = live(agent)
    turn = agent.subagent("Look around.", name=name, instructions=instructions)
    request = agent.model.requests[-1]
    assert (turn.text, live(agent)) == ("Looked.", before)
    assert ("Use tabs." in str(request.messages)) is told
    assert "Read it." not in str(request.messages)


def test_a_subagent_has_read_nothing(place):
    agent, path = begun(
        place, [("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "two"}), "No."], "2.1.197"
    )
    turn = agent.subagent("Change it.")
    assert "has not been read yet" in str(turn.messages)
    with open(path, encoding="utf-8") as file:
        assert file.read() == "one\n"


def test_what_a_subagent_said_is_kept_beside_its_session(place):
    agent, _ = begun(place, [("Bash", {"command": "echo hi"}), "Looked.", "Go on."])
    agent.subagent("Look around.", name="Explore")
    agent.prompt("Go on.")
    agent.close()
    found = {stored.kind: stored for stored in list_sessions(Homes(place.home, {}), kinds=("main", "subagent"))}
    other = found["subagent"]
    assert (other.parent, os.path.dirname(other.path)) == (
        agent.session,
        agent.path.removesuffix(".jsonl") + "/subagents",
    )
    with open(other.path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert {(record["isSidechain"], record["sessionId"], len(record["agentId"])) for record in records} == {
        (True, agent.session, 17)
    }
    with open(other.path.removesuffix("jsonl") + "meta.json", encoding="utf-8") as file:
        assert json.load(file) == {"agentType": "Explore", "description": "Look around.", "spawnDepth": 1}
    assert resumed(place, agent, []).dialogue.messages == live(agent)


def test_what_a_subagent_changed_can_be_rewound(place):
    agent, path = begun(
        place, [("Read", {"file_path": "a.txt"}), ("Write", {"file_path": "a.txt", "content": "sub\n"}), "Done."]
    )
    prompt = next(record["uuid"] for record in agent.recorder.records() if record["type"] == "user")
    agent.subagent("Write it.")
    with open(path, encoding="utf-8") as file:
        assert file.read() == "sub\n"
    agent.rewind(prompt, dry_run=False)
    with open(path, encoding="utf-8") as file:
        assert file.read() == "one\n"


def test_a_subagent_with_other_tools(place):
    agent, _ = begun(place, [("Bash", {"command": "echo hi"}), "No."])
    turn = agent.subagent("Run.", tools=[])
    assert agent.model.requests[-1].tools == ()
    assert "No such tool available: Bash" in str(turn.messages)


def test_a_fork_goes_on_with_the_same_bytes(place):
    agent, path = begun(
        place, [("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "two"}), "Forked.", "Stayed."]
    )
    last, before = agent.model.requests[-1], live(agent)
    other = agent.fork()
    other.prompt("In the fork.")
    assert is_prefix(last, agent.model.requests[-2])
    assert agent.model.requests[-2].cached[0] == last.cached[0]
    assert live(agent) == before
    assert (live(other) == stored(other), other.session == agent.session) == (True, False)
    with open(path, encoding="utf-8") as file:
        assert file.read() == "two\n"
    agent.prompt("In the old one.")
    assert is_prefix(last, agent.model.requests[-1])
    assert "In the fork." not in str(live(agent))
    assert live(agent) == stored(agent)


def test_a_fork_of_nothing(place):
    agent = harness(place, ["Hi."])
    other = agent.fork()
    assert other.prompt("Hello.").text == "Hi."
    assert not os.path.exists(agent.path)


def test_a_fork_is_told_what_changed_in_its_parent(place):
    agent, path = begun(
        place,
        [
            ("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
            "Parent.",
            ("Edit", {"file_path": "a.txt", "old_string": "two", "new_string": "three"}),
            "Fork.",
        ],
        "2.1.197",
    )
    other = agent.fork()
    os.utime(path, (1, 1))
    agent.state.read("a.txt")
    agent.prompt("Change it.")
    turn = other.prompt("Change it, too.")
    assert "modified since read" in str(turn.messages)
    assert texts(live(other)[-1]) == ["Fork."]
