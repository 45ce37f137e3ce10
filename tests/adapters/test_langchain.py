"""The langchain adapter with the real package: what its model receives, turn by turn."""

import asyncio
import os
import sys
import threading

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import foretold
from foretold.adapters.langchain import context_middleware
from foretold.errors import ExtraMissing, NotAFolder

from .bakery import bake

THREAD = {"configurable": {"thread_id": "t-1"}}
READS = AIMessage("", tool_calls=[{"name": "read", "args": {"path": "api/users.py"}, "id": "c-1"}])


class Heard(BaseChatModel):
    """A model that plays a script, and keeps what it was sent."""

    lines: list
    requests: list = []  # noqa: RUF012 - a field

    @property
    def _llm_type(self):
        return "heard"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.requests.append([(message.type, str(message.content)) for message in messages])
        return ChatResult(generations=[ChatGeneration(message=self.lines.pop(0).model_copy(update={"id": None}))])


@tool
def read(path: str) -> str:
    """Read a file."""
    return "x = 1"


@pytest.fixture
def project(place):
    bake(place)
    return place


def agent_in(project, *lines, saver=None, prompt="Be brief."):
    heard = Heard(lines=list(lines), requests=[])
    context = context_middleware(project.proj, home=project.home, env={})
    agent = create_agent(heard, [read], system_prompt=prompt, middleware=[context], checkpointer=saver)
    return agent, heard, context


def ask(agent, prompt, config=None):
    return agent.invoke({"messages": [HumanMessage(prompt)]}, config)


@pytest.mark.parametrize("content", ["", [], [{"type": "text", "text": ""}], [{"type": "image_url", "image_url": {}}]])
def test_a_prompt_without_words(project, content):
    agent, heard, context = agent_in(project, AIMessage("Done."))
    agent.invoke({"messages": [HumanMessage(content)]})
    assert ([kind for kind, _ in heard.requests[0]], context.findings) == (["system", "human"], [])


def test_conversations_in_threads_are_told_things_once_each(project):
    context = context_middleware(project.proj, home=project.home, env={})
    found = {}

    def converse(number):
        heard = Heard(lines=[READS, AIMessage("Read."), AIMessage("Bye.")], requests=[])
        agent = create_agent(heard, [read], middleware=[context], checkpointer=InMemorySaver())
        for _ in range(2):
            ask(agent, "When do we deploy?", {"configurable": {"thread_id": f"t-{number}"}})
        found[number] = str(heard.requests[-1])

    threads = [threading.Thread(target=converse, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    counts = {(text.count("On Tuesdays only."), text.count("Handlers return JSON.")) for text in found.values()}
    assert (len(found), counts, context.findings) == (4, {(1, 1)}, [])


def test_what_a_run_is_told(project):
    agent, heard, context = agent_in(project, READS, AIMessage("Done."))
    ask(agent, "When do we deploy?")
    first, second = heard.requests
    assert [kind for kind, _ in first] == ["system", "human", "human"]
    assert first[0][1].startswith("Be brief.\n\n")
    assert ("Use tabs." in first[0][1], first[1][1], "On Tuesdays only." in first[2][1]) == (
        True,
        "When do we deploy?",
        True,
    )
    assert second[:3] == first  # what was sent once stays as it is
    kind, result = second[-1]
    assert (kind, result.startswith("x = 1\n\n"), "Handlers return JSON." in result) == ("tool", True, True)
    assert context.findings == []


def test_the_same_without_blocking(project):
    agent, heard, _ = agent_in(project, READS, AIMessage("Done."))
    asyncio.run(agent.ainvoke({"messages": [HumanMessage("When do we deploy?")]}))
    said = str(heard.requests[-1])
    assert [text in said for text in ("Use tabs.", "On Tuesdays only.", "Handlers return JSON.")] == [True] * 3


def test_nothing_is_said_twice_in_a_thread(project):
    agent, heard, _ = agent_in(project, READS, AIMessage("Done."), READS, AIMessage("Done."), saver=InMemorySaver())
    ask(agent, "When do we deploy?", THREAD)
    ask(agent, "When do we deploy, again?", THREAD)
    said = str(heard.requests[-1])
    assert (said.count("On Tuesdays only."), said.count("Handlers return JSON.")) == (1, 1)
    assert heard.requests[2][:5] == heard.requests[1]


def test_threads_know_nothing_of_each_other(project):
    agent, heard, _ = agent_in(project, AIMessage("Done."), AIMessage("Done."), saver=InMemorySaver())
    for name in "ab":
        ask(agent, "When do we deploy?", {"configurable": {"thread_id": name}})
    assert ["On Tuesdays only." in str(request) for request in heard.requests] == [True, True]


def test_a_history_that_was_shortened_is_told_again(project):
    agent, heard, _ = agent_in(project, READS, AIMessage("Done."), AIMessage("Done."), saver=InMemorySaver())
    made = ask(agent, "Read it.", THREAD)
    project.write("proj/api/CLAUDE.md", "Handlers return JSON, all of them.\n")
    agent.update_state(THREAD, {"messages": [RemoveMessage(message.id) for message in made["messages"]]})
    ask(agent, "Go on.", THREAD)
    assert "Handlers return JSON, all of them." in str(heard.requests[-1])


def test_without_a_system_prompt(project):
    agent, heard, _ = agent_in(project, AIMessage("Done."), prompt=None)
    ask(agent, "Hello")
    assert (heard.requests[0][0][0], "Use tabs." in heard.requests[0][0][1]) == ("system", True)


def test_a_result_of_blocks_keeps_its_form(project):
    @tool
    def look(path: str) -> ToolMessage:
        """Look at a file."""
        return ToolMessage([{"type": "text", "text": "seen"}], tool_call_id="c-1")

    calls = AIMessage("", tool_calls=[{"name": "look", "args": {"path": "api/users.py"}, "id": "c-1"}])
    heard = Heard(lines=[calls, AIMessage("Done.")], requests=[])
    agent = create_agent(heard, [look], middleware=[context_middleware(project.proj, home=project.home, env={})])
    result = ask(agent, "Look.")["messages"][-2].content
    assert ([block["type"] for block in result], result[0]["text"]) == (["text", "text"], "seen")
    assert "Handlers return JSON." in result[1]["text"]


def test_a_store_that_cannot_be_read_breaks_no_run(project):
    agent, _, context = agent_in(project, AIMessage("Done."))
    folder = foretold.memory.open(project.proj, home=project.home, env={}).place.store
    os.rename(folder, folder + ".away")
    with open(folder, "w", encoding="utf-8") as file:
        file.write("no folder")
    assert ask(agent, "When do we deploy?")["messages"][-1].content == "Done."
    assert [finding.code for finding in context.findings] == ["recall-failed"]


def test_a_folder_that_is_not_there(project):
    with pytest.raises(NotAFolder):
        context_middleware(project.path("nowhere"))


def test_without_the_package(monkeypatch):
    monkeypatch.delitem(sys.modules, "foretold.adapters.langchain")
    monkeypatch.setitem(sys.modules, "langchain.agents.middleware", None)
    with pytest.raises(ExtraMissing, match="-m pip install 'langchain>="):
        __import__("foretold.adapters.langchain")
