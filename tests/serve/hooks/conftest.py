"""A project in which hooks are asked: in this process, and without leaving other processes behind."""

import json

import pytest

from foretold.dialects.claude_code.settings import slug
from foretold.memory.location import give_consent, locate_memories
from foretold.serve.hooks.context import Caller
from foretold.serve.hooks.dispatch import answer, handle_event


class HookPlace:
    """A `Place` with memories, and hooks that answer."""

    def __init__(self, place, version="2.1.325"):
        self.place, self.agent = place, f"claude-code@{version}"
        self.started = []
        self.env = {"HOME": place.home, "PATH": "/nowhere"}
        place.folder("proj/.git")
        self.memory = f"home/.claude/projects/{slug(place.proj)}/memory"
        self.state, self.cache = f"{place.home}/.local/state/foretold", f"{place.home}/.cache/foretold"

    def caller(self, *, dry=False, agent=""):
        return Caller(agent or self.agent, self.place.home, self.place.managed, self.env, dry, self.begin)

    def begin(self, words, env):
        self.started.append(list(words))
        return 0

    def work(self):
        """Do what was left to other processes."""
        from foretold.serve.hooks.jobs import JOBS

        jobs, self.started = self.started, []
        for words in jobs:
            context = self.hook_context("work")
            for job in words[1].split(","):
                JOBS[job](context)

    def hook_context(self, event, **payload):
        from foretold.serve.hooks.context import HookContext

        return HookContext(event, {**self.base(event), **payload}, self.caller())

    def base(self, event, session="s1"):
        return {
            "session_id": session,
            "transcript_path": f"{self.place.home}/t.jsonl",
            "cwd": self.place.proj,
            "hook_event_name": event,
        }

    def remember(self, file, description, body, type_="project", folder=""):
        if folder.startswith("proj/"):
            self.accept_team()
        text = f"---\nname: {file[:-3]}\ndescription: {description}\nmetadata: \n  type: {type_}\n---\n\n{body}\n"
        return self.place.write(f"{folder or self.memory}/{file}", text)

    def accept_team(self):
        """As `foretold memory trust` does."""
        found = locate_memories(self.place.proj, agent=self.agent, home=self.place.home, env=self.env)
        give_consent(found.consent, found.root)

    def raw(self, event, *, session="s1", agent="", **payload):
        """What is printed for an event."""
        data = json.dumps({**self.base(event, session), **payload}).encode()
        return answer(event, data, self.caller(agent=agent))

    def ask(self, event, **payload):
        """The answer to an event, as an object; None if there is none."""
        said = self.raw(event, **payload)
        return json.loads(said) if said else None

    def context(self, event, **payload):
        said = self.ask(event, **payload)
        return said["hookSpecificOutput"]["additionalContext"] if said else ""

    def verdict(self, tool, session="s1", **given):
        said = self.ask("PreToolUse", session=session, tool_name=tool, tool_input=given)
        return (said or {}).get("hookSpecificOutput", {}).get("permissionDecision", "")

    def why(self, event, **payload):
        return handle_event(event, {**self.base(event), **payload}, self.caller(dry=True))[1].why

    def log(self):
        try:
            with open(f"{self.state}/hooks.log", encoding="utf-8") as file:
                return [line.split(" ", 1)[1] for line in file.read().splitlines()]
        except FileNotFoundError:
            return []


@pytest.fixture
def hooks(place):
    return HookPlace(place)


@pytest.fixture
def older_hooks(place):
    """Of a version that attaches nested files only when a file is read."""
    return HookPlace(place, "2.1.197")
