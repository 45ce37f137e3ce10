"""examples/agent.py as a stranger runs it: real processes, both vendors' real packages, our server on loopback."""

import json
import os
import re
import subprocess
import sys

import pytest

from foretold.harness.harness import Harness
from foretold.models import from_name
from foretold.proof.probe.server import ModelServer

EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "agent.py")
MODELS = {"messages": "anthropic:claude-opus-5-5", "chat": "openai:gpt-6"}
MARK = re.compile(rb',"cache_control":\{"type":"ephemeral"\}')
TYPED = "Fix @notes.txt and src/api/x.py. Remember for later: we deploy the bakery on Tuesdays only."
MEMORY = """---
name: deploys
description: the bakery is deployed on Tuesdays only
metadata:
  type: project
---

We deploy the bakery on Tuesdays only.
"""


@pytest.fixture
def repo(tmp_path):
    files = {
        "CLAUDE.md": "Top rule: use tabs.\n",
        "notes.txt": "The note that was mentioned.\n",
        "src/api/CLAUDE.md": "Nested rule: handlers return JSON.\n",
        "src/api/x.py": "alpha = 1\n",
        ".claude/rules/python.md": "---\npaths: src/**/*.py\n---\nPath rule: type everything.\n",
    }
    for name, text in files.items():
        path = tmp_path / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "repo"


def script(repo, store):
    """What the model says, request by request."""
    edited = {"file_path": f"{repo}/src/api/x.py", "old_string": "alpha = 1", "new_string": "alpha = 2"}
    again = {"file_path": f"{repo}/src/api/x.py", "old_string": "alpha = 2", "new_string": "alpha = 3"}
    return [
        [
            "I look.",
            ("Read", {"file_path": f"{repo}/src/api/x.py"}),
            ("Glob", {"pattern": "**/*.py"}),
            ("Grep", {"pattern": "alpha", "output_mode": "content"}),
        ],
        [
            ("Edit", edited),
            ("Write", {"file_path": f"{repo}/new.txt", "content": "new\n"}),
            ("Bash", {"command": "echo shell-$((40 + 2))"}),
        ],
        "Fixed.",
        ("Write", {"file_path": f"{store}/project_deploys.md", "content": MEMORY}),
        "Saved.",
        ("Edit", again),
        "Changed.",
        "I am told.",
        "I am not told.",
        "<analysis>long ago</analysis><summary>They fixed the api.</summary>",
        "Going on.",
        "We fixed the api.",
        "On Tuesdays.",
    ]


LINES = ["/help", TYPED, "/memory", "Change it again.", "/rewind", "/rewind yes"]
LINES += ["/agent What are you told?", "/explore What are you told?", "/compact keep the names", "Go on."]


def strings(value):
    """All texts in a value, in order."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in strings(each)]


def told(exchange):
    return "\n".join(strings([exchange.body.get("system"), exchange.body["messages"]]))


def results(exchange):
    """The texts of the results of tools in a request, in order."""
    found = []
    for message in exchange.body["messages"]:
        if message["role"] == "tool":
            found.append(message["content"])
        elif isinstance(message["content"], list):
            blocks = [block for block in message["content"] if block.get("type") == "tool_result"]
            found += ["\n".join(strings(block["content"])) for block in blocks]
    return found


def part_of(raw, key):
    """The bytes of one value of a body without its last bracket."""
    text = raw.decode()
    at = text.index(f'"{key}":') + len(key) + 3
    return text[at : json.JSONDecoder().raw_decode(text, at)[1] - 1]


def goes_on(server, before, after, *, marked=False):
    """Whether a request begins with the bytes of another. Marks of a cache move on, and are no part of what is read."""
    keys = ["tools", *(["system"] if server.requests[0].format == "messages" else [])]
    one, two = (server.bodies[at] if marked else MARK.sub(b"", server.bodies[at]) for at in (before, after))
    same = all(part_of(one, key) == part_of(two, key) for key in keys)
    return same and part_of(two, "messages").startswith(part_of(one, "messages"))


@pytest.mark.parametrize("wire", MODELS)
def test_the_example_does_all_of_it(repo, tmp_path, wire):
    store = tmp_path / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(repo)) / "memory"
    lines = iter(script(repo, store))
    server = ModelServer(respond=lambda body, name: next(lines))

    def run(*words, typed=()):
        address = {"ANTHROPIC_BASE_URL": server.url, "OPENAI_BASE_URL": f"{server.url}/v1"}
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **address}
        env |= {"ANTHROPIC_API_KEY": "none", "OPENAI_API_KEY": "none", "AGENT_MODEL": MODELS[wire]}
        command = [sys.executable, EXAMPLE, "--mode", "bypassPermissions", *words]
        done = subprocess.run(command, cwd=repo, env=env, input="\n".join(typed), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    with server:
        out, noted = run(typed=LINES)
        session = noted.strip().rpartition(" ")[2]
        resumed, _ = run("--resume", session, "-p", "What did we do?")
        # the next session is asked with the package that loads faster: nothing in it depends on the vendor
        fresh = run("-p", "When do we deploy the bakery?")[0] if wire == "chat" else ""
    assert server.problems == []
    asked = server.requests
    assert len(asked) == (13 if wire == "chat" else 12)

    # told at the start, and what was mentioned
    assert asked[0].tools == ("Read", "Write", "Edit", "Glob", "Grep", "Bash", "Agent", "Skill")
    assert has(asked[0], "Top rule", "The note that was mentioned.") == [True, True]
    assert has(asked[0], "Nested rule", "Path rule", "project_deploys.md") == [False, False, False]

    # tools, and what comes with the files they touch
    read, globbed, found = results(asked[1])
    assert ("alpha = 1" in read, "src/api/x.py" in globbed, "alpha = 1" in found) == (True, True, True)
    assert has(asked[1], "Nested rule", "Path rule") == [True, True]
    assert "shell-42" in results(asked[2])[5]

    # a memory is made in a fork that the conversation knows nothing of, and the next session sees it
    assert "We deploy the bakery on Tuesdays only." in (store / "project_deploys.md").read_text()
    assert "remembered: project_deploys.md" in noted
    assert has(asked[5], "Fixed.", "Saved.") == [True, False]
    if wire == "chat":
        known = has(asked[12], "(project_deploys.md)", "We deploy the bakery on Tuesdays only.", "Fixed.")
        assert (fresh, known) == ("On Tuesdays.\n", [True, True, False])

    # going back, files and all
    assert "goes back to before: Change it again.\n  went back to before: Change it again." in noted
    assert (repo / "src" / "api" / "x.py").read_text() == "alpha = 2\n"
    assert (repo / "new.txt").read_text() == "new\n"
    assert has(asked[9], "I look.", "Change it again.") == [True, False]

    # subagents with and without instructions
    assert has(asked[7], "Top rule", "What are you told?", "Fixed.") == [True, True, False]
    assert has(asked[8], "Top rule", "What are you told?", "Fixed.") == [False, True, False]

    # compaction keeps the instructions, and the session goes on from it
    assert has(asked[9], "keep the names") == [True]
    assert has(asked[10], "Top rule", "They fixed the api.", "I look.", "Go on.") == [True, True, False, True]
    assert has(asked[11], "Top rule", "They fixed the api.", "Going on.", "What did we do?") == [True] * 4

    # each request begins with the bytes of the one that it goes on from
    pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6), (2, 9), (10, 11)]
    assert [pair for pair in pairs if not goes_on(server, *pair)] == []
    assert goes_on(server, 2, 3, marked=True)  # the fork that makes memories: what the provider has kept is there

    index = "- [Deploys](project_deploys.md) — the bakery is deployed on Tuesdays only\n"
    said = ["I look.\nFixed.\n", f"{index}\n", "Changed.\n", "I am told.\n", "I am not told.\n", "Going on.\n"]
    assert [part for part in out.split("> ") if part] == said
    assert resumed == "We fixed the api.\n"


def has(exchange, *texts):
    return [text in told(exchange) for text in texts]


def test_it_is_as_short_as_it_says():
    with open(EXAMPLE, encoding="utf-8") as file:
        assert len(file.readlines()) < 80


def started(repo, tmp_path, *words, url="http://127.0.0.1:9", typed=""):
    """The example with the model that a server on loopback plays, or with none."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1"}
    command = [sys.executable, EXAMPLE, "--model", "openai:gpt-6", *words]
    return subprocess.run(command, cwd=repo, env=env, input=typed, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--resume", "nothing"), "no session"),
        (("--model", "gpt-6"), "'gpt-6' is not a model; write vendor:model"),
        (("--mode", "acceptedits"), "there is no mode 'acceptedits'; there are default"),
    ],
)
def test_a_typo_is_one_line(repo, tmp_path, words, said):
    done = started(repo, tmp_path, *words)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert said in done.stderr


def test_a_resumed_session_is_gone_back_in_an_empty_line_says_nothing_and_what_waits_is_said(repo, tmp_path):
    (tmp_path / ".config" / "foretold").mkdir(parents=True)
    (tmp_path / ".config" / "foretold" / "config.toml").write_text('[memory]\npolicy = "confirm"\n')
    store = tmp_path / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(repo)) / "memory"
    memory = ("Write", {"file_path": f"{store}/project_deploys.md", "content": MEMORY})
    looked = [("Glob", {"pattern": f"{number}"}) for number in range(5)]
    lines = iter([looked, "Noted.", memory, "Saved.", "Gone on."])
    with ModelServer(respond=lambda body, name: next(lines)) as server:
        first = started(repo, tmp_path, "-p", TYPED, url=server.url)
        session = first.stderr.strip().rpartition(" ")[2]
        typed = "\n\n/rewind\n/rewind yes\n/rewind\nGo on.\n"
        again = started(repo, tmp_path, "--resume", session, url=server.url, typed=typed)
    assert "waits for you: project_deploys.md (foretold memory inbox)" in first.stderr
    assert f"  /rewind yes goes back to before: {TYPED}\n  went back to before: {TYPED}\n" in again.stderr
    assert again.stdout.replace("> ", "") == "Gone on.\n"
    assert len(server.requests) == 5


def test_arguments_that_are_no_json_are_refused_by_the_tool_and_the_conversation_goes_on(repo, tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "Read", "arguments": '{"file_path": "'}}
    choice = {"index": 0, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    lines = iter([{"id": "1", "model": "m", "choices": [choice]}, "I see."])
    with ModelServer(respond=lambda body, name: next(lines)) as server:
        model = from_name("openai:gpt-6", base_url=f"{server.url}/v1", api_key="none")
        with model.client, Harness(repo, model=model, home=tmp_path, env={}, memory=False) as agent:
            assert agent.prompt("Read it.").text == "I see."
    (refusal,) = results(server.requests[1])
    assert "`file_path` is missing" in refusal
    assert "unexpected parameter `invalid_json`" in refusal
