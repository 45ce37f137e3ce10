"""What is quoted without being asked for: only what a prompt is about."""

import pytest

import foretold
from foretold.memory.recall.relevance import WITH_VECTORS, WITH_WORDS, MatchNumbers, is_above, worth_quoting


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


def test_general_words_tell_only_together_and_in_front(place):
    memory = foretold.memory.open(place.proj, home=place.home, env={})
    memory.create("End of day", type="project", description="the end of the day", body="At 18:00 in Lisbon.")
    memory.create("Oven", type="feedback", description="how hot it is", body="Never above 230 degrees.")
    assert recalled(memory, "when is end of day") == ["end-of-day"]
    assert recalled(memory, "what a day") == []


@pytest.mark.parametrize(
    "prompt", ["hi", "Happy Friday!", "good morning", "thanks, perfect", "danke, gut", "yes please"]
)
def test_small_talk_is_about_nothing(place, prompt):
    memory = foretold.memory.open(place.proj, home=place.home, env={})
    memory.create(
        "Friday", type="feedback", description="happy Friday morning, perfect: no deploys", body="Yes. Danke."
    )
    assert recalled(memory, prompt) == []


def fill(memory, count):
    """As many memories that have nothing to do with anything else."""
    for number in range(count):
        memory.create(
            f"Filler {number}", type="project", description=f"topic{number} subject{number}", body=f"b{number}"
        )


@pytest.mark.parametrize("count", [0, 8, 80])
def test_the_size_of_a_store_decides_nothing(place, count):
    memory = foretold.memory.open(place.proj, home=place.home, env={})
    memory.create("Reefers", type="project", description="who is paged when a reefer alarm fires", body="Group quay-2.")
    memory.create("Tariffs", type="project", description="how tariff rounding is done", body="Half even, per line.")
    fill(memory, count)
    assert recalled(memory, "a reefer alarm fires, who is paged?") == ["reefers"]
    assert (
        recalled(
            memory,
            "the recipe import fails for chocolate cake with vanilla sauce and cherries, and so does the alarm clock",
        )
        == []
    )


def test_more_of_the_prompt_is_never_worse():
    numbers = MatchNumbers(0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.5, 0.4, 0.2)
    for gate in (WITH_WORDS, WITH_VECTORS):
        assert is_above(gate, numbers)
        assert not is_above(gate, MatchNumbers(*[0.0] * 9))
        assert is_above(gate, numbers._replace(evidence=0.9, words=1.0, nearer=0.3))
