"""Compaction: by itself and by command; what the conversation has afterwards."""

from itertools import pairwise

import pytest

from foretold.errors import ModelFailed
from foretold.harness.compaction import ASK
from foretold.harness.events import CompactEvent

from .scene import codes, harness, is_prefix, live, resumed, stored, texts, types

VERSIONS = ("2.1.197", "2.1.325")
MODELS = ("claude-opus-5-5", "claude-sonnet-4-5")
LONG = "word " * 1600  # 2,000 tokens
SUMMARY = "<analysis>hm</analysis><summary>They counted words.</summary>"


def is_question(request):
    return texts(request.messages[-1])[-1].startswith(ASK[:60])


def answer(request):
    return SUMMARY if is_question(request) else "Counted."


def begun(place, version="2.1.325", model="claude-opus-5-5", lines=(), **more):
    """A conversation of three prompts in which a file was read."""
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/api/CLAUDE.md", "JSON.\n")
    path = place.write("proj/api/a.py", "a = 1\n")
    script = [("Read", {"file_path": path}), "Read.", "Two.", "Three.", *lines]
    agent = harness(place, script, version, model, memory=False, **more)
    for prompt in ("Look.", "Second.", "Third."):
        agent.prompt(prompt)
    return agent


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_by_command(place, version, model):
    agent = begun(place, version, model, [SUMMARY, ("Read", {"file_path": place.path("proj/api/a.py")}), "Seen."])
    place.write("proj/CLAUDE.md", "Use spaces.\n")
    asked = len(agent.model.requests)
    done = agent.compact("Mind the tabs.")
    assert (done.is_done, done.trigger, len(done.kept)) == (True, "manual", 1)
    assert sorted(map(place.short, done.survival.files.paths)) == ["proj/api/CLAUDE.md", "proj/api/a.py"]
    turn = agent.prompt("Go on.")
    question, after = agent.model.requests[asked], agent.model.requests[asked + 1]
    assert is_question(question)
    assert "Mind the tabs." in texts(question.messages[-1])[0]
    assert texts(question.messages[-2]) == ["Two."] or "Third." in texts(question.messages[-2])
    said = str(after.messages)
    assert all(text in said for text in ("They counted words.", "Use spaces.", "Three.", "Go on.", "a = 1"))
    assert not any(text in said for text in ("hm</analysis>", "Use tabs.", "Look.", "Second."))
    assert turn.text == "Seen."
    assert live(agent) == stored(agent)
    assert resumed(place, agent, [], version).dialogue.messages == live(agent)


def test_the_question_has_the_front_of_the_conversation(place):
    agent = begun(place, lines=[SUMMARY])
    before = agent.model.requests[-2]
    agent.compact()
    assert is_prefix(before, agent.model.requests[-1])


def test_files_that_came_back_count_as_read(place):
    path = place.path("proj/api/a.py")
    edit = ("Edit", {"file_path": path, "old_string": "1", "new_string": "2"})
    agent = begun(place, "2.1.197", lines=[SUMMARY, edit, "Done."])
    agent.compact()
    agent.prompt("Change it.")
    with open(path, encoding="utf-8") as file:
        assert file.read() == "a = 2\n"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_by_itself_before_a_prompt(place, version, model):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    agent = harness(place, [answer] * 9, version, model, memory=False, window=10_000)
    turns = [agent.prompt(f"{number}: {LONG}") for number in range(5)]
    counts = [len(turn.compactions) for turn in turns]
    assert counts == [0, 0, 0, 0, 1] or counts == [0, 0, 0, 1, 0]
    (done,) = [each for turn in turns for each in turn.compactions]
    assert (done.trigger, done.reason) == ("auto", "")
    assert types(agent).count("compact_boundary") == 1
    assert live(agent) == stored(agent)
    requests = [request for request in agent.model.requests if not is_question(request)]
    joined = [is_prefix(*pair) for pair in pairwise(requests)]
    assert joined.count(False) == 1
    assert "Use tabs." in str(requests[-1].messages)
    assert "4: word" in str(requests[-1].messages)


def test_by_itself_in_the_middle_of_a_turn(place):
    """Results that the model has not seen are kept, and the instructions come again at once."""
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    calls = iter(range(100))

    def work(request):
        if is_question(request):
            return SUMMARY
        return ("Bash", {"command": f"printf '%08000d' {next(calls)}"}) if len(request.messages) < 12 else "Done."

    agent = harness(place, [work] * 20, memory=False, window=12_000, max_turns=9)
    events = list(agent.run("Work."))
    assert any(isinstance(event, CompactEvent) and event.is_done for event in events)
    after = next(request for request in agent.model.requests if "They counted words." in str(request.messages))
    assert "tool_result" in str(after.messages)
    assert "Use tabs." in str(after.messages)
    assert live(agent) == stored(agent)


def test_too_little_to_compact(place):
    agent = harness(place, ["One."], "2.1.197")
    agent.prompt("Hi.")
    assert agent.compact().reason == "too_few_groups"
    assert codes(agent) == ["not-compacted"]
    assert len(agent.model.requests) == 1


def test_a_summary_without_a_word_changes_nothing(place):
    agent = begun(place, lines=["<summary> </summary>"])
    before = live(agent)
    assert agent.compact().reason == "empty-summary"
    assert live(agent) == before
    assert "compact_boundary" not in types(agent)


def test_a_model_that_fails_changes_nothing(place):
    agent = begun(place)
    before = types(agent)
    with pytest.raises(ModelFailed):
        agent.compact()
    assert types(agent) == before


def test_a_model_that_fails_when_it_happens_by_itself_is_named(place):
    def fails(request):
        if is_question(request):
            raise ModelFailed("overloaded")
        return "Counted."

    agent = harness(place, [fails] * 9, memory=False, window=10_000)
    for number in range(5):
        agent.prompt(f"{number}: {LONG}")
    assert "not-compacted" in codes(agent)
    assert live(agent) == stored(agent)


def test_notes_are_the_summary(place):
    class Notes:
        def text(self):
            return "# Now\nCounting words."

    agent = begun(place, notes=Notes())
    asked = len(agent.model.requests)
    assert agent.compact().is_done
    assert len(agent.model.requests) == asked
    assert "Counting words." in str(live(agent))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_said_behind_the_compaction_of_a_resumed_conversation_survives_the_end_of_the_process(place, version):
    with harness(place, ["One."], version, memory=False) as agent:
        agent.prompt("First.")
    again = resumed(place, agent, [SUMMARY, "Two."], version, memory=False)
    assert again.compact().is_done == (version == "2.1.325")  # which keeps nothing; the other has too little
    assert live(again) == stored(again)
    assert ("They counted words." in str(live(again))) == (version == "2.1.325")
    again.prompt("Second.")  # and is killed
    assert resumed(place, agent, [], version, memory=False).dialogue.messages == live(again)


def test_twice(place):
    agent = begun(place, lines=[SUMMARY, "Four.", "Five.", "Six.", "<summary>Again.</summary>", "Seven."])
    agent.compact()
    for prompt in ("Fourth.", "Fifth.", "Sixth."):
        agent.prompt(prompt)
    assert agent.compact().is_done
    agent.prompt("Seventh.")
    said = str(live(agent))
    assert "Again." in said
    assert "They counted words." not in said
    assert live(agent) == stored(agent)
    again = resumed(place, agent, ["Eight."])
    assert again.dialogue.messages == live(agent)


@pytest.mark.parametrize("version", VERSIONS)
def test_by_itself_when_the_provider_says_that_it_is_too_long(place, version):
    asked = iter(["too long", "summary", "fine"])

    def reply(request):
        if (now := next(asked)) == "too long":
            raise ModelFailed("Anthropic answered 400: prompt is too long: 210000 tokens > 200000 maximum: refused")
        return SUMMARY if now == "summary" else "Shorter."

    agent = begun(place, version, lines=[reply] * 3)
    turn = agent.prompt("Fourth.")
    assert (turn.text, [(each.trigger, each.reason) for each in turn.compactions]) == ("Shorter.", [("auto", "")])
    said = str(agent.model.requests[-1].messages)
    assert all(text in said for text in ("They counted words.", "Use tabs.", "Fourth."))
    assert live(agent) == stored(agent)
    assert resumed(place, agent, [], version, memory=False).dialogue.messages == live(agent)


@pytest.mark.parametrize("prompts", [1, 4])
def test_what_cannot_be_made_short_enough_fails_with_what_to_do(place, prompts):
    def reply(request):
        if is_question(request):
            return SUMMARY
        if "last" in str(request.messages):
            raise ModelFailed("OpenAI answered 400: This model's maximum context length is 8192 tokens")
        return "Counted."

    agent = harness(place, [reply] * 9, "2.1.197", memory=False)
    for number in range(1, prompts):
        agent.prompt(f"{number}.")
    with pytest.raises(ModelFailed, match=r"8192 tokens; .* go back with rewind, or begin a new conversation"):
        agent.prompt("The last.")
    assert codes(agent) == ([] if prompts > 1 else ["not-compacted"])
    assert live(agent) == stored(agent)


def test_other_failures_are_not_met_with_a_compaction(place):
    def fails(request):
        raise ModelFailed(
            "Anthropic answered 400: the request was refused; if it is too long, compact the conversation"
        )

    agent = begun(place, lines=[fails, SUMMARY])
    with pytest.raises(ModelFailed, match=r"conversation$"):
        agent.prompt("Fourth.")
    assert "compact_boundary" not in types(agent)
