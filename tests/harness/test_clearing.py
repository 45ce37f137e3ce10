"""Old results of tools are cleared in what is sent, if asked; what was said stays in the transcript."""

import pytest

from foretold.context.compaction.clearing import NOTE

from .scene import harness, is_prefix, live, resumed, stored, texts

VERSIONS = ("2.1.197", "2.1.325")


def looked(place, version="2.1.325", count=5, lines=(), **more):
    """A conversation in which files were read one after the other."""
    files = [place.write(f"proj/{number}.txt", f"text {number} " + "x" * 200) for number in range(count)]
    script = [*(("Read", {"file_path": path}) for path in files), "Read.", *lines]
    agent = harness(place, script, version, memory=False, **more)
    agent.prompt("Read them.")
    return agent


def cleared(request):
    return [NOTE in str(block) for message in request.messages for block in results(message)]


def results(message):
    content = message["content"]
    return [block for block in content if block.get("type") == "tool_result"] if isinstance(content, list) else []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_newest_stay_and_the_transcript_has_all(place, version):
    agent = looked(place, version, clear_results=2)
    requests = agent.model.requests
    # two go at a time, so that what a provider has kept of the front changes every second request at most
    assert [cleared(request) for request in requests] == [
        [],
        [False],
        [False, False],
        [False, False, False],
        [True, True, False, False],
        [True, True, False, False, False],
    ]
    assert is_prefix(requests[4], requests[5])
    assert live(agent) == stored(agent)
    assert NOTE not in str(live(agent))


def test_the_system_prompt_says_so_at_its_end(place):
    agent = looked(place, clear_results=2)
    clears, summarise = agent.model.requests[0].system[-2:]
    assert ("Only the 2 newest results" in clears, summarise.startswith("# Write down")) == (True, True)
    only = looked(place, summarize_results=True).model.requests[-1]
    assert (only.system[-1] == summarise, clears in only.system, any(cleared(only))) == (True, False, False)
    plain = looked(place).model.requests[-1]
    assert (summarise in plain.system, any(cleared(plain))) == (False, False)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_resumed_conversation_is_cleared_in_the_same_places(place, version):
    agent = looked(place, version, clear_results=2)
    again = resumed(place, agent, ["Again."], version, memory=False, clear_results=2)
    again.prompt("Go on.")
    assert is_prefix(agent.model.requests[-1], again.model.requests[0])


def test_a_fork_and_an_extraction_go_on_from_what_was_sent(place):
    agent = looked(place, clear_results=2, lines=["Forked."])
    other = agent.fork()
    other.prompt("In the fork.")
    assert is_prefix(agent.model.requests[-2], agent.model.requests[-1])

    class Kept:
        asked = None

        def due(self, said):
            return True

        def run(self, model, request, said, *, session, instructions=()):
            Kept.asked = request

    agent = looked(place, clear_results=2, extractor=Kept())
    assert is_prefix(agent.model.requests[-1], Kept.asked)
    assert texts(Kept.asked.messages[-1]) == ["Read."]


def test_a_number_below_nothing_is_refused(place):
    with pytest.raises(ValueError, match="clear_results"):
        harness(place, [], clear_results=-1)
