"""`foretold hook` as people see it, and the process that works afterwards."""

import json
import os

import pytest

from foretold.serve.hooks import EVENTS


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
    assert "- recall: 1 memory found, 1 about the prompt; telling word: deploy\n" in text
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
    hooks.place.write("home/.config/foretold/config.toml", '[memory]\npolicy = "manual"\n')
    code, text = said(hooks.place.run("hook", "PreToolUse", "--explain", input=json.dumps(payload).encode()))
    assert code == 0
    assert "It says deny: The memories of this project are written by the user alone" in text


def test_an_explanation_says_what_is_on_and_off(hooks):
    def shown():
        _, text = said(hooks.place.run("hook", "SessionEnd", "--explain", input=b""))
        return [line for line in text.splitlines() if line.startswith(("  on ", "  off ", "            "))]

    assert shown() == [
        "  on        recall (at most 1200 tokens), team, rules, drift, guard",
        "  off       archive, extract",
    ]
    hooks.place.write(
        "home/.config/foretold/config.toml",
        '[hooks]\narchive = true\nextract = "anthropic:claude-haiku-4-5"\noff = ["Stop"]\nbudget = 99\n',
    )
    assert shown() == [
        "  on        recall (at most 99 tokens), team, rules, drift, guard, archive,",
        "            extract (by anthropic:claude-haiku-4-5; it costs money)",
        "  off       the event Stop",
    ]


def test_an_explanation_of_calls_that_are_made_up(hooks):
    hooks.remember("project_ship.md", "when we deploy", "By `src/ship.py`.")
    hooks.place.write("proj/src/ship.py")
    hooks.place.write("proj/.claude/rules/py.md", '---\npaths: "src/**"\n---\nValidate.\n')
    words = ["hook", "PostToolUse", "--explain", "--agent", hooks.agent, "--file", "src/ship.py"]
    _, text = said(hooks.place.run(*words, input=b""))
    parts = text.split("Made up: ")[1:]
    assert [part.partition("\n")[0] for part in parts] == [
        "Read src/ship.py",
        "Edit src/ship.py",
        "the shell command sed -i s/a/b/ src/ship.py",
    ]
    assert [("Validate." in part, "A memory names src/ship.py" in part) for part in parts] == [
        (False, False),
        (False, True),
        (True, True),
    ]
    _, text = said(hooks.place.run("hook", "PostToolUse", "--explain", input=b""))
    assert "Made up: the shell command `true` (name a file with --file)\n\n- the call names no file\n" in text


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_an_explanation_is_plain_english_in_80_columns(hooks, event):
    hooks.remember("project_deploys.md", f"how we deploy {'every other day ' * 20}", f"By {'hand ' * 60}")
    words = ["--file", "src/x.ts", "--prompt", f"how do we deploy? {'please ' * 30}"]
    _, text = said(hooks.place.run("hook", event, "--explain", *words, input=b""))
    shown = text.replace(hooks.place.root, "~")  # the folder of a test has a name of any length
    assert [
        line for line in shown.splitlines() if len(line) > 80 and " " in line.strip().replace("memories  ", "")
    ] == []
    assert not any(word in text for word in ("True", "False", "None", " 0 ", "the index", "1 memories", "words: \n"))


def test_the_log_for_people_is_wrapped(hooks):
    from foretold.serve.hooks.log import log

    path = f"{hooks.place.home}/{'deep/' * 20}CLAUDE.md"
    log(hooks.state, "Stop", "s1", f"expected, not reported: {path}, and {'more words ' * 12}", now=0.0)
    _, text = said(hooks.place.run("hook", "--log", input=b""))
    lines = text.splitlines()
    assert lines[0] == "1970-01-01T00:00:00Z Stop s1 expected, not reported:"
    assert lines[1] == f"    ~/{'deep/' * 20}CLAUDE.md,"
    assert all(len(line) <= 80 for line in lines[2:])


def test_the_log_for_people(hooks):
    code, text = said(hooks.place.run("hook", "--log", input=b""))
    assert (code, text) == (0, "The log is empty: ~/.local/state/foretold/hooks.log\n")
    hooks.raw("NoSuchEvent")
    code, text = said(hooks.place.run("hook", "--log", input=b""))
    assert code == 0
    assert text.endswith(" NoSuchEvent s1 fault: there is no such event\n")


def test_help_and_usage(place):
    code, text = said(place.run("hook", "--help", input=b""))
    assert code == 0
    assert all(event in text for event in EVENTS)
    assert max(map(len, text.splitlines())) <= 80
    assert place.run("hook", input=b"").returncode == 2
    done = place.run("hook", "Nothing", "--explain", input=b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"'Nothing' is not an event" in done.stderr


def test_a_process_brings_everything_up_to_date(hooks):
    place = hooks.place
    hooks.agent, place.managed = "claude-code", ""
    hooks.env = place.environment()
    hooks.remember("project_deploys.md", "when we deploy", "On Tuesdays, with `src/ship.py`.")
    words = hooks.hook_context("x").words
    code, text = said(place.run("hook", "--work", "refresh", *words, input=b""))
    assert (code, text, hooks.log()) == (0, "", [])
    kept = sorted(name.rpartition("-")[0] for name in os.listdir(f"{hooks.cache}/hooks"))
    assert kept == ["instructions", "paths", "paths-made", "place", "summary"]
    gone = {"tool_name": "Bash", "tool_input": {"command": "rm src/ship.py"}}
    assert "A memory names src/ship.py" in hooks.context("PostToolUse", **gone)


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
    assert line.startswith(f"{job} none foretold ")


def test_rules_of_a_folder_are_named_by_their_files(hooks):
    hooks.place.write("proj/api/.claude/rules/nested.md", "---\npaths: '*.ts'\n---\nNested rule.\n")
    hooks.place.write("proj/api/x.ts", "")
    _, text = said(hooks.place.run("hook", "PostToolUse", "--explain", "--file", "api/x.ts", input=b""))
    read, _, shell = " ".join(text.split()).partition("Made up: the shell command")
    assert "api/.claude/rules/nested.md (if its paths match), which the agent attaches itself" in read
    assert "api/.claude/rules, which" not in read + shell
    assert "api/.claude/rules/nested.md, which the agent misses" in shell
    assert "attaches itself" not in shell
