"""Going on with stored conversations, whole and broken off."""

import os

import pytest

from foretold.errors import NoSuchSession, SessionFailed
from foretold.harness.harness import Harness
from foretold.models.scripted import Scripted
from foretold.sessions.model import Homes
from foretold.sessions.resumption.claude import resume
from foretold.sessions.transcript.writer import Transcript, transcript_path

from .scene import codes, harness, live, options, resumed, stored, types

VERSIONS = ("2.1.197", "2.1.325")
MODELS = ("claude-opus-5-5", "claude-sonnet-4-5")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_a_closed_conversation_goes_on_with_the_same_bytes(place, version, model):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    path = place.write("proj/a.txt", "one\n")
    with harness(place, [("Read", {"file_path": path}), "Read."], version, model) as agent:
        agent.prompt("Read it.")
    edit = ("Edit", {"file_path": path, "old_string": "one", "new_string": "two"})
    again = resumed(place, agent, [edit, "Done."], version)
    assert again.dialogue.messages == live(agent)
    again.prompt("Change it.")
    with open(path, encoding="utf-8") as file:
        assert file.read() == "two\n"
    before = agent.model.requests[0]
    assert list(again.model.requests[0].messages[: len(before.messages)]) == live(agent)[: len(before.messages)]
    assert live(again) == stored(again)
    assert types(again).count("environment") == (version == "2.1.325")


def test_by_id_by_file_and_by_title(place):
    with harness(place, ["Hi."]) as agent:
        agent.prompt("A very special question")
    given = options(place)
    found = [
        Harness.resume(agent.session, model=Scripted([]), **given),
        Harness.resume(agent.path, model=Scripted([]), **given),
        Harness.resume(agent.session[:8], place.proj, model=Scripted([]), **given),
    ]
    assert [(each.path, each.options.cwd) for each in found] == [(agent.path, place.proj)] * 3
    with pytest.raises(NoSuchSession):
        Harness.resume("nothing", place.proj, model=Scripted([]), **given)


def test_a_conversation_in_a_folder_of_its_own(place):
    """`~/.claude/sessions/<id>/transcript.jsonl`, by its id; what it changes is kept under that id."""
    with harness(place, ["Hi."]) as agent:
        agent.prompt("Remember the number 7.")
    path = os.path.join(place.home, ".claude", "sessions", agent.session, "transcript.jsonl")
    os.makedirs(os.path.dirname(path))
    os.rename(agent.path, path)
    file = place.write("proj/a.txt", "one\n")
    lines = [("Read", {"file_path": file}), ("Write", {"file_path": file, "content": "two\n"}), "Done."]
    again = Harness.resume(agent.session, model=Scripted(lines, agent.model.name), **options(place))
    assert (again.path, again.session, again.options.cwd) == (path, agent.session, place.proj)
    assert again.dialogue.messages == live(agent)
    again.prompt("Change it.")
    again.close()
    kept = os.path.join(place.home, ".claude", "file-history")
    assert os.listdir(kept) == [agent.session]
    assert {record.get("sessionId", agent.session) for record in again.recorder.records()} == {agent.session}


def test_what_is_no_conversation_is_refused(place):
    path = place.write("home/.claude/projects/-x/5c1a.jsonl", '{"type": "summary", "cwd": "/x"}\n')
    with pytest.raises(SessionFailed, match="no conversation"):
        Harness.resume(path, place.proj, model=Scripted([]), **options(place))


@pytest.mark.parametrize("version", VERSIONS)
def test_calls_that_nobody_answered(place, version):
    """A process that was killed while tools ran."""
    calls = [("Bash", {"command": "echo one"}), ("Bash", {"command": "echo two"})]
    agent = harness(place, [calls], version)
    events = agent.run("Go.")
    for event in events:
        if type(event).__name__ == "ToolResultEvent":
            break
    kept = os.path.getsize(agent.path)
    events.close()
    os.truncate(agent.path, kept)  # as if nothing had been written since
    again = resumed(place, agent, ["Where was I?"], version)
    results = [block for message in live(again) for block in message["content"] if block["type"] == "tool_result"]
    assert [result.get("is_error", False) for result in results] == [False, True]
    assert again.prompt("Go on.").text == "Where was I?"
    assert live(again) == stored(again)
    third = resumed(place, again, [], version)
    assert third.dialogue.messages == live(again)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_prompt_that_nobody_answered(place, version):
    agent = harness(place, ["One."], version)
    agent.prompt("First.")
    with pytest.raises(Exception, match="script"):
        agent.prompt("Second.")
    agent.close()
    again = resumed(place, agent, ["Three."], version)
    assert live(again)[-1]["role"] == "assistant"
    again.prompt("Third.")
    assert live(again) == stored(again)
    assert resumed(place, again, [], version).dialogue.messages == live(again)


def test_a_torn_end_is_put_aside_and_named(place):
    agent = harness(place, ["One."])
    agent.prompt("First.")
    with open(agent.path, "ab") as file:
        file.write(b'{"parentUuid":"half a rec')
    again = resumed(place, agent, ["Two."])
    again.prompt("Second.")
    assert "record-torn" in codes(again)
    assert resume(again.path, version="2.1.325").findings == ()
    assert os.path.exists(again.path + ".torn")


def test_what_changed_since_is_said(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    agent = harness(place, ["One."])
    agent.prompt("First.")
    agent.close()
    place.write("proj/CLAUDE.md", "Use spaces.\n")
    again = resumed(place, agent, ["Two."], now="2026-01-05")
    again.prompt("Second.")
    assert "Use spaces." in str(again.model.requests[0].messages)
    assert "2026-01-05" in str(again.model.requests[0].messages)
    assert live(again) == stored(again)


def test_a_conversation_of_the_agent_itself(place):
    """A transcript that Claude Code wrote, of which only the format is ours."""
    path = transcript_path(place.proj, "5c1a0000-0000-4000-8000-000000000000", Homes(place.home, {}))
    with Transcript(path, cwd=place.proj, version="2.1.325", sync=False) as said:
        said.user("What is in a.txt?")
        said.assistant({"model": "claude-opus-5-5", "content": "Nothing."})
    agent = Harness.resume(path, model=Scripted(["Sure."], "claude-opus-5-5"), **options(place))
    assert agent.prompt("Are you sure?").text == "Sure."
    roles = [message["role"] for message in agent.model.requests[0].messages]
    assert roles == ["user", "assistant", "user", "system"]
