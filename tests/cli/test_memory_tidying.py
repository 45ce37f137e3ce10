"""`foretold memory consolidate` as a person and as a program meets it."""

import pytest

from foretold.cli import main

from .documents import read_document


@pytest.fixture
def two(place, monkeypatch):
    """A project with two memories, of which one says nothing that the other does not say."""
    monkeypatch.chdir(place.proj)
    monkeypatch.setenv("HOME", place.home)
    monkeypatch.setenv("COLUMNS", "80")
    for name, body in (
        ("short", "Use tabs in Python files."),
        ("whole", "Use tabs in Python files.\nAnd spaces in YAML."),
    ):
        main(["memory", "add", name, "-t", "feedback", "-d", f"about {name}", "-b", body])
    return place


def said(capsys, *words):
    capsys.readouterr()
    code = main(["memory", *words])
    return code, capsys.readouterr().out


def proposal(capsys):
    code, out = said(capsys, "consolidate", "--json")
    assert code == 0
    return read_document(out)


def test_a_proposal_is_shown_and_nothing_is_done(two, capsys):
    code, out = said(capsys, "consolidate")
    assert code == 1  # there is no terminal to agree in
    assert "1. drop: every line of feedback_short.md is in feedback_whole.md" in out
    assert "-Use tabs in Python files." in out
    assert "Later: foretold memory consolidate --apply " in out
    assert max(map(len, out.splitlines())) <= 80
    assert len(read_document(said(capsys, "list", "--json")[1])["memories"]) == 2


def test_it_is_made_and_taken_back(two, capsys):
    plan = proposal(capsys)
    code, out = said(capsys, "consolidate", "--apply", plan["id"], "--yes")
    assert (code, f"foretold memory consolidate --undo {plan['id']}" in out) == (0, True)
    assert len(read_document(said(capsys, "list", "--json")[1])["memories"]) == 1
    assert said(capsys, "consolidate", "--undo", plan["id"]) == (0, "as before: feedback_short.md\n")
    assert len(read_document(said(capsys, "list", "--json")[1])["memories"]) == 2
    listed = read_document(said(capsys, "consolidate", "--list", "--json")[1])["proposals"]
    assert [each["state"] for each in listed] == ["undone"]
    assert "undone" in said(capsys, "consolidate", "--list")[1]


def test_json_with_yes_says_what_was_done(two, capsys):
    code, out = said(capsys, "consolidate", "--json", "--yes")
    made = read_document(out)
    assert (code, made["done"], made["stale"], made["steps"][0]["gone"]) == (0, [1], [], ["feedback_short.md"])


def test_what_was_made_is_not_made_again(two, capsys):
    plan = proposal(capsys)
    assert proposal(capsys)["id"] == plan["id"]  # the same proposal, not another one like it
    said(capsys, "consolidate", "--apply", plan["id"], "--yes")
    assert main(["memory", "consolidate", "--apply", plan["id"], "--yes"]) == 1
    assert capsys.readouterr().err.startswith(f"{plan['id']} was already applied.")


def test_nothing_to_do(two, capsys):
    main(["memory", "rm", "short"])
    assert said(capsys, "consolidate") == (0, "1 memory: there is nothing to merge, to shorten or to drop.\n")


def test_a_step_that_is_stale(two, capsys):
    plan = proposal(capsys)
    main(["memory", "edit", "short", "-b", "Other words now."])
    code, out = said(capsys, "consolidate", "--apply", plan["id"], "--yes")
    assert (code, "step 1 was not applied: feedback_short.md was changed meanwhile" in out) == (1, True)


def test_a_model_that_is_none(two, capsys):
    assert main(["memory", "consolidate", "--model", "clever"]) == 2
    assert "vendor:model" in capsys.readouterr().err


def test_an_id_that_is_none(two, capsys):
    assert main(["memory", "consolidate", "--apply", "zzzz"]) == 2
    assert "foretold memory consolidate --list" in capsys.readouterr().err
