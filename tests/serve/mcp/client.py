"""A project with something of everything, and the real server driven by the SDK's own client."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from itertools import pairwise

from jsonschema import Draft202012Validator
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from foretold import memory
from foretold.files import FileHistory, ReadState
from foretold.serve.mcp.catalogue import tools_for
from foretold.serve.mcp.context import CallContext
from foretold.serve.mcp.paging import escape_surrogates
from foretold.serve.mcp.schema import check_arguments
from foretold.serve.mcp.tool import CallAnswer
from foretold.sessions.model import Homes
from foretold.sessions.transcript.writer import Transcript, transcript_path

from ...memory.machines import Quick

COMMAND = "from foretold import cli; cli.run()"
SESSION = "11111111-2222-4333-8444-555555555555"
LIMIT = 22_000  #: bytes of an answer's data, and of its text


class Stage:
    """A project, a home, and what belongs to them."""

    def __init__(self, root):
        root = os.path.realpath(root)
        self.root, self.home, self.project = root, os.path.join(root, "home"), os.path.join(root, "shop")
        os.makedirs(self.home)
        os.makedirs(self.project)
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"]}
        self.homes = Homes(self.home, {})
        self.here = CallContext(self.project, self.home, "test-client 1.0", session="5e55", env=self.env)

    def write(self, name, text):
        path = os.path.join(self.project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def read(self, name):
        with open(os.path.join(self.project, name), encoding="utf-8") as file:
            return file.read()

    def memories(self):
        return memory.open(self.project, home=self.home, env={}, kernel=Quick())

    def remember(self, topic, body, type_="project", **more):
        return self.memories().create(topic, type=type_, description=f"about {topic.lower()}", body=body, **more)

    def policy(self, policy):
        folder = os.path.join(self.home, ".config", "foretold")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as file:
            file.write(f'[memory]\npolicy = "{policy}"\n')

    def said(self, session=SESSION, cwd=None):
        """A transcript to write to."""
        path = transcript_path(cwd or self.project, session, self.homes)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return Transcript(path, cwd=cwd or self.project, sync=False)

    def edited(self, name="app.py", texts=("one\n", "two\n", "three\n"), session=SESSION):
        """A file that an agent changed at each prompt, with its checkpoints."""
        path = self.write(name, texts[0])
        state = ReadState(self.project)
        history = FileHistory(os.path.join(self.home, ".claude", "file-history"), session, self.project)
        with self.said(session) as said:
            for before, after in pairwise(texts):
                prompt = said.user(f"Make {name} say {after.strip()}")
                said.records([history.prompt(prompt)])
                edit = {"type": "tool_use", "id": f"toolu_{after.strip()}", "name": "Edit", "input": {}}
                (call,) = said.assistant({"model": "claude-opus-4-8", "content": [edit]})
                state.read(name)
                record = history.before_edit(path, call)
                if record:
                    said.records([record])
                assert state.edit(name, before, after).ok, (before, after)
                said.tool_result(f"toolu_{after.strip()}", "done")
        return path


def stage_of(root):
    """A project that every tool has something to say about."""
    stage = Stage(root)
    stage.write("CLAUDE.md", "# Shop\n\nSee @docs/style.md and @docs/gone.md.\n")
    stage.write("docs/style.md", "Use tabs.\n")
    stage.write(".claude/rules/api.md", '---\npaths: "src/**/*.ts"\n---\nValidate input.\n')
    stage.write("src/CLAUDE.md", "Sources are TypeScript.\n")
    stage.write("src/ship.py", "def ship():\n    pass\n")
    stage.remember("Deploys", "`ship()` in `src/ship.py` ships the shop, on Tuesdays only.")
    stage.remember("Pools", "The pool of `src/gone.py` has 20 connections.")
    stage.remember("Role", "A baker who learns Python.", "user")
    with stage.said() as said:
        said.user("Please raise the connection pool to 20, on staging only.")
        said.assistant({"model": "claude-opus-4-8", "content": "I raised the connection pool."})
    stage.edited()
    return stage


def check_answer(tool, data, text):
    """Everything that holds of every answer."""
    Draft202012Validator(tool.gives if hasattr(tool, "gives") else tool.output_schema).validate(data)
    assert text
    assert max(len(json.dumps(data, ensure_ascii=False).encode()), len(text.encode())) < LIMIT
    for said in (*data.get("cut", ()), *([data["next"]] if data.get("next") else ())):
        assert said in text


def ask(stage, name, /, **given):
    """The data of an answer, from the tool itself, without a server."""
    answer = answer_of(stage, name, **given)
    return answer.data


def answer_of(stage, name, /, **given):
    tool = tools_for(read_only=False)[name]
    answer = tool.run(stage.here, check_arguments(given, tool.takes))
    answer = CallAnswer(str(escape_surrogates(answer.text)), escape_surrogates(answer.data))
    check_answer(tool, answer.data, answer.text)
    return answer


def walk(stage, name, rows, /, **given):
    """All rows of all pages."""
    found = []
    for _ in range(500):
        data = ask(stage, name, **given)
        found += data[rows]
        if not data["next"]:
            assert not any("cursor" in cut for cut in data["cut"])
            return found
        given["cursor"] = data["next"]
    raise AssertionError("it never ends")


class Server:
    """A session of the SDK's client with a running server."""

    def __init__(self, session, tools):
        self.session, self.tools = session, tools

    async def ask(self, name, /, **given):
        """The data of an answer, after everything that holds of every answer was checked."""
        result = await self.session.call_tool(name, given)
        text = "".join(block.text for block in result.content)
        assert not result.is_error, text
        check_answer(self.tools[name], result.structured_content, text)
        return result.structured_content

    async def refused(self, name, /, **given):
        """What an answer says that is an error; it is one of ours, not the protocol's."""
        result = await self.session.call_tool(name, given)
        (block,) = result.content
        assert result.is_error, block.text
        assert "Traceback" not in block.text
        assert "itself failed" not in block.text
        assert len(block.text) < 2_000
        return block.text


@asynccontextmanager
async def serving(stage, *words, client="test-client", roots=None, err=None, env=None, cwd=None):
    """The server in a process of its own, and a client that is through the handshake."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", COMMAND, "mcp", *words],
        env={**stage.env, **(env or {})},
        cwd=cwd or stage.project,
    )

    async def list_roots(_context):
        return types.ListRootsResult(roots=[types.Root(uri=f"file://{path}") for path in roots])

    info = types.Implementation(name=client, version="1.0")
    with open(os.devnull, "w") as nowhere:
        async with stdio_client(parameters, errlog=err or nowhere) as streams:
            more = {"list_roots_callback": list_roots} if roots is not None else {}
            async with ClientSession(*streams, client_info=info, **more) as session:
                await session.initialize()
                tools = {tool.name: tool for tool in (await session.list_tools()).tools}
                yield Server(session, tools)


def drive(stage, talk, *words, **more):
    """Run a conversation with a server of its own; what it gives."""

    async def run():
        async with serving(stage, *words, **more) as server:
            return await talk(server)

    return asyncio.run(run())
