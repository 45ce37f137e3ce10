"""The first prompt of a project: an index that takes long is built by another process, and nothing is invented."""

import glob
import json
import os
import subprocess
import sys

import pytest

from foretold.memory.recall.cache import FEW, QUICK_BYTES, QUICK_FILES
from foretold.memory.recall.render import parse_rendered
from foretold.serve.hooks.events.prompt_submit import UNBUILT
from foretold.storage.lock import try_lock

PROMPT = "how do we deploy?"
OLD = 1_700_000_000.0
#: a process that adopts what hooks leave behind, runs two hooks at once, and ends when everything has ended
TWO = """\
import ctypes, os, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
words = [sys.executable, "-m", "foretold", "hook", "UserPromptSubmit"]
both = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
for child in both:
    child.stdin.write(sys.argv[1].encode())
    child.stdin.close()
print(sum(len(child.stdout.read()) for child in both))
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
"""
KILLED = """\
import os, sys
def die(*_, **__):
    os.kill(os.getpid(), 9)
def replace(old, new):
    die() if "/recall-" in new else replaced(old, new)
replaced = os.replace
setattr(os, *(("fsync", die) if sys.argv.pop(1) == "fsync" else ("replace", replace)))
from foretold.cli import run
run()
"""


def fill(hooks, count, body="Nothing of that."):
    """A project with so many memories; one of them is about the prompt."""
    hooks.agent, hooks.place.managed = "claude-code", ""
    hooks.env = hooks.place.environment()
    hooks.remember("project_deploys.md", "when we deploy", "On Tuesdays.")
    for number in range(count - 1):
        hooks.remember(f"project_{number}.md", f"part {number}", body)
    settle(hooks)


def settle(hooks):
    """Make files and folders look old enough to be believed."""
    for top, _, files in os.walk(hooks.place.path(hooks.memory)):
        for path in (*(f"{top}/{file}" for file in files), top):
            os.utime(path, (OLD, OLD))


def recalled(hooks, session="s1", prompt=PROMPT):
    said = hooks.context("UserPromptSubmit", prompt=prompt, session=session)
    return [quote.text for quote in parse_rendered(said)] if said else []


def indexes(hooks):
    return glob.glob(f"{hooks.cache}/recall-*")


def work(hooks, *words, code=""):
    """The process that a hook leaves behind, waited for."""
    given = ["-c", code, *words] if code else ["-m", "foretold"]
    return subprocess.run(
        [sys.executable, *given, "hook", "--work", "refresh", *hooks.hook_context("x").words],
        env=hooks.place.environment(),
        cwd=hooks.place.proj,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_the_first_prompt_waits_for_no_index_and_the_next_has_it(hooks):
    fill(hooks, QUICK_FILES + 1)
    assert recalled(hooks) == []
    assert indexes(hooks) == []
    assert [words[:2] for words in hooks.started] == [["--work", "refresh"]]
    assert hooks.log() == [f"UserPromptSubmit s1 {UNBUILT}"]
    hooks.work()
    assert recalled(hooks) == ["when we deploy\n\nOn Tuesdays."]
    assert len(hooks.log()) == 1
    assert hooks.started == []


def test_a_very_small_store_answers_at_once(hooks):
    fill(hooks, QUICK_FILES)
    assert recalled(hooks) == ["when we deploy\n\nOn Tuesdays."]
    assert ([words[:2] for words in hooks.started], hooks.log()) == ([["--work", "refresh"]], [])
    assert indexes(hooks) == []  # which the other process stores


def test_a_few_long_memories_are_left_to_another_process_too(hooks):
    fill(hooks, 4, "Nothing of that. " * (QUICK_BYTES // 48))
    assert recalled(hooks) == []
    hooks.work()
    assert recalled(hooks) == ["when we deploy\n\nOn Tuesdays."]


def test_the_reasons_of_a_first_prompt_are_true(hooks):
    fill(hooks, QUICK_FILES + 1)
    context = hooks.hook_context("UserPromptSubmit", prompt=PROMPT)
    from foretold.serve.hooks.events.prompt_submit import handle

    handle(context)
    assert context.why == [
        UNBUILT,
        "refresh: the index of memories is out of date; another process updates it",
        "recall: nothing is worth quoting",
    ]


def test_an_explanation_does_not_wait_for_a_process_that_it_does_not_start(hooks):
    fill(hooks, QUICK_FILES + 1)
    done = hooks.place.run("hook", "UserPromptSubmit", "--explain", "--prompt", PROMPT, input=b"")
    assert "On Tuesdays." in done.stdout.decode()
    assert UNBUILT not in done.stdout.decode()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("count", [QUICK_FILES + 1, FEW + 5])
def test_a_memory_that_is_edited_meanwhile_is_quoted_as_it_is_now(hooks, when, count):
    fill(hooks, count)
    assert recalled(hooks) == []
    if when == "after":
        hooks.work()
    hooks.remember("project_deploys.md", "when we deploy", "On Fridays.")
    if when == "before":
        hooks.work()
    assert recalled(hooks) == ["when we deploy\n\nOn Fridays."]


def test_two_first_prompts_at_once(hooks):
    fill(hooks, QUICK_FILES + 1)
    payload = json.dumps({**hooks.base("UserPromptSubmit"), "prompt": PROMPT})
    done = subprocess.run(
        [sys.executable, "-c", TWO, payload],
        env=hooks.place.environment(),
        cwd=hooks.place.proj,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"0\n"
    (index,) = indexes(hooks)
    assert index.endswith(".db")
    assert recalled(hooks, "s2") == ["when we deploy\n\nOn Tuesdays."]


def test_an_index_is_built_once(hooks):
    """By the first process: one that comes meanwhile builds none, and one that comes later finds it."""
    fill(hooks, QUICK_FILES + 1)
    lock = f"{hooks.state}/hooks/{hooks.hook_context('x').place_id}.refresh.lock"
    os.makedirs(os.path.dirname(lock))
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    assert try_lock(handle)
    assert work(hooks).returncode == 0
    assert indexes(hooks) == []
    os.close(handle)
    assert work(hooks).returncode == 0
    (index,) = indexes(hooks)
    built = os.stat(index).st_ino
    assert work(hooks).returncode == 0
    assert os.stat(index).st_ino == built


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_builder_that_is_killed_leaves_nothing_broken(hooks, where):
    fill(hooks, QUICK_FILES + 1)
    assert work(hooks, where, code=KILLED).returncode == -9
    assert [name.rpartition(".")[2] for name in indexes(hooks)] == ["tmp"]
    assert recalled(hooks) == []
    assert hooks.log() == [f"UserPromptSubmit s1 {UNBUILT}"]
    assert work(hooks).returncode == 0
    assert recalled(hooks) == ["when we deploy\n\nOn Tuesdays."]
    assert [name.rpartition(".")[2] for name in indexes(hooks)] == ["db"]


def test_where_no_index_can_be_stored_a_prompt_is_answered_without_one(hooks):
    fill(hooks, QUICK_FILES + 1)
    hooks.env["XDG_CACHE_HOME"] = hooks.place.write("home/file")
    assert recalled(hooks) == ["when we deploy\n\nOn Tuesdays."]
    assert hooks.log() == []


def test_many_changes_at_once_are_left_to_another_process(hooks):
    fill(hooks, 3 * QUICK_FILES)
    start_and_work(hooks)
    for number in range(QUICK_FILES):
        hooks.remember(f"project_{number}.md", f"the zebra{number}x", "Stripes.")
    hooks.remember("project_deploys.md", "when we deploy", "On Fridays.")
    settle(hooks)
    assert recalled(hooks) == ["when we deploy\n\nOn Fridays."]
    assert recalled(hooks, prompt="where is the zebra3x?") == []
    assert [words[:2] for words in hooks.started[:1]] == [["--work", "refresh"]]
    hooks.work()
    assert recalled(hooks, prompt="where is the zebra3x?") == ["the zebra3x\n\nStripes."]


def test_a_store_that_has_grown_is_asked_as_it_was(hooks):
    fill(hooks, QUICK_FILES + 1)
    start_and_work(hooks)
    for number in range(FEW):
        hooks.remember(f"user_{number}.md", f"the zebra{number}x", "Stripes.")
    assert recalled(hooks) == ["when we deploy\n\nOn Tuesdays."]
    assert [words[:2] for words in hooks.started] == [["--work", "refresh"]]


def start_and_work(hooks):
    hooks.ask("SessionStart", source="startup", session="s0")
    hooks.work()
