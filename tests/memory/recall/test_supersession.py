"""Of two memories on one thing the newer comes first."""

import os

import pytest

from foretold.memory.note import read_note
from foretold.memory.recall.recall import recall, render
from foretold.memory.recall.supersession import find_superseded, names_gone

OLD = "---\nname: old-broker\ndescription: RabbitMQ is the broker of Celery\n---\nAt `amqp://mq-1`."
NEW = "---\nname: new-broker\ndescription: since May Celery uses Redis Streams\n---\nRabbitMQ was switched off."


@pytest.fixture
def folder(tmp_path):
    for name, text, changed in (("old.md", OLD, 1e9), ("new.md", NEW, 1.2e9), ("oven.md", "Never above 230.", 1e9)):
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (changed, changed))
    return str(tmp_path)


def test_the_newer_comes_first_and_the_older_is_marked(folder):
    found = recall(folder, "which broker is RabbitMQ of Celery", check=lambda _: "not found here: x")
    assert [(hit.memory.file, hit.holds) for hit in found.hits] == [
        ("new.md", "not found here: x"),
        ("old.md", "superseded by new.md; not found here: x"),
    ]
    assert "superseded by new.md" in render(found)


def test_what_is_superseded_is_never_quoted_alone(folder):
    found = recall(
        folder,
        "the broker of Celery",
        worth=lambda _, __, ranked: [mark for mark in ranked if mark.candidate.file == "old.md"],
    )
    assert [hit.memory.file for hit in found.hits] == ["new.md", "old.md"]


def test_an_older_memory_supersedes_nothing(folder):
    os.utime(f"{folder}/new.md", (1e8, 1e8))
    found = recall(folder, "which broker is RabbitMQ of Celery")
    assert next((hit.memory.file, hit.holds) for hit in found.hits) == ("old.md", "")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("background work moved from BullMQ to Temporal", {"bullmq"}),
        ("`Jenkins` is gone, use GitHub Actions", {"jenkins"}),
        ("Grafana replaces Kibana", {"kibana"}),
        ("use tabs, not spaces", set()),
        ("it was removed", set()),
        ("Redshift holds the marts", set()),
    ],
)
def test_what_is_gone(text, names):
    assert names_gone(text) == names


def test_memories_that_both_say_it_is_gone_stay_as_they_are():
    notes = [read_note("a.md", NEW.encode(), 1.0), read_note("b.md", b"RabbitMQ is gone.", 2.0)]
    assert find_superseded(notes) == {}
