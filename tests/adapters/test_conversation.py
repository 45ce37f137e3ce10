"""One conversation: what is said at its start, with files, with prompts, after a compaction; and never twice."""

import os
import threading

import pytest

from foretold.adapters.conversation import Conversation
from foretold.errors import NotAFolder, UnknownAgent
from foretold.memory.recall.render import parse_rendered

from .bakery import ANSWER, QUESTION, around, bake, make_team, talk_in


def codes(talk):
    return [finding.code for finding in talk.findings]


def test_the_start_is_what_the_view_says(place):
    bake(place)
    talk = talk_in(place)
    assert talk.start() == place.load().text
    assert "Use tabs." in talk.start()
    assert "- [Deploys](project_deploys.md)" in talk.start()
    assert talk.findings == []


def test_the_start_stays_as_it_was_until_a_compaction(place):
    bake(place)
    talk = talk_in(place)
    before = talk.start()
    place.write("proj/CLAUDE.md", "Use spaces.\n")
    assert talk.start() == before
    talk.compact()
    assert talk.start() == before.replace("Use tabs.", "Use spaces.")


def test_the_index_of_the_team_is_told(place):
    bake(place)
    make_team(place)
    told = talk_in(place).start()
    assert '<team-memory-content source="shared">\n- [' in told
    assert talk_in(place, team=False).start() == told.partition("\n\nContents of " + place.proj + "/.foretold")[0]


def test_without_the_team_nothing_of_it_is_recalled(place):
    bake(place)
    make_team(place, "flour", "The team buys flour on Mondays.")
    question = "What does flour say?"
    assert [quote.file for quote in parse_rendered(talk_in(place).recall(question))] == ["project_flour.md"]
    assert talk_in(place, team=False).recall(question) == ""


def test_files_bring_their_instructions_once(place):
    bake(place)
    talk = talk_in(place)
    assert place.short(talk.touch("api/users.py")) == (
        "<system-reminder>\nContents of proj/api/CLAUDE.md:\n\nHandlers return JSON.\n\n</system-reminder>"
    )
    assert talk.touch("api/orders.py") == ""
    assert "Validate input." in talk.use_tool({"target_file": place.path("proj/web/shop.ts")})
    assert talk.touch("api/gone.py") == ""


def test_a_command_that_reads_brings_them_as_well(place):
    bake(place)
    assert "Handlers return JSON." in talk_in(place).use_tool({"command": "cat api/users.py"})
    assert talk_in(place).use_tool({"command": "rm -rf /"}) == ""
    talk = talk_in(place)
    talk.use_tool({"command": "cd api"})  # the next command has a shell of its own
    assert "Validate input." in talk.use_tool({"command": "cat web/shop.ts"})


@pytest.mark.parametrize(
    "given", [{}, {"path": None}, {"path": 3}, {"path": "a\0b"}, {"path": ""}, {"command": ["ls"]}]
)
def test_other_inputs_bring_nothing(place, given):
    bake(place)
    talk = talk_in(place)
    assert (talk.use_tool(given), talk.findings) == ("", [])


def test_another_agent_reads_with_its_own_tool(place):
    place.write("proj/GEMINI.md", "Root.\n")
    place.write("proj/api/GEMINI.md", "Nested.\n")
    place.write("proj/api/users.py")
    talk = talk_in(place, agent="gemini-cli", trust=True)
    assert "Root." in talk.start()
    assert "Nested." in talk.touch("api/users.py")


def test_an_agent_that_refuses_to_start_is_a_finding(place):
    place.write("proj/GEMINI.md", "Root.\n")
    talk = talk_in(place, agent="gemini-cli")
    assert (talk.start(), codes(talk)) == ("", ["instructions-failed"])


def test_an_agent_for_which_reading_brings_nothing(place):
    place.write("proj/AGENTS.md", "Root.\n")
    place.write("proj/api/AGENTS.md", "Nested.\n")
    place.write("proj/api/users.py")
    talk = talk_in(place, agent="codex")
    assert "Root." in talk.start()
    assert (talk.touch("api/users.py"), talk.findings) == ("", [])


def test_a_memory_is_quoted_once_and_again_when_it_has_changed(place):
    memory = bake(place)
    talk = talk_in(place)
    assert [quote.text for quote in parse_rendered(talk.recall(QUESTION))] == [f"when we deploy\n\n{ANSWER}"]
    assert talk.recall(QUESTION) == ""
    memory.edit("deploys", body="On Fridays.")
    assert [quote.text for quote in parse_rendered(talk.recall(QUESTION))] == ["when we deploy\n\nOn Fridays."]
    talk.compact()
    assert [quote.text for quote in parse_rendered(talk.recall(QUESTION))] == ["when we deploy\n\nOn Fridays."]


def test_the_same_question_gives_the_same_bytes(place):
    bake(place)
    assert talk_in(place).recall(QUESTION) == talk_in(place).recall(QUESTION) != ""


def test_what_was_quoted_in_a_prompt_is_no_question(place):
    bake(place)
    quoted = talk_in(place).recall(QUESTION)
    assert talk_in(place).recall(quoted) == ""


@pytest.mark.parametrize("prompt", ["", " \n", "Thanks!", "What is the weather like?"])
def test_other_prompts_recall_nothing(place, prompt):
    bake(place)
    assert talk_in(place).recall(prompt) == ""


def test_recall_can_be_switched_off(place):
    bake(place)
    assert talk_in(place, recall=False).recall(QUESTION) == ""


def test_after_a_compaction_all_that_files_brought_is_said_again(place):
    bake(place)
    talk = talk_in(place)
    talk.touch("api/users.py")
    talk.use_tool({"command": "cat web/shop.ts"})
    place.write("proj/api/CLAUDE.md", "Handlers return YAML.\n")
    again = talk.compact()
    assert ("Handlers return YAML." in again, "Validate input." in again) == (True, True)
    assert talk.touch("api/orders.py") == ""
    assert talk.compact() == again


def test_an_agent_that_compacts_by_itself_is_told_when_it_touches_a_file_again(place):
    bake(place)
    talk = talk_in(place)
    talk.note_tool("Read", {"file_path": place.path("proj/api/users.py")})
    assert talk.touch("api/users.py") == ""
    talk.forget()
    assert "Handlers return JSON." in talk.touch("api/users.py")


def test_a_subagent_has_a_conversation_of_its_own(place):
    bake(place)
    make_team(place)
    talk = talk_in(place)
    talk.touch("api/users.py")
    assert talk.subagent("general-purpose").start() == talk.start()
    assert talk.subagent("Explore").start() == ""
    assert "Handlers return JSON." in talk.subagent("Explore").touch("api/users.py")


def test_a_memory_that_cannot_be_read_is_a_finding(place):
    memory = bake(place)
    place.fifo(os.path.join(memory.place.store, "project_pipe.md"))
    talk = talk_in(place)
    assert ANSWER in talk.recall(QUESTION)
    assert [(os.path.basename(each.path), each.code) for each in talk.findings] == [
        ("project_pipe.md", "recall-failed")
    ]


def test_a_failure_never_reaches_the_caller(place):
    """Real faults are many; here the folder vanishes under a conversation that goes on."""
    bake(place)
    talk = talk_in(place)
    os.rename(place.proj, place.path("moved"))
    assert (talk.start(), talk.touch("api/users.py"), talk.recall(QUESTION), talk.compact()) == ("", "", "", "")
    assert set(codes(talk)) == {"instructions-failed", "recall-failed"}
    assert all(place.proj in finding.message for finding in talk.findings)


def files_below(folder):
    return {os.path.join(here, name) for here, _, names in os.walk(folder) for name in names}


def test_nothing_is_written_but_our_own_state_and_cache(place):
    bake(place)
    make_team(place)
    before = files_below(place.root)
    talk = talk_in(place)
    talk.start(), talk.touch("api/users.py"), talk.recall(QUESTION), talk.compact()
    new = {place.short(path) for path in files_below(place.root) - before}
    assert {
        path for path in new if not path.startswith(("home/.cache/foretold/", "home/.local/state/foretold/"))
    } == set()


def test_a_home_that_cannot_be_written_costs_nothing(place):
    memory = bake(place)
    talk = talk_in(place, env={"FORETOLD_HOME": place.path("proj/CLAUDE.md/under-a-file")})
    assert ("Use tabs." in talk.start(), ANSWER in talk.recall(QUESTION)) == (True, True)
    assert (talk.findings, len(memory.memories())) == ([], 2)


def test_findings_of_files_are_told_once(place):
    bake(place)
    place.write("proj/CLAUDE.md", "See @docs/gone.md for more.\n")
    found = []
    talk = talk_in(place, findings=found)
    talk.start()
    talk.compact()
    talk.start()
    assert [(finding.line, finding.code) for finding in found] == [(1, "import-missing")]


def test_the_callers_mistakes_raise_at_once(place):
    with pytest.raises(NotAFolder, match="is not a folder; give the folder the agent works in"):
        Conversation(place.path("gone"), **around(place))
    with pytest.raises(UnknownAgent):
        Conversation(place.proj, **around(place, agent="nobody"))


def test_threads_are_served_one_at_a_time(place):
    bake(place)
    talk = talk_in(place)
    given = []
    threads = [threading.Thread(target=lambda: given.append(talk.touch("api/users.py"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(bool, given)) == [False] * 7 + [True]
