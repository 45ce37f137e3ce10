"""The pydantic-ai adapter with the real package: what its model receives, and what outlives a run."""

import asyncio
import multiprocessing
import os
import sys

import pytest
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturn, UserPromptPart
from pydantic_ai.models.function import FunctionModel

import foretold
from foretold.adapters.pydantic_ai import History, agent_context
from foretold.errors import ExtraMissing, NotAFolder

from .bakery import bake


class Heard:
    """A model that plays a script, and keeps what it was sent."""

    def __init__(self, *lines):
        self.lines, self.requests, self.instructions = list(lines), [], []

    def __call__(self, messages, info):
        self.requests.append([[(part.part_kind, text_of(part)) for part in message.parts] for message in messages])
        self.instructions.append(info.instructions or "")
        line = self.lines.pop(0)
        part = TextPart(line) if isinstance(line, str) else ToolCallPart(*line)
        return ModelResponse(parts=[part])


def text_of(part):
    content = getattr(part, "content", None)
    return content if isinstance(content, str) else "".join(map(str, content)) if isinstance(content, list) else ""


@pytest.fixture
def project(place):
    bake(place)
    return place


def agent_in(project, heard, result="x = 1"):
    context = agent_context(project.proj, home=project.home, env={})
    agent = Agent(FunctionModel(heard), capabilities=[context])

    @agent.tool_plain
    def read(path: str) -> str:
        return result

    return agent, context


def test_runs_at_once_are_conversations_of_their_own(project):
    heards = [Heard(("read", {"path": "api/users.py"}), "Done.") for _ in range(4)]
    context = agent_context(project.proj, home=project.home, env={}, findings=None)

    async def converse(heard):
        agent = Agent(FunctionModel(heard), capabilities=[context])

        @agent.tool_plain
        def read(path: str) -> str:
            return "x = 1"

        await agent.run("When do we deploy?")

    async def all_at_once():
        await asyncio.gather(*map(converse, heards))

    asyncio.run(all_at_once())
    said = [str(heard.requests[-1]) for heard in heards]
    counts = {(text.count("On Tuesdays only."), text.count("Handlers return JSON.")) for text in said}
    assert (counts, context.findings) == ({(1, 1)}, [])


@pytest.mark.parametrize("prompt", ["", None, [BinaryContent(data=b"x", media_type="image/png")]])
def test_a_prompt_without_words(project, prompt):
    heard = Heard("Done.")
    agent, context = agent_in(project, heard)
    ask(agent, prompt)
    assert (len(heard.requests), "Tuesdays" in str(heard.requests), context.findings) == (1, False, [])


def ask(agent, prompt, **options):
    """A run in a loop that is closed afterwards: `run_sync` leaves one open."""
    return asyncio.run(agent.run(prompt, **options))


def test_what_a_run_is_told(project):
    heard = Heard(("read", {"path": "api/users.py"}), "Done.")
    agent, context = agent_in(project, heard)
    ask(agent, "When do we deploy?")
    assert ["Use tabs." in text for text in heard.instructions] == [True, True]
    (first,) = heard.requests[0]
    assert [kind for kind, _ in first] == ["user-prompt", "user-prompt"]
    assert ("On Tuesdays only." in first[0][1], first[1][1]) == (True, "When do we deploy?")
    assert heard.requests[1][:1] == heard.requests[0]  # what was sent once stays as it is
    result, brought = heard.requests[1][-1]
    assert (result, "Handlers return JSON." in brought[1]) == (("tool-return", "x = 1"), True)
    assert context.findings == []


def test_nothing_is_said_twice_in_a_conversation(project):
    heard = Heard(("read", {"path": "api/users.py"}), "Done.", ("read", {"path": "api/users.py"}), "Done.")
    agent, _ = agent_in(project, heard)
    first = ask(agent, "When do we deploy?")
    ask(agent, "When do we deploy, again?", message_history=first.all_messages())
    assert heard.requests[2][:4] == [*heard.requests[1], [("text", "Done.")]]
    said = str(heard.requests[-1])
    assert (said.count("On Tuesdays only."), said.count("Handlers return JSON.")) == (1, 1)


def test_two_conversations_know_nothing_of_each_other(project):
    heard = Heard("Done.", "Done.")
    agent, _ = agent_in(project, heard)
    for _ in range(2):
        ask(agent, "When do we deploy?")
    assert ["On Tuesdays only." in str(request) for request in heard.requests] == [True, True]


def test_a_history_that_was_shortened_is_told_again(project):
    heard = Heard(("read", {"path": "api/users.py"}), "Done.", "Done.")
    agent, _ = agent_in(project, heard)
    result = ask(agent, "Read it.")
    project.write("proj/api/CLAUDE.md", "Handlers return JSON, all of them.\n")
    short = [ModelRequest(parts=[UserPromptPart("They read a file.")], conversation_id=result.conversation_id)]
    ask(agent, "Go on", message_history=short, conversation_id=result.conversation_id)
    assert "Handlers return JSON, all of them." in str(heard.requests[-1][-1])


def test_a_result_with_content_of_its_own_keeps_it(project):
    heard = Heard(("look", {"path": "api/users.py"}), "Done.")
    agent, _ = agent_in(project, heard)

    @agent.tool_plain
    def look(path: str) -> ToolReturn:
        return ToolReturn(return_value="seen", content="a picture")

    ask(agent, "Look.")
    said = str(heard.requests[-1][-1])
    assert ("a picture" in said, "Handlers return JSON." in said, "seen" in said) == (True, True, True)


def test_a_store_that_cannot_be_read_breaks_no_run(project):
    heard = Heard("Done.")
    agent, context = agent_in(project, heard)
    folder = foretold.memory.open(project.proj, home=project.home, env={}).place.store
    os.rename(folder, folder + ".away")
    with open(folder, "w", encoding="utf-8") as file:
        file.write("no folder")
    assert ask(agent, "When do we deploy?").output == "Done."
    assert [finding.code for finding in context.findings] == ["recall-failed"]


def test_a_folder_that_is_not_there(project):
    with pytest.raises(NotAFolder):
        agent_context(project.path("nowhere"))


def test_without_the_package(monkeypatch):
    monkeypatch.delitem(sys.modules, "foretold.adapters.pydantic_ai")
    monkeypatch.setitem(sys.modules, "pydantic_ai.capabilities", None)
    monkeypatch.setitem(sys.modules, "pydantic_ai.messages", None)
    with pytest.raises(ExtraMissing, match="-m pip install 'pydantic-ai-slim>="):
        __import__("foretold.adapters.pydantic_ai")


def test_a_history_is_exactly_what_was_saved(project, tmp_path):
    heard = Heard(("read", {"path": "api/users.py"}), "Done.", "Again.")
    agent, _ = agent_in(project, heard)
    history = History("a talk", folder=tmp_path)
    assert history.load() == []
    first = ask(agent, "When do we deploy?", message_history=history.load())
    history.save(first.new_messages())
    assert History("a talk", folder=tmp_path).load() == first.all_messages()
    second = ask(agent, "And now?", message_history=history.load())
    history.save(second.new_messages())
    assert history.load() == second.all_messages()
    assert (History("another", folder=tmp_path).load(), history.findings) == ([], [])


@pytest.mark.parametrize("wrong", ["nonsense", b"[]", [{"role": "user"}]])
def test_what_is_no_message_is_not_saved(tmp_path, wrong):
    history = History("a talk", folder=tmp_path)
    with pytest.raises(ValueError, match="validation error"):
        history.save(wrong)
    assert (history.load(), os.listdir(tmp_path)) == ([], [])


def save_many(folder, name):
    history = History("shared", folder=folder)
    for number in range(20):
        history.save([ModelRequest(parts=[UserPromptPart(f"{name} {number}")])])


def test_four_processes_lose_nothing(tmp_path):
    context = multiprocessing.get_context("fork")
    crew = [context.Process(target=save_many, args=(tmp_path, name)) for name in "abcd"]
    for process in crew:
        process.start()
    for process in crew:
        process.join()
    said = [message.parts[0].content for message in History("shared", folder=tmp_path).load()]
    assert sorted(said) == sorted(f"{name} {number}" for name in "abcd" for number in range(20))
