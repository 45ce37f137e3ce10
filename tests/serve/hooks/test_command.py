"""`headnote hook` as people see it, and the process that works afterwards."""

import json
import os

import pytest

from headnote.serve.hooks import EVENTS


def said(done):
    assert done.stderr == b""
    return done.returncode, done.stdout.decode()


def test_an_explanation_of_a_prompt(hooks):
    hooks.remember("project_deploys.md", "when we deploy", "On Tuesdays.")
    code, text = said(
        hooks.place.run("hook", "UserPromptSubmit", "--explain", "--prompt", "how do we deploy?", input=b"")
    )
    assert code == 0
    assert text.startswith("UserPromptSubmit of claude-code\n  folder")
    assert "- recall: 1 found, 1 about it; telling words: deploy\n" in text
    assert "<memory " in text
    assert max(map(len, text.splitlines())) <= 80 + len(hooks.place.root)


def test_an_explanation_writes_nothing(hooks):
    hooks.remember("project_deploys.md", "when we deploy", "On Tuesdays.")
    for event in EVENTS:
        code, text = said(
            hooks.place.run("hook", event, "--explain", "--file", "src/x.ts", "--prompt", "deploy", input=b"")
        )
        assert (code, text.split(" ")[0]) == (0, event)
    assert not os.path.exists(hooks.state)


def test_an_explanation_of_a_payload(hooks):
    path = hooks.place.path(f"{hooks.memory}/a.md")
    payload = {**hooks.base("PreToolUse"), "tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}}
    hooks.place.write("home/.config/headnote/config.toml", '[memory]\npolicy = "manual"\n')
    code, text = said(hooks.place.run("hook", "PreToolUse", "--explain", input=json.dumps(payload).encode()))
    assert code == 0
    assert "It says deny: The memories of this project are written by the user alone" in text


def test_the_log_for_people(hooks):
    code, text = said(hooks.place.run("hook", "--log", input=b""))
    assert (code, text) == (0, f"The log is empty: {hooks.state}/hooks.log\n")
    hooks.raw("NoSuchEvent")
    code, text = said(hooks.place.run("hook", "--log", input=b""))
    assert code == 0
    assert "NoSuchEvent s1 fault: LookupError in serve/hooks/answer.py:" in text


def test_help_and_usage(place):
    code, text = said(place.run("hook", "--help", input=b""))
    assert code == 0
    assert all(event in text for event in EVENTS)
    assert max(map(len, text.splitlines())) <= 80
    assert place.run("hook", input=b"").returncode == 2
    done = place.run("hook", "Nothing", "--explain", input=b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"'Nothing' is no event" in done.stderr


def test_a_process_brings_everything_up_to_date(hooks):
    place = hooks.place
    hooks.agent, place.managed = "claude-code", ""
    hooks.env = place.environment()
    hooks.remember("project_deploys.md", "when we deploy", "On Tuesdays, with `src/ship.py`.")
    words = hooks.scene("x").words
    code, text = said(place.run("hook", "--work", "refresh", *words, input=b""))
    assert (code, text, hooks.log()) == (0, "", [])
    kept = sorted(name.rpartition("-")[0] for name in os.listdir(f"{hooks.cache}/hooks"))
    assert kept == ["book", "book-made", "place", "summary", "told"]
    gone = {"tool_name": "Bash", "tool_input": {"command": "rm src/ship.py"}}
    assert "Memories name src/ship.py" in hooks.context("PostToolUse", **gone)


def test_a_process_archives_a_session(hooks):
    place = hooks.place
    session = "11111111-1111-4111-8111-111111111111"
    record = {"type": "user", "sessionId": session, "cwd": place.proj, "uuid": "u1", "parentUuid": None}
    record |= {"timestamp": "2026-01-02T03:04:05.000Z", "message": {"role": "user", "content": "hello"}}
    place.write(f"{os.path.dirname(hooks.memory)}/{session}.jsonl", json.dumps(record) + "\n")
    words = ["--home", place.home, "-C", place.proj, "--session", session]
    code, text = said(place.run("hook", "--work", "archive", *words, input=b""))
    assert (code, text, hooks.log()) == (0, "", [])
    code, text = said(place.run("sessions", "archive", session, "--home", place.home, input=b""))
    assert code == 0
    assert os.path.isdir(f"{hooks.state}/archive")


@pytest.mark.parametrize("job", ["archive", "extract"])
def test_a_job_that_fails_leaves_a_line(hooks, job):
    words = ["--home", hooks.place.home, "-C", hooks.place.proj, "--session", "none"]
    code, text = said(hooks.place.run("hook", "--work", job, *words, input=b""))
    assert (code, text) == (0, "")
    (line,) = hooks.log()
    assert line.startswith(f"{job} none headnote ")
