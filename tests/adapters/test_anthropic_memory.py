"""The memory tool of Anthropic's package on our store: by its own runner, beside its own tool, and under attack."""

import asyncio
import os
import random
import subprocess
import sys

import anthropic
import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

import foretold
from foretold.adapters.anthropic_memory import AsyncMemoryTool, MemoryTool
from foretold.errors import ExtraMissing
from foretold.proof.probe.server import ModelServer

SECRET = "AKIA" + "IOSFODNN7ABCDEFG"


@pytest.fixture
def open_tool(tmp_path):
    def opened(kind=MemoryTool, **options):
        (tmp_path / "repo").mkdir(exist_ok=True)
        return kind(cwd=tmp_path / "repo", home=tmp_path, env={}, **options)

    return opened


@pytest.fixture
def tool(open_tool):
    return open_tool(session="s1")


def call(tool, command, **given):
    """What the model gets: a text, or an error as a list of one."""
    try:
        return tool.call({"command": command, **given})
    except ToolError as error:
        return [error.content]


def inside(tool, file):
    return os.path.join(tool.files.store.path, file)


def read(path):
    with open(path, "rb") as file:
        return file.read()


# -- beside the tool of the package

COMMANDS = [
    {"command": "view", "path": "/memories/a.md"},
    {"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\r\nthree"},
    {"command": "create", "path": "/memories/a.md", "file_text": "again"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, -1]},
    {"command": "view", "path": "/memories/a.md", "view_range": [0, 99]},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "zwei\nzwo"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "gone", "new_str": ""},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "e", "new_str": ""},
    {"command": "str_replace", "path": "/memories/b.md", "old_str": "e", "new_str": ""},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "zero\n"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 5, "insert_text": "last"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 9, "insert_text": "far"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": -1, "insert_text": "far"},
    {"command": "insert", "path": "/memories/b.md", "insert_line": 0, "insert_text": "far"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": ""},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "create", "path": "/memories/notes/todo.txt", "file_text": "ä\n\n"},
    {"command": "view", "path": "/memories/notes/todo.txt"},
    {"command": "insert", "path": "/memories/notes/todo.txt", "insert_line": 2, "insert_text": "end"},
    {"command": "view", "path": "/memories/notes/todo.txt"},
    {"command": "insert", "path": "/memories/notes", "insert_line": 0, "insert_text": "far"},
    {"command": "str_replace", "path": "/memories/notes", "old_str": "a", "new_str": "b"},
    {"command": "rename", "old_path": "/memories/notes/todo.txt", "new_path": "/memories/a.md"},
    {"command": "rename", "old_path": "/memories/notes/todo.txt", "new_path": "/memories/done/x/list.txt"},
    {"command": "view", "path": "/memories/done/x/list.txt"},
    {"command": "rename", "old_path": "/memories/done", "new_path": "/memories/archive"},
    {"command": "view", "path": "/memories/archive/x/list.txt"},
    {"command": "rename", "old_path": "/memories/none", "new_path": "/memories/other"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/other"},
    {"command": "delete", "path": "/memories/none"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/archive"},
    {"command": "view", "path": "/memories/archive/x/list.txt"},
    {"command": "delete", "path": "/memories/a.md"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "view", "path": "/elsewhere/a.md"},
]


def test_every_answer_is_that_of_the_tool_of_the_package(tool, tmp_path):
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    for command in COMMANDS:
        assert call(tool, **command) == call(theirs, **command), command


def test_a_folder_is_listed_as_they_do(tool, tmp_path):
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    for path in ("b.md", "todo.txt", "a/x.md", "a/data.json", "a/deep/far/y.md"):
        for each in (tool, theirs):
            call(each, "create", path=f"/memories/{path}", file_text="x" * 1536)
    ours, expected = (call(each, "view", path="/memories").split("\n") for each in (tool, theirs))
    ours = [line for line in ours if "MEMORY.md" not in line]
    assert ours[0] == expected[0]
    assert [line.partition("\t")[2] for line in ours] == [line.partition("\t")[2] for line in expected]
    assert [line for line in ours if line[-1] != "/"][2:] == [line for line in expected if line[-1] != "/"][2:]
    assert call(tool, "view", path="/memories/a/").split("\n")[1:] == [
        "4.5K\t/memories/a/",
        "1.5K\t/memories/a/data.json",
        "1.5K\t/memories/a/deep/",
        "1.5K\t/memories/a/deep/far/",
        "1.5K\t/memories/a/x.md",
    ]


def test_a_range_that_shows_nothing_is_an_error(tool):
    call(tool, "create", path="/memories/a.md", file_text="one\n")
    said = (
        "Invalid `view_range` parameter: [5, 9]. /memories/a.md has 2 lines; give the first and the last line, -1 for"
    )
    assert call(tool, "view", path="/memories/a.md", view_range=[5, 9]) == [said + " the end."]


# -- on the store


def test_what_the_model_writes_is_kept_byte_for_byte_and_nothing_is_lost(tool):
    text = "\ufeffno frontmatter\r\n\ttabs \u2028 and\x00more\n\n"
    call(tool, "create", path="/memories/raw.md", file_text=text)
    assert read(inside(tool, "raw.md")) == text.encode()
    call(tool, "insert", path="/memories/raw.md", insert_line=0, insert_text="top")
    call(tool, "rename", old_path="/memories/raw.md", new_path="/memories/kept/raw.md")
    call(tool, "delete", path="/memories/kept")
    assert not os.path.exists(inside(tool, "kept/raw.md"))
    memories = tool.files.memories
    history = [(change.op, change.by, change.session) for change in memories.log("kept/raw.md")]
    assert history == [(op, "agent", "s1") for op in ("create", "edit", "rename", "delete")]
    memories.restore("kept/raw.md")
    assert read(inside(tool, "kept/raw.md")) == b"top\n" + text.encode()
    memories.restore("kept/raw.md", at=1)
    assert read(inside(tool, "kept/raw.md")) == text.encode()


def test_all_is_cleared_and_can_be_had_back(tool):
    call(tool, "create", path="/memories/a.md", file_text="one")
    call(tool, "create", path="/memories/b/c.md", file_text="two")
    assert tool.clear_all_memory() == "All memory cleared"
    assert tool.files.store.memories() == []
    tool.files.memories.restore("b/c.md")
    assert [memory.text for memory in tool.files.store.memories()] == ["two"]


def test_it_is_the_memory_that_the_command_and_claude_code_see(tool, tmp_path):
    memories = foretold.memory.open(tmp_path / "repo", home=tmp_path, env={})
    memories.create("Deploys", type="project", description="when we deploy", body="On Tuesdays.")
    assert "     9\tOn Tuesdays." in call(tool, "view", path="/memories/project_deploys.md")
    call(tool, "create", path="/memories/todo.txt", file_text="Buy flour.\n")
    assert memories.get("todo.txt").text == "Buy flour.\n"
    assert "- [Todo.txt](todo.txt.md)" in memories.index()


def test_the_index_can_be_viewed_and_edited_and_stays(tool):
    call(tool, "create", path="/memories/a.md", file_text="one")
    assert call(tool, "view", path="/memories/MEMORY.md").endswith("     1\t- [A](a.md)\n     2\t")
    assert call(tool, "insert", path="/memories/MEMORY.md", insert_line=0, insert_text="# Mine") == (
        "The file /memories/MEMORY.md has been edited."
    )
    assert tool.files.store.index() == "# Mine\n- [A](a.md)\n"
    assert call(tool, "delete", path="/memories/MEMORY.md") == [
        "Cannot delete MEMORY.md, the index of the other files, itself"
    ]
    assert "already exists" in call(tool, "create", path="/memories/memory.md", file_text="x")[0]


def test_names_that_some_file_systems_take_for_one_are_one(tool):
    call(tool, "create", path="/memories/Notes.md", file_text="one")
    assert call(tool, "create", path="/memories/notes.md", file_text="two") == [
        "notes.md is there already, as Notes.md"
    ]
    assert call(tool, "create", path="/memories/Notes", file_text="two") == ["File /memories/Notes already exists"]
    assert call(tool, "create", path="/memories/Notes.md/x.md", file_text="two") == [
        "The path /memories/Notes.md/x.md leads through a file or a link."
    ]


def test_credentials_are_refused_and_the_model_is_told(tool):
    call(tool, "create", path="/memories/a.md", file_text="key:\n")
    refusal = "is not written: it would hold what looks like a credential (AWS access key)."
    for command, given in (
        ("create", {"path": "/memories/b.md", "file_text": f"key: {SECRET}"}),
        ("insert", {"path": "/memories/a.md", "insert_line": 1, "insert_text": SECRET}),
        ("str_replace", {"path": "/memories/a.md", "old_str": "key:", "new_str": SECRET}),
    ):
        (said,) = call(tool, command, **given)
        assert refusal in said
        assert SECRET not in said
    assert [memory.file for memory in tool.files.store.memories()] == ["a.md"]
    with open(inside(tool, "old.md"), "w", encoding="utf-8") as file:
        file.write(f"{SECRET}\n")
    assert call(tool, "insert", path="/memories/old.md", insert_line=0, insert_text="x") == (
        "The file /memories/old.md has been edited."
    )


def test_under_confirm_changes_wait_in_the_inbox(open_tool):
    call(open_tool(), "create", path="/memories/a.md", file_text="one\n")
    tool = open_tool(policy="confirm")
    later = "Nothing is changed yet: the change was proposed to the user, and waits to be confirmed."
    assert call(tool, "insert", path="/memories/a.md", insert_line=1, insert_text="two") == later
    assert call(tool, "create", path="/memories/b.txt", file_text="new") == later
    assert read(inside(tool, "a.md")) == b"one\n"
    inbox = tool.files.memories.inbox
    for proposal in inbox.waiting():
        inbox.accept(proposal.id)
    assert (read(inside(tool, "a.md")), read(inside(tool, "b.txt.md"))) == (b"one\ntwo\n", b"new")
    assert call(tool, "rename", old_path="/memories/b.txt", new_path="/memories/c.txt") == later
    assert call(tool, "delete", path="/memories/a.md") == later
    waiting = [(proposal.op, proposal.file) for proposal in inbox.waiting()]
    assert waiting == [("create", "c.txt.md"), ("delete", "b.txt.md"), ("delete", "a.md")]


@pytest.mark.parametrize("policy", ["manual", "read-only"])
def test_other_policies_refuse(open_tool, policy):
    (said,) = call(open_tool(policy=policy), "create", path="/memories/a.md", file_text="one\n")
    assert said.startswith(f"the write policy is {policy}: ")


def test_what_is_missing_or_of_another_type_is_an_error_for_the_model(tool):
    assert call(tool, "create", path="/memories/a.md") == [
        "The `file_text` parameter of create is missing, or not of its type."
    ]
    assert call(tool, "insert", path="/memories/a.md", insert_line="x", insert_text="x") == [
        "The `insert_line` parameter of insert is missing, or not of its type."
    ]
    assert "half of a surrogate pair" in call(tool, "create", path="/memories/a.md", file_text="\ud800")[0]


def test_no_error_tells_where_the_history_is(open_tool, tmp_path):
    state = open_tool().files.memories.place.state
    os.makedirs(os.path.dirname(state), exist_ok=True)
    with open(state, "w", encoding="utf-8") as file:
        file.write("no folder")
    (said,) = call(open_tool(), "create", path="/memories/a.md", file_text="x")
    assert ("the history of the memories" in said, str(tmp_path) in said) == (True, False)


def test_no_name_is_a_credential(tool):
    call(tool, "create", path="/memories/a.md", file_text="x")
    (said,) = call(tool, "rename", old_path="/memories/a.md", new_path=f"/memories/{SECRET}.md")
    assert ("credential" in said, list(tool.files.store.folder.files())) == (True, ["a.md"])


def test_no_error_tells_where_the_store_is(tool, tmp_path):
    call(tool, "create", path="/memories/a.md", file_text="one")
    with open(inside(tool, "a.md"), "wb") as file:
        file.write(b"\xff")
    os.symlink("/etc/passwd", inside(tool, "link.md"))
    said = [*call(tool, "view", path="/memories/a.md"), *call(tool, "create", path="/memories/link.md", file_text="x")]
    assert said == [
        "The file /memories/a.md is not UTF-8: a person has to fix it.",
        "link.md is there already",
    ]
    listing = call(tool, "view", path="/memories")
    assert listing.endswith("Not shown: link.md: it is a symbolic link, and the store does not follow links")
    assert str(tmp_path) not in listing + "".join(said)


# -- paths

OUTSIDE = [
    "",
    "/",
    "memories/a.md",
    "/memories-evil/a.md",
    "/memoriesa.md",
    "/memories/../a.md",
    "/memories/..",
    "/memories/../memories-evil/a.md",
    "/memories/a/../../b.md",
    "/memories/./a.md",
    "/memories//etc/passwd",
    "/memories/%2e%2e/a.md",
    "/memories/%2e%2e%2fa.md",
    "/memories/..%2fa.md",
    "/memories/..\\a.md",
    "/memories/a\\..\\..\\b.md",
    "/memories/a.md\x00.txt",
    "/memories/\x00",
    "/memories/~/a.md",
    "/memories/~root/a.md",
    "/memories/\u2024\u2024/a.md",
    "/memories/\uff0e\uff0e\uff0fa.md",
    "/memories/.hidden.md",
    "/memories/-rf.md",
    "/memories/C:/a.md",
    "/memories/" + "x" * 300 + ".md",
    "/memories/" + "d/" * 20 + "a.md",
    "/MEMORIES/a.md",
    "/memories/a.md/..",
    "../memories/a.md",
    "/memories/\ud800.md",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out(tool, tmp_path, path):
    before = sorted(os.walk(tmp_path))
    call(tool, "create", path="/memories/a.md", file_text="one")
    inside_before = sorted(os.listdir(tool.files.store.path))
    for command, given in (
        ("view", {"path": path}),
        ("create", {"path": path, "file_text": "evil"}),
        ("str_replace", {"path": path, "old_str": "o", "new_str": "evil"}),
        ("insert", {"path": path, "insert_line": 0, "insert_text": "evil"}),
        ("delete", {"path": path}),
        ("rename", {"old_path": path, "new_path": "/memories/b.md"}),
        ("rename", {"old_path": "/memories/a.md", "new_path": path}),
    ):
        assert isinstance(call(tool, command, **given), list), (command, path)
    assert sorted(os.listdir(tool.files.store.path)) == inside_before
    assert read(inside(tool, "a.md")) == b"one"
    assert before


def test_no_link_leads_out(tool, tmp_path):
    call(tool, "create", path="/memories/a.md", file_text="one")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.md").write_text("secret")
    os.symlink(tmp_path / "outside", inside(tool, "folder"))
    os.symlink(tmp_path / "outside" / "b.md", inside(tool, "file.md"))
    os.symlink(tmp_path / "outside" / "new.md", inside(tool, "new.md"))
    for path in ("folder/b.md", "file.md", "new.md", "folder/new.md"):
        for command, given in (
            ("view", {}),
            ("create", {"file_text": "evil"}),
            ("insert", {"insert_line": 0, "insert_text": "evil"}),
            ("delete", {}),
        ):
            (said,) = call(tool, command, path=f"/memories/{path}", **given)
            assert "secret" not in said
    assert sorted(os.listdir(tmp_path / "outside")) == ["b.md"]
    assert (tmp_path / "outside" / "b.md").read_text() == "secret"


def test_ten_thousand_paths_never_escape(tool, tmp_path):
    """Each is either refused, or means a file below the folder; of those that can be made, some are."""
    pieces = [
        "..",
        ".",
        "/",
        "//",
        "\\",
        "%2e",
        "%2f",
        "~",
        "a",
        "b.md",
        "memories",
        "-evil",
        "\x00",
        "\uff0e",
        " ",
        "C:",
    ]
    rng = random.Random(7)
    store = tool.files.store.path
    call(tool, "create", path="/memories/a.md", file_text="one")
    outside = {str(path) for path in tmp_path.rglob("*") if not str(path).startswith((store, str(tmp_path / ".local")))}
    made = refused = 0
    for _ in range(10_000):
        start = rng.choice(["/memories/", "/memories/", "/memories", "/", "", "/memories/a/"])
        path = start + "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 7)))
        said = call(tool, "view", path=path)
        if isinstance(said, list) and "does not exist" not in said[0]:
            refused += 1
            continue
        spot = tool.files._parse_path(path)
        full = os.path.realpath(os.path.join(store, spot.file or spot.folder or "."))
        assert (full + "/").startswith(store + "/"), path
        if made < 40 and spot.file and isinstance(call(tool, "create", path=path, file_text="x"), str):
            made += 1
            assert os.path.isfile(full), path
    assert refused > 5000
    assert made > 10
    after = {str(path) for path in tmp_path.rglob("*") if not str(path).startswith((store, str(tmp_path / ".local")))}
    assert after - outside <= {str(tmp_path / ".cache")} | {p for p in after if p.startswith(str(tmp_path / ".cache"))}


# -- with the runner of the package


def respond(body, wire):
    """A model that writes a memory, looks at it, tries to break out, and says what it saw."""
    results = [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]
    results = [block for block in results if block.get("type") == "tool_result"]
    steps = [
        [("memory", {"command": "view", "path": "/memories"})],
        [
            ("memory", {"command": "create", "path": "/memories/taste.txt", "file_text": "Likes coffee.\n"}),
            ("memory", {"command": "view", "path": "/memories/../taste.txt"}),
        ],
        [("memory", {"command": "insert", "path": "/memories/taste.txt", "insert_line": 1, "insert_text": "Black."})],
    ]
    done = sum(each["role"] == "assistant" for each in body["messages"])
    if done < len(steps):
        return steps[done]
    return "\n".join(f"{bool(block.get('is_error'))}: {block['content']}" for block in results)


SAID = """False: Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:
0B\t/memories
False: File created successfully at: /memories/taste.txt
True: '../taste.txt.md' cannot be used as a file name: it leads out of the folder
False: The file /memories/taste.txt has been edited."""

ASKED = {
    "model": "claude-opus-5-5",
    "max_tokens": 100,
    "thread": False,
    "messages": [{"role": "user", "content": "Remember."}],
}


def test_the_runner_of_the_package(tool):
    with (
        ModelServer(respond=respond) as server,
        anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0) as client,
    ):
        message = client.beta.messages.tool_runner(**ASKED, tools=[tool]).until_done()
    assert (message.content[0].text, server.problems) == (SAID, [])
    assert server.requests[0].body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert read(inside(tool, "taste.txt.md")) == b"Likes coffee.\nBlack.\n"


def test_the_asynchronous_runner(open_tool):
    tool = open_tool(AsyncMemoryTool)

    async def run(url):
        async with anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0) as client:
            return await client.beta.messages.tool_runner(**ASKED, tools=[tool]).until_done()

    with ModelServer(respond=respond) as server:
        message = asyncio.run(run(server.url))
    assert (message.content[0].text, server.problems) == (SAID, [])
    assert asyncio.run(tool.clear_all_memory()) == "All memory cleared"


# -- eight processes

WORKER = """
import os, sys
from foretold.adapters.anthropic_memory import MemoryTool
repo, home = sys.argv[1:]
for name in range(8):
    if os.fork() == 0:
        tool = MemoryTool(cwd=repo, home=home, env={})
        for number in range(25):
            given = {"path": "/memories/shared.md", "insert_line": 0, "insert_text": f"{name}-{number}"}
            tool.call({"command": "insert", **given})
        os._exit(0)
sys.exit(max(os.waitpid(-1, 0)[1] for _ in range(8)))
"""


def test_eight_processes_insert_into_one_file_and_every_line_is_kept(tool, tmp_path):
    call(tool, "create", path="/memories/shared.md", file_text="")
    done = subprocess.run([sys.executable, "-c", WORKER, tmp_path / "repo", tmp_path], capture_output=True)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    lines = read(inside(tool, "shared.md")).decode().split()
    assert sorted(lines) == sorted(f"{name}-{number}" for name in range(8) for number in range(25))
    assert len([change for change in tool.files.memories.log("shared.md") if change.op == "edit"]) == 200


def test_without_the_package(monkeypatch):
    monkeypatch.delitem(sys.modules, "foretold.adapters.anthropic_memory")
    monkeypatch.setitem(sys.modules, "anthropic.lib.tools", None)
    with pytest.raises(ExtraMissing, match=r"pip install '.*anthropic"):
        __import__("foretold.adapters.anthropic_memory")
