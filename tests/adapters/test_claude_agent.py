"""claude-agent-sdk: options and hooks, one by one, and all of it with the program that the SDK brings along."""

import asyncio
import json
import os

import pytest
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, ResultMessage, query

from foretold.adapters.claude_agent import claude_options
from foretold.errors import NotAFolder
from foretold.extras import missing
from foretold.memory.extraction.gate import Gate
from foretold.models.scripted import Scripted
from foretold.proof.probe.server import ModelServer, ToolCall

from .bakery import ANSWER, QUESTION, around, bake, blocked, make_team

BASE = {"session_id": "s1", "transcript_path": "", "cwd": ""}


def heard(made, event, **said):
    """What our hook for an event answers."""
    matcher = made["hooks"][event][-1]
    return asyncio.run(matcher.hooks[-1]({**BASE, "hook_event_name": event, **said}, None, {"signal": None}))


def context(answer):
    return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


def made_in(place, **options):
    return claude_options(place.proj, **around(place, **options))


def test_the_options_are_those_of_the_sdk(place):
    bake(place)
    made = made_in(place)
    assert ClaudeAgentOptions(**made).system_prompt == {"type": "preset", "preset": "claude_code"}
    assert sorted(made["hooks"]) == ["PostToolUse", "PreCompact", "PreToolUse", "UserPromptSubmit"]
    assert made["session_store"].folder == place.path("home/.local/state/foretold/sessions/claude-agent-sdk")


def test_the_index_of_the_team_ends_the_system_prompt(place):
    bake(place)
    make_team(place)
    index = made_in(place)["system_prompt"]["append"]
    assert index.endswith("</team-memory-content>")
    assert made_in(place, system_prompt="You bake.")["system_prompt"] == f"You bake.\n\n{index}"
    assert made_in(place, system_prompt="You bake.", team=False)["system_prompt"] == "You bake."


def test_hooks_that_are_given_stay_and_come_first(place):
    async def mine(said, call, context):
        return {}

    own = {"Stop": [HookMatcher(hooks=[mine])], "PreToolUse": [HookMatcher(matcher="Bash", hooks=[mine])]}
    made = made_in(place, hooks=own)
    assert made["hooks"]["Stop"] == own["Stop"]
    assert made["hooks"]["PreToolUse"][0] is own["PreToolUse"][0]
    assert (len(made["hooks"]["PreToolUse"]), len(own["PreToolUse"])) == (2, 1)


def test_a_store_of_ones_own_or_none(place):
    store = object()
    assert made_in(place, session_store=store)["session_store"] is store
    assert "session_store" not in made_in(place, session_store=False)


def test_a_prompt_recalls_once_in_each_session(place):
    bake(place)
    made = made_in(place)
    assert ANSWER in context(heard(made, "UserPromptSubmit", prompt=QUESTION))
    assert heard(made, "UserPromptSubmit", prompt=QUESTION) == {}
    assert ANSWER in context(heard(made, "UserPromptSubmit", prompt=QUESTION, session_id="s2"))
    heard(made, "PreCompact", trigger="auto")
    assert ANSWER in context(heard(made, "UserPromptSubmit", prompt=QUESTION))


def test_instructions_come_with_tools_that_are_not_the_agents_own(place):
    bake(place)
    made = made_in(place)
    path = place.path("proj/api/users.py")
    foreign = {"tool_name": "mcp__disk__read", "tool_input": {"path": path}, "tool_response": ""}
    own = {"tool_name": "Read", "tool_input": {"file_path": path}, "tool_response": ""}
    assert "Handlers return JSON." in context(heard(made, "PostToolUse", **foreign))
    assert heard(made, "PostToolUse", **foreign) == {}
    assert heard(made, "PostToolUse", session_id="s2", **own) == {}  # the agent attaches them itself
    assert heard(made, "PostToolUse", session_id="s2", **foreign) == {}
    assert "Handlers return JSON." in context(
        heard(made, "PostToolUse", agent_id="a1", agent_type="Explore", **foreign)
    )


def test_what_the_agents_shell_reads_is_the_agents_business(place):
    bake(place)
    made = made_in(place)
    for command in ("cd api", "cat users.py"):
        assert heard(made, "PostToolUse", tool_name="Bash", tool_input={"command": command}, tool_response="") == {}
    foreign = {"tool_name": "Grep", "tool_input": {"path": place.path("proj/api/orders.py")}, "tool_response": ""}
    assert heard(made, "PostToolUse", **foreign) == {}  # it has them from its shell
    assert "Handlers return JSON." in context(heard(made, "PostToolUse", session_id="s2", **foreign))


def test_what_setting_sources_bar_is_not_added(place):
    bake(place)
    make_team(place)
    made = made_in(place, setting_sources=[])
    assert (made["setting_sources"], made["system_prompt"]) == ([], {"type": "preset", "preset": "claude_code"})
    assert "PostToolUse" not in made["hooks"]
    assert ANSWER in context(
        heard(made, "UserPromptSubmit", prompt=QUESTION, transcript_path="/tmp/x/projects/p/s.jsonl")
    )


@pytest.mark.parametrize(("policy", "decision"), [("auto", ""), ("confirm", "ask"), ("manual", "deny")])
def test_memories_are_written_as_the_policy_says(place, policy, decision):
    memory = bake(place)
    place.write("proj/.foretold.toml", f'[memory]\npolicy = "{policy}"\n')
    given = {"file_path": f"{memory.place.store}/a.md", "content": "Use tabs."}
    answer = heard(made_in(place), "PreToolUse", tool_name="Write", tool_input=given, cwd=place.proj)
    assert answer.get("hookSpecificOutput", {}).get("permissionDecision", "") == decision


def test_a_hook_never_fails(place):
    bake(place)
    found = []
    made = made_in(place, findings=found)
    os.rename(place.proj, place.path("moved"))
    assert heard(made, "UserPromptSubmit", prompt=QUESTION) == {}
    assert heard(made, "PreToolUse", tool_name="Write", tool_input={"file_path": "a"}, cwd=place.proj) == {}
    assert {finding.code for finding in found} == {"hook-failed"}


def test_memories_are_extracted_with_the_model_that_is_given(place):
    memory = bake(place)
    said = {"role": "user", "content": "Please remember that we never bake on Sundays."}
    record = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1", "cwd": place.proj, "message": said}
    path = place.write("t.jsonl", json.dumps(record) + "\n")
    front = "---\nname: sundays\ndescription: when we never bake\nmetadata:\n  type: {}\n---\n\n"
    tries = {"feedback_sundays.md": "We never bake on Sundays.", "feedback_tabs.md": "Use tabs."}
    calls = [
        ("Write", {"file_path": f"{memory.place.store}/{file}", "content": front.format("feedback") + text})
        for file, text in tries.items()
    ]
    model, found = Scripted([calls, "Done."]), []
    made = made_in(place, extract=model, gate=Gate.always(), findings=found)
    assert heard(made, "Stop", transcript_path=path, stop_hook_active=True) == {}
    assert model.requests == []
    assert heard(made, "Stop", transcript_path=path, stop_hook_active=False) == {}
    assert memory.get("feedback_sundays.md").body.strip() == "We never bake on Sundays."
    assert [(os.path.basename(finding.path), finding.code) for finding in found] == [
        ("feedback_tabs.md", "memory-refused")
    ]


def test_the_callers_mistakes_raise_at_once(place):
    with pytest.raises(NotAFolder):
        claude_options(place.path("gone"), **around(place))


def test_without_the_package(place):
    code = "from foretold.adapters.claude_agent import claude_options\nclaude_options()"
    wanted = f"foretold.errors.ExtraMissing: {missing('foretold.adapters.claude_agent', 'claude-agent-sdk')}"
    assert blocked("claude_agent_sdk", code, place) == wanted


@pytest.fixture
def server(place, monkeypatch):
    """A model on loopback, and an environment in which nothing else can be reached."""
    memory = bake(place)
    make_team(place)
    place.write("home/.claude/CLAUDE.md", "Answer in verse.\n")
    users = place.path("proj/api/users.py")
    secret = {"file_path": f"{memory.place.store}/a.md", "content": "AKIA" + "IOSFODNN7ABCDEFG"}
    turns = [[ToolCall(("Grep",), {"pattern": "users", "path": users})], [ToolCall(("Write",), secret)]]
    for name in [name for name in os.environ if name.startswith(("CLAUDE", "ANTHROPIC"))]:
        monkeypatch.delenv(name)
    with ModelServer(turns) as server:
        quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
        for name in (*quiet, "DISABLE_AUTOUPDATER"):
            monkeypatch.setenv(name, "1")
        monkeypatch.setenv("HOME", place.home)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield server


async def ask(prompt, options):
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            result = message
    return result


def sent(server):
    return [json.dumps(exchange.body, ensure_ascii=False) for exchange in server.conversation]


def test_all_of_it_with_the_real_program(place, server):
    found = []

    async def main():
        made = claude_options(place.proj, home=place.home, env={}, findings=found)
        first = await ask(QUESTION, ClaudeAgentOptions(**made, allowed_tools=["Write", "Grep"]))
        kept = await made["session_store"].load(
            {"project_key": place.proj.replace("/", "-").replace("_", "-"), "session_id": first.session_id}
        )
        for folder, _, names in os.walk(place.path("home/.claude/projects")):
            for name in names:
                if name.startswith(first.session_id):
                    os.remove(os.path.join(folder, name))  # the session is in our store alone
        again = claude_options(place.proj, home=place.home, env={}, findings=found)
        second = await ask("And how hot is the oven?", ClaudeAgentOptions(**again, resume=first.session_id))
        return first, kept, second

    first, kept, second = asyncio.run(main())
    asked, grepped, refused, resumed = sent(server)
    assert (first.result, second.result, second.session_id) == ("Done.", "Done.", first.session_id)
    assert found == server.problems == []
    assert "UserPromptSubmit hook additional context: <recalled-memories id=" in asked
    assert ANSWER in asked
    assert json.dumps(server.conversation[0].body["system"]).count("project_baker.md") == 1
    assert ("Handlers return JSON." in asked, "Handlers return JSON." in grepped) == (False, True)
    assert "This looks like a credential (AWS access key), and memories are sent to models" in refused
    assert {"user", "assistant"} <= {entry["type"] for entry in kept}
    assert ANSWER in resumed  # it is in the transcript, which was loaded from our store
    assert "Never above 230 degrees." in resumed
    assert resumed.count("Answer in verse.") == 2  # the agent says that it is gone; the first prompt brings it back
