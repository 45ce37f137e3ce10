"""A stored session as its agent would load it, and how to go on with it."""

import json
import os
import shutil

from foretold.sessions.catalog import find_session
from foretold.sessions.model import Homes
from foretold.sessions.resumption.claude import resume
from foretold.sessions.resumption.codex import resume_codex
from foretold.sessions.resumption.conversation import commands_to_continue, load_conversation

from ..talk import Talk

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
SESSION = "11111111-2222-4333-8444-555555555555"


def found(place, path):
    homes = Homes(place.home, {})
    stored = find_session(homes, path, files=True)
    return load_conversation(stored), commands_to_continue(stored, homes)


def test_claude_code_from_elsewhere_is_copied_to_where_it_looks(place):
    records = Talk(SESSION, cwd=place.proj).user("Why?").says("Because.").records
    path = place.write("away/talk.txt", "".join(json.dumps(record) + "\n" for record in records))
    loaded, commands = found(place, path)
    assert (loaded.messages, loaded.is_exact) == (resume(path, version="2.1.325").messages, True)
    make, copy, enter, go_on = commands
    assert (make[:2], copy[:3], enter, go_on) == (
        ("mkdir", "-p"),
        ("cp", "-n", path),
        ("cd", place.proj),
        ("claude", "--resume", SESSION),
    )
    os.makedirs(make[2])
    shutil.copy(path, copy[3])
    assert find_session(Homes(place.home, {}), SESSION).path == copy[3]
    assert found(place, copy[3])[1] == [enter, go_on]


def test_codex_from_elsewhere(place):
    path = place.path("rollout.log")
    shutil.copy(os.path.join(FIXTURES, "codex", "rollout.jsonl"), path)
    loaded, commands = found(place, path)
    assert loaded.messages == resume_codex(path).messages
    os.makedirs(commands[0][2])
    shutil.copy(path, commands[1][3])
    assert find_session(Homes(place.home, {}), commands[-1][-1]).path == commands[1][3]


def test_gemini_from_elsewhere(place):
    path = place.path("chat.jsonl")
    shutil.copy(os.path.join(FIXTURES, "gemini", "session-2026-11-16T03-46-aaaabbbb.jsonl"), path)
    loaded, commands = found(place, path)
    assert (loaded.is_exact, len(loaded.messages) > 1) == (False, True)
    assert commands == [("gemini", "--session-file", path)]


def test_a_conversation_that_the_agent_refuses(place):
    path = place.write(
        "x.jsonl", '{"type": "user", "uuid": "1", "message": {}, "sessionId": "s", "isSidechain": true}\n'
    )
    loaded, commands = found(place, path)
    assert (loaded.messages, bool(loaded.refused), commands) == ((), True, [])
