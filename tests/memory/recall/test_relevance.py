"""What is quoted without being asked for: only what a prompt is about."""

import foretold
from foretold.memory.recall.relevance import is_about, worth_quoting


def recalled(memory, question):
    return [hit.memory.name for hit in memory.recall(question, worth=worth_quoting).hits]


def test_a_word_in_front_or_two_anywhere(place):
    memory = foretold.memory.open(place.proj, home=place.home, env={})
    memory.create("Deploys", type="project", description="when we ship", body="On Tuesdays, from the main branch.")
    memory.create("Oven", type="feedback", description="how hot it is", body="Never above 230 degrees.")
    assert recalled(memory, "How do deploys work?") == ["deploys"]
    assert recalled(memory, "May I do it on Tuesdays?") == []
    assert recalled(memory, "Is it Tuesdays, and which branch?") == ["deploys"]
    assert recalled(memory, "What is the weather like?") == []


def test_a_word_that_many_hold_tells_nothing(place):
    memory = foretold.memory.open(place.proj, home=place.home, env={})
    for number in range(5):
        memory.create(f"Bread {number}", type="project", description=f"bread of day {number}", body="Flour.")
    assert recalled(memory, "Which bread?") == []


def test_words_of_every_prompt_tell_nothing(place):
    memory = foretold.memory.open(place.proj, home=place.home, env={})
    memory.create("Commits", type="feedback", description="how to write commit messages", body="One line.")
    prompts = ["how are you", "write a function", "what should I write?", "Fix the code, please."]
    assert [recalled(memory, prompt) for prompt in prompts] == [[]] * len(prompts)
    assert recalled(memory, "write a commit message") == ["commits"]


def test_is_about():
    assert (is_about({"deploy": ("body",)}, ["deploy"]), is_about({"deploy": ("name", "body")}, ["deploy"])) == (
        False,
        True,
    )
