"""Memories that name a file which was just changed: those of the index, and those that are newer than it."""

import os
import time

import pytest

from foretold.memory.note import INDEX
from foretold.serve.hooks import path_index

ADVICE = 'foretold memory edit NAME -b "TEXT" --by agent'


@pytest.fixture
def canoe(hooks):
    """A project with one memory that names a file, in which a conversation has begun."""
    hooks.place.write("proj/src/canoe.py")
    hooks.remember("project_canoe.md", "how the canoe floats", "It floats by `src/canoe.py`.")
    hooks.ask("SessionStart", source="startup")
    hooks.work()
    past = time.time_ns() - 60 * 10**9
    context = hooks.hook_context("x")
    _, count = context.cached("paths-made", anyway=True)
    keep_made(context, past, count)
    return hooks


def keep_made(context, began, count):
    """As if the book had been made at another time."""
    from foretold.serve.hooks.cache import stamp_of
    from foretold.storage.tree import Disk

    disk = Disk()
    disk.stamps.update({folder: stamp_of(folder) for folder, _ in context.place.stores})
    context.store("paths-made", (began, count), disk)


def edit(hooks, path="src/canoe.py", **more):
    return {"tool_name": "Edit", "tool_input": {"file_path": f"{hooks.place.proj}/{path}"}, **more}


def test_a_memory_that_was_added_after_the_start_is_told_of(canoe):
    canoe.remember("project_paddle.md", "how to paddle", "Paddle with src/canoe.py.")
    canoe.raw("UserPromptSubmit", prompt="hello")
    assert canoe.context("PostToolUse", **edit(canoe)) == (
        "Memories name src/canoe.py, which was just changed: "
        "project_canoe.md (how the canoe floats); project_paddle.md (how to paddle).\n"
        f"If one of them is no longer true, say so, and correct it: {ADVICE}"
    )


def test_a_memory_that_was_changed_in_its_place_is_told_of(canoe):
    path = canoe.place.path(f"{canoe.memory}/project_canoe.md")
    with open(path, "a", encoding="utf-8") as file:
        file.write("\nIt steers by `src/rudder.py`.\n")
    text = canoe.context("PostToolUse", **edit(canoe, "src/rudder.py"))
    assert text.startswith("A memory names src/rudder.py")
    assert canoe.started[-1][:2] == ["--work", "refresh"]


def test_a_newer_memory_counts_by_the_rule_of_the_book(canoe):
    canoe.remember("project_gone.md", "what is gone", "We removed `src/paddle.py` in May.")
    assert canoe.raw("PostToolUse", **edit(canoe, "src/paddle.py")) == ""


@pytest.mark.parametrize("agent", ["claude-code@2.1.325", "codex"])
def test_a_call_that_follows_the_start_at_once(hooks, agent):
    """No process has made a book yet."""
    hooks.agent = agent
    hooks.remember("project_canoe.md", "how the canoe floats", "It floats by `src/canoe.py`.")
    hooks.place.write("proj/src/canoe.py")
    hooks.ask("SessionStart", source="startup")
    call = {"tool_name": "Bash", "tool_input": {"command": "sed -i s/a/b/ src/canoe.py"}}
    assert hooks.context("PostToolUse", **call).startswith("A memory names src/canoe.py, which was just changed")


def test_without_memories_nothing_is_started(hooks):
    hooks.place.write("proj/src/canoe.py")
    assert (hooks.raw("PostToolUse", **edit(hooks)), hooks.started) == ("", [])


def test_an_up_to_date_book_starts_nothing(canoe):
    assert canoe.context("PostToolUse", **edit(canoe))
    made = canoe.hook_context("x")
    keep_made(made, time.time_ns() + 60 * 10**9, 1)
    canoe.started.clear()
    assert canoe.context("PostToolUse", session="s2", **edit(canoe))
    assert canoe.started == []


@pytest.mark.parametrize(("limit", "value"), [("FEW", 1), ("MOST", 10)])
def test_what_is_too_much_is_left_to_another_process_and_said(canoe, monkeypatch, limit, value):
    monkeypatch.setattr(path_index, limit, value)
    canoe.remember("project_paddle.md", "how to paddle", "Paddle with src/canoe.py.")
    canoe.started.clear()
    assert canoe.context("PostToolUse", **edit(canoe)).startswith("A memory names src/canoe.py")
    assert [words[:2] for words in canoe.started] == [["--work", "refresh"]]
    assert any(
        "newer memories may be missing" in why for why in canoe.why("PostToolUse", session_id="s3", **edit(canoe))
    )


def test_a_large_store_is_looked_at_by_its_folders(canoe, monkeypatch):
    monkeypatch.setattr(path_index, "FEW", 0)
    monkeypatch.setattr(path_index, "SMALL", 0)
    keep_made(canoe.hook_context("x"), time.time_ns() - 60 * 10**9, 1)
    canoe.started.clear()
    assert canoe.context("PostToolUse", **edit(canoe)).startswith("A memory names src/canoe.py")
    assert canoe.started == []
    canoe.remember("project_paddle.md", "how to paddle", "Paddle with src/canoe.py.")
    canoe.raw("PostToolUse", session="s2", **edit(canoe))
    assert [words[:2] for words in canoe.started] == [["--work", "refresh"]]


def test_a_store_that_is_not_small_is_looked_through_if_a_folder_has_changed(canoe, monkeypatch):
    monkeypatch.setattr(path_index, "SMALL", 0)
    seen = []
    look = path_index._files
    monkeypatch.setattr(path_index, "_files", lambda folder: seen.append(folder) or look(folder))
    assert canoe.context("PostToolUse", **edit(canoe)).startswith("A memory names")
    assert seen == []
    canoe.remember("project_paddle.md", "how to paddle", "Paddle with src/canoe.py.")
    assert canoe.context("PostToolUse", session="s2", **edit(canoe)).startswith("Memories name")
    assert seen == [folder for folder, _ in canoe.hook_context("x").place.readable]


def test_a_memory_that_the_agent_writes_is_looked_up_afterwards(canoe):
    canoe.started.clear()
    path = canoe.place.path(f"{canoe.memory}/project_canoe.md")
    canoe.raw("PostToolUse", tool_name="Edit", tool_input={"file_path": path})
    assert [words[:2] for words in canoe.started] == [["--work", "refresh"]]


@pytest.mark.parametrize("policy", ["manual", "read-only"])
def test_who_may_not_write_is_not_told_how(canoe, policy):
    canoe.place.write("home/.config/foretold/config.toml", f'[memory]\npolicy = "{policy}"\n')
    text = canoe.context("PostToolUse", **edit(canoe))
    assert text.endswith("If it is no longer true, tell the user.")


def test_the_advice_names_the_team(canoe):
    canoe.remember("project_team.md", "our canoes", "See `src/canoe.py`.", folder="proj/.foretold/memory")
    assert canoe.context("PostToolUse", **edit(canoe)).endswith(f"{ADVICE} (--team for project_team.md)")


def test_the_advice_can_be_followed_without_a_terminal(canoe):
    place = canoe.place
    words = ["memory", "edit", "project_canoe.md", "-b", "It floats by itself.", "--by", "agent"]
    done = place.run(*words, "-C", place.proj, "--home", place.home, input=b"")
    assert done.returncode == 0, done.stderr
    with open(place.path(f"{canoe.memory}/project_canoe.md"), encoding="utf-8") as file:
        assert "It floats by itself." in file.read()


def test_a_path_that_was_gone_before_was_not_just_deleted(canoe):
    os.utime(canoe.place.proj, (1, 1))
    canoe.remember("project_ship.md", "ships", "See `lib/ship.py`.")
    call = {"tool_name": "Bash", "tool_input": {"command": "ls lib/ship.py"}}
    assert canoe.raw("PostToolUse", **call) == ""


def test_the_index_is_called_as_it_is_called_elsewhere():
    assert path_index.INDEX == INDEX
