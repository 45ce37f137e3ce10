"""Skills, deferred tools and MCP servers: listed once, then what changes, also after a resume and a compaction."""

import pytest

from foretold.context.listings import Skill
from foretold.harness.tools.base import Tool, input_schema
from foretold.harness.tools.tool_search import find_tools

from .scene import codes, harness, is_prefix, live, resumed, stored, types

VERSIONS = ("2.1.197", "2.1.325")
MODELS = ("claude-opus-5-5", "claude-sonnet-4-5")
SUMMARY = "<summary>They talked.</summary>"
PING = Tool("mcp__alpha__ping", "Pings </functions> a host.", input_schema("", {}), lambda context, given: "pong")
SEND = Tool("mcp__slack__send", "Sends a message.", input_schema("", {}), lambda context, given: "sent")
FETCH = Tool("WebFetch", "Fetches a page.", input_schema("", {}), lambda context, given: "page")


def names(request):
    return [tool["name"] for tool in request.tools]


def result(request):
    found = [block for message in request.messages for block in message["content"] if "tool_use_id" in block]
    return found[-1]["content"]


def said(agent, at=-1):
    """What the last messages of a request say."""
    return str(agent.model.requests[at].messages)


# Skills


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_skills_of_files_are_listed_read_and_not_listed_twice(place, version, model):
    path = place.write("proj/.claude/skills/deploy/SKILL.md", "---\ndescription: How to ship\n---\nShip $ARGUMENTS.\n")
    place.write("home/.claude/skills/pdf/SKILL.md", "# Filling forms\n\nUse a pen.\n")
    place.write("home/.claude/skills/own/SKILL.md", "---\ndescription: x\ndisable-model-invocation: true\n---\nNo.\n")
    call = ("Skill", {"skill": "deploy", "args": "the app"})
    agent = harness(place, [call, "Shipped.", "Again."], version, model, skills=True, memory=False)
    agent.prompt("Ship it.")
    first, second = agent.model.requests
    assert "available for use with the Skill tool:\\n\\n- pdf: Filling forms\\n- deploy: How to ship" in str(
        first.messages
    )
    assert (names(first)[-1], "- own" in str(first.messages)) == ("Skill", False)
    folder = path.removesuffix("/SKILL.md")
    assert result(second) == f"Launching skill: deploy\n\nBase directory for this skill: {folder}\n\nShip the app.\n"
    place.write("proj/.claude/skills/late/SKILL.md", "Later.\n")
    again = resumed(place, agent, ["Again."], version, skills=True, memory=False)
    again.prompt("And?")
    assert is_prefix(second, again.model.requests[0])
    assert (
        types(again).count("skill_listing"),
        said(again).count("- deploy: How"),
        "- late: Later." in said(again),
    ) == (
        2,
        1,
        True,
    )
    assert live(again) == stored(again)


def test_a_skill_that_is_not_there(place):
    agent = harness(
        place, [("Skill", {"skill": "deplo"}), "No."], skills=[Skill("deploy", "How to ship", text="Ship.")]
    )
    agent.prompt("Ship it.")
    assert result(agent.model.requests[1]) == (
        "<tool_use_error>Unknown skill: deplo. Did you mean deploy?</tool_use_error>"
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_skills_that_a_prompt_is_about_come_with_every_such_prompt(place, version):
    skills = [Skill("deploy", "How to ship the app"), Skill("pdf", "Filling PDF forms")]
    lines = ["One.", "Two.", "Three."]
    agent = harness(place, lines, version, skills=skills, skill_search=True, memory=False)
    for prompt in ("Fill in this form.", "Hm.", "Now the other form."):
        agent.prompt(prompt)
    assert said(agent).count("Skills relevant to this prompt:\\n\\n- pdf: Filling PDF forms") == 2
    assert live(agent) == stored(agent)
    plain = harness(place, ["One."], version, skills=skills, memory=False)
    plain.prompt("Fill in this form.")
    assert "Skills relevant" not in said(plain)


# Deferred tools


@pytest.mark.parametrize("version", VERSIONS)
def test_a_deferred_tool_is_named_looked_for_called_and_still_there_after_a_resume(place, version):
    call, search = ("mcp__alpha__ping", {}), ("ToolSearch", {"query": "select:mcp__alpha__ping,Nope"})
    agent = harness(place, [call, search, call, "Pinged.", "Again."], version, deferred=[PING, FETCH], memory=False)
    agent.prompt("Ping.")
    first, second, third, fourth = agent.model.requests
    assert "load tool schemas before calling them:\\nmcp__alpha__ping\\nWebFetch" in str(first.messages)
    assert names(first)[-1] == "ToolSearch"
    assert "mcp__alpha__ping is a deferred tool, and its definition is not loaded" in result(second)
    assert result(third) == (
        '<functions>\n<function>{"description": "Pings \\u003c/functions> a host.", "name": "mcp__alpha__ping",'
        ' "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": false}}</function>'
        "\n</functions>"
    )
    assert (names(third)[-2:], result(fourth)) == (["ToolSearch", "mcp__alpha__ping"], "pong")
    again = resumed(place, agent, ["Again."], version, deferred=[PING, FETCH], memory=False)
    again.prompt("Go on.")
    assert is_prefix(fourth, again.model.requests[0])
    assert types(again).count("deferred_tools_delta") == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("select:WebFetch,mcp__alpha__ping", ["WebFetch", "mcp__alpha__ping"]),
        ("fetch page", ["WebFetch"]),
        ("message", ["mcp__slack__send"]),
        ("+slack ping", ["mcp__slack__send"]),
        ("+alpha send", ["mcp__alpha__ping"]),
        ("+nothing send", []),
        ("zzz", []),
        ("", []),
    ],
)
def test_queries(query, found):
    tools = {tool.name: tool for tool in (PING, SEND, FETCH)}
    assert [tool.name for tool in find_tools(query, tools)] == found


def test_deferred_tools_come_and_go_in_the_middle_of_a_turn(place):
    connected = [PING]

    def connect(context, given):
        connected[:] = [FETCH]
        return "done"

    swap = Tool("Swap", "Swaps.", input_schema("", {}), connect)
    agent = harness(place, [("Swap", {}), "Swapped."], tools=[swap], deferred=lambda: connected, memory=False)
    agent.prompt("Swap.")
    added = [each["attachment"] for each in agent.recorder.records() if each["type"] == "attachment"]
    changes = [(each["addedNames"], each["removedNames"]) for each in added if each["type"] == "deferred_tools_delta"]
    assert changes == [(["mcp__alpha__ping"], []), (["WebFetch"], ["mcp__alpha__ping"])]
    assert live(agent) == stored(agent)


# Servers


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_instructions_of_servers_and_their_changes(place, version, model):
    servers = {"alpha": "Use alpha wisely."}
    lines = ["One.", "Two.", "Three."]
    agent = harness(place, lines, version, model, servers=lambda: servers, memory=False)
    agent.prompt("One.")
    assert "# MCP Server Instructions" in said(agent)
    assert "## alpha\\nUse alpha wisely." in said(agent)
    servers = {"alpha": "Use alpha wisely.", "beta": "Beta too."}
    agent.prompt("Two.")
    servers = {"beta": "Beta again."}
    again = resumed(place, agent, ["Three."], version, servers=lambda: servers, memory=False)
    again.prompt("Three.")
    assert is_prefix(agent.model.requests[1], again.model.requests[0])
    added = [each["attachment"] for each in again.recorder.records() if each["type"] == "attachment"]
    changes = [(each["addedNames"], each["removedNames"]) for each in added if each["type"] == "mcp_instructions_delta"]
    assert changes == [(["alpha"], []), (["beta"], []), (["beta"], ["alpha"])]
    assert "servers have disconnected. Their instructions above no longer apply:\\nalpha" in said(again)
    assert live(again) == stored(again)


@pytest.mark.parametrize(("version", "limit"), [("2.1.197", 2048), ("2.1.325", 4096)])
def test_long_instructions_of_a_server_are_cut_and_that_is_said(place, version, limit):
    agent = harness(place, ["Hi."], version, servers={"alpha": "x" * 5000}, memory=False)
    agent.prompt("Hello.")
    assert "x" * limit + "… [truncated]" in said(agent)
    assert codes(agent) == ["server-instructions-cut"]


# All of them


def options(place):
    skills = [Skill("deploy", "How to ship", text="Ship.")]
    return {"skills": skills, "agents": True, "deferred": [PING], "servers": {"alpha": "Use it."}, "memory": False}


LISTS = ["deferred_tools_delta", "agent_listing_delta", "mcp_instructions_delta", "skill_listing"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_order_is_the_recorded_one(place, version):
    agent = harness(place, ["Hi."], version, **options(place))
    agent.prompt("Hello.")
    assert [each for each in types(agent) if each in LISTS] == LISTS
    around = ["environment", "model", *LISTS, "session_context", "date", "remote_session_change"]
    if version == "2.1.325":
        assert [each for each in types(agent) if each in around] == [each for each in around if each in types(agent)]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_compaction_drops_the_lists_and_they_are_said_again(place, version):
    search = ("ToolSearch", {"query": "select:mcp__alpha__ping"})
    lines = ["One.", search, "Two.", "Three.", SUMMARY, "Four.", "Five."]
    agent = harness(place, lines, version, **options(place))
    for prompt in ("One.", "Two.", "Three."):
        agent.prompt(prompt)
    assert agent.compact().is_done
    agent.prompt("Four.")
    asked = agent.model.requests[-1]
    # the loaded tool is still there, so it is not named as one that has to be loaded
    assert [kind for kind in LISTS[1:] if types(agent).count(kind) == 2] == LISTS[1:]
    assert (names(asked)[-1], types(agent).count(LISTS[0])) == ("mcp__alpha__ping", 1)
    again = resumed(place, agent, ["Five."], version, **options(place))
    again.prompt("Five.")
    assert is_prefix(asked, again.model.requests[0])
    assert live(again) == stored(again)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fork_knows_what_was_listed_and_a_rewind_forgets_it(place, version):
    agent = harness(place, ["One.", "Forked.", "Again."], version, **options(place))
    turn = agent.prompt("One.")
    other = agent.fork()
    other.prompt("Two.")
    assert is_prefix(agent.model.requests[0], agent.model.requests[1])
    assert [types(other).count(kind) for kind in LISTS] == [1] * 4
    agent.rewind(turn.id, dry_run=False)
    agent.prompt("Again.")
    assert all(text in said(agent) for text in ("- deploy: How to ship", "## alpha", "- Explore: ", "mcp__alpha__ping"))


def test_nothing_of_it_is_there_unless_asked_for(place):
    place.write("proj/.claude/skills/deploy/SKILL.md", "Ship it.\n")
    place.write("proj/.claude/agents/rev.md", "---\nname: rev\ndescription: Reviews\n---\nYou review.\n")
    agent = harness(place, ["Hi."], memory=False)
    agent.prompt("Hello.")
    assert names(agent.model.requests[0]) == ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]
    assert [kind for kind in LISTS if kind in types(agent)] == []


def test_two_tools_of_one_name_are_refused(place):
    with pytest.raises(ValueError, match="two tools are called WebFetch"):
        harness(place, [], tools=[FETCH], deferred=[FETCH])
