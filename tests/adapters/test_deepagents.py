"""Memories as files of a deepagents backend, with the real package."""

import asyncio
import sys

import pytest
from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import foretold
from foretold.adapters.deepagents import memory_backend
from foretold.errors import ExtraMissing

SECRET = "gh" + "p_" + "a1B2" * 9


class Heard(BaseChatModel):
    """A model that plays a script."""

    lines: list

    @property
    def _llm_type(self):
        return "heard"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        return ChatResult(generations=[ChatGeneration(message=self.lines.pop(0))])


@pytest.fixture
def memory(place):
    memory = foretold.memory.open(place.proj, home=place.home, env={})
    memory.create("Deploys", type="project", description="when we deploy", body="On Tuesdays only.")
    return memory


@pytest.fixture
def backend(memory):
    return memory_backend(memories=memory)


def test_list_and_read(backend):
    assert [entry["path"] for entry in backend.ls("/").entries] == ["/MEMORY.md", "/project_deploys.md"]
    read = backend.read("/project_deploys.md")
    assert (read.error, "On Tuesdays only." in read.file_data["content"]) == (None, True)
    assert backend.read("/project_deploys.md", offset=0, limit=1).next_offset == 1
    assert backend.read("/gone.md").error == "The path /memories/gone.md does not exist. Please provide a valid path."


def test_write_edit_delete_are_in_the_history(backend, memory):
    assert backend.write("/notes/todo.txt", "one\none\n").error is None
    assert [entry["path"] for entry in backend.ls("/notes").entries] == ["/notes/todo.txt"]
    assert backend.edit("/notes/todo.txt", "one", "two").error
    assert backend.edit("/notes/todo.txt", "one", "two", replace_all=True).occurrences == 2
    assert backend.write("/notes/todo.txt", "three\n").path == "/notes/todo.txt"
    assert backend.delete("/notes/todo.txt").error is None
    assert [change.op for change in memory.log("notes/todo.txt.md")] == ["create", "edit", "edit", "delete"]
    assert memory.restore("notes/todo.txt.md").text == "three\n"


def test_glob_and_grep(backend):
    backend.write("/notes/a.md", "red\nblue\n")
    backend.write("/b.md", "blue\n")
    assert [each["path"] for each in backend.glob("*.md", "/notes").matches] == ["/notes/a.md"]
    assert [each["path"] for each in backend.glob("notes/*").matches] == ["/notes/a.md"]
    found = backend.grep("blue", glob="*.md")
    assert sorted((each["path"], each["line"]) for each in found.matches if each["path"] != "/MEMORY.md") == [
        ("/b.md", 1),
        ("/notes/a.md", 2),
    ]
    cut = backend.grep("blue", path="/", max_count=1)
    assert (len(cut.matches), cut.truncated) == (1, True)
    assert asyncio.run(backend.agrep("red")).matches[0]["path"] == "/notes/a.md"


@pytest.mark.parametrize("path", ["/../x.md", "/a/../../x.md", "/.hidden.md", "/a\0b.md", "/a\\b.md", "/" + "x" * 300])
def test_nothing_leads_out(backend, memory, path):
    before = sorted(memory.own.folder.files())
    assert backend.write(path, "evil").error
    assert backend.read(path).error
    assert sorted(memory.own.folder.files()) == before


def test_a_credential_is_refused(backend, memory):
    assert "credential" in backend.write("/a.md", f"token: {SECRET}").error
    assert not memory.own.has("a.md")


def test_under_confirm_a_change_waits(place, memory):
    asking = foretold.memory.open(place.proj, home=place.home, env={}, policy="confirm")
    backend = memory_backend(memories=asking)
    for result in (backend.write("/a.md", "x"), backend.edit("/project_deploys.md", "Tuesdays", "Fridays")):
        assert "proposed to the user" in result.error
    assert [proposal.op for proposal in asking.inbox.waiting()] == ["create", "edit"]


def test_upload_and_download(backend):
    answers = backend.upload_files([("/a.md", b"text"), ("/b.md", b"\xff")])
    assert [answer.error for answer in answers] == [None, "a memory is a text in UTF-8"]
    downloads = backend.download_files(["/a.md", "/gone.md"])
    assert [(each.content, bool(each.error)) for each in downloads] == [(b"text", False), (None, True)]


def test_a_deep_agent_writes_a_memory(backend, memory):
    calls = [{"name": "write_file", "args": {"file_path": "/memories/tabs.md", "content": "Use tabs."}, "id": "c-1"}]
    heard = Heard(lines=[AIMessage("", tool_calls=calls), AIMessage("Done.")])
    files = CompositeBackend(default=StateBackend(), routes={"/memories/": backend})
    create_deep_agent(heard, backend=files).invoke({"messages": [HumanMessage("Remember tabs.")]})
    assert memory.get("tabs.md").text == "Use tabs."


def test_without_the_package(monkeypatch):
    monkeypatch.delitem(sys.modules, "foretold.adapters.deepagents")
    monkeypatch.setitem(sys.modules, "deepagents.backends", None)
    with pytest.raises(ExtraMissing, match="-m pip install 'deepagents>="):
        __import__("foretold.adapters.deepagents")
