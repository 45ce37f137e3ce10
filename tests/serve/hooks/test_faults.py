"""A hook fails open: whatever happens, it prints nothing, ends with 0, and leaves a line in the log if it can."""

import builtins
import json
import os
import subprocess
import sys
import time

import pytest

from foretold.serve.hooks import EVENTS, cache, context, dispatch, json as wire, log, said_before
from foretold.serve.hooks.dispatch import answer as answered
from foretold.serve.hooks.events import rules_here

MEMORY = "project_deploys.md"
GIVEN = {
    "source": "compact",
    "prompt": "how do we deploy?",
    "tool_name": "Bash",
    "tool_input": {"command": "sed -i s/a/b/ src/x.ts"},
    "file_path": "/x/CLAUDE.md",
    "load_reason": "session_start",
}
SECRET = "hunter2-is-the-word"


def fill(hooks):
    hooks.remember(MEMORY, "when we deploy", "On Tuesdays.")
    hooks.remember("project_team.md", "team deploys", "On Tuesdays.", folder="proj/.foretold/memory")
    hooks.place.write("proj/.claude/rules/ts.md", '---\npaths: "src/**/*.ts"\n---\nValidate.\n')
    hooks.place.write("proj/src/x.ts")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"   ",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"a": ' + b"[" * 100_000,
        b'{"session_id": 7, "cwd": []}{}',
        b'{"cwd": "/nowhere/at/all"}',
        b'{"cwd": "\\u0000"}',
        b'{"cwd": 5, "tool_input": [], "tool_name": {}}',
        None,
    ],
)
@pytest.mark.parametrize("event", ["SessionStart", "PostToolUse", "NoSuchEvent"])
def test_a_payload_that_is_none(hooks, event, data):
    assert answered(event, data, hooks.caller()) == ""
    assert len(hooks.log()) <= 1


@pytest.mark.parametrize("event", sorted(EVENTS))
@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"prompt": None, "tool_input": None, "source": 3, "transcript_path": 3, "file_path": []},
        {"transcript_path": "/proc/self/mem", "tool_name": "Edit", "tool_input": {"file_path": "\0"}},
        {"transcript_path": "/", "tool_name": "Bash", "tool_input": {"command": "\0 \ud800 ~/ 'x"}},
        {"tool_name": "Write", "tool_input": {"file_path": "a" * 100_000, "edits": [1], "content": 5}},
        {"session_id": "../../etc", "agent_id": "/", "prompt": "\ud800 deploy"},
    ],
)
def test_a_payload_with_strange_values(hooks, event, payload):
    fill(hooks)
    said = hooks.raw(event, **payload)
    assert said == "" or isinstance(json.loads(said), dict)
    assert not os.path.exists(hooks.place.path("home/.local/state/etc"))


STEPS = [
    (wire, "make_scanner", None),
    (dispatch, "payload_of", ValueError(SECRET)),
    (dispatch, "encode_output", RuntimeError(SECRET)),
    (dispatch, "write", UnicodeError(SECRET)),
    (context, "foretold_folders", KeyError(SECRET)),
    (context, "load_answer", OSError(5, SECRET)),
    (context.HookContext, "_find", MemoryError(SECRET)),
    (said_before.Notes, "since", RecursionError(SECRET)),
    (said_before.Notes, "add", OSError(28, SECRET)),
    (cache, "unchanged", TypeError(SECRET)),
    (rules_here, "load_instructions", AssertionError(SECRET)),
    (os, "stat", PermissionError(13, SECRET)),
    (os.path, "realpath", OSError(40, SECRET)),
    (builtins, "__import__", ImportError(SECRET)),
]


@pytest.mark.parametrize(
    ("where", "name", "error"), [step for step in STEPS if step[2]], ids=lambda value: str(value)[:40]
)
@pytest.mark.parametrize("event", sorted(EVENTS))
def test_a_fault_at_any_step(hooks, event, where, name, error, monkeypatch):
    """The fault is injected; the answer is nothing, or what did not need the step. The log never quotes it."""
    fill(hooks)

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(where, name, fail)
        said = hooks.raw(event, **GIVEN)
    assert said == "" or isinstance(json.loads(said), dict)
    lines = hooks.log()
    assert SECRET not in "\n".join(lines)
    assert len(lines) <= 2


def test_a_fault_is_told_by_kind_and_place(hooks, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(said_before.Notes, "add", lambda *_: (_ for _ in ()).throw(OSError(28, SECRET)))
        hooks.raw("SessionStart", **GIVEN)
    (line,) = hooks.log()
    assert line.startswith("SessionStart s1 fault: OSError 28 in serve/hooks/events/session_start.py:")


@pytest.mark.parametrize("spoil", ["torn", "flipped", "empty", "folder", "other"])
@pytest.mark.parametrize("name", ["place", "instructions", "summary", "paths"])
def test_a_cache_that_is_broken_is_found_anew(hooks, name, spoil):
    fill(hooks)
    before = {event: hooks.raw(event, session="a", **GIVEN) for event in EVENTS}
    hooks.work()
    folder = f"{hooks.cache}/hooks"
    for file in os.listdir(folder):
        if file.startswith(f"{name}-"):
            spoil_file(f"{folder}/{file}", spoil)
    after = {event: hooks.raw(event, session="b", **GIVEN) for event in EVENTS}
    assert [bool(said) for said in before.values()] == [bool(said) for said in after.values()]
    assert hooks.log() == [line for line in hooks.log() if "fault" not in line]


def spoil_file(path, how):
    with open(path, "rb") as file:
        data = file.read()
    os.unlink(path)
    if how == "folder":
        os.mkdir(path)
        return
    data = {"torn": data[: len(data) // 2], "flipped": data[:-1] + bytes([data[-1] ^ 1]), "empty": b""}.get(
        how, data[::-1]
    )
    with open(path, "wb") as file:
        file.write(data)


# -- as a process


def hook(place, event, data, *words, **options):
    return subprocess.run(
        [sys.executable, "-m", "foretold", "hook", event, *words],
        cwd=place.proj,
        env=place.environment(FORETOLD_HOME=options.pop("state", place.path("state"))),
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )


def test_a_process_prints_one_object(hooks):
    fill(hooks)
    done = hook(hooks.place, "UserPromptSubmit", json.dumps({**hooks.base("x"), **GIVEN}).encode())
    assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 1)
    assert "recalled-memories" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "empty"),
        (b"{", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"x" * (17 << 20), "longer than 16 MB"),
    ],
    ids=["nothing", "torn", "list", "huge"],
)
def test_a_process_with_a_bad_payload(place, data, fault):
    done = hook(place, "Stop", data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    with open(place.path("state/hooks.log"), encoding="utf-8") as file:
        (line,) = file.read().splitlines()
    assert line.endswith(f"Stop - fault: the payload is {fault}")


def test_a_process_without_standard_input(place):
    code = "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", code, "-m", "foretold", "hook", "Stop"],
        env=place.environment(),
        cwd=place.proj,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_process_whose_reader_left(hooks):
    fill(hooks)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "foretold", "hook", "UserPromptSubmit"],
        env=hooks.place.environment(),
        cwd=hooks.place.proj,
        input=json.dumps({**hooks.base("x"), **GIVEN}).encode(),
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("state", ["/proc/nowhere", "/dev/null"])
def test_a_process_that_can_write_nowhere(hooks, state):
    """Without notes everything would be said again and again: so it stays unsaid."""
    fill(hooks)
    for event in EVENTS:
        done = hook(hooks.place, event, json.dumps({**hooks.base(event), **GIVEN}).encode(), state=state)
        assert (done.returncode, done.stderr) == (0, b"")


def test_a_process_in_a_folder_that_is_gone(place):
    os.mkdir(place.path("gone"))
    code = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", code, "-P", "-m", "foretold", "hook", "Stop"],
        env=place.environment(),
        cwd=place.path("gone"),
        input=b"{}",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hook_that_takes_too_long_gives_up(hooks, monkeypatch):
    from foretold.serve.hooks.dispatch import set_timeout

    def slow(*_):
        while True:
            try:
                time.sleep(9)
            except Exception:  # code that recovers from faults does not catch it
                continue

    monkeypatch.setattr(dispatch, "handle_event", slow)
    set_timeout(0.05)
    assert hooks.raw("Stop") == ""
    (line,) = hooks.log()
    assert line.startswith("Stop s1 fault: it took longer than 8 seconds and was stopped: HookTimeout in serve/hooks/")


def test_a_hook_outlasts_a_busy_index_and_not_the_agent():
    """What waits for an index that another process writes can still answer; what gives up can still say so."""
    from foretold.dialects.install_targets import Hook
    from foretold.memory.recall.cache import PATIENCE

    assert PATIENCE < dispatch.SECONDS < Hook("Stop", "Stop").seconds


def test_the_log_has_an_end(tmp_path):
    for number in range(9000):
        log.log(str(tmp_path), "Stop", "s", f"line {number} {'x' * 100}", now=0.0)
    assert sorted(os.listdir(tmp_path)) == ["hooks.log", "hooks.log.1"]
    assert sum(os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path)) < 2.1 * log.MOST
    assert log.read_lines(str(tmp_path))[-1].startswith("1970-01-01T00:00:00Z Stop s line 8999 x")
    log.log(str(tmp_path), "Stop", "s\n../", "a\nb\tc", now=0.0)
    assert log.read_lines(str(tmp_path))[-1] == "1970-01-01T00:00:00Z Stop s a b c"


def test_a_fault_is_placed_in_our_own_package_alone(tmp_path):
    """Wherever the code of others is, even in a folder with the name of the package."""
    folder = tmp_path / "foretold"
    folder.mkdir()
    path = folder / "other.py"
    path.write_text("def fail():\n    raise KeyError\n")
    spaces = {}
    exec(compile(path.read_text(), str(path), "exec"), spaces)
    with pytest.raises(KeyError) as caught:
        spaces["fail"]()
    assert log.fault_of(caught.value) == "KeyError"
    with pytest.raises(wire.BadPayload) as caught:
        wire.payload_of(b"")
    assert log.fault_of(caught.value).startswith("BadPayload in serve/hooks/json.py:")
