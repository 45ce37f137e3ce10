"""What `foretold memory` says of its history: what was erased, dropped, or is in an older format."""

import json
import os

import pytest

from ..memory.machines import tree
from .test_memory import errors, run, text


@pytest.fixture
def repo(place):
    place.git("init -q -b main")
    return place


def add(place, topic, body):
    assert run(place, "add", topic, "-t", "user", "-d", "d", "-b", body).returncode == 0


def words_of(done):
    return " ".join(text(done).split())


def state_of(place):
    above = f"{place.home}/.local/state/foretold"
    found = [name for name in os.listdir(above) if os.path.exists(f"{above}/{name}/log.jsonl")]
    return f"{above}/{found[0]}"


def test_only_an_erased_version_of_the_same_memory_is_missing(repo):
    add(repo, "A", "one")
    add(repo, "B", "two")
    assert run(repo, "edit", "b", "-b", "three").returncode == 0
    assert run(repo, "edit", "a", "-b", "four").returncode == 0
    assert run(repo, "erase", "a", "--yes").returncode == 0
    for number, added in ((2, "+two"), (3, "+three")):
        done = run(repo, "diff", "--at", str(number))
        assert (done.returncode, added in text(done)) == (0, True), done
    done = run(repo, "diff", "--at", "4")
    assert (done.returncode, "the text of change 4 was erased on" in errors(done)) == (1, True)
    done = run(repo, "diff", "--at", "5")
    assert (done.returncode, errors(done)) == (
        1,
        "foretold: change 5 erased something of user_a.md: what it was is not kept\n",
    )
    done = run(repo, "restore", "a")
    assert (done.returncode, "the text of change 4 was erased on" in errors(done)) == (2, True)
    done = run(repo, "restore", "a", "--at", "5")
    assert (done.returncode, "change 5 of 'a' left no text to restore" in errors(done)) == (2, True)


def test_a_number_without_an_option_is_understood(repo):
    add(repo, "A", "one")
    done = run(repo, "diff", "1")
    assert (done.returncode, done.stdout) == (0, run(repo, "diff", "--at", "1").stdout)


def test_a_small_history_is_not_compacted_and_that_is_said(repo):
    add(repo, "A", "0")
    for number in range(3):
        assert run(repo, "edit", "a", "-b", f"{number + 1}").returncode == 0
    before = tree(state_of(repo))
    for words in ((), ("--yes",)):
        done = run(repo, "compact", "--history", "--days", "0", *words)
        assert done.returncode == 0
        assert "would be dropped" not in text(done)
        said = f"Nothing {'was' if words else 'is to be'} dropped: 3 versions are old enough, but without them"
        assert said in words_of(done)
    shown = json.loads(run(repo, "compact", "--history", "--days", "0", "--yes", "--json").stdout)
    assert (shown["drop"], shown["size"]) == (0, shown["after"])
    after = tree(state_of(repo))
    assert after["log.jsonl"] == before["log.jsonl"]
    assert "the last one of each week" in words_of(run(repo, "compact", "--history"))


def test_a_larger_one_is_compacted(repo):
    add(repo, "A", "0")
    for number in range(3):
        assert run(repo, "edit", "a", "-b", f"{number + 1} {os.urandom(900).hex()}").returncode == 0
    done = run(repo, "compact", "--history", "--days", "0", "--yes")
    assert "done: " in text(done)
    assert text(run(repo, "log")).count("dropped on") == text(run(repo, "log")).count("to bound the history")
    done = run(repo, "diff", "--at", "3")
    assert (done.returncode, "was dropped on" in errors(done)) == (1, True)


def test_going_back_and_forth_loses_no_note_and_reading_changes_nothing(repo):
    add(repo, "A", "0")
    for number in range(3):
        assert run(repo, "edit", "a", "-b", f"{number + 1} {os.urandom(3000).hex()}").returncode == 0
    add(repo, "B", "secret")
    assert run(repo, "compact", "--history", "--days", "0", "--yes").returncode == 0
    assert run(repo, "erase", "b", "--yes").returncode == 0
    before = text(run(repo, "log"))
    assert "dropped on" in before
    assert "erased on" in before
    for turn in range(2):
        done = run(repo, "doctor", "--format", "1")
        assert "is in format 1 now" in words_of(done)
        state = tree(state_of(repo))
        assert "format" not in state
        done = run(repo, "restore", "a", "--at", "2")
        assert (done.returncode, "was dropped on" in errors(done)) == (2, True)
        assert run(repo, "diff", "--at", "2").returncode == 1
        for words in (["log"], ["doctor"], ["list"], ["erase", "a"], ["compact", "--history"], ["inbox"]):
            run(repo, *words)
        assert text(run(repo, "log")) == before
        assert tree(state_of(repo)) == state
        assert run(repo, "edit", "a", "-d", f"d{turn}").returncode == 0
        assert "format" in tree(state_of(repo))
        assert text(run(repo, "log")).endswith(before)
        before = text(run(repo, "log"))


def test_what_another_program_wrote_is_a_change_that_migrates(repo):
    add(repo, "A", "0")
    assert run(repo, "doctor", "--format", "1").returncode == 0
    (name,) = os.listdir(f"{repo.home}/.claude/projects")
    with open(f"{repo.home}/.claude/projects/{name}/memory/user_b.md", "w", encoding="utf-8") as file:
        file.write("b\n" * 4000)
    assert "other create   user_b.md" in text(run(repo, "log"))
    assert "format" in tree(state_of(repo))


def test_a_version_from_before_a_rename_is_found_by_either_name(repo):
    assert run(repo, "add", "Tabs", "-t", "feedback", "-d", "d", "-b", "Use tabs.").returncode == 0
    assert run(repo, "edit", "tabs", "-b", "Always use tabs.").returncode == 0
    assert run(repo, "rename", "tabs", "Indentation").returncode == 0
    assert text(run(repo, "restore", "indentation", "--at", "2")) == "restored: feedback_indentation.md\n"
    assert text(run(repo, "restore", "indentation", "--at", "2")) == "unchanged: feedback_indentation.md\n"
    shown = [run(repo, "show", name) for name in ("indentation", "tabs", "feedback_indentation.md")]
    assert ["name: tabs\n" in text(done) for done in shown] == [True] * 3
    assert text(run(repo, "restore", "tabs", "--at", "3")) == "restored: feedback_indentation.md\n"


def test_a_rename_of_long_names_fits_80_columns(repo):
    add(repo, "a name that is rather long", "one")
    assert run(repo, "rename", "a-name-that-is-rather-long", "another name that is long").returncode == 0
    lines = text(run(repo, "log")).splitlines()
    assert [line.split()[-1] for line in lines[:2]] == [
        "user_a_name_that_is_rather_long.md",
        "user_another_name_that_is_long.md",
    ]
    assert [line for line in lines if len(line) > 80] == []
