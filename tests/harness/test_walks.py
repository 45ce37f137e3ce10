"""Random conversations: whatever happens, the transcript tells what was sent, and requests go on from one another."""

import os
import random
from itertools import pairwise

import pytest

from foretold.errors import ModelFailed, NoCheckpoint
from foretold.harness.compaction import ASK
from foretold.harness.harness import Harness
from foretold.harness.tools.base import Result
from foretold.harness.tools.registry import DEFAULT_TOOLS, Tool
from foretold.models.protocol import Reply, Usage

from .scene import harness, is_prefix, live, options, stored, texts

NAMES = ("a.txt", "api/b.py", "web/c.ts", "gone.md")
STEPS = 9


class Walker:
    """A model that does what a generator of random numbers says, and a user of the same kind."""

    def __init__(self, place, seed):
        self.place, self.chooser = place, random.Random(seed)
        self.name = self.chooser.choice(("claude-opus-5-5", "claude-sonnet-4-5", "claude-sonnet-5-5"))
        self.version = self.chooser.choice(("2.1.197", "2.1.325"))
        self.requests, self.turns, self.day = [], [], 2

    def reply(self, request):
        self.requests.append(request)
        if texts(request.messages[-1])[-1].startswith(ASK[:60]):
            return self.said("<summary>Things were done.</summary>", "end_turn")
        roll = self.chooser.random()
        if roll < 0.04:
            raise ModelFailed("overloaded")
        if roll < 0.5:
            return self.said(f"Answer {len(self.requests)}.", "end_turn")
        calls = [self.call(number) for number in range(self.chooser.randint(1, 3))]
        return self.said("", "tool_use", calls)

    def said(self, text, stop, calls=()):
        blocks = [{"type": "text", "text": text}] if text else []
        for number, (name, given) in enumerate(calls):
            blocks.append({"type": "tool_use", "id": f"call_{number}", "name": name, "input": given})
        return Reply(tuple(blocks), stop, Usage(10, 10), self.name, "")

    def call(self, number):
        path = self.place.path(f"proj/{self.chooser.choice(NAMES)}")
        kind = self.chooser.choice(("Read", "Read", "Write", "Edit", "Glob", "Stop", "Paint"))
        return kind, {
            "Read": {"file_path": path},
            "Write": {"file_path": path, "content": f"{self.chooser.random()}\n"},
            "Edit": {"file_path": path, "old_string": ".", "new_string": ","},
            "Glob": {"pattern": "**/*.md"},
            "Stop": {"now": self.chooser.random() < 0.2},
            "Paint": {},
        }[kind]

    def prompt(self, agent):
        mention = f" @{self.chooser.choice(NAMES)}" if self.chooser.random() < 0.4 else ""
        self.day += self.chooser.random() < 0.2
        try:
            turn = agent.prompt(f"Prompt {len(self.turns)}{mention}")
        except (ModelFailed, KeyboardInterrupt):
            return
        self.turns.append(turn.id)

    def tamper(self):
        """Somebody else changes a file."""
        path = self.place.path(f"proj/{self.chooser.choice(NAMES[:3])}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"tampered {self.chooser.random()}\n")
        os.utime(path, (4_000_000_000 + self.day, 4_000_000_000 + self.day))


def stop(context, given):
    if given.get("now"):
        raise KeyboardInterrupt
    return Result("Not yet.")


def walk(place, seed):
    walker = Walker(place, seed)
    schema = {"type": "object", "properties": {"now": {"type": "boolean"}}}
    more = {"tools": (*DEFAULT_TOOLS, Tool("Stop", "Stops.", schema, stop)), "now": lambda: f"2026-01-{walker.day:02}"}
    given = {**options(place, walker.version, memory=False, max_turns=6), **more}
    agent = Harness(place.proj, model=walker, **given)
    is_told = True  # the file tells of a rewind from the next prompt on
    for _ in range(STEPS):
        action = walker.chooser.choice(("prompt",) * 6 + ("compact", "resume", "rewind", "fork", "tamper", "tamper"))
        asked = len(walker.requests)
        if action == "prompt":
            walker.prompt(agent)
            is_told = True
        elif action == "tamper":
            walker.tamper()
        elif action == "compact" and is_told:
            agent.compact()
        elif action == "rewind" and walker.turns:
            with_files = walker.chooser.random() < 0.5
            try:
                agent.rewind(walker.turns.pop(), dry_run=False, files=with_files)
                is_told = False
            except NoCheckpoint:
                walker.turns.clear()
        elif action in ("resume", "fork") and agent.dialogue.messages and is_told:
            if action == "fork":
                agent = agent.fork()
            else:
                agent.close()
                agent = Harness.resume(agent.session, place.proj, model=walker, **given)
            walker.turns.clear()
        check(agent, walker.requests[asked:], is_told=is_told)


def check(agent, requests, *, is_told):
    for one, two in pairwise(requests):
        assert is_prefix(one, two)
    assert all(len(request.cached) <= 3 and request.cached[-1] < len(request.messages) for request in requests)
    calls = [block["id"] for message in live(agent) for block in message["content"] if block["type"] == "tool_use"]
    results = [
        block["tool_use_id"]
        for message in live(agent)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert (calls, len(set(calls))) == (results, len(calls))
    if agent.recorder.is_begun and is_told:
        assert live(agent) == stored(agent)


@pytest.mark.parametrize("seed", range(20))
def test_a_random_conversation(place, seed):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/api/CLAUDE.md", "Handlers return JSON.\n")
    place.write("proj/.claude/rules/web.md", '---\npaths: "web/**"\n---\nNo any.\n')
    for name in NAMES[:3]:
        place.write(f"proj/{name}", "one.\n")
    walk(place, seed)


def test_a_walk_can_fail(place):
    agent = harness(place, ["One."])
    agent.prompt("Hi.")
    agent.dialogue.messages[0] = {"role": "user", "content": [{"type": "text", "text": "Changed."}]}
    with pytest.raises(AssertionError):
        check(agent, [], is_told=True)
