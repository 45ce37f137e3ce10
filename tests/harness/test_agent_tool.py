"""The model starts subagents: kinds, tools, bounds, permissions, transcripts, and what comes back."""

import json
import os

import pytest

from foretold.dialects.claude_code.agents import AgentType
from foretold.errors import ModelFailed
from foretold.harness.permissions.check import Permission
from foretold.harness.tools.base import Tool, input_schema
from foretold.models.scripted import Scripted
from foretold.sessions.catalog import list_sessions
from foretold.sessions.model import Homes

from .scene import codes, harness, live, resumed, stored, texts, types

VERSIONS = ("2.1.197", "2.1.325")
DEFAULT = ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]
PING = Tool("mcp__a__ping", "Pings.", input_schema("", {}), lambda context, given: "pong")


def call(prompt="Look around.", kind="", about="look"):
    return "Agent", {"description": about, "prompt": prompt, **({"subagent_type": kind} if kind else {})}


def begun(place, lines, version="2.1.325", **more):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    agent = harness(place, lines, version, **{"agents": True, **more})
    return agent, agent.prompt("Go.")


def names(request):
    return [tool["name"] for tool in request.tools]


def result(request):
    """The last result of a tool in a request."""
    found = [block for message in request.messages for block in message["content"] if "tool_use_id" in block]
    content = found[-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("kind", "told", "tools"),
    [
        ("", True, [*DEFAULT, "Agent"]),
        ("general-purpose", True, [*DEFAULT, "Agent"]),
        ("Explore", False, ["Read", "Glob", "Grep", "Bash"]),
        ("Plan", False, ["Read", "Glob", "Grep", "Bash"]),
    ],
)
def test_kinds_of_the_agent(place, version, kind, told, tools):
    agent, turn = begun(place, [call("Find it.", kind), "It is\nin a.py.", "Found."], version)
    first, sub, last = agent.model.requests
    assert (turn.text, names(first)) == ("Found.", [*DEFAULT, "Agent"])
    assert ("Use tabs." in str(sub.messages), names(sub)) == (told, tools)
    assert ("Go." in str(sub.messages), "Find it." in str(sub.messages)) == (False, True)
    assert sub.system[0] != first.system[0]
    assert result(last).endswith("\n  It is\n  in a.py.")
    assert live(agent) == stored(agent)
    assert codes(agent) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_list_is_attached_once_and_not_again_after_a_resume(place, version):
    agent, _ = begun(place, ["Hi.", "Again."], version)
    agent.prompt("Go on.")
    said = str(agent.model.requests[0].messages)
    assert "Available agent types for the Agent tool:\\n- Explore: " in said
    assert "(Tools: All tools except Agent, Edit, Write, NotebookEdit)" in said
    again = resumed(place, agent, ["Third."], version, agents=True)
    again.prompt("Third.")
    assert types(again).count("agent_listing_delta") == 1
    assert live(again) == stored(again)


def test_the_list_can_be_in_the_description_of_the_tool(place):
    agent, _ = begun(place, ["Hi."], agent_list="description")
    (request,) = agent.model.requests
    assert "\n- Explore: " in next(tool["description"] for tool in request.tools if tool["name"] == "Agent")
    assert "agent_listing_delta" not in types(agent)
    with pytest.raises(ValueError, match="agent_list is one of attachment, description"):
        harness(place, [], agent_list="nowhere")


def test_agents_of_files(place):
    place.write(
        "proj/.claude/agents/deep/rev.md", "---\nname: rev\ndescription: Reviews\ntools: Read, Nope\n---\nYou review.\n"
    )
    place.write("home/.claude/agents/rev.md", "---\nname: rev\ndescription: Not this\n---\nNo.\n")
    place.write(
        "home/.claude/agents/own.md", "---\nname: own\ndescription: Own\ndisallowedTools: Bash\n---\nYou own.\n"
    )
    place.write("proj/.claude/agents/bad.md", "no frontmatter\n")
    agent, _ = begun(place, [call("Review.", "rev"), "Reviewed.", call("Own.", "own"), "Owned.", "Done."])
    first, rev, _, own, _ = agent.model.requests
    assert "- own: Own (Tools: All tools except Bash)" in str(first.messages)
    assert "- rev: Reviews (Tools: Read, Nope)" in str(first.messages)
    assert (names(rev), rev.system[0].split("\n\n")[0]) == (["Read"], "You review.")
    assert "deep/rev.md, a file of the project or of the user." in rev.system[0]
    assert names(own) == ["Read", "Write", "Edit", "Glob", "Grep", "Agent"]
    assert codes(agent) == ["definition-ignored"]


def test_a_file_that_comes_or_goes_is_said_at_the_next_prompt(place):
    agent, _ = begun(place, ["Hi.", "Two.", "Three."])
    path = place.write("proj/.claude/agents/new.md", "---\nname: new\ndescription: New\n---\nNew.\n")
    agent.prompt("Two.")
    os.unlink(path)
    agent.prompt("Three.")
    said = str(live(agent))
    assert "New agent types are now available for the Agent tool:\\n- new: New" in said
    assert "The following agent types are no longer available:\\n- new" in said


def test_given_kinds_are_the_only_ones(place):
    small = Scripted(["Small."], "claude-haiku-4-5")
    kinds = [
        AgentType("look", "Looks", "You look.", tools=("Read", "mcp__a__ping"), model="small", instructions=False),
        AgentType("huge", "Is huge", model="huge"),
    ]
    lines = [call("Look.", "look"), call("Huge.", "huge"), "Huge.", call("x", "Explore"), "Done."]
    agent, _ = begun(place, lines, agents=kinds, models={"small": small}, deferred=[PING])
    (asked,) = small.requests
    assert (names(asked), "Use tabs." in str(asked.messages)) == (["Read", "mcp__a__ping"], False)
    assert "Haiku 4.5" in str(asked.messages)
    assert result(agent.model.requests[-1]) == "Agent type 'Explore' not found. Available agents: huge, look"
    assert codes(agent) == ["agent-model-unknown"]


def test_how_deep_they_may_go(place):
    agent, _ = begun(place, [call("One."), call("Two."), call("Three."), "No.", "Two says.", "One says."])
    _, one, two, three, *_ = agent.model.requests
    assert [("Agent" in names(each)) for each in (one, two)] == [True, False]
    assert result(three) == "<tool_use_error>Error: No such tool available: Agent</tool_use_error>"
    folder = agent.path.removesuffix(".jsonl") + "/subagents"
    depths = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                depths.append(json.load(file)["spawnDepth"])
    assert sorted(depths) == [1, 2]
    none, _ = begun(place, ["Hi."], agent_depth=0)
    assert "Agent" not in names(none.model.requests[0])


def test_how_long_they_may_work(place):
    bash = ("Bash", {"command": "true"})
    agent, turn = begun(place, [call(), bash, bash, "Went on."], agent_turns=2)
    said = result(agent.model.requests[-1])
    assert ("(It reported nothing.)" in said, "stopped before it was done: it may make 2 requests" in said) == (
        True,
        True,
    )
    assert turn.text == "Went on."


def test_a_model_that_fails_in_a_subagent_is_an_answer(place):
    def fail(request):
        raise ModelFailed("the provider is down")

    agent, turn = begun(place, [call(), fail, "I go on."])
    assert (turn.text, result(agent.model.requests[-1])) == ("I go on.", "Agent failed: the provider is down")
    assert live(agent) == stored(agent)


def test_its_transcript_is_a_sidechain_of_the_session(place):
    agent, _ = begun(place, [call("Look.", "Explore", "look well"), "Seen.", "Done."])
    agent.close()
    found = {each.kind: each for each in list_sessions(Homes(place.home, {}), kinds=("main", "subagent"))}
    with open(found["subagent"].path.removesuffix("jsonl") + "meta.json", encoding="utf-8") as file:
        about = json.load(file)
    assert about == {"agentType": "Explore", "description": "look well", "toolUseId": "toolu_0001_0", "spawnDepth": 1}
    values = [each["toolUseResult"] for each in agent.recorder.records() if "toolUseResult" in each]
    assert [(each["agentType"], each["status"], each["totalToolUseCount"]) for each in values] == [
        ("Explore", "completed", 0)
    ]
    assert f"agent-{values[0]['agentId']}.jsonl" == os.path.basename(found["subagent"].path)


@pytest.mark.parametrize("reads", [False, True])
def test_what_it_knows_of_files(place, reads):
    path = place.write("proj/a.txt", "one\n")
    edit = ("Edit", {"file_path": path, "old_string": "one", "new_string": "two"})
    lines = [("Read", {"file_path": path}), call("Change it."), edit, "Tried.", "Done."]
    agent, _ = begun(place, lines, "2.1.197", agent_reads=reads)
    with open(path, encoding="utf-8") as file:
        assert file.read() == ("two\n" if reads else "one\n")
    # what the subagent wrote is not what its parent has read
    assert agent.state.entries[path].content == "one\n"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"deny": ["Agent(Explore)"]}, "Permission to use Agent has been denied."),
        ({"deny": ["Task(Exp*)"]}, "Permission to use Agent has been denied."),
        ({"ask": ["Agent"]}, "Using Agent needs the user's permission. No one can be asked here"),
        ({"deny": ["Agent(Plan)"]}, "[Report of the subagent Explore."),
        ({}, "[Report of the subagent Explore."),
    ],
)
def test_permissions_apply(place, rules, said):
    permission = Permission("default", cwd=place.proj, home=place.home, **rules)
    agent, _ = begun(place, [call("Look.", "Explore"), "Seen.", "Done."], permission=permission)
    results = [text for message in live(agent) for text in texts(message) if text]
    assert any(said in str(text) for text in results)


def test_a_subagent_may_do_no_more_than_its_parent(place):
    permission = Permission("default", cwd=place.proj, home=place.home, deny=["Bash"])
    agent, _ = begun(place, [call(), ("Bash", {"command": "true"}), "No.", "Done."], permission=permission)
    assert "has been denied" in result(agent.model.requests[2])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("kind", "told"), [("", True), ("Explore", False)])
def test_a_subagent_that_fills_its_window_is_compacted(place, version, kind, told):
    reads = [("Bash", {"command": f"echo {number}; yes word | head -1600 | tr '\\n' ' '"}) for number in range(4)]

    def answer(request):
        if "about to be replaced by your summary" in str(request.messages[-1]):
            return "<summary>It read three files.</summary>"
        return reads.pop(0) if reads else "Done reading."

    agent, turn = begun(place, [call("Read all.", kind), *[answer] * 6, "Good."], version, window=10_000, memory=False)
    sub = agent.model.requests[-2]
    assert "It read three files." in str(sub.messages)
    assert ("Use tabs." in str(sub.messages), "Read all." in texts(sub.messages[0])) == (told, False)
    assert turn.text == "Good."
    assert turn.compactions == ()
    assert "Done reading." in result(agent.model.requests[-1])
    folder = agent.path.removesuffix(".jsonl") + "/subagents"
    (name,) = (name for name in os.listdir(folder) if name.endswith(".jsonl"))
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert [each.get("subtype") for each in records].count("compact_boundary") == 1
    assert {(each["isSidechain"], each["agentId"]) for each in records if "uuid" in each} == {(True, name[6:-6])}
    assert codes(agent) == []
