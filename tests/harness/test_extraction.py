"""What is learned at the end of a turn: the extractor is asked, and told what it needs."""

from foretold import memory
from foretold.errors import ModelFailed
from foretold.harness.events import ExtractionEvent
from foretold.memory.extraction.extractor import Extractor
from foretold.memory.extraction.gate import Gate
from foretold.memory.extraction.progress import Extraction, Refusal
from foretold.memory.extraction.session_notes import SessionNotes, Thresholds

from .scene import codes, harness, is_prefix, live, stored


class Extracts:
    """An extractor that remembers what it was asked."""

    def __init__(self, *, due=True, fails=False, refused=()):
        self.is_due, self.fails, self.refused, self.asked = due, fails, refused, []

    def due(self, said):
        return self.is_due

    def run(self, model, request, said, *, session, instructions=()):
        self.asked.append((request, list(said), session, tuple(instructions)))
        if self.fails:
            raise ModelFailed("overloaded")
        return Extraction(added=("feedback_tabs.md",), refused=self.refused, session=session)


def test_it_goes_on_from_the_last_request(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/api/CLAUDE.md", "JSON.\n")
    path = place.write("proj/api/a.py", "a = 1\n")
    extractor = Extracts()
    agent = harness(place, [("Read", {"file_path": path}), "Done."], extractor=extractor)
    turn = agent.prompt("I like tabs.")
    ((request, said, session, instructions),) = extractor.asked
    assert is_prefix(agent.model.requests[-1], request)
    assert request.cached == agent.model.requests[-1].cached
    assert list(request.messages) == live(agent)
    assert [each.text for each in said if each.origin == "user"] == ["I like tabs."]
    assert {each.origin for each in said} == {"user", "assistant", "tool", "instructions", "reminder"}
    assert (session, instructions) == (agent.session, ("Use tabs.\n", "JSON.\n"))
    assert turn.extraction.added == ("feedback_tabs.md",)


def test_only_when_it_is_due_and_the_model_has_ended(place):
    extractor = Extracts(due=False)
    agent = harness(place, ["Done."], extractor=extractor)
    assert agent.prompt("Hi.").extraction is None
    extractor = Extracts()
    agent = harness(place, [("Bash", {"command": "echo"})] * 2, extractor=extractor, max_turns=1)
    agent.prompt("Hi.")
    assert extractor.asked == []


def test_what_is_refused_is_found(place):
    extractor = Extracts(refused=(Refusal("feedback_key.md", "secret", "it holds a key"),))
    agent = harness(place, ["Done."], extractor=extractor)
    events = list(agent.run("Hi."))
    assert [type(event).__name__ for event in events[-2:]] == ["ExtractionEvent", "TurnEndEvent"]
    assert isinstance(events[-2], ExtractionEvent)
    (finding,) = events[-1].turn.findings
    assert (finding.code, finding.path, finding.message) == (
        "memory-refused",
        "feedback_key.md",
        "secret: it holds a key",
    )


def test_a_failure_is_a_finding_and_the_turn_stands(place):
    agent = harness(place, ["Done.", "Again."], extractor=Extracts(fails=True))
    turn = agent.prompt("Hi.")
    assert (turn.text, turn.extraction, codes(agent)) == ("Done.", None, ["extraction-failed"])
    assert agent.prompt("And?").text == "Again."
    assert live(agent) == stored(agent)


def test_notes_are_written_and_used(place):
    notes = SessionNotes(place.folder("notes"), "s", Thresholds(begin=1, tokens=1, tool_calls=1))
    written = "# Title\nTabs\n# Now\nNothing."
    agent = harness(place, ["One.", written, "Two.", written, "Three.", written, "After."], notes=notes)
    for prompt in ("First.", "Second.", "Third."):
        agent.prompt(prompt)
    assert notes.text() == written
    assert is_prefix(agent.model.requests[0], agent.model.requests[1])
    assert agent.compact().is_done
    assert "# Title\nTabs" in str(live(agent)[0]["content"][0]["text"])


def test_notes_that_are_none_are_named(place):
    notes = SessionNotes(place.folder("notes"), "s", Thresholds(begin=1, tokens=1, tool_calls=1))
    turn = harness(place, ["One.", "I would rather not."], notes=notes).prompt("First.")
    assert [(finding.path, finding.code) for finding in turn.findings] == [(notes.path, "notes-failed")]
    assert notes.text() == ""


def test_the_real_extractor(place):
    """A memory is made in a fork that the conversation knows nothing of; the same turn makes nothing twice."""
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    memories = memory.open(place.proj, agent="claude-code@2.1.325", home=place.home, env={})
    path = f"{memories.place.store}/project_deploys.md"
    front = "---\nname: deploys\ndescription: when we deploy\nmetadata:\n  type: project\n---\n"
    note = f"{front}\nWe deploy on Tuesdays only.\n"
    lines = ["Noted.", ("Write", {"file_path": path, "content": note}), "Saved.", "Yes."]
    extractor = Extractor(memories, gate=Gate(tokens=5, tool_calls=5))
    agent = harness(place, lines, memory=memories, extractor=extractor)
    turn = agent.prompt("We deploy on Tuesdays only, because the bakery is closed then.")
    assert turn.extraction.added == ("project_deploys.md",)
    assert "We deploy on Tuesdays only." in memories.get("deploys").body
    assert is_prefix(agent.model.requests[0], agent.model.requests[1])
    assert "Saved." not in str(live(agent))
    assert live(agent) == stored(agent)
    assert agent.prompt("Ok?").extraction is None


def test_an_extraction_that_ends_early_is_named(place):
    memories = memory.open(place.proj, agent="claude-code@2.1.325", home=place.home, env={})
    extractor = Extractor(memories, gate=Gate.always())
    agent = harness(place, ["Noted."], memory=memories, extractor=extractor)
    turn = agent.prompt("We deploy on Tuesdays only.")
    assert (turn.text, codes(agent)) == ("Noted.", ["extraction-failed"])
