"""`foretold mcp` as a real process: driven by the SDK's own client, by bytes on its pipe, and by signals."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from mcp.shared.exceptions import MCPError

from foretold import __version__
from foretold.serve.mcp.catalogue import INSTRUCTIONS, TOOLS

from .client import COMMAND, drive, stage_of

#: tools that no server has: one that is loud, one that fails, one that never ends
EXTRA = """
import os, subprocess, sys, time, warnings
from foretold.serve.mcp import catalogue
from foretold.serve.mcp.schema import record, takes
from foretold.serve.mcp.tool import McpTool, CallAnswer

def shout(here, given):
    print("printed"); os.write(1, b"written\\n"); subprocess.run(["echo", "of a child"]); warnings.warn("warned")
    sys.stdout.flush()
    return CallAnswer("done", {})

def fail(here, given):
    raise ValueError("a fault")

def wait(here, given):
    try:
        for count in range(10_000):
            here.progress(count, 10_000, "waiting")
            time.sleep(0.01)
    finally:
        open(os.environ["HOME"] + "/stopped", "w").close()
    return CallAnswer("done", {})

catalogue.TOOLS += tuple(
    McpTool(run.__name__, "t", "a tool", takes(), record(), run) for run in (shout, fail, wait)
)
"""


@pytest.fixture
def stage(tmp_path):
    return stage_of(tmp_path)


# By the SDK's own client


def test_a_client_is_served(stage, tmp_path):
    """Every tool, well and badly called; resources; the client's own folder; many requests at once."""

    async def talk(server):
        await check_tools(server, stage)
        await check_resources(server, stage)
        return server.session

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    session = drive(stage, talk, client="codex-mcp-client", roots=[stage.project], cwd=str(elsewhere))
    told = session.initialize_result
    assert (told.server_info.name, told.server_info.version, told.instructions) == (
        "foretold",
        __version__,
        INSTRUCTIONS,
    )


async def check_tools(server, stage):
    assert [*server.tools] == [tool.name for tool in TOOLS]
    hints = {
        name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint, tool.annotations.idempotent_hint)
        for name, tool in server.tools.items()
    }
    writing = {"save_memory": (False, False, False), "update_memory": (False, True, False)}
    writing["restore_file"] = (False, True, True)
    assert hints == {name: writing.get(name, (True, False, True)) for name in server.tools}
    assert all(tool.annotations.open_world_hint is False for tool in server.tools.values())

    found = await server.ask("explain")
    assert (found["agent"], found["folder"]) == ("codex", stage.project)
    assert "Give one of the names" in await server.refused("explain", agent="nobody")
    await server.ask("explain_file", file="src/a.ts", agent="claude-code")
    assert "file is missing" in await server.refused("explain_file")
    await server.ask("recall", query="deploy")
    assert "query is empty" in await server.refused("recall", query=" ")
    digest = (await server.ask("read_memories", name="role"))["memories"][0]["digest"]
    assert "read_memories lists" in await server.refused("read_memories", name="nothing")
    assert (await server.ask("verify_memories"))["checked"] == 3
    assert "read_memories lists" in await server.refused("verify_memories", names=["nothing"])
    new = {"topic": "Bread", "type": "project", "description": "flour", "body": "Rye."}
    assert (await server.ask("save_memory", **new))["state"] == "saved"
    assert "update_memory" in await server.refused("save_memory", **new)
    assert (await server.ask("update_memory", name="role", expect=digest, body="A miller."))["state"] == "saved"
    assert "give the digest" in await server.refused("update_memory", name="role", expect=digest, body="A king.")
    (hit, *_) = (await server.ask("search_sessions", query="connection pool"))["hits"]
    assert "not a cursor" in await server.refused("search_sessions", query="pool", cursor="x")
    await server.ask("read_session", session=hit["session"], at=hit["at"])
    assert "search_sessions gives ids" in await server.refused("read_session", session="nothing")
    await server.ask("file_versions", file="app.py")
    assert "only files of this project" in await server.refused("file_versions", file="/etc/passwd")
    plan = await server.ask("restore_file", file="app.py", at="v1")
    assert "no token" in await server.refused("restore_file", file="app.py", at="v1", apply=True)
    assert (await server.ask("restore_file", file="app.py", at="v1", apply=True, token=plan["token"]))["undo"]
    with pytest.raises(MCPError, match="there is no tool 'nothing'; there are: explain"):
        await server.session.call_tool("nothing", {})
    asked = [("recall", {"query": "pool"}), ("explain", {}), ("search_sessions", {"query": "pool"})]
    asked += [("save_memory", {**new, "topic": f"Bread {number}"}) for number in range(5)]
    assert len(await asyncio.gather(*(server.ask(name, **given) for name, given in asked))) == 8
    assert len(stage.memories().memories()) == 9


async def check_resources(server, stage):
    listed = {str(each.uri): each for each in (await server.session.list_resources()).resources}
    uri = "foretold://memory/project_deploys.md"
    assert (listed[uri].title, listed[uri].mime_type) == ("Deploys", "text/markdown")
    (part,) = (await server.session.read_resource(uri)).contents
    assert part.text == stage.memories().get("deploys").text
    (part,) = (await server.session.read_resource("foretold://told/claude-code")).contents
    assert "Use tabs." in part.text
    templates = (await server.session.list_resource_templates()).resource_templates
    assert [each.uri_template for each in templates][-1] == "foretold://told/{agent}"
    for wrong in ("foretold://memory/../../x.md", "foretold://memory/nothing.md", "file:///etc/passwd"):
        with pytest.raises(MCPError):
            await server.session.read_resource(wrong)


# By bytes


class Pipe:
    """The server as a process, and lines of JSON to and from it."""

    def __init__(self, stage, *words, code=COMMAND):
        self.process = subprocess.Popen(
            [sys.executable, "-Walways", "-c", code, "mcp", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=stage.project,
            env=stage.env,
            start_new_session=True,
        )
        self.errors = []
        self._reader = threading.Thread(target=lambda: self.errors.append(self.process.stderr.read()))
        self._reader.start()

    def write(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method, number=None, /, **params):
        about = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps({**about, "id": number} if number is not None else about).encode())

    def next(self):
        line = self.process.stdout.readline()
        assert line, self.errors
        return json.loads(line)

    def answer(self, number):
        """The answer to a request; what else comes before it is dropped."""
        while (found := self.next()).get("id") != number:
            continue
        return found

    def start(self):
        client = {"name": "raw", "version": "1"}
        self.send("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.answer(0)
        self.send("notifications/initialized")

    def end(self):
        """Close the input, and wait; what it had left to say, and its exit status."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        status = self.process.wait(20)
        self._reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return rest, status

    def group_is_gone(self):
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False


def test_the_pipe_carries_the_protocol_and_nothing_else(stage):
    """Noise on the input, noise of a tool, a fault, progress, cancellation, and the end of the input."""
    pipe = Pipe(stage, code=EXTRA + COMMAND)
    for line in (b"this is no JSON", b"{}", b"[]", b'{"jsonrpc": "2.0"', b"\xff\xfe", b"null", b""):
        pipe.write(line)
    pipe.start()
    pipe.write(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": 5}')
    pipe.send("no/such/method", 2)
    assert pipe.answer(2)["error"]["code"] == -32601
    pipe.send("tools/call", 3, name="shout", arguments={})
    assert pipe.answer(3)["result"]["structuredContent"] == {}
    pipe.send("tools/call", 4, name="fail", arguments={})
    said = pipe.answer(4)["result"]
    assert (said["isError"], "a fault" in said["content"][0]["text"]) == (True, True)
    pipe.send("tools/call", 5, name="recall", arguments="text")
    assert "error" in pipe.answer(5)

    pipe.send("tools/call", 6, name="wait", arguments={}, _meta={"progressToken": "p"})
    first, second = pipe.next(), pipe.next()
    assert [each["method"] for each in (first, second)] == ["notifications/progress"] * 2
    assert first["params"]["progress"] < second["params"]["progress"]
    pipe.send("ping", 7)
    assert pipe.answer(7)["result"] == {}
    pipe.send("notifications/cancelled", requestId=6)
    stopped = os.path.join(stage.home, "stopped")
    for number in range(8, 1_000):
        pipe.send("ping", number)
        pipe.answer(number)
        if os.path.exists(stopped):
            break
    assert os.path.exists(stopped)

    pipe.send("tools/call", 1_000, name="wait", arguments={})
    rest, status = pipe.end()
    assert status == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert pipe.group_is_gone()
    (errors,) = pipe.errors
    for noise in (b"printed", b"written", b"of a child", b"warned"):
        assert noise in errors
    assert b"Traceback" not in errors


def test_a_client_of_the_newer_protocol_is_served_and_a_signal_ends_it(stage):
    """As Claude Code 2.1.325 opens a connection: no handshake, everything about the client in each request."""
    pipe = Pipe(stage, "--read-only", "-C", stage.project, "--home", stage.home, code=EXTRA + COMMAND)
    about = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1.325"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {"listChanged": True}},
    }
    pipe.send("server/discover", "probe", _meta=about)
    assert pipe.answer("probe")["result"]["instructions"] == INSTRUCTIONS
    pipe.send("tools/list", 1, _meta=about)
    names = [tool["name"] for tool in pipe.answer(1)["result"]["tools"]]
    assert {"save_memory", "update_memory", "restore_file"}.isdisjoint(names)
    pipe.send("tools/call", 2, name="explain", arguments={}, _meta=about)
    assert pipe.answer(2)["result"]["structuredContent"]["folder"] == stage.project
    pipe.send("tools/call", 3, name="wait", arguments={}, _meta={**about, "progressToken": 1})
    assert pipe.next()["method"] == "notifications/progress"
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.wait(10) == -signal.SIGTERM
    assert pipe.group_is_gone()
    pipe.end()


def test_a_client_that_goes_in_the_middle_ends_it_without_a_traceback(stage):
    pipe = Pipe(stage)
    pipe.start()
    pipe.process.stdout.close()
    for number in range(2, 6):
        pipe.send("tools/call", number, name="explain", arguments={})
    pipe.process.stdin.write(b'{"jsonrpc": "2.0", "id"')
    pipe.process.stdin.close()
    assert pipe.process.wait(20) == 0
    pipe._reader.join()
    pipe.process.stderr.close()
    assert pipe.errors == [b"foretold mcp: the client is gone\n"]


# Before it serves


def test_without_the_package_it_says_what_to_install(stage):
    code = "import sys; sys.modules['mcp'] = None; " + COMMAND
    done = subprocess.run([sys.executable, "-c", code, "mcp"], capture_output=True, text=True, env=stage.env, input="")
    assert (done.returncode, done.stdout) == (2, "")
    assert "-m pip install 'mcp>=" in done.stderr


def test_what_cannot_be_served_is_said_at_once(stage):
    for words, said in ((("-C", "/nowhere"), "/nowhere is not a folder"), (("--agent", "nobody"), "nobody")):
        command = [sys.executable, "-c", COMMAND, "mcp", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=stage.env, input="")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr
