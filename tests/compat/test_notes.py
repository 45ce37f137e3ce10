"""The names of the notes on memory and context, each on the engine."""

import json
import os

import pytest

from foretold.compat import notes
from foretold.compat.notes.extraction import pieces_in
from foretold.context.listings import Agent, Skill
from foretold.errors import NoSuchSession, NotAFolder, WriteRefused
from foretold.harness.harness import Harness
from foretold.memory.extraction.gate import Gate
from foretold.memory.extraction.session_notes import Thresholds
from foretold.models.protocol import ModelRequest
from foretold.models.scripted import Scripted
from foretold.sessions.model import Homes
from foretold.sessions.transcript.writer import transcript_path

SESSION = "11111111-2222-4333-8444-555555555555"
ENV = {"PATH": "/usr/bin:/bin"}


@pytest.fixture(autouse=True)
def _nothing_cached():
    notes.clear_claude_md_cache()


def around(place, **more):
    return {"cwd": place.proj, "home": place.home, "managed": place.managed, "env": ENV, **more}


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


# -- CLAUDE.md


def test_the_three_stores_are_where_the_notes_say(place):
    """Memories and a transcript below the home, CLAUDE.md in three places; all survive the object that wrote them."""
    notes.write_memory("user role", type="user", description="a chemist", body="Works in a lab.", **around(place))
    with notes.open_transcript(SESSION, sync=False, **around(place)) as transcript:
        transcript.user("Hello")
        written = transcript.path
    place.write("managed/CLAUDE.md", "organisation")
    place.write("home/.claude/CLAUDE.md", "user")
    place.write("proj/CLAUDE.md", "project")
    slug = place.proj.replace("/", "-").replace("_", "-").replace(".", "-")
    assert notes.get_memory_dir(**around(place)) == f"{place.home}/.claude/projects/{slug}/memory/"
    assert sorted(os.listdir(notes.get_memory_dir(**around(place)))) == ["MEMORY.md", "user_role.md"]
    assert written == f"{place.home}/.claude/sessions/{SESSION}/transcript.jsonl"
    assert [entry.text for entry in notes.load_claude_md(**around(place)).entries] == [
        "organisation",
        "user",
        "project",
    ]
    assert notes.resume_session(SESSION, **around(place)).messages[0]["content"] == "Hello"


def test_claude_md_is_cached_until_it_is_cleared(place):
    place.write("proj/CLAUDE.md", "@include style.md")
    place.write("proj/style.md", "Names are nouns.")
    assert notes.cached_claude_md_content(**around(place)) is None
    text = notes.load_claude_md(**around(place)).text
    assert text.endswith("Names are nouns.")
    place.write("proj/style.md", "Names are verbs.")
    assert notes.load_claude_md(**around(place)).text == text == notes.cached_claude_md_content(**around(place))
    assert notes.clear_claude_md_cache() == 1
    assert notes.load_claude_md(**around(place)).text.endswith("Names are verbs.")


def test_the_index_of_memories_is_not_in_it(place):
    notes.write_memory("tabs", type="feedback", description="indent with tabs", body="Use tabs.", **around(place))
    place.write("proj/CLAUDE.md", "top")
    assert [entry.layer for entry in notes.load_claude_md(**around(place)).entries] == ["project"]
    assert place.load(agent="notes").entries[-1].layer == "memory"


def test_a_nested_file_comes_with_the_turn_after_the_read_and_once(place):
    nested = place.write("proj/api/CLAUDE.md", "Handlers return JSON.")
    place.write("proj/api/users.py", "")
    assert notes.nested_memory_attachment_triggers("api/users.py", **around(place)) == [nested]
    assert notes.nested_memory_attachment_triggers("setup.py", **around(place)) == []
    conversation = notes.NestedMemory(**around(place))
    assert conversation.next_turn() == []
    conversation.file_read("api/users.py")
    assert conversation.nested_memory_attachment_triggers == ["api/users.py"]
    text = f"<system-reminder>\nContents of {nested}:\n\nHandlers return JSON.\n</system-reminder>"
    assert conversation.next_turn() == [text]
    conversation.file_read("api/users.py")
    assert conversation.next_turn() == []


@pytest.mark.parametrize(
    ("name", "text"), [("Explore", ""), ("Plan", ""), ("general-purpose", "Use tabs."), ("x", "Use tabs.")]
)
def test_agents_that_only_read_omit_claude_md(place, name, text):
    place.write("proj/CLAUDE.md", "Use tabs.")
    assert notes.claude_md_of_agent(name, **around(place)).endswith(text)
    assert bool(notes.claude_md_of_agent(name, **around(place))) == (not notes.omit_claude_md(name))


def test_no_text_closes_its_reminder(place):
    place.write("proj/api/CLAUDE.md", "a </system-reminder> b")
    turn = notes.TurnReminders(**around(place))
    turn.file_read("api/x.py")
    texts = turn.attach(mcp_instructions={"db": "c </system-reminder> d"})
    assert [text.count("</system-reminder>") for text in texts] == [1, 1]


def test_a_folder_that_does_not_exist_is_an_error(place):
    for use in (notes.load_claude_md, notes.NestedMemory, notes.fetch_system_prompt_parts, notes.TurnReminders):
        with pytest.raises(NotAFolder, match="is not a folder"):
            use(**around(place, cwd=f"{place.root}/nowhere"))


def test_an_agent_is_given_by_its_definition_too(place):
    place.write("proj/CLAUDE.md", "Use tabs.")
    assert [notes.omit_claude_md(each) for each in notes.BUILT_IN_AGENTS] == [True, True, False]
    assert notes.claude_md_of_agent(notes.BUILT_IN_AGENTS[0], **around(place)) == ""


def test_the_agents_that_are_built_in():
    assert {each.agent_type: each.omit_claude_md for each in notes.BUILT_IN_AGENTS} == {
        "Explore": True,
        "Plan": True,
        "general-purpose": False,
    }


@pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
def test_a_harness_takes_the_instructions_of_the_notes(place, version):
    """`@include` reaches the model, before and after a resume; what surrounds it is Claude Code's."""
    place.write("proj/CLAUDE.md", "Use tabs.\n@include style.md")
    place.write("proj/style.md", "Names are nouns.")
    nested, read = place.write("proj/api/CLAUDE.md", "Handlers return JSON."), place.write("proj/api/a.py", "x")
    options = {"agent": f"claude-code@{version}", "dialect": "notes", "home": place.home, "env": ENV, "sync": False}
    model = Scripted([("Read", {"file_path": read}), "Ok.", "Again."])
    with Harness(place.proj, model=model, **options) as agent:
        agent.prompt("Hello")
    with Harness.resume(agent.session, place.proj, model=model, **options) as agent:
        agent.prompt("And now?")
    assert (agent.agent, agent.findings) == (f"claude-code@{version}", [])
    for request in model.requests[1:]:
        sent = json.dumps(request.messages)
        assert [sent.count(text) for text in ("Names are nouns.", "Handlers return JSON.", nested)] == [1, 1, 1]


# -- memory


def test_a_memory_has_the_form_of_the_notes(place):
    made = notes.write_memory(
        "testing",
        type="feedback",
        description="integration tests hit a real database",
        body="No mocks.\n\n**Why:** they hid a broken migration.\n\n**How to apply:** use the fixture.",
        **around(place),
    )
    assert made.file == "feedback_testing.md"
    assert made.text.startswith(
        "---\nname: testing\ndescription: integration tests hit a real database\ntype: feedback\n---\nNo mocks.\n"
    )
    assert notes.open_memory(**around(place)).index() == (
        "- [Testing](feedback_testing.md) — integration tests hit a real database\n"
    )


def test_a_credential_is_not_remembered_unless_it_is_allowed(place):
    token, about = "gh" + "p_" + "a1B2" * 9, {"type": "project", "description": "how we deploy"}
    with pytest.raises(WriteRefused, match="credential"):
        notes.write_memory("deploys", body=f"Use {token}.", **about, **around(place))
    with pytest.raises(WriteRefused, match="credential"):
        notes.open_memory(**around(place)).create("deploys", body=f"Use {token}.", **about)
    made = notes.write_memory("deploys", body=f"Use {token}.", allow_credentials=True, **about, **around(place))
    assert token in made.body


def test_the_prompt_has_the_rules_the_index_and_the_topics(place):
    for topic, body in (("deploys", "We deploy with Argo."), ("lunch", "Lunch is at noon.")):
        notes.write_memory(topic, type="project", description=f"about {topic}", body=body, **around(place))
    prompt = notes.load_memory_prompt("how do we deploy with Argo?", **around(place))
    folder = notes.get_memory_dir(**around(place))
    assert os.path.isdir(folder)
    assert f"`{folder}`" in prompt
    heads = [line for line in prompt.splitlines() if line.startswith("## ")]
    assert heads == [
        "## Types of memory",
        "## What NOT to save in memory",
        "## How to save memories",
        "## When to access memories",
        "## Before recommending from memory",
        "## Memory and other forms of persistence",
        "## MEMORY.md",
        "## Recalled memories",
    ]
    index = prompt.partition("## MEMORY.md\n\n")[2].partition("\n\n## Recalled")[0]
    assert sorted(index.splitlines()) == [
        "- [Deploys](project_deploys.md) — about deploys",
        "- [Lunch](project_lunch.md) — about lunch",
    ]
    recalled = prompt.partition("## Recalled memories\n\n")[2]
    assert "We deploy with Argo." in recalled
    assert "Lunch" not in recalled
    assert "type: user | feedback | project | reference" in prompt
    assert "metadata:" not in prompt


def test_the_clauses_of_the_prompt(place):
    """In our words, with the words of the notes that carry the meaning."""
    prompt = notes.load_memory_prompt(**around(place))
    for text in ("**Why:**", "**How to apply:**", "*surprising* or *non-obvious*", "*when the memory was written*"):
        assert text in prompt
    for text in ("even when the user explicitly asks", "grep", "`git log`"):
        assert text in prompt
    assert all(f"<name>{kind}</name>" in prompt for kind in notes.MEMORY_TYPES)


def test_without_a_query_the_newest_topics_five_at_most(place):
    for number in range(7):
        made = notes.write_memory(f"n{number}", type="user", description="d", body=f"B{number}.", **around(place))
        os.utime(os.path.join(notes.get_memory_dir(**around(place)), made.file), (number, number))
    found = [note.body for note in notes.find_relevant_memories(**around(place))]
    assert found == ["B6.", "B5.", "B4.", "B3.", "B2."]
    assert [note.body for note in notes.find_relevant_memories("n1", **around(place))] == ["B1."]
    prompt = notes.load_memory_prompt(**around(place))
    assert [f"B{number}." in prompt for number in range(7)] == [False, False, True, True, True, True, True]
    bare = notes.load_memory_prompt(include_index=False, include_topics=False, **around(place))
    assert ("## MEMORY.md" in bare, "## Recalled" in bare) == (False, False)


def test_a_topic_in_auto_is_read_recalled_and_in_the_prompt(place):
    folder = notes.get_memory_dir(**around(place))
    place.write(f"{folder}auto/deploys.md", "---\nname: deploys\ndescription: Argo\ntype: project\n---\nWith Argo.")
    (found,) = notes.find_relevant_memories("Argo", **around(place))
    assert (found.file, found.type, found.body) == ("auto/deploys.md", "project", "With Argo.")
    assert "With Argo." in notes.load_memory_prompt("Argo", **around(place))


def test_the_index_of_the_prompt_is_cut_by_lines_and_then_by_bytes(place):
    folder = notes.get_memory_dir(**around(place))
    place.write(f"{folder}MEMORY.md", "".join(f"- line {number}\n" for number in range(300)))
    prompt = notes.load_memory_prompt(**around(place))
    assert ("- line 199\n" in prompt, "- line 200\n" in prompt, "> WARNING: MEMORY.md is" in prompt) == (
        True,
        False,
        True,
    )
    place.write(f"{folder}MEMORY.md", "".join(f"- {number} {'é' * 200}\n" for number in range(100)))
    index = notes.load_memory_prompt(**around(place)).partition("## MEMORY.md\n\n")[2].partition("\n\n> WARNING")[0]
    assert 24_000 < len(index.encode()) <= 25_000
    assert index.endswith("é")


def test_memory_that_is_off_has_no_prompt(place):
    off = {**ENV, "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
    assert notes.load_memory_prompt(**around(place, env=off)) is None
    assert "memory" not in notes.fetch_system_prompt_parts(**around(place, env=off)).system_prompt


# -- extraction


TURN = [user("please use tabs for indentation"), assistant("Ok.")]
TOOLS = tuple({"name": name, "input_schema": {"type": "object"}} for name in ("Read", "Write", "Edit"))
REQUEST = ModelRequest(("You are an agent.",), tuple(TURN), TOOLS, 4096)
NOTE = "---\nname: tabs\ndescription: indent with tabs\ntype: feedback\n---\nUse tabs for indentation.\n"


def test_the_gate_counts_tokens_and_calls_since_the_last_run():
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x " * 400}]}
    busy = [user("go"), call, result, assistant("Done.")]
    long = [user("word " * 40_000), assistant("Ok.")]
    assert Thresholds(begin=10_000, tokens=5_000, tool_calls=3) == notes.DEFAULT_SESSION_MEMORY_CONFIG
    assert [notes.should_extract_memory(each) for each in (TURN, busy, long)] == [False, False, True]
    small = Thresholds(begin=100, tokens=50, tool_calls=1)
    assert [notes.should_extract_memory(each, small) for each in (TURN, busy, long)] == [False, True, True]
    assert notes.should_extract_memory(busy, small, is_end=False) is True
    assert notes.should_extract_memory(long, small, is_end=False) is False
    assert notes.should_extract_memory([*busy, user("ok")], small, since="4") is False


def test_the_gate_of_memories_needs_either_and_a_person():
    gate = Gate(tokens=100, tool_calls=2)
    assert Gate() == notes.DEFAULT_EXTRACTION_CONFIG
    assert notes.should_extract_memory(TURN, gate) is False
    assert notes.should_extract_memory([user("use tabs " * 60), assistant("Ok.")], gate) is True
    assert notes.should_extract_memory([user("use tabs " * 60), assistant("Ok.")], gate, is_end=False) is False
    assert notes.should_extract_memory([assistant("word " * 500)], gate) is False


def test_the_gate_takes_a_transcript(place):
    with notes.open_transcript(SESSION, sync=False, **around(place)) as transcript:
        transcript.user("word " * 3_000)
        transcript.assistant({"model": "m", "content": [{"type": "text", "text": "Ok."}]})
    path = notes.get_transcript_path(SESSION, **around(place))
    assert notes.should_extract_memory(path, notes.DEFAULT_EXTRACTION_CONFIG) is True
    assert [piece.origin for piece in pieces_in(path)] == ["user", "assistant"]


def test_the_two_prompts(place):
    place.git("init -q")
    notes.write_memory("role", type="user", description="a chemist", body="Lab.", **around(place))
    folder = notes.get_memory_dir(**around(place)).rstrip("/")
    alone, both = (
        notes.build_extract_auto_only_prompt(**around(place)),
        notes.build_extract_combined_prompt(**around(place)),
    )
    team = f"{place.proj}/.foretold/memory"
    for prompt in (alone, both):
        assert f"`{folder}`" in prompt
        assert "`auto/<topic>.md`" in prompt
        assert "- user_role.md [user] a chemist" in prompt
        assert "metadata:" not in prompt
    assert (team in alone, team in both) == (False, True)


def test_a_fork_begins_with_the_conversation_to_the_byte():
    model = Scripted([("Read", {"file_path": "a"}), "It says x."])
    done = notes.run_forked_agent(model, REQUEST, "What does a say?", run_tool=lambda call: f"x of {call['name']}")
    assert (done.text, done.requests, done.is_ended) == ("It says x.", 2, True)
    assert done.usage.input > 0
    first, second = model.requests
    assert (first.system, first.tools, first.messages[:2]) == (REQUEST.system, REQUEST.tools, REQUEST.messages)
    assert first.messages[2] == {"role": "user", "content": "What does a say?"}
    assert second.messages[-1]["content"][0]["content"] == "x of Read"
    assert json.dumps(second.messages[:3]) == json.dumps(first.messages)


def test_a_fork_without_tools_refuses_calls_and_ends_in_time():
    model = Scripted([("Bash", {"command": "rm x"})] * 3)
    done = notes.run_forked_agent(model, REQUEST, "Go.", rounds=2)
    assert (done.text, done.requests, done.is_ended) == ("", 2, False)
    assert model.requests[1].messages[-1]["content"][0]["is_error"] is True


def test_an_extraction_writes_to_auto_updates_the_index_and_counts(place):
    folder = notes.get_memory_dir(**around(place))
    place.write(f"{folder}project_freeze.md", "---\nname: freeze\ndescription: no merges\ntype: project\n---\nFrozen.")
    index = ("Write", {"file_path": f"{folder}MEMORY.md", "content": "- [Freeze](project_freeze.md) — no merges"})
    model = Scripted([[("Write", {"file_path": f"{folder}auto/tabs.md", "content": NOTE}), index], "Done."])
    given = {"session": SESSION, "config": Gate.always(), **around(place)}
    done = notes.extract_memories(model, REQUEST, TURN, **given)
    assert (done.added, done.updated, done.refused, done.mode) == (("auto/tabs.md",), (), (), "fork")
    assert (done.requests, done.usage.input > 0) == (2, True)
    memories = notes.open_memory(**around(place))
    assert sorted(memories.index().splitlines()) == [
        "- [Freeze](project_freeze.md) — no merges",
        "- [Tabs](auto/tabs.md) — indent with tabs",
    ]
    text = memories.get("auto/tabs.md").text
    assert text.startswith("---\nname: Tabs\ndescription: indent with tabs\ntype: feedback\nmetadata:")
    assert [change.op for change in memories.log("auto/tabs.md")] == ["create"]
    memories.delete("auto/tabs.md")
    assert memories.restore("auto/tabs.md").text == text
    assert model.requests[0].messages[:2] == REQUEST.messages


def test_an_extraction_that_is_not_due_asks_nobody(place):
    done = notes.extract_memories(Scripted([]), REQUEST, TURN, session=SESSION, **around(place))
    assert (done.skipped, done.added) == ("not-due", ())


def test_session_memory_is_a_file_of_its_own(place):
    kept = notes.open_session_memory(SESSION, Thresholds(begin=1, tokens=1, tool_calls=1), **around(place))
    said = pieces_in(TURN)
    assert kept.due(said, is_end=True)
    done = kept.update(Scripted(["# Title\nTabs\n\n# Now\nIndenting."]), REQUEST, said)
    assert (done.is_written, kept.text()) == (True, "# Title\nTabs\n\n# Now\nIndenting.")
    assert kept.path.endswith(f"/sessions/{SESSION}.md")
    assert not kept.path.startswith(notes.get_memory_dir(**around(place)))
    assert notes.should_extract_memory(TURN, kept.thresholds, since=kept.covers) is False


def test_session_memory_asks_the_gate_itself(place):
    """An update before its time asks no model; `force` does."""
    early = notes.open_session_memory(SESSION, **around(place))
    done = early.update(Scripted([]), REQUEST, TURN)
    assert (done.is_written, done.reason, early.text()) == (False, "too-early", "")
    written = "# Title\nTabs\n\n# Now\nIndenting."
    assert early.update(Scripted([written]), REQUEST, TURN, force=True).is_written
    due = notes.open_session_memory("other", notes.Thresholds(begin=1, tokens=1, tool_calls=1), **around(place))
    assert due.update(Scripted([written]), REQUEST, TURN).is_written
    assert due.update(Scripted([]), REQUEST, TURN).reason == "too-early"


def test_each_config_has_its_function(place):
    config = notes.DEFAULT_SESSION_MEMORY_CONFIG
    with pytest.raises(TypeError, match="the config of an extraction is a Gate"):
        notes.extract_memories(Scripted([]), REQUEST, TURN, session=SESSION, config=config, **around(place))
    with pytest.raises(TypeError, match="like DEFAULT_SESSION_MEMORY_CONFIG"):
        notes.open_session_memory(SESSION, notes.DEFAULT_EXTRACTION_CONFIG, **around(place))


# -- context


def test_the_block_of_the_environment_has_the_facts_of_git_and_no_instructions(place):
    place.git("init -q -b main")
    place.write("proj/CLAUDE.md", "Use tabs.")
    place.git("add -A")
    place.git("commit -q -m First")
    parts = notes.fetch_system_prompt_parts(**around(place))
    block = notes.env_block(parts.user_context)
    assert block == notes.env_block(parts.environment)
    assert "Git branch: main\nGit status:\n(clean)\nRecent commits:\n" in block
    assert "Use tabs." not in block
    assert "Today's date" not in block
    assert "Git branch" not in notes.env_block(parts.environment, git=None)


def test_the_model_is_the_one_that_the_command_assumes(place):
    parts, assumed = notes.fetch_system_prompt_parts(**around(place)), place.load(agent="claude-code").dialect.model
    assert (parts.environment.model.id, parts.user_context["Model"]) == (assumed, "Opus 5.5 (claude-opus-5-5)")
    assert "Claude Opus 5.5" in parts.system_prompt["git_commit"]


def test_the_section_about_summaries_alone(place):
    parts = notes.fetch_system_prompt_parts(summarize=True, **around(place)).system_prompt
    assert {"function_result_clearing", "summarize_tool_results"} & set(parts) == {"summarize_tool_results"}
    parts = notes.fetch_system_prompt_parts(cleared=3, summarize=False, **around(place)).system_prompt
    assert {"function_result_clearing", "summarize_tool_results"} & set(parts) == {"function_result_clearing"}


def test_agents_and_skills_of_files_are_listed_and_stay_when_they_are_left_out(place):
    place.write("proj/.claude/agents/rev.md", "---\nname: rev\ndescription: Reviews code\n---\nReview.")
    place.write("proj/.claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Filling PDF forms\n---\nFill.")
    on = {"features": {"EXPERIMENTAL_SKILL_SEARCH"}, "flags": {"tengu_agent_list_attach"}}
    turn = notes.TurnReminders(**on, **around(place))
    skills, agents = turn.attach("please fill in this form")
    assert "pdf: Filling PDF forms" in skills
    assert [name in agents for name in ("- rev: Reviews code", "- Explore:", "- general-purpose:")] == [True] * 3
    assert turn.attach() == []
    (gone,) = turn.attach(agents=[Agent("rev", "Reviews code")])
    assert "Explore" in gone
    assert turn.attach() == []
    given = notes.TurnReminders(**on, **around(place))
    assert len(given.attach(deferred_tools=["WebFetch"], mcp_instructions={"db": "Read only."})) == 3
    assert given.attach() == []


@pytest.mark.parametrize(
    ("given", "said"),
    [({"agents": ["rev"]}, "agents are"), ({"skills": ["pdf"]}, "skills are"), ({"deferred_tools": [1]}, "names of")],
)
def test_a_list_of_the_wrong_type_is_an_error(place, given, said):
    with pytest.raises(TypeError, match=said):
        notes.TurnReminders(**around(place)).attach(**given)


def test_the_parts_of_the_system_prompt_and_the_user_context(place):
    place.git("init -q -b main")
    place.write("proj/CLAUDE.md", "Use tabs.")
    place.git("add -A")
    place.git("commit -q -m First")
    place.write("proj/new.txt")
    lib = place.folder("lib")
    parts = notes.fetch_system_prompt_parts(
        model="claude-sonnet-4-5", cleared=3, system="You are an agent.", **around(place, add_dirs=[lib])
    )
    context = parts.user_context
    assert list(context) == [
        "Working directory",
        "Is directory a git repo",
        "Git branch",
        "Git status",
        "Recent commits",
        "Additional working directories",
        "Platform",
        "OS Version",
        "Model",
        "Knowledge cutoff",
        "claudeMd",
        "currentDate",
    ]
    assert (context["Working directory"], context["Is directory a git repo"]) == (place.proj, "Yes")
    assert (context["Git branch"], context["Git status"]) == ("main", "?? new.txt")
    assert context["Recent commits"].endswith(" First")
    assert (context["Additional working directories"], context["Model"]) == (lib, "Sonnet 4.5 (claude-sonnet-4-5)")
    assert context["claudeMd"].endswith("Use tabs.")
    assert list(parts.system_prompt) == [
        "system",
        "memory",
        "git_commit",
        "function_result_clearing",
        "summarize_tool_results",
    ]


def test_the_user_context_is_one_message_of_the_user(place):
    place.write("proj/CLAUDE.md", "Use tabs.")
    parts = notes.fetch_system_prompt_parts(model="claude-sonnet-4-5", **around(place))
    message = notes.user_context_message(parts.user_context)
    lines = message["content"].splitlines()
    assert (message["role"], lines[:3]) == (
        "user",
        ["<env>", f"Working directory: {place.proj}", "Is directory a git repo: No"],
    )
    assert lines[lines.index("</env>") :][:3] == ["</env>", "", "# claudeMd"]
    assert not any(line.startswith("Git ") for line in lines)
    assert notes.env_block(parts.environment) == "\n".join(lines[: lines.index("</env>") + 1])


def test_two_sections_about_results_of_tools(place):
    section = notes.get_function_result_clearing_section("claude-sonnet-4-5", keep=7)
    assert "the 7 newest results" in section.lower()
    assert notes.get_function_result_clearing_section("claude-sonnet-4-5", keep=None) is None
    assert "say it in your answer" in notes.SUMMARIZE_TOOL_RESULTS_SECTION
    parts = notes.fetch_system_prompt_parts(cleared=7, **around(place)).system_prompt
    assert parts["function_result_clearing"] == section
    assert parts["summarize_tool_results"] == notes.SUMMARIZE_TOOL_RESULTS_SECTION
    off = notes.fetch_system_prompt_parts(**around(place)).system_prompt
    assert {"function_result_clearing", "summarize_tool_results"} & set(off) == set()


TRAILER = "Co-Authored-By: Claude Sonnet 4.5 <noreply@anthropic.com>"


@pytest.mark.parametrize(
    ("settings", "commit"),
    [
        ({}, TRAILER),
        ({"includeCoAuthoredBy": False}, None),
        ({"attribution": {"commit": "Made-By: us"}}, "Made-By: us"),
        ({"attribution": {"commit": "", "pr": ""}}, None),
    ],
)
def test_attribution_comes_from_the_settings_and_goes_into_the_section_on_commits(place, settings, commit):
    place.write("proj/.claude/settings.json", json.dumps(settings))
    found = notes.get_attribution(model="claude-sonnet-4-5", **around(place))
    assert found.commit == commit
    section = notes.fetch_system_prompt_parts(model="claude-sonnet-4-5", **around(place)).system_prompt.get(
        "git_commit", ""
    )
    assert section == notes.get_git_commit_section(found)
    assert ("Co-Authored-By" in section, not commit or commit in section) == (commit == TRAILER, True)


def test_undercover_there_is_no_attribution(place):
    given = {"model": "claude-sonnet-4-5", "undercover": True, **around(place)}
    assert notes.get_attribution(**given)[:2] == (None, None)
    assert "git_commit" not in notes.fetch_system_prompt_parts(**given).system_prompt


def test_what_is_attached_to_a_turn(place):
    place.write("proj/api/CLAUDE.md", "Handlers return JSON.")
    skills = [Skill("pdf", "Reading and filling PDF forms"), Skill("deploy", "How to ship the app")]
    agents = [Agent("reviewer", "Reviews code")]
    turn = notes.TurnReminders(
        features={"EXPERIMENTAL_SKILL_SEARCH"}, flags={"tengu_agent_list_attach"}, **around(place)
    )
    turn.file_read("api/users.py")
    given = {
        "skills": skills,
        "agents": agents,
        "deferred_tools": ["WebFetch"],
        "mcp_instructions": {"db": "Read only."},
    }
    first = turn.attach("please fill in this form", **given)
    assert all(text.startswith("<system-reminder>\n") and text.endswith("</system-reminder>") for text in first)
    wanted = ("Handlers return JSON.", "pdf: Reading", "reviewer: Reviews code", "WebFetch", "Read only.")
    assert [want in text for want, text in zip(wanted, first, strict=True)] == [True] * 5
    assert "deploy" not in first[1]
    assert turn.attach("unrelated words", **given) == []
    (gone,) = turn.attach("", skills=skills, agents=agents, deferred_tools=["WebFetch"], mcp_instructions={})
    assert "db" in gone


def test_lists_need_their_switches(place):
    turn = notes.TurnReminders(**around(place))
    given = {"skills": [Skill("pdf", "Filling PDF forms")], "agents": [Agent("reviewer", "Reviews code")]}
    assert turn.attach("fill in this form", **given) == []


# -- files and sessions


def test_the_state_of_files(place):
    """An edit needs a read; a clone does not disturb its parent; a compaction takes what is known, and clears it."""
    path = place.write("proj/a.txt", "one\n")
    cache = notes.FileStateCache(place.proj)
    assert "has not been read yet" in cache.edit("a.txt", "one", "two").text
    cache.read("a.txt")
    child = cache.clone()
    assert child.edit("a.txt", "one", "two").kind == "updated"
    os.utime(path, (2_000_000_000, 2_000_000_000))
    assert "modified" in cache.edit("a.txt", "two", "three").text
    assert [recent.path for recent in child.recent()] == [path]
    child.clear()
    assert (child.recent(), [recent.path for recent in cache.recent()]) == ([], [path])


def test_the_file_history_is_in_the_transcript_and_in_no_prompt(place):
    path = place.write("proj/a.txt", "one\n")
    lines = [("Read", {"file_path": path}), ("Write", {"file_path": path, "content": "two\n"}), "Done."]
    given = {key: value for key, value in around(place).items() if key != "cwd"}
    model = Scripted(lines, "claude-opus-5-5")
    with Harness(place.proj, model=model, permission="bypassPermissions", recall=False, sync=False, **given) as agent:
        agent.prompt("Change it.")
    state = notes.file_history_state(agent.session, **around(place))
    assert state.tracked_files == (path,)
    assert [list(snapshot.files) for snapshot in state.snapshots] == [["a.txt"]]
    (backup,) = state.snapshots[-1].files.values()
    with open(os.path.join(place.home, ".claude", "file-history", agent.session, backup.name)) as file:
        assert file.read() == "one\n"
    assert not any(backup.name in json.dumps(request.messages) for request in model.requests)


def test_a_transcript_is_found_in_either_place(place):
    ours = notes.get_transcript_path(SESSION, **around(place))
    theirs = transcript_path(place.proj, SESSION.replace("1", "2"), Homes(place.home, ENV))
    for path in (ours, theirs):
        place.write(
            path, '{"type": "user", "uuid": "u", "parentUuid": null, "message": {"role": "user", "content": "Hi"}}\n'
        )
    assert notes.find_transcript(SESSION, **around(place)) == ours
    assert notes.find_transcript(SESSION.replace("1", "2"), **around(place)) == theirs
    assert notes.find_transcript(theirs, **around(place)) == theirs
    with pytest.raises(NoSuchSession):
        notes.find_transcript("nothing", **around(place))


def test_messages_are_in_the_transcript_as_they_arrive_and_are_resumed(place):
    transcript = notes.open_transcript(SESSION, sync=False, **around(place))
    transcript.user("Remember the number 7.")
    with open(transcript.path, encoding="utf-8") as file:
        assert json.loads(file.readlines()[-1])["message"]["content"] == "Remember the number 7."
    transcript.assistant({"model": "m", "content": [{"type": "text", "text": "Ok."}]})
    transcript.close()
    messages = notes.resume_session(SESSION, "Which number?", **around(place)).messages
    assert [message["content"] for message in messages] == [
        "Remember the number 7.",
        [{"type": "text", "text": "Ok."}],
        "Which number?",
    ]
    model = Scripted(["7."], "claude-opus-5-5")
    given = {key: value for key, value in around(place).items() if key != "cwd"}
    with Harness.resume(SESSION, model=model, recall=False, sync=False, **given) as agent:
        assert (agent.path, agent.session) == (transcript.path, SESSION)
        assert agent.prompt("Which number?").text == "7."
    assert "Remember the number 7." in json.dumps(model.requests[0].messages)


@pytest.mark.parametrize("words", [["list", "--all"], ["show", SESSION], ["search", "--all", "special"]])
def test_the_command_knows_sessions_of_the_notes(place, words):
    with notes.open_transcript(SESSION, sync=False, **around(place)) as transcript:
        transcript.user("A very special question")
        transcript.assistant({"model": "m", "content": [{"type": "text", "text": "A special answer."}]})
    done = place.run("sessions", *words)
    assert done.returncode == 0
    assert "special" in done.stdout.decode()


def test_the_list_has_the_id_that_the_other_commands_take(place):
    """Such a session is resumed by its file; `show`, `resume` and `export` take the id."""
    with notes.open_transcript("4d1f", sync=False, **around(place)) as transcript:
        transcript.user("Hello")
        transcript.assistant({"model": "m", "content": [{"type": "text", "text": "Hi."}]})
    lines = place.run("sessions", "list").stdout.decode().splitlines()
    assert lines[1:] == ["  id 4d1f", f"  cd {place.proj} && claude --resume {transcript.path}"]
    assert place.run("sessions", "show", "4d1f").returncode == 0
