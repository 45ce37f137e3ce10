"""The real Claude Code goes on with conversations that a harness of ours held.

python tests/system/live_harness.py   both recorded versions, from where `live.py` has installed them

A harness reads, edits, mentions and compacts with a scripted model, in a home that is gone afterwards; another lists
agents, skills, deferred tools and servers, and uses them. Then the agent resumes the session: what it sends must have
every block that we would send, in our order, and nothing else but what the agent says about itself.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from live import RELEASES, install
from live_compaction import ask

from foretold.context.listings import Skill
from foretold.harness.harness import Harness
from foretold.harness.permissions.check import Permission
from foretold.harness.tools.base import Tool
from foretold.models.scripted import Scripted
from foretold.sessions.resumption.claude import resume

if TYPE_CHECKING:
    from foretold.models.scripted import Line

MODELS = {"2.1.197": "claude-opus-4-8", "2.1.325": "claude-opus-5-5"}
#: how what the agent adds by itself begins
OWN = (
    "<system-reminder>\nAs you answer the user's questions",
    "Available agent types for the Agent tool:",
    "The following deferred tools are now available",
    "The following skills are available",
    "New agent types are now available",
)
FILES = {
    "CLAUDE.md": "Use tabs.\n",
    "api/CLAUDE.md": "Handlers return JSON.\n",
    "api/users.py": "LIMIT = 1\n",
    "web/CLAUDE.md": "No any.\n",
    "web/a.ts": "let a = 1\n",
}


def script(folder: str) -> list[Line]:
    """Two prompts, a compaction, and one more."""
    users, web = f"{folder}/api/users.py", f"{folder}/web/a.ts"
    edit: dict[str, object] = {"file_path": users, "old_string": "1", "new_string": "2"}
    reads: Line = [("Read", {"file_path": users}), ("Read", {"file_path": web})]
    return [reads, ("Edit", edit), "Done.", "Second answer.", "<summary>SUMMED UP</summary>", "After it."]


def said_by(agent: Harness, prompt: str) -> list[str]:
    """The blocks that we say the agent will send."""
    found = resume(agent.path, prompt, version=agent.version, model=agent.model.name)
    blocks: list[str] = []
    for message in found.messages:
        content = message["content"]
        assert isinstance(content, str | list)
        blocks += [content] if isinstance(content, str) else [each.get("text") or json.dumps(each) for each in content]
    return [_plain(block) for block in blocks]


def _plain(block: str) -> str:
    """A block without marks of a cache, and without white space at its ends."""
    if not block.startswith('{"'):
        return block.strip()
    value = json.loads(block)
    value.pop("cache_control", None)
    return json.dumps(value, sort_keys=True)


def differences(program: str, version: str) -> list[str]:
    """What the agent does otherwise than we say."""
    top = os.path.realpath(tempfile.mkdtemp(prefix="foretold-live-"))
    root, folder, home = f"{top}/held", f"{top}/held/proj", f"{top}/held/home"
    try:
        for name, text in FILES.items():
            os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        free = Permission("bypassPermissions", cwd=folder, home=home)
        model, env = Scripted(script(folder), MODELS[version]), {"PATH": os.environ["PATH"], "SHELL": "/bin/bash"}
        agent = Harness(
            folder, model=model, home=home, env=env, agent=f"claude-code@{version}", permission=free, memory=False
        )
        for prompt in ("FIRST", "SECOND @web/a.ts"):
            agent.prompt(prompt)
        found = [f"held: {each}" for each in _resumed(program, root, agent)]
        if agent.compact().reason:
            return [*found, "nothing was compacted"]
        agent.prompt("THIRD")
        found += [f"compacted: {each}" for each in _resumed(program, root, agent)]
        listed = hold_listed(folder, home, env, version, free)
        return [*found, *(f"listed: {each}" for each in _resumed(program, root, listed))]
    finally:
        shutil.rmtree(top, ignore_errors=True)


def hold_listed(folder: str, home: str, env: dict[str, str], version: str, free: Permission) -> Harness:
    """A conversation that lists what its model may use, and uses it; a server goes in the middle of it."""
    calls: Line = [("ToolSearch", {"query": "select:mcp__a__ping"}), ("Skill", {"skill": "deploy"})]
    look: dict[str, object] = {"description": "look", "prompt": "Look.", "subagent_type": "Explore"}
    lines: list[Line] = [("Agent", look), "Seen.", calls, "Shipped.", "Second answer."]
    servers = {"alpha": "Use alpha."}
    ping = Tool("mcp__a__ping", "Pings.", {"type": "object", "properties": {}}, lambda context, given: "pong")
    agent = Harness(
        folder,
        model=Scripted(lines, MODELS[version]),
        home=home,
        env=env,
        agent=f"claude-code@{version}",
        permission=free,
        memory=False,
        agents=True,
        skills=[Skill("deploy", "How to ship the app", text="Ship it.")],
        skill_search=True,
        deferred=[ping],
        servers=lambda: servers,
    )
    agent.prompt("How do we ship the app?")
    servers.clear()
    agent.prompt("SECOND")
    return agent


def _resumed(program: str, root: str, agent: Harness) -> list[str]:
    """Let the agent go on, compare, and put the transcript back as it was."""
    with open(agent.path, "rb") as file:
        kept = file.read()
    ours = said_by(agent, "NEXT-PROMPT")
    theirs = [_plain(block) for block in ask(program, root, [], "NEXT-PROMPT", "--resume", agent.session)]
    with open(agent.path, "wb") as file:
        file.write(kept)
    theirs = [block for block in theirs if block in ours or not block.startswith(OWN)]
    if ours == theirs:
        return []
    missing = [f"not sent: {block[:60]!r}" for block in ours if block not in theirs]
    return [*missing, *(f"sent: {block[:60]!r}" for block in theirs if block not in ours)] or ["another order"]


def main() -> int:
    failed = 0
    for release in RELEASES:
        if release.agent == "claude-code":
            found = differences(install(release), release.version)
            print(f"{release.agent} {release.version}: {'; '.join(found) or 'goes on with what a harness held'}")
            failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
